"""Restores: all sessions or none, under their new attempts, and out again if they are not wanted."""

import hashlib
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest

from checkpoint import Episode, Shard, StateExport, Store
from checkpoint.errors import (
    AdmissionClosed,
    CheckpointConflict,
    CheckpointError,
    DeadlineExceeded,
    InvalidCheckpointState,
    InvalidParams,
    InvalidPhase,
    SessionConflict,
    StaleAttempt,
    StaleCheckpoint,
)
from checkpoint.records import Granted
from tests.checkpoint.killed_writer import FACTS, ORIGIN
from tests.checkpoint.office import Hold, Office, make_office, settled


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    """A fresh office beside a checkpoint `step` of three sessions that another one has taken."""
    before = make_office(tmp_path)
    async with before.control:
        for number in range(3):
            before.server.seed(f"session-{number}", f"r{number}", number, "hello")
        before.server.spent = {"gone"}
        await before.control.retire([Episode("old", 3)])
        await before.control.prepare("c1", 5)
        await before.control.commit("c1", 5, "step")
    office = make_office(tmp_path)
    async with office.control:
        yield office


def state(session_id: str, rollout: str, attempt: int = 0, **more: Any) -> dict[str, Any]:
    episode = {"rolloutId": rollout, "attempt": attempt}
    return {"sessionId": session_id, "episode": episode, "base": "b1", "notes": [], **more}


def store_states(office: Office, directory: str, *states: dict[str, Any], facts: object = None) -> None:
    store = Store(office.root, ORIGIN)
    line = FACTS if facts is None else facts
    export = StateExport(states, {"b1": office.server.base})
    store.write(store.place(directory), "c2", export, line, Granted())


def is_as_before(office: Office, *session_ids: str) -> bool:
    status = office.control.status()
    is_idle = (status["phase"], status["checkpointId"]) == ("idle", None)
    return is_idle and office.control.gate.is_open and sorted(office.server.desks) == sorted(session_ids)


async def test_one_invalid_session_of_many_and_none_is_installed(office: Office) -> None:
    good = [state(f"s{number}", f"r{number}") for number in range(20)]
    store_states(office, "bad", *good, state("broken", "x", notes="none"))
    with pytest.raises(InvalidCheckpointState, match="session broken: notes are a list"):
        await office.control.restore("x", 5, "bad")
    assert is_as_before(office)
    assert not office.server.spent
    restored = await office.control.restore("x", 5, "step")
    assert len(restored["restored"]) == 3


@pytest.mark.parametrize(
    "facts", [[], {"retired": {}}, {"retired": [], "server": 1}, {"retired": {"r": -1}, "server": []}]
)
async def test_facts_that_do_not_validate_refuse_the_whole(office: Office, facts: object) -> None:
    store_states(office, "bad", state("s1", "r1"), facts=facts)
    with pytest.raises(InvalidCheckpointState):
        await office.control.restore("x", 5, "bad")
    assert is_as_before(office)


async def test_a_session_that_is_there_twice_is_refused(office: Office) -> None:
    store_states(office, "bad", state("s1", "r1"), state("s1", "r2"))
    with pytest.raises(InvalidCheckpointState, match="twice"):
        await office.control.restore("x", 5, "bad")


@pytest.mark.parametrize(("session_id", "rollout"), [("session-1", "mine"), ("mine", "r1")])
async def test_a_live_session_with_an_id_or_a_rollout_of_the_checkpoint_is_in_the_way(
    office: Office, session_id: str, rollout: str
) -> None:
    office.server.seed(session_id, rollout)
    with pytest.raises(SessionConflict) as caught:
        await office.control.restore("x", 5, "step")
    assert caught.value.facts == {"count": 1, "sessionIds": [session_id]}
    assert is_as_before(office, session_id)


async def test_at_most_ten_sessions_in_the_way_are_named(office: Office) -> None:
    for number in range(12):
        office.server.seed(f"live-{number}", "r1")
    with pytest.raises(SessionConflict) as caught:
        await office.control.restore("x", 5, "step")
    assert caught.value.facts["count"] == 12
    assert caught.value.facts["sessionIds"] == [f"live-{number}" for number in range(10)]


