"""The gate: nothing gets through while a checkpoint is open, nothing is lost, nothing comes twice."""

import time
from collections import Counter
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from checkpoint import Call, CheckpointControl, Episode, Gate, Retired
from checkpoint.errors import AdmissionClosed, StaleAttempt
from checkpoint.lease import Lease
from tests.checkpoint.office import Clock, Exporting, Office, make_office, settled

EPISODE = Episode("r", 0)


def resolve() -> Episode:
    return EPISODE


async def test_a_refused_call_hears_which_checkpoint_and_when_to_try_again(office: Office) -> None:
    await office.control.prepare("c", 5)
    with pytest.raises(AdmissionClosed) as caught:
        office.control.gate.enter(EPISODE, "note")
    assert caught.value.code == "admission_closed"
    assert caught.value.facts == {"checkpointId": "c", "retryAfterMs": 250}
    with pytest.raises(AdmissionClosed):
        await office.control.gate.admit(resolve, "note")
    assert not office.control.gate.in_flight


async def test_prepare_waits_for_the_calls_in_flight_and_reports_them(office: Office) -> None:
    calls = [office.control.gate.enter(Episode("r", number), "note") for number in range(120)]
    office.clock.seconds += 7
    office.control.gate.enter(Episode("late", 0), "search")
    prepared = await office.control.prepare("c", 0.01)
    report = prepared["report"]
    assert (prepared["phase"], report["ready"]) == ("preparing", False)
    assert (report["inFlight"], report["blockerCount"], len(report["blockers"])) == (121, 121, 100)
    assert report["blockers"][0]["seconds"] == 7
    assert report["blockers"][0]["operation"] == "note"
    for call in calls:
        office.control.gate.leave(call)
    assert office.control.status()["report"]["blockers"] == [
        {"episode": {"rolloutId": "late", "attempt": 0}, "operation": "search", "seconds": 0}
    ]


async def test_prepare_answers_as_soon_as_the_last_call_leaves(office: Office) -> None:
    one, other = office.control.gate.enter(EPISODE, "a"), office.control.gate.enter(EPISODE, "b")
    answers: list[str] = []

    async def prepare() -> None:
        answers.append((await office.control.prepare("c", 3600))["phase"])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(prepare)
        tasks.start_soon(prepare)
        await settled()
        office.control.gate.leave(one)
        office.control.gate.leave(one)
        await settled()
        assert not answers
        office.control.gate.leave(other)
    assert answers == ["prepared", "prepared"]


async def test_a_call_that_left_after_prepare_gave_up_makes_the_server_prepared(office: Office) -> None:
    call = office.control.gate.enter(EPISODE, "note")
    assert (await office.control.prepare("c", 0.01))["phase"] == "preparing"
    office.control.gate.leave(call)
    committed = await office.control.commit("c", 5, "d")
    assert committed["phase"] == "committed"
    assert (await office.control.prepare("c", 5))["phase"] == "prepared"


