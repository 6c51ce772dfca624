"""Commits: what is in scope, the background, the queue, deadlines, and what resume does to them."""

import errno
import logging
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.lowlevel
import orjson
import pytest

from checkpoint import CheckpointControl, Episode, Manifest
from checkpoint.errors import (
    CheckpointConflict,
    DeadlineExceeded,
    InvalidCheckpointState,
    InvalidPhase,
    StaleCheckpoint,
)
from tests.checkpoint.disk import Disk, Fault, failing
from tests.checkpoint.office import Clock, Desk, Exporting, Hold, Office, make_office, settled


@pytest.fixture(autouse=True)
def healthy_again() -> Iterator[None]:
    yield
    Disk.take_out()


@pytest.fixture
def hold(office: Office) -> Iterator[Hold]:
    """Holds the first write that encodes a session; lets it go in the end."""
    hold = Hold()
    office.server.holds["encode"] = hold
    yield hold
    hold.release()


def stored(office: Office, directory: str) -> list[str]:
    (path,) = (office.root / directory / "office" / "main").glob("records-*.jsonl")
    lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    return [line["session"]["sessionId"] for line in lines if "session" in line]


def is_published(office: Office, directory: str) -> bool:
    return (office.root / directory / "office" / "main" / "manifest.json").exists()


async def test_the_manifest_says_what_was_written_by_whom(tmp_path: Path) -> None:
    control = CheckpointControl(
        Exporting(), kind="office", root=tmp_path, data_set="d1", versions={"python": "3"}, now=Clock()
    )
    async with control:
        await control.prepare("c1", 5)
        committed = await control.commit("c1", 5, "step")
    assert "manifest" in committed
    manifest = committed["manifest"]
    folder = tmp_path / "step" / "office" / "main"
    assert orjson.loads((folder / "manifest.json").read_bytes()) == manifest
    assert (folder / manifest["records"]).stat().st_size == manifest["counts"]["bytes"]
    digests = {name: manifest.pop(name) for name in ("records", "sha256", "digest", "counts")}
    assert digests["records"] == f"records-{digests['sha256']}.jsonl"
    assert digests["counts"] | {"bytes": 0} == {"bases": 1, "sessions": 0, "bytes": 0}
    assert manifest == {
        "format": "checkpoint",
        "version": 1,
        "kind": "office",
        "instance": "main",
        "mode": "exported",
        "checkpointId": "c1",
        "dataSet": "d1",
        "versions": {"python": "3"},
    }


async def test_a_background_write_goes_on_after_resume_with_the_sessions_as_they_were(
    office: Office, hold: Hold
) -> None:
    office.server.seed("session-1", "r1", 0, "before")
    await office.control.prepare("c1", 5)
    assert await office.control.commit("c1", 5, "step", background=True) == {
        "phase": "committed",
        "writing": True,
    }
    await hold.reached()
    assert await office.control.resume("c1") == {"phase": "idle", "published": False}
    call = office.control.gate.enter(Episode("r1", 0), "note")
    office.server.note("session-1", "after")
    office.control.gate.leave(call)
    with pytest.raises(DeadlineExceeded):
        await office.control.wait("c1", 0.01)
    hold.release()
    manifest = (await office.control.wait("c1", 5))["manifest"]
    assert manifest["counts"]["sessions"] == 1
    assert await office.control.resume("c1") == {"phase": "idle", "published": True}
    fresh = make_office(office.root)
    async with fresh.control:
        await fresh.control.restore("x", 5, "step")
    assert fresh.server.desks["session-1"].notes == ("before",)


async def test_a_second_commit_takes_its_snapshot_at_once_and_its_write_queues(
    office: Office, hold: Hold
) -> None:
    office.server.seed("session-1", "r1", 0, "first")
    await office.control.prepare("c1", 5)
    await office.control.commit("c1", 5, "step-1", background=True)
    await office.control.resume("c1")
    await hold.reached()
    office.server.note("session-1", "second")
    await office.control.prepare("c2", 5)
    await office.control.commit("c2", 5, "step-2", background=True)
    await office.control.resume("c2")
    office.server.note("session-1", "third")
    with pytest.raises(DeadlineExceeded):
        await office.control.wait("c2", 0.01)
    assert not is_published(office, "step-1")
    assert not is_published(office, "step-2")
    hold.release()
    await office.control.wait("c2", 5)
    assert is_published(office, "step-1")
    fresh = make_office(office.root)
    async with fresh.control:
        await fresh.control.restore("x", 5, "step-2")
    assert fresh.server.desks["session-1"].notes == ("first", "second")