async def test_a_session_spent_here_or_too_many_of_them_install_nothing(office: Office) -> None:
    office.server.spent = {"session-1"}
    with pytest.raises(CheckpointError) as caught:
        await office.control.restore("x", 5, "step")
    assert (caught.value.code, caught.value.facts["sessionIds"]) == ("session_spent", ["session-1"])
    assert is_as_before(office)
    office.server.spent, office.server.limit = set(), 2
    with pytest.raises(CheckpointError) as caught:
        await office.control.restore("x", 5, "step")
    assert (caught.value.code, caught.value.facts) == ("session_limit", {"limit": 2})
    assert is_as_before(office)


async def test_a_new_attempt_that_is_retired_here_installs_nothing(office: Office) -> None:
    await office.control.retire([Episode("r1", 2)])
    with pytest.raises(StaleAttempt) as caught:
        await office.control.restore("x", 5, "step")
    assert caught.value.facts == {"episode": {"rolloutId": "r1", "attempt": 2}}
    assert is_as_before(office)
    await office.control.restore("x", 5, "step", attempt_step=2)
    assert office.server.desks["session-1"].episode == Episode("r1", 3)


async def test_a_zombie_of_an_earlier_life_is_a_stale_attempt(office: Office) -> None:
    await office.control.restore("x", 5, "step", attempt_step=1)
    await office.control.resume("x", discard=True)
    await office.control.restore("y", 5, "step", attempt_step=2)
    await office.control.resume("y")
    await office.control.retire([Episode("r0", 1)])
    with pytest.raises(StaleAttempt):
        office.control.gate.enter(Episode("r0", 1), "note")
    office.control.gate.leave(office.control.gate.enter(office.server.desks["session-0"].episode, "note"))


async def test_facts_are_merged_with_what_is_here_and_discard_takes_them_out_again(office: Office) -> None:
    office.server.spent = {"mine"}
    await office.control.retire([Episode("old", 1), Episode("here", 0)])
    await office.control.restore("x", 5, "step")
    assert office.server.spent == {"mine", "gone"}
    assert office.control.retired.marks == {"old": 3, "here": 0}
    await office.control.resume("x", discard=True)
    assert office.server.spent == {"mine"}
    assert office.control.retired.marks == {"old": 1, "here": 0}
    assert is_as_before(office)


async def test_resume_without_discard_keeps_everything(office: Office) -> None:
    await office.control.restore("x", 5, "step")
    assert await office.control.resume("x") == {"phase": "idle", "published": False}
    assert is_as_before(office, "session-0", "session-1", "session-2")
    assert await office.control.resume("x", discard=True) == {"phase": "idle", "published": False}
    assert is_as_before(office, "session-0", "session-1", "session-2")
    assert office.control.status()["retiredRollouts"] == ["old"]


async def test_discard_means_nothing_to_a_checkpoint_that_was_not_restored(office: Office) -> None:
    office.server.seed("mine", "m")
    await office.control.prepare("x", 5)
    await office.control.resume("x", discard=True)
    assert is_as_before(office, "mine")


async def test_a_lease_that_ends_takes_the_restored_sessions_out_again(office: Office) -> None:
    await office.control.restore("x", 5, "step")
    office.clock.seconds += 35
    office.control.gate.leave(office.control.gate.enter(Episode("new", 0), "seed"))
    assert is_as_before(office)
    assert office.control.retired.marks == {}


async def test_the_episodes_named_are_restored_as_stored_and_no_others(office: Office) -> None:
    restored = await office.control.restore("x", 5, "step", [Episode("r2", 2), Episode("r1", 2)])
    assert [it["sessionId"] for it in restored["restored"]] == ["session-2"]
    assert is_open_with(office, "session-2")


def is_open_with(office: Office, *session_ids: str) -> bool:
    return sorted(office.server.desks) == sorted(session_ids)


async def test_shards_share_the_sessions_out_and_each_takes_all_facts(office: Office) -> None:
    taken = list[str]()
    for index in range(3):
        part = make_office(office.root)
        async with part.control:
            await part.control.restore("x", 5, "step", shard=Shard(index, 3))
            taken += part.server.desks
            assert part.server.spent == {"gone"}
            assert part.control.retired.marks == {"old": 3}
    assert sorted(taken) == ["session-0", "session-1", "session-2"]


def test_a_shard_is_told_from_the_digest_of_the_id() -> None:
    first = int(hashlib.sha256(b"session-0").hexdigest()[:8], 16)
    assert [Shard(index, 5).has("session-0") for index in range(5)] == [
        first % 5 == index for index in range(5)
    ]


