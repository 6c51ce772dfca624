"""A checkpoint of a fleet as a folder: complete or not there, whoever else is at it."""

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import checkpoint.files
import checkpoint.publishing
from checkpoint import Coordinator, FleetError, restore_checkpoint, take_checkpoint
from checkpoint.errors import InvalidCheckpointState
from checkpoint.published import read_published
from checkpoint.publishing import count_restore, publish, take_away, taking
from tests.checkpoint.disk import Disk, failing
from tests.checkpoint.fleet import Member, members, running, seed
from tests.checkpoint.test_coordination_faults import take, taken, two, where_of


async def test_it_names_every_participant_s_manifest_and_digest(tmp_path: Path) -> None:
    await taken(tmp_path)
    content = json.loads((where_of(tmp_path) / "checkpoint.json").read_text())
    assert [entry["manifest"] for entry in content["participants"]] == [
        "environment/a/manifest.json",
        "environment/b/manifest.json",
    ]
    for entry in content["participants"]:
        manifest = json.loads((where_of(tmp_path) / entry["manifest"]).read_text())
        assert (entry["digest"], entry["sessions"]) == (manifest["digest"], 3)
        assert manifest["checkpointId"] == content["checkpointId"]
    assert "session" not in (where_of(tmp_path) / "tries.jsonl").read_text()


@pytest.mark.parametrize("name", ["checkpoint.json", "environment/a/manifest.json", "environment"])
async def test_without_one_of_its_files_it_is_no_checkpoint(name: str, tmp_path: Path) -> None:
    await taken(tmp_path)
    (where_of(tmp_path) / name).rename(tmp_path / "elsewhere")
    await _refused(tmp_path, "missing")


@pytest.mark.parametrize("name", ["checkpoint.json", "environment/a/manifest.json"])
async def test_a_flipped_bit_anywhere_is_noticed(name: str, tmp_path: Path) -> None:
    await taken(tmp_path)
    file = where_of(tmp_path) / name
    good = file.read_bytes()
    for at in range(len(good)):
        file.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        with pytest.raises(InvalidCheckpointState):
            read_published(where_of(tmp_path))


async def test_a_manifest_of_another_checkpoint_is_noticed(tmp_path: Path) -> None:
    await taken(tmp_path)
    other = two(tmp_path)
    seed(other, each=1)
    async with running(other) as both, take_checkpoint(both, tmp_path / "root/other"):
        pass
    shutil.rmtree(where_of(tmp_path) / "environment/a")
    shutil.copytree(tmp_path / "root/other/environment/a", where_of(tmp_path) / "environment/a")
    await _refused(tmp_path, "environment/a: the manifest is another one")


async def _refused(tmp_path: Path, why: str) -> None:
    fresh = two(tmp_path)
    async with running(fresh) as both:
        with pytest.raises(InvalidCheckpointState, match=why):
            await restore_checkpoint(both, where_of(tmp_path))
    assert "checkpoint/restore" not in {name for member in fresh for name, _ in member.asked}
    assert not (where_of(tmp_path) / "restores.jsonl").exists()


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"null", b"\xff", b'{"format": "fleet-checkpoint"}'])
async def test_nonsense_in_its_place_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "checkpoint.json").write_bytes(content)
    with pytest.raises(InvalidCheckpointState, match=r"checkpoint\.json is"):
        read_published(tmp_path)


async def test_a_server_that_writes_elsewhere_is_noticed(tmp_path: Path) -> None:
    fleet = two(tmp_path)
    async with running(fleet) as both:
        with pytest.raises(InvalidCheckpointState, match="environment/b: its manifest cannot be seen"):
            await _take_with_a_loss(both, fleet[1], where_of(tmp_path))
        assert all(member.is_open for member in fleet)
        await take(both, tmp_path)


async def _take_with_a_loss(both: Coordinator, loser: Member, directory: Path) -> None:
    async with take_checkpoint(both, directory) as cut:
        await loser.control.wait(cut.checkpoint_id, 5)
        (directory / loser.name / "manifest.json").unlink()


async def test_a_server_that_does_not_see_the_folder_says_so(tmp_path: Path) -> None:
    fleet = [*members(tmp_path / "root", "a"), *members(tmp_path / "another", "b")]
    async with running(fleet) as both:
        with pytest.raises(FleetError, match=r"environment/b .*: checkpointDir lies outside"):
            await take(both, tmp_path)
        assert all(member.is_open for member in fleet)


async def test_a_folder_with_a_checkpoint_is_refused_before_anybody_stands_still(tmp_path: Path) -> None:
    await taken(tmp_path)
    fleet = two(tmp_path)
    async with running(fleet) as both:
        with pytest.raises(InvalidCheckpointState, match="another checkpoint stands in this folder"):
            await take(both, tmp_path)
    assert {name for member in fleet for name, _ in member.asked} == {"checkpoint/status"}


