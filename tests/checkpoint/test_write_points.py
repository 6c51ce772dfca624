"""A fault at every step of a commit leaves a complete checkpoint or a refused one, never a closed server."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkpoint import Granted, Store
from checkpoint.errors import CheckpointError, InvalidCheckpointState
from tests.checkpoint.disk import Disk, Fault, failing
from tests.checkpoint.killed_writer import ORIGIN, PROJECT, write
from tests.checkpoint.office import Office, make_office

LONGER_THAN_ANY_COMMIT = 200


@pytest.fixture(autouse=True)
def healthy_again() -> Iterator[None]:
    yield
    Disk.take_out()


def count_calls(root: Path) -> int:
    disk = Disk(LONGER_THAN_ANY_COMMIT, failing(errno.EIO))
    disk.put_in()
    write(root, "counted")
    Disk.take_out()
    assert disk.calls.count("fsync") >= 5
    assert {"rename", "link", "write", "mkdir"} <= set(disk.calls)
    return len(disk.calls)


def is_complete_or_refused(root: Path, directory: str) -> bool:
    store = Store(root, ORIGIN)
    try:
        contents = store.read(store.place(directory), "main", Granted())
    except InvalidCheckpointState:
        return False
    assert len(contents.states) == contents.manifest["counts"]["sessions"]
    return True


FAULTS = {
    "disk full": failing(errno.ENOSPC),
    "disk full halfway": failing(errno.ENOSPC, halfway=True),
    "input or output error": failing(errno.EIO),
    "input or output error afterwards": failing(errno.EIO, halfway=True),
    "permission": failing(errno.EACCES),
    "no links": failing(errno.EPERM),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_a_fault_at_any_step_of_a_commit(tmp_path: Path, fault: Fault) -> None:
    outcomes = set[str]()
    for number in range(count_calls(tmp_path / "counted")):
        root = tmp_path / f"root-{number}"
        office = make_office(root)
        office.server.seed("session-1", "r1", 0, "hello")
        async with office.control:
            await office.control.prepare("c1", 5)
            Disk(number, fault).put_in()
            try:
                await office.control.commit("c1", 5, "step")
                outcomes.add("published")
            except CheckpointError as error:
                outcomes.add(error.code)
                assert office.control.status()["phase"] == "prepared"
            Disk.take_out()
            is_complete_or_refused(root, "step")
            # The disk is well again, so the same commit works.
            assert (await office.control.commit("c1", 5, "step"))["phase"] == "committed"
            assert (await office.control.resume("c1"))["published"]
            assert office.control.gate.is_open
        assert is_complete_or_refused(root, "step")
        assert not leftovers_that_say_they_are_records(root)
    assert outcomes == {"published", "invalid_checkpoint_state"}


def leftovers_that_say_they_are_records(root: Path) -> list[Path]:
    folder = root / "step" / "office" / "main"
    return list(folder.glob("records-*.jsonl"))[1:]


@pytest.mark.parametrize("moment", ["before", "halfway"])
def test_a_process_killed_at_any_step_of_a_commit(tmp_path: Path, moment: str) -> None:
    program = [sys.executable, "-m", "tests.checkpoint.killed_writer", str(tmp_path), moment]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    run = subprocess.run(program, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True)
    kills = int(run.stdout)
    assert kills >= 20
    complete = [is_complete_or_refused(tmp_path, f"step-{number}") for number in range(kills)]
    # Refused up to the link, complete from there on: nothing in between, and no way back.
    assert complete == sorted(complete)
    assert not complete[0]
    assert complete[-1]
    for number in range(kills):
        write(tmp_path, f"step-{number}")
        assert is_complete_or_refused(tmp_path, f"step-{number}")


async def test_the_kernel_may_take_the_bytes_one_at_a_time(tmp_path: Path) -> None:
    def write_one(fd: int, data: memoryview) -> int:
        return os.write(fd, data[:1])

    class Slow(Disk):
        def __getattr__(self, name: str) -> object:
            if name == "write":
                return write_one
            return super().__getattr__(name)

    Slow(LONGER_THAN_ANY_COMMIT, failing(errno.EIO)).put_in()
    write(tmp_path, "step")
    assert is_complete_or_refused(tmp_path, "step")


async def test_a_full_disk_in_the_background_is_told_to_whoever_waits(office: Office) -> None:
    await office.control.prepare("c1", 5)
    Disk(4, failing(errno.ENOSPC)).put_in()
    assert await office.control.commit("c1", 5, "step", background=True) == {
        "phase": "committed",
        "writing": True,
    }
    with pytest.raises(InvalidCheckpointState, match="No space left"):
        await office.control.wait("c1", 5)
    with pytest.raises(InvalidCheckpointState, match="No space left"):
        await office.control.commit("c1", 5, "step", background=True)
    assert await office.control.resume("c1") == {"phase": "idle", "published": False}


async def test_what_is_written_is_for_its_owner_only(office: Office) -> None:
    await office.control.prepare("c1", 5)
    await office.control.commit("c1", 5, "a/b")
    modes = {path.name[:7]: path.stat().st_mode & 0o777 for path in office.root.rglob("*")}
    assert modes == {
        "a": 0o700,
        "b": 0o700,
        "office": 0o700,
        "main": 0o700,
        "records": 0o600,
        "manifes": 0o600,
    }