async def two_instances(office: Office, ids: tuple[str, str], base: object = None) -> None:
    for number, (instance, checkpoint_id) in enumerate(zip(("a", "b"), ids, strict=True)):
        one = make_office(office.root, instance=instance)
        if number and base is not None:
            one.server.base = base
        one.server.seed(f"of-{instance}", f"r-{instance}")
        async with one.control:
            await one.control.prepare(checkpoint_id, 5)
            await one.control.commit(checkpoint_id, 5, "both")


async def test_sources_are_read_together(office: Office) -> None:
    await two_instances(office, ("c", "c"))
    restored = await office.control.restore("x", 5, "both", sources=["b", "a"])
    assert restored["sourceCheckpointId"] == "c"
    assert is_open_with(office, "of-a", "of-b")


async def test_sources_of_different_checkpoints_are_refused(office: Office) -> None:
    await two_instances(office, ("c", "d"))
    with pytest.raises(InvalidCheckpointState, match="not of one checkpoint"):
        await office.control.restore("x", 5, "both", sources=["a", "b"])
    with pytest.raises(InvalidCheckpointState, match="missing"):
        await office.control.restore("x", 5, "both", sources=["a", "third"])
    assert is_as_before(office)


async def test_sources_that_disagree_on_a_base_are_refused(office: Office) -> None:
    await two_instances(office, ("c", "c"), base={"paper": []})
    with pytest.raises(InvalidCheckpointState, match="disagree"):
        await office.control.restore("x", 5, "both", sources=["a", "b"])


@pytest.mark.parametrize(
    "parameters",
    [
        {"sources": []},
        {"sources": ["a", "a"]},
        {"sources": ["../a"]},
        {"attempt_step": -1},
        {"attempt_step": 10**9},
        {"shard": Shard(2, 2)},
        {"shard": Shard(-1, 2)},
        {"shard": Shard(0, 0)},
    ],
)
async def test_parameters_no_phase_accepts(office: Office, parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidParams):
        await office.control.restore("x", 5, "step", **parameters)
    assert is_as_before(office)


async def test_while_a_restore_reads_admission_is_closed_and_its_id_is_open(office: Office) -> None:
    hold = Hold()
    office.server.holds["build"] = hold
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(office.control.restore, "x", 5, "step")
        await hold.reached()
        status = office.control.status()
        assert (status["phase"], status["checkpointId"], status["leaseSeconds"]) == ("idle", "x", 35)
        with pytest.raises(AdmissionClosed):
            office.control.gate.enter(Episode("r", 0), "note")
        with pytest.raises(InvalidPhase):
            await office.control.restore("x", 5, "step", attempt_step=3)
        assert await office.control.renew("x", 60) == {"phase": "idle", "leaseSeconds": 90}
        hold.release()
    assert office.control.status()["phase"] == "restored"