async def test_two_controllers_do_not_take_a_checkpoint_into_one_folder(tmp_path: Path) -> None:
    first, second = members(tmp_path / "root", "a"), members(tmp_path / "root", "b")
    async with running(first) as one, running(second) as other:
        async with take_checkpoint(one, where_of(tmp_path)):
            with pytest.raises(InvalidCheckpointState, match="another controller takes a checkpoint"):
                await take(other, tmp_path)
        with pytest.raises(InvalidCheckpointState, match="another checkpoint stands"):
            await take(other, tmp_path)
    assert read_published(where_of(tmp_path)).instances("environment") == ["a"]


async def test_a_commit_does_not_replace_what_was_published(tmp_path: Path) -> None:
    await taken(tmp_path)
    published = read_published(where_of(tmp_path))
    other = members(tmp_path / "root", "c")
    async with running(other):
        manifests = await _write(other, where_of(tmp_path), "another")
    with pytest.raises(InvalidCheckpointState, match="another checkpoint stands in this folder"):
        publish(where_of(tmp_path), "another", manifests)
    assert read_published(where_of(tmp_path)) == published


async def test_what_a_controller_left_that_was_killed_is_taken_away(tmp_path: Path) -> None:
    fleet = two(tmp_path)
    seed(fleet)
    async with running(fleet) as both:
        with taking(where_of(tmp_path), "of-the-dead"):
            await _write(fleet, where_of(tmp_path), "of-the-dead")
        await take(both, tmp_path)
    assert read_published(where_of(tmp_path)).sessions == 6
    assert len(list(where_of(tmp_path).rglob("records-*.jsonl"))) == 2


async def test_what_no_controller_of_a_fleet_has_written_is_left_alone(tmp_path: Path) -> None:
    fleet = two(tmp_path)
    seed(fleet)
    async with running(fleet) as both:
        await _write(fleet[:1], where_of(tmp_path), "somebody-s-own")
        with pytest.raises(FleetError, match=r"environment/a .*: another checkpoint stands in this folder"):
            await take(both, tmp_path)
        assert all(member.is_open for member in fleet)
    manifest = json.loads((where_of(tmp_path) / "environment/a/manifest.json").read_text())
    assert manifest["checkpointId"] == "somebody-s-own"


async def _write(fleet: list[Member], directory: Path, checkpoint_id: str) -> dict[str, Any]:
    manifests: dict[str, Any] = {}
    for member in fleet:
        await member.control.prepare(checkpoint_id, 5)
        committed: Any = await member.control.commit(checkpoint_id, 5, str(directory))
        manifests[member.name] = committed["manifest"]
        await member.control.resume(checkpoint_id)
    return manifests


def test_a_line_that_was_torn_keeps_its_number(tmp_path: Path) -> None:
    assert count_restore(tmp_path, "r1") == 1
    with (tmp_path / "restores.jsonl").open("ab") as file:
        file.write(b'{"rest')
    assert count_restore(tmp_path, "r3") == 3
    assert (tmp_path / "restores.jsonl").read_text().splitlines() == [
        '{"restore":"r1"}', '{"rest', '{"restore":"r3"}',
    ]  # fmt: skip


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("halfway", [False, True])
async def test_a_fault_at_any_call_leaves_it_published_whole_or_not_at_all(
    number: int, halfway: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = two(tmp_path)
    seed(fleet)
    directory = where_of(tmp_path)
    async with running(fleet):
        manifests = await _write(fleet, directory, "c1")
    at, was_refused = 0, 0
    while True:
        disk = Disk(at, failing(number, halfway=halfway))
        with monkeypatch.context() as patched:
            patched.setattr(checkpoint.files, "os", disk)
            patched.setattr(checkpoint.publishing, "os", disk)
            was_published = True
            try:
                publish(directory, "c1", manifests)
            except InvalidCheckpointState:
                was_refused += 1
                was_published = False
        # Once all is on disk, a file that cannot be closed takes nothing back.
        is_close = disk.calls[at : at + 1] == ["close"]
        assert was_published or halfway or is_close or not (directory / "checkpoint.json").exists()
        if (directory / "checkpoint.json").exists():
            assert read_published(directory).sessions == 6
        assert publish(directory, "c1", manifests) == read_published(directory)
        (directory / "checkpoint.json").unlink()
        if at >= len(disk.calls):
            break
        at += 1
    assert was_refused > 20


async def test_a_disk_that_fails_at_the_end_publishes_nothing_and_the_fleet_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = two(tmp_path)
    seed(fleet)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "injected")

    async with running(fleet) as both:
        with monkeypatch.context() as patched:
            patched.setattr(checkpoint.publishing, "write_all", full)
            with pytest.raises(InvalidCheckpointState, match=os.strerror(errno.ENOSPC)):
                await take(both, tmp_path)
        assert all(member.is_open for member in fleet)
        assert not (where_of(tmp_path) / "checkpoint.json").exists()
        await take(both, tmp_path)


async def test_a_checkpoint_that_was_published_is_not_taken_away(tmp_path: Path) -> None:
    await taken(tmp_path)
    published = read_published(where_of(tmp_path))
    take_away(where_of(tmp_path), [published.checkpoint_id])
    assert read_published(where_of(tmp_path)) == published