async def test_writes_of_the_last_64_ids_can_be_waited_for(office: Office) -> None:
    for number in range(65):
        await office.control.prepare(f"c{number}", 5)
        await office.control.commit(f"c{number}", 5, f"step-{number}", background=True)
        await office.control.resume(f"c{number}")
    for number in range(1, 65):
        manifest: Manifest = (await office.control.wait(f"c{number}", 5))["manifest"]
        assert manifest["checkpointId"] == f"c{number}"
    # c0 is not one of the last 64 that were resumed, either: it is forgotten altogether.
    with pytest.raises(InvalidPhase):
        await office.control.wait("c0", 5)


async def test_a_write_can_be_waited_for_while_another_checkpoint_is_open(office: Office, hold: Hold) -> None:
    office.server.seed("session-1", "r1")
    await office.control.prepare("c1", 5)
    await office.control.commit("c1", 5, "step", background=True)
    await office.control.resume("c1")
    await office.control.prepare("c2", 5)
    hold.release()
    assert (await office.control.wait("c1", 5))["manifest"]["checkpointId"] == "c1"


async def test_a_deadline_leaves_the_phase_and_the_same_commit_awaits_the_same_write(
    office: Office, hold: Hold
) -> None:
    office.server.seed("session-1", "r1")
    await office.control.prepare("c1", 5)
    with pytest.raises(DeadlineExceeded) as caught:
        await office.control.commit("c1", 0.01, "step")
    assert caught.value.facts == {"operation": "checkpoint/commit", "timeoutSeconds": 0.01}
    assert office.control.status()["phase"] == "prepared"
    with pytest.raises(CheckpointConflict) as conflict:
        await office.control.commit("c1", 5, "elsewhere")
    assert conflict.value.facts == {"checkpointId": "c1"}
    hold.release()
    assert (await office.control.commit("c1", 5, "./step"))["phase"] == "committed"
    assert (await office.control.wait("c1", 5))["manifest"]["checkpointId"] == "c1"
    with pytest.raises(CheckpointConflict):
        await office.control.commit("c1", 5, "step", [Episode("r1", 0)])
    with pytest.raises(CheckpointConflict):
        await office.control.commit("c1", 5, "step", background=True)


async def test_a_foreground_write_that_resume_overtakes_is_never_published(
    office: Office, hold: Hold
) -> None:
    office.server.seed("session-1", "r1")
    await office.control.prepare("c1", 5)
    async with anyio.create_task_group() as tasks:

        async def commit() -> None:
            with pytest.raises(StaleCheckpoint):
                await office.control.commit("c1", 5, "step")

        tasks.start_soon(commit)
        await hold.reached()
        assert await office.control.resume("c1") == {"phase": "idle", "published": False}
    assert office.control.gate.is_open
    hold.release()
    # The next write queues behind the one that was stopped.
    await office.control.prepare("c2", 5)
    await office.control.commit("c2", 5, "other")
    assert not is_published(office, "step")
    assert not list((office.root / "step" / "office" / "main").iterdir())
    with pytest.raises(StaleCheckpoint):
        await office.control.wait("c1", 5)


async def test_a_stopped_write_that_was_still_queued_is_not_even_begun(office: Office, hold: Hold) -> None:
    office.server.seed("session-1", "r1")
    await office.control.prepare("c1", 5)
    await office.control.commit("c1", 5, "step-1", background=True)
    await hold.reached()
    await office.control.resume("c1")
    await office.control.prepare("c2", 5)
    with pytest.raises(DeadlineExceeded):
        await office.control.commit("c2", 0.01, "step-2")
    await office.control.resume("c2")
    hold.release()
    await office.control.wait("c1", 5)
    await office.control.prepare("c3", 5)
    await office.control.commit("c3", 5, "step-3")
    assert not (office.root / "step-2").exists()


def holding(hold: Hold) -> Fault:
    def fault(real: object, args: tuple[object, ...], keywords: dict[str, object]) -> object:
        hold()
        assert callable(real)
        return real(*args, **keywords)

    return fault


async def first(name: str, root: Path) -> int:
    """The number of the first call of that name in a commit."""
    office, disk = make_office(root), Disk(-1, failing(errno.EIO))
    async with office.control:
        disk.put_in()
        await office.control.prepare("c0", 5)
        await office.control.commit("c0", 5, "step")
        Disk.take_out()
    return disk.calls.index(name)


