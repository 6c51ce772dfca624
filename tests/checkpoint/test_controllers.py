"""Controllers that misbehave: every operation in every phase, for every kind of id."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path
from typing import Any

import anyio
import pytest

from checkpoint import Episode
from checkpoint.errors import CheckpointError
from tests.checkpoint.office import Hold, Office, make_office

# A phase in which a restore of the id reads is one of its own here; its status says `idle`.
SITUATIONS = ("idle", "preparing", "prepared", "committed", "restored", "reading")
SHORT = 0.01

Act = Callable[[Office, str], Awaitable[Any]]
OPERATIONS: dict[str, Act] = {
    "prepare": lambda office, it: office.control.prepare(it, SHORT),
    "commit": lambda office, it: office.control.commit(it, 5, "taken"),
    "wait": lambda office, it: office.control.wait(it, 5),
    "restore": lambda office, it: office.control.restore(it, 5 if is_free(office) else SHORT, "stored"),
    "resume": lambda office, it: office.control.resume(it),
    "renew": lambda office, it: office.control.renew(it, 5),
    "retire": lambda office, it: office.control.retire([Episode("nobody", 0)]),
    "forget": lambda office, it: office.control.forget(["nobody"]),
    "import": lambda office, it: office.control.import_sessions([], {}),
}
OF_AN_ID = ("prepare", "commit", "wait", "restore", "resume", "renew")

# What the id that is open (in idle: a new one) gets, and the phase after it. Written from the design.
REFUSED = "invalid_phase"
EXPECTED: dict[tuple[str, str], tuple[str, str]] = {
    ("idle", "prepare"): ("phase prepared", "prepared"),
    ("preparing", "prepare"): ("phase preparing", "preparing"),
    ("prepared", "prepare"): ("first", "prepared"),
    ("committed", "prepare"): ("first", "committed"),
    ("prepared", "commit"): ("phase committed", "committed"),
    ("committed", "commit"): ("first", "committed"),
    ("committed", "wait"): ("manifest", "committed"),
    ("idle", "restore"): ("phase restored", "restored"),
    ("restored", "restore"): ("first", "restored"),
    ("reading", "restore"): ("deadline_exceeded", "idle"),
    **{(situation, "resume"): ("phase idle", "idle") for situation in SITUATIONS},
    **{(phase, "renew"): (f"phase {phase}", phase) for phase in SITUATIONS[1:5]},
    ("reading", "renew"): ("phase idle", "idle"),
    ("idle", "retire"): ("retired", "idle"),
    ("idle", "forget"): ("forgotten", "idle"),
    ("idle", "import"): ("restored", "idle"),
    ("restored", "import"): ("restored", "restored"),
}


def is_free(office: Office) -> bool:
    return office.control.status()["checkpointId"] is None


async def store_something(root: Path) -> None:
    office = make_office(root)
    async with office.control:
        office.server.seed("stored-session", "stored", 0, "hello")
        await office.control.prepare("c0", 5)
        await office.control.commit("c0", 5, "stored")


@asynccontextmanager
async def brought_to(situation: str, root: Path) -> AsyncGenerator[tuple[Office, dict[str, Any]]]:
    """An office in a situation, with `open` open and `spent` spent, and the first results of `open`."""
    await store_something(root)
    office, first, hold = make_office(root), dict[str, Any](), Hold()
    async with office.control, anyio.create_task_group() as tasks:
        office.server.seed("live-session", "live")
        await office.control.resume("spent")
        if situation == "preparing":
            office.control.gate.enter(Episode("live", 0), "note")
        if situation == "preparing":
            await office.control.prepare("open", SHORT)
        if situation in ("prepared", "committed"):
            first["prepare"] = await office.control.prepare("open", SHORT)
        if situation == "committed":
            first["commit"] = await office.control.commit("open", 5, "taken")
        if situation == "restored":
            first["restore"] = await office.control.restore("open", 5, "stored")
        if situation == "reading":
            office.server.holds["build"] = hold
            tasks.start_soon(quietly, office.control.restore("open", 3600, "stored"))
            await hold.reached()
        try:
            yield office, first
        finally:
            hold.release()
        await office.control.resume("open")


async def quietly(answer: Awaitable[Any]) -> None:
    await said(answer, None)


async def said(answer: Awaitable[Any], first: Any) -> str:
    """An answer in one word or two."""
    try:
        result = await answer
    except CheckpointError as error:
        return error.code
    if result == first:
        return "first"
    return f"phase {result['phase']}" if "phase" in result else next(iter(result))


@pytest.mark.parametrize(("situation", "operation"), list(product(SITUATIONS, OPERATIONS)))
async def test_every_operation_in_every_phase_answers_as_designed(
    situation: str, operation: str, tmp_path: Path
) -> None:
    phase_as_it_is = "idle" if situation == "reading" else situation
    reply, phase = EXPECTED.get((situation, operation), (REFUSED, phase_as_it_is))
    async with brought_to(situation, tmp_path) as (office, first):
        assert await said(OPERATIONS[operation](office, "open"), first.get(operation)) == reply
        assert office.control.status()["phase"] == phase
        opens = operation in ("prepare", "restore") or situation != "idle"
        assert office.control.gate.is_open == (operation == "resume" or not opens)


@pytest.mark.parametrize(("situation", "operation"), list(product(SITUATIONS, OF_AN_ID)))
async def test_an_id_that_was_resumed_is_stale_in_every_phase(
    situation: str, operation: str, tmp_path: Path
) -> None:
    async with brought_to(situation, tmp_path) as (office, _):
        before = office.control.status()
        expected = "phase idle" if operation == "resume" else "stale_checkpoint"
        assert await said(OPERATIONS[operation](office, "spent"), None) == expected
        assert office.control.status() == before


@pytest.mark.parametrize(("situation", "operation"), list(product(SITUATIONS[1:], OF_AN_ID)))
async def test_another_id_is_a_conflict_in_every_open_phase(
    situation: str, operation: str, tmp_path: Path
) -> None:
    async with brought_to(situation, tmp_path) as (office, _):
        before = office.control.status()
        assert await said(OPERATIONS[operation](office, "other"), None) == "checkpoint_conflict"
        assert office.control.status() == before


@pytest.mark.parametrize(("situation", "operation"), list(product(SITUATIONS[1:], OF_AN_ID)))
async def test_an_id_whose_lease_ended_counts_as_resumed(
    situation: str, operation: str, tmp_path: Path
) -> None:
    async with brought_to(situation, tmp_path) as (office, _):
        office.clock.seconds += 3600 + 30
        late = await said(OPERATIONS[operation](office, "open"), None)
        fine = {
            "resume": "phase idle",
            "wait": "manifest" if situation == "committed" else "stale_checkpoint",
        }
        assert late == fine.get(operation, "stale_checkpoint")
        assert office.control.status()["phase"] == "idle"
        assert office.control.gate.is_open
        assert list(office.server.desks) == ["live-session"]


@pytest.mark.parametrize("situation", SITUATIONS)
async def test_resume_repeated_in_every_phase_answers_the_same(situation: str, tmp_path: Path) -> None:
    async with brought_to(situation, tmp_path) as (office, _):
        once = await office.control.resume("open")
        assert once == {"phase": "idle", "published": situation == "committed"}
        assert await office.control.resume("open") == once


async def test_a_prepare_that_comes_after_its_resume_is_refused(office: Office) -> None:
    await office.control.resume("late")
    assert await said(office.control.prepare("late", 5), None) == "stale_checkpoint"
    assert office.control.gate.is_open


async def test_a_prepare_that_waits_is_told_when_resume_overtakes_it(office: Office) -> None:
    call = office.control.gate.enter(Episode("r", 0), "note")
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:

            async def waits() -> None:
                assert await said(office.control.prepare("c", 3600), None) == "stale_checkpoint"

            tasks.start_soon(waits)
            await anyio.wait_all_tasks_blocked()
            await office.control.resume("c")
    office.control.gate.leave(call)


async def test_the_last_64_resumed_ids_stay_stale(office: Office) -> None:
    for number in range(65):
        await office.control.resume(f"c{number}")
    assert await said(office.control.prepare("c1", 5), None) == "stale_checkpoint"
    assert await said(office.control.prepare("c0", 5), None) == "phase prepared"


@pytest.mark.parametrize("seconds", [0, -1, 3600.5, float("nan"), float("inf")])
async def test_a_timeout_is_above_0_and_at_most_an_hour(office: Office, seconds: float) -> None:
    for act in (
        office.control.prepare("c", seconds),
        office.control.commit("c", seconds, "d"),
        office.control.wait("c", seconds),
        office.control.restore("c", seconds, "d"),
        office.control.renew("c", seconds),
    ):
        assert await said(act, None) == "invalid_params"


@pytest.mark.parametrize("checkpoint_id", ["", "x" * 257, "a\nb", "\ud800"])
async def test_a_checkpoint_id_can_be_written_down(office: Office, checkpoint_id: str) -> None:
    assert await said(office.control.prepare(checkpoint_id, 5), None) == "invalid_params"
    assert await said(office.control.resume(checkpoint_id), None) == "invalid_params"