async def test_the_same_restore_waits_on_and_both_get_one_answer(office: Office) -> None:
    hold, answers = Hold(), list[object]()
    office.server.holds["build"] = hold

    async def restore() -> None:
        answers.append(await office.control.restore("x", 5, "step"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(restore)
        await hold.reached()
        tasks.start_soon(restore)
        await settled()
        with pytest.raises(DeadlineExceeded):
            await office.control.restore("x", 0.01, "step")
        hold.release()
    assert answers[0] == answers[1] == await office.control.restore("x", 5, "step")
    with pytest.raises(CheckpointConflict):
        await office.control.restore("x", 5, "step", attempt_step=2)


async def test_resume_stops_a_restore_that_reads(office: Office) -> None:
    hold = Hold()
    office.server.holds["build"] = hold
    async with anyio.create_task_group() as tasks:

        async def restore() -> None:
            with pytest.raises(StaleCheckpoint):
                await office.control.restore("x", 5, "step")

        tasks.start_soon(restore)
        await hold.reached()
        assert (await office.control.resume("x"))["phase"] == "idle"
    office.server.seed("session-1", "mine")
    hold.release()
    await a_later_restore_is_refused_for(office, "session-1")


async def a_later_restore_is_refused_for(office: Office, *session_ids: str) -> None:
    """Let the stopped restore run into its end, then look what it left."""
    del office.server.holds["build"]
    with pytest.raises(SessionConflict):
        await office.control.restore("later", 5, "step")
    await settled()
    assert is_as_before(office, *session_ids)


async def test_a_restore_not_done_in_time_installs_nothing_and_its_id_stays_usable(office: Office) -> None:
    hold = Hold()
    office.server.holds["build"] = hold
    with pytest.raises(DeadlineExceeded):
        await office.control.restore("x", 0.05, "step")
    assert is_as_before(office)
    hold.release()
    del office.server.holds["build"]
    assert len((await office.control.restore("x", 5, "step"))["restored"]) == 3


async def test_a_restore_whose_caller_has_gone_installs_nothing(office: Office) -> None:
    hold = Hold()
    office.server.holds["build"] = hold
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(office.control.restore, "x", 5, "step")
        await hold.reached()
        tasks.cancel_scope.cancel()
    assert is_as_before(office)
    hold.release()


async def test_a_restore_whose_lease_ends_while_it_reads_installs_nothing(office: Office) -> None:
    hold = Hold()
    office.server.holds["build"] = hold
    async with anyio.create_task_group() as tasks:

        async def restore() -> None:
            with pytest.raises(StaleCheckpoint):
                await office.control.restore("x", 5, "step")

        tasks.start_soon(restore)
        await hold.reached()
        office.clock.seconds += 35
        hold.release()
    assert is_as_before(office)


@pytest.mark.parametrize("where", ["build", "facts", "install", "merge"])
async def test_a_hook_that_crashes_refuses_and_never_leaves_the_server_closed(
    office: Office, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    office.server.crashes_in = where
    with caplog.at_level(logging.ERROR), pytest.raises(InvalidCheckpointState) as caught:
        await office.control.restore("x", 5, "step")
    assert "crashes" not in caught.value.reason
    assert f"the hook crashes in {where}" in caplog.text
    assert is_as_before(office)
    office.server.crashes_in = ""
    assert len((await office.control.restore("x", 5, "step"))["restored"]) == 3


async def test_a_hook_that_crashes_when_it_discards_does_not_leave_the_server_closed(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    await office.control.restore("x", 5, "step")
    office.server.crashes_in = "discard"
    with caplog.at_level(logging.ERROR):
        assert (await office.control.resume("x", discard=True))["phase"] == "idle"
    assert "could not be taken out" in caplog.text
    assert is_as_before(office)
    assert office.control.retired.marks == {}


async def test_sessions_handed_over_inline_are_validated_like_stored_ones(office: Office) -> None:
    bases = {"b1": office.server.base}
    with pytest.raises(InvalidCheckpointState, match="notes are a list"):
        await office.control.import_sessions([state("s1", "r1"), state("s2", "r2", notes=0)], bases)
    with pytest.raises(InvalidCheckpointState, match="does not say"):
        await office.control.import_sessions([{}], bases)
    with pytest.raises(InvalidParams):
        await office.control.import_sessions([], bases, attempt_step=-1)
    assert is_as_before(office)
    facts = orjson.loads(orjson.dumps(office.control.facts()))
    imported = await office.control.import_sessions([state("s1", "r1")], bases, facts, attempt_step=2)
    assert imported == {"restored": [{"sessionId": "s1", "episode": {"rolloutId": "r1", "attempt": 2}}]}
    with pytest.raises(SessionConflict):
        await office.control.import_sessions([state("s1", "r1")], bases)
    assert is_as_before(office, "s1")


async def test_sessions_imported_into_a_restored_checkpoint_are_discarded_with_it(office: Office) -> None:
    bases = {"b1": office.server.base}
    await office.control.import_sessions([state("kept", "kept")], bases)
    await office.control.restore("x", 5, "step")
    facts = {"retired": {"old": 9}, "server": ["more"]}
    await office.control.import_sessions([state("s1", "new")], bases, facts)
    assert is_open_with(office, "kept", "s1", "session-0", "session-1", "session-2")
    assert office.control.retired.marks == {"old": 9}
    await office.control.resume("x", discard=True)
    assert is_as_before(office, "kept")
    assert office.control.retired.marks == {}
    assert office.server.spent == set()


async def test_an_import_that_a_checkpoint_overtakes_installs_nothing(office: Office) -> None:
    hold = Hold()
    office.server.holds["build"] = hold
    async with anyio.create_task_group() as tasks:

        async def bring_in() -> None:
            with pytest.raises(InvalidPhase):
                await office.control.import_sessions([state("s1", "r1")], {"b1": office.server.base})

        tasks.start_soon(bring_in)
        await hold.reached()
        await office.control.prepare("c", 5)
        hold.release()
    assert is_open_with(office)