async def test_resume_waits_for_a_write_that_is_just_being_published(office: Office, tmp_path: Path) -> None:
    hold = Hold()
    number = await first("link", tmp_path / "counted")
    await office.control.prepare("c1", 5)
    Disk(number, holding(hold)).put_in()
    resumed, phases = list[bool](), list[str]()

    async def commit() -> None:
        phases.append((await office.control.commit("c1", 5, "step"))["phase"])

    async def resume() -> None:
        resumed.append((await office.control.resume("c1"))["published"])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(commit)
        await hold.reached()
        tasks.start_soon(resume)
        tasks.start_soon(resume)
        await settled()
        # Calls are admitted already: the snapshot does not mind them.
        assert office.control.gate.is_open
        assert not resumed
        hold.release()
    assert resumed == [True, True]
    assert phases == ["idle"]
    assert is_published(office, "step")


async def test_resume_stops_a_write_up_to_the_moment_it_is_published(office: Office, tmp_path: Path) -> None:
    hold = Hold()
    number = await first("rename", tmp_path / "counted")
    await office.control.prepare("c1", 5)
    Disk(number, holding(hold)).put_in()
    async with anyio.create_task_group() as tasks:

        async def commit() -> None:
            with pytest.raises(StaleCheckpoint):
                await office.control.commit("c1", 5, "step")

        tasks.start_soon(commit)
        await hold.reached()
        assert not (await office.control.resume("c1"))["published"]
    hold.release()
    await office.control.prepare("c2", 5)
    await office.control.commit("c2", 5, "other")
    assert not is_published(office, "step")


async def test_a_foreground_write_whose_lease_ends_is_not_published(office: Office, hold: Hold) -> None:
    office.server.seed("session-1", "r1")
    await office.control.prepare("c1", 5)
    with pytest.raises(DeadlineExceeded):
        await office.control.commit("c1", 0.01, "step")
    office.clock.seconds += 31
    call = office.control.gate.enter(Episode("r1", 0), "note")
    office.control.gate.leave(call)
    hold.release()
    with pytest.raises(StaleCheckpoint):
        await office.control.wait("c1", 5)
    assert not is_published(office, "step")


async def test_only_the_episodes_named_are_written_and_the_others_stay(office: Office) -> None:
    office.server.seed("session-1", "r1", 2)
    office.server.seed("session-2", "r1", 1)
    office.server.seed("session-3", "r3")
    await office.control.prepare("c1", 5)
    await office.control.commit("c1", 5, "step", [Episode("r1", 2), Episode("unknown", 0)])
    assert stored(office, "step") == ["session-1"]
    assert list(office.server.desks) == ["session-1", "session-2", "session-3"]


def seed_restored(office: Office) -> None:
    office.server.desks = {
        "in-scope": Desk(Episode("r1", 1), untouched=True),
        "left-over": Desk(Episode("r2", 1), untouched=True),
        "touched": Desk(Episode("r3", 1), ("hello",)),
    }


async def test_restored_sessions_out_of_scope_that_nobody_touched_are_dropped(office: Office) -> None:
    seed_restored(office)
    await office.control.prepare("c1", 5)
    await office.control.commit("c1", 5, "step", [Episode("r1", 1)])
    assert list(office.server.desks) == ["in-scope", "touched"]
    assert not office.server.spent
    await office.control.resume("c1")
    await office.control.prepare("c2", 5)
    await office.control.commit("c2", 5, "all")
    assert list(office.server.desks) == ["in-scope", "touched"]


async def test_what_was_dropped_is_put_back_when_the_write_fails(office: Office) -> None:
    seed_restored(office)
    await office.control.prepare("c1", 5)
    Disk(4, failing(errno.ENOSPC)).put_in()
    with pytest.raises(InvalidCheckpointState):
        await office.control.commit("c1", 5, "step", [Episode("r1", 1)])
    Disk.take_out()
    assert sorted(office.server.desks) == ["in-scope", "left-over", "touched"]
    await office.control.commit("c1", 5, "step", [Episode("r1", 1)])
    assert sorted(office.server.desks) == ["in-scope", "touched"]


async def test_what_was_dropped_is_put_back_when_resume_stops_the_write(office: Office, hold: Hold) -> None:
    seed_restored(office)
    await office.control.prepare("c1", 5)
    with pytest.raises(DeadlineExceeded):
        await office.control.commit("c1", 0.01, "step", [Episode("r1", 1)])
    assert sorted(office.server.desks) == ["in-scope", "touched"]
    await office.control.resume("c1")
    assert sorted(office.server.desks) == ["in-scope", "left-over", "touched"]


async def test_a_session_the_server_no_longer_gives_out_is_left_out(office: Office) -> None:
    office.server.seed("session-1", "r1")
    office.server.seed("session-2", "r2")
    office.server.verified.add("session-1")
    await office.control.prepare("c1", 5)
    committed = await office.control.commit("c1", 5, "step")
    assert "manifest" in committed
    assert committed["manifest"]["counts"]["sessions"] == 1
    fresh = make_office(office.root)
    async with fresh.control:
        await fresh.control.restore("x", 5, "step")
        await fresh.control.resume("x")
        fresh.control.gate.leave(fresh.control.gate.enter(Episode("r2", 1), "note"))
    assert list(fresh.server.desks) == ["session-2"]