async def test_a_waiter_is_let_in_by_resume_and_resolves_its_session_anew(office: Office) -> None:
    await office.control.prepare("c", 5)
    now, admitted = [Episode("earlier", 0)], list[Call]()

    async def call() -> None:
        admitted.append(await office.control.gate.admit(lambda: now[0], "note", "wait"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await settled()
        assert office.control.gate.waiting == 1
        assert not office.control.gate.in_flight
        assert office.control.status()["report"]["ready"]
        now[0] = Episode("later", 0)
        await office.control.resume("c")
    assert [call.episode.rollout_id for call in admitted] == ["later"]
    assert office.control.gate.waiting == 0


async def test_a_waiter_whose_client_has_gone_is_dropped(office: Office) -> None:
    await office.control.prepare("c", 5)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(office.control.gate.admit, resolve, "note", "wait")
        await settled()
        tasks.cancel_scope.cancel()
    await office.control.resume("c")
    await settled()
    assert (office.control.gate.waiting, len(office.control.gate.in_flight)) == (0, 0)


async def test_waiters_are_turned_away_when_the_server_ends(office: Office) -> None:
    await office.control.prepare("c", 5)
    gate, refused = office.control.gate, anyio.Event()

    async def wait() -> None:
        with pytest.raises(AdmissionClosed):
            await gate.admit(resolve, "note", "wait")
        refused.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        while not gate.waiting:
            await anyio.lowlevel.checkpoint()
        gate.turn_away()
        await refused.wait()
    assert not gate.waiting


async def test_a_waiter_of_a_retired_attempt_is_refused_when_the_gate_opens(office: Office) -> None:
    await office.control.prepare("c", 5)
    async with anyio.create_task_group() as tasks:

        async def call() -> None:
            with pytest.raises(StaleAttempt) as caught:
                await office.control.gate.admit(resolve, "note", "wait")
            assert caught.value.facts == {"episode": {"rolloutId": "r", "attempt": 0}}

        tasks.start_soon(call)
        await settled()
        await office.control.resume("c")
        await office.control.retire([EPISODE])


async def test_a_waiter_waits_no_longer_than_the_limit() -> None:
    clock = Clock()
    server = Exporting()
    control = CheckpointControl(
        server, kind="office", root=Path("unused"), now=clock, on_checkpoint="wait", wait_limit=0.01
    )
    async with control:
        await control.prepare("c", 5)
        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                with pytest.raises(AdmissionClosed):
                    await control.gate.admit(resolve, "note")

            tasks.start_soon(call)
            await settled()
            clock.seconds += 0.01
        assert control.gate.waiting == 0


async def test_a_waiter_notices_by_itself_that_the_lease_has_ended(tmp_path: Path) -> None:
    control = CheckpointControl(Exporting(), kind="office", root=tmp_path, lease_grace=0.02)
    async with control:
        await control.prepare("c", 0.02)
        call = await control.gate.admit(resolve, "note", "wait")
        control.gate.leave(call)
        assert control.status()["phase"] == "idle"


async def test_a_waiter_notices_that_the_lease_ends_sooner_than_it_did(tmp_path: Path) -> None:
    control = CheckpointControl(Exporting(), kind="office", root=tmp_path, lease_grace=0.01)
    async with control, anyio.create_task_group() as tasks:
        await control.prepare("c", 3600)
        tasks.start_soon(control.gate.admit, resolve, "note", "wait")
        await settled()
        await control.renew("c", 0.01)


async def test_a_waiter_still_waits_when_the_next_checkpoint_comes_before_it_woke(office: Office) -> None:
    await office.control.prepare("c1", 5)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(office.control.gate.admit, resolve, "note", "wait")
        await settled()
        await office.control.resume("c1")
        await office.control.prepare("c2", 5)
        await settled()
        assert (office.control.gate.waiting, len(office.control.gate.in_flight)) == (1, 0)
        await office.control.resume("c2")


async def test_work_that_cannot_wait_asks_whether_the_gate_is_open(office: Office) -> None:
    office.control.gate.require_open()
    await office.control.gate.until_open("wait")
    await office.control.prepare("c", 5)
    with pytest.raises(AdmissionClosed):
        office.control.gate.require_open()


async def test_under_load_no_call_slips_through_none_is_lost_and_none_comes_twice(tmp_path: Path) -> None:
    office = make_office(tmp_path, on_checkpoint="wait")
    applied, refused, sent = Counter[str](), Counter[str](), Counter[str]()
    done = anyio.Event()

    async def session(number: int) -> None:
        key, episode = f"session-{number:03}", Episode(f"r{number}", 0)
        office.server.seed(key, episode.rollout_id)
        while not done.is_set():
            sent[key] += 1
            try:
                call = await office.control.gate.admit(
                    lambda: episode, "note", "refuse" if number % 4 == 0 else "wait"
                )
            except AdmissionClosed:
                refused[key] += 1
                await anyio.lowlevel.checkpoint()
                continue
            try:
                if number % 3 == 0:
                    await anyio.lowlevel.checkpoint()
                office.server.note(key, "x")
                applied[key] += 1
            finally:
                office.control.gate.leave(call)
            await anyio.lowlevel.checkpoint()

    async with office.control, anyio.create_task_group() as tasks:
        for number in range(200):
            tasks.start_soon(session, number)
        for turn in range(5):
            await settled_a_little()
            assert (await office.control.prepare(f"c{turn}", 10))["phase"] == "prepared"
            frozen = dict(applied)
            await office.control.commit(f"c{turn}", 10, f"step-{turn}")
            await settled_a_little()
            assert dict(applied) == frozen
            await office.control.resume(f"c{turn}")
        done.set()
    assert sum(refused.values()) > 0
    for key, desk in office.server.desks.items():
        assert len(desk.notes) == applied[key] == sent[key] - refused[key]


async def settled_a_little() -> None:
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


def test_an_idle_gate_costs_about_a_microsecond() -> None:
    gate = Gate(time.monotonic, Retired())
    episode = Episode("r", 0)

    def best_of(rounds: int) -> float:
        best = float("inf")
        for _ in range(rounds):
            started = time.perf_counter()
            for _ in range(1000):
                gate.leave(gate.enter(episode, "note"))
            best = min(best, (time.perf_counter() - started) / 1000)
        return best

    # Generous, for a slow machine: it is here to catch a lock, an await or a task that crept in.
    assert best_of(20) < 10e-6


def test_a_gate_of_its_own_counts_every_call_and_opens_for_no_one() -> None:
    clock = Clock()
    gate = Gate(clock, Retired())
    call = gate.enter(EPISODE, "note")
    gate.close("c", Lease(clock, timeout=1, grace=0))
    clock.seconds += 2
    with pytest.raises(AdmissionClosed):
        gate.enter(EPISODE, "note")
    assert gate.blockers == [call]
    gate.leave(call)
    assert gate.is_drained
