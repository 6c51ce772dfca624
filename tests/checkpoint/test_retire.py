"""Attempts that may not act any more."""

import anyio
import pytest

from checkpoint import Episode
from checkpoint.errors import StaleAttempt
from tests.checkpoint.office import Office, make_office, settled


async def test_a_retired_session_is_refused_dropped_and_never_exported(office: Office) -> None:
    office.server.seed("session-1", "r1", 1)
    office.server.seed("session-2", "r2", 0)
    assert await office.control.retire([Episode("r1", 1), Episode("r1", 1)]) == {
        "retired": [{"rolloutId": "r1", "attempt": 1}]
    }
    assert list(office.server.desks) == ["session-2"]
    assert office.server.spent == {"session-1"}
    assert office.control.status()["retiredRollouts"] == ["r1"]
    for attempt in (0, 1):
        with pytest.raises(StaleAttempt):
            office.control.gate.enter(Episode("r1", attempt), "sessions/seed")
    office.control.gate.leave(office.control.gate.enter(Episode("r1", 2), "sessions/seed"))
    await office.control.prepare("c", 5)
    await office.control.commit("c", 5, "step")
    fresh = make_office(office.root)
    async with fresh.control:
        await fresh.control.restore("x", 5, "step")
        await fresh.control.resume("x")
        with pytest.raises(StaleAttempt):
            fresh.control.gate.enter(Episode("r1", 1), "note")
    assert list(fresh.server.desks) == ["session-2"]


async def test_an_earlier_mark_does_not_undo_a_later_one(office: Office) -> None:
    await office.control.retire([Episode("r1", 5)])
    await office.control.retire([Episode("r1", 2)])
    assert office.control.retired.marks == {"r1": 5}


async def test_retire_waits_for_the_calls_of_its_episodes_and_for_no_others(office: Office) -> None:
    office.server.seed("session-1", "r1", 0)
    mine, next_life = office.control.gate.enter(Episode("r1", 0), "a"), Episode("r1", 1)
    other = office.control.gate.enter(next_life, "b")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(office.control.retire, [Episode("r1", 0)])
        await settled()
        assert "session-1" in office.server.desks
        with pytest.raises(StaleAttempt):
            office.control.gate.enter(Episode("r1", 0), "a")
        office.control.gate.leave(mine)
    assert "session-1" not in office.server.desks
    office.control.gate.leave(other)


async def test_a_session_that_is_being_retired_is_not_exported_any_more(office: Office) -> None:
    office.server.checkpoint_verify = "repeat"
    office.server.seed("session-1", "r1", 0)
    call = office.control.gate.enter(Episode("r1", 0), "a")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(office.control.retire, [Episode("r1", 0)])
        await settled()
        # A checkpoint comes and goes while retire waits: it goes on waiting.
        await office.control.prepare("c1", 0.01)
        await office.control.resume("c1")
        await settled()
        assert "session-1" in office.server.desks
        office.control.gate.leave(call)
        await office.control.prepare("c2", 5)
    assert "session-1" not in office.server.desks


async def test_a_caller_that_goes_away_leaves_the_marks_and_may_ask_again(office: Office) -> None:
    office.server.seed("session-1", "r1", 0)
    call = office.control.gate.enter(Episode("r1", 0), "a")
    with anyio.move_on_after(0.01):
        await office.control.retire([Episode("r1", 0)])
    office.control.gate.leave(call)
    assert office.control.retired.marks == {"r1": 0}
    assert "session-1" in office.server.desks
    await office.control.prepare("c", 5)
    committed = await office.control.commit("c", 5, "step")
    assert "manifest" in committed
    assert committed["manifest"]["counts"]["sessions"] == 0
    await office.control.resume("c")
    await office.control.retire([Episode("r1", 0)])
    assert not office.server.desks


async def test_forget_drops_the_marks_of_rollouts_that_are_over(office: Office) -> None:
    await office.control.retire([Episode("r1", 0), Episode("r2", 0)])
    assert await office.control.forget(["r1", "unknown", "r1"]) == {"forgotten": ["r1"]}
    office.control.gate.leave(office.control.gate.enter(Episode("r1", 0), "note"))
    assert office.control.status()["retiredRollouts"] == ["r2"]