async def test_a_hook_that_crashes_while_it_is_encoded_fails_the_commit_and_no_more(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    office.server.seed("session-1", "r1")
    office.server.crashes_in = "encode"
    await office.control.prepare("c1", 5)
    with (
        caplog.at_level(logging.ERROR),
        pytest.raises(InvalidCheckpointState, match="could not be written down"),
    ):
        await office.control.commit("c1", 5, "step")
    assert "the hook crashes in encode" in caplog.text
    office.server.crashes_in = ""
    assert (await office.control.commit("c1", 5, "step"))["phase"] == "committed"


async def test_a_hook_that_crashes_at_the_snapshot_leaves_the_phase(office: Office) -> None:
    office.server.crashes_in = "export"
    await office.control.prepare("c1", 5)
    with pytest.raises(RuntimeError):
        await office.control.commit("c1", 5, "step")
    office.server.crashes_in = ""
    assert (await office.control.commit("c1", 5, "step"))["phase"] == "committed"


async def test_a_hook_that_cannot_put_sessions_back_does_not_stop_the_server(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    seed_restored(office)
    office.server.crashes_in = "put back"
    await office.control.prepare("c1", 5)
    Disk(4, failing(errno.ENOSPC)).put_in()
    with caplog.at_level(logging.ERROR), pytest.raises(InvalidCheckpointState):
        await office.control.commit("c1", 5, "step", [Episode("r1", 1)])
    assert "could not be put back" in caplog.text
    assert (await office.control.resume("c1"))["phase"] == "idle"


async def test_a_caller_that_goes_away_does_not_stop_its_commit(office: Office, hold: Hold) -> None:
    office.server.seed("session-1", "r1")
    await office.control.prepare("c1", 5)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(office.control.commit, "c1", 5, "step")
        await hold.reached()
        tasks.cancel_scope.cancel()
    hold.release()
    assert (await office.control.commit("c1", 5, "step"))["phase"] == "committed"


async def test_a_server_that_ends_lets_its_writes_finish(tmp_path: Path) -> None:
    office = make_office(tmp_path)
    async with office.control:
        office.server.seed("session-1", "r1")
        await office.control.prepare("c1", 5)
        await office.control.commit("c1", 5, "step", background=True)
        await office.control.resume("c1")
    assert is_published(office, "step")


async def test_an_error_in_a_server_passes_by_its_control_plane_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="mine"):
        async with make_office(tmp_path).control:
            raise LookupError("mine")


async def test_an_error_is_not_swallowed_with_the_tasks_that_are_cancelled_for_it(tmp_path: Path) -> None:
    office, hold = make_office(tmp_path), Hold()
    office.server.seed("session-1", "r1")
    async with office.control:
        await office.control.prepare("c", 5)
        await office.control.commit("c", 5, "step")
    fresh = make_office(tmp_path)
    fresh.server.holds["build"] = hold

    async def fail_amid_a_restore() -> None:
        async with fresh.control:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(fresh.control.restore, "x", 5, "step")
                await hold.reached()
                tasks.cancel_scope.cancel()
            raise LookupError("mine")

    try:
        with pytest.raises(LookupError, match="mine"):
            await fail_amid_a_restore()
    finally:
        hold.release()


async def test_a_server_that_is_cancelled_lets_its_writes_finish_and_is_cancelled_all_the_same(
    tmp_path: Path,
) -> None:
    office, reached = make_office(tmp_path), list[str]()
    office.server.seed("session-1", "r1")

    async def serve() -> None:
        async with office.control:
            await office.control.prepare("c", 5)
            await office.control.commit("c", 5, "step", background=True)
            reached.append("serving")
            await anyio.sleep_forever()
        reached.append("never")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        await settled()
        tasks.cancel_scope.cancel()
    assert reached == ["serving"]
    assert is_published(office, "step")


async def test_the_loop_is_answered_while_a_checkpoint_of_many_sessions_is_written(office: Office) -> None:
    for number in range(10_000):
        office.server.seed(f"session-{number}", f"r{number}", 0, "x" * 300)
    await office.control.prepare("c1", 5)
    await office.control.commit("c1", 5, "step", background=True)
    await office.control.resume("c1")
    for _ in range(50):
        call = office.control.gate.enter(Episode("r1", 0), "note")
        await anyio.lowlevel.checkpoint()
        office.control.gate.leave(call)
    assert not is_published(office, "step")
    await office.control.wait("c1", 15)
