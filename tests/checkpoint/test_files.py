"""Checkpoints that were damaged, swapped, raced for, or lie somewhere else than they say."""

import hashlib
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from checkpoint import Granted, Manifest, Origin, StateExport, Store
from checkpoint.errors import InvalidCheckpointState, InvalidParams
from checkpoint.manifest import encode_manifest
from tests.checkpoint.killed_writer import FACTS, ORIGIN, PROJECT, snapshot, write
from tests.checkpoint.office import Exporting, make_office


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    write(root, "step")
    return root


def folder_of(root: Path, directory: str = "step") -> Path:
    return root / directory / "office" / "main"


def manifest_of(root: Path) -> Path:
    return folder_of(root) / "manifest.json"


def records_of(root: Path) -> Path:
    (path,) = folder_of(root).glob("records-*.jsonl")
    return path


def read(root: Path, directory: str = "step", instance: str = "main") -> object:
    store = Store(root, ORIGIN)
    return store.read(store.place(directory), instance, Granted())


@pytest.mark.parametrize("path_of", [manifest_of, records_of])
@pytest.mark.parametrize("bit", range(8))
def test_a_flipped_bit_anywhere_is_noticed(root: Path, path_of: Callable[[Path], Path], bit: int) -> None:
    path = path_of(root)
    whole = path.read_bytes()
    for offset in range(len(whole)):
        altered = bytearray(whole)
        altered[offset] ^= 1 << bit
        path.write_bytes(altered)
        with pytest.raises(InvalidCheckpointState) as caught:
            read(root)
        assert caught.value.facts["reason"]
    path.write_bytes(whole)
    assert read(root)


@pytest.mark.parametrize("path_of", [manifest_of, records_of])
def test_a_torn_file_is_noticed_wherever_it_ends(root: Path, path_of: Callable[[Path], Path]) -> None:
    path = path_of(root)
    whole = path.read_bytes()
    for torn in [*(whole[:length] for length in range(len(whole))), whole + b"\n", whole + whole]:
        path.write_bytes(torn)
        with pytest.raises(InvalidCheckpointState):
            read(root)


@pytest.mark.parametrize("path_of", [manifest_of, records_of])
def test_a_missing_file_is_noticed(root: Path, path_of: Callable[[Path], Path]) -> None:
    path_of(root).unlink()
    with pytest.raises(InvalidCheckpointState, match="missing"):
        read(root)


@pytest.mark.parametrize("path_of", [manifest_of, records_of])
def test_a_file_of_another_checkpoint_is_noticed(root: Path, path_of: Callable[[Path], Path]) -> None:
    store = Store(root, ORIGIN)
    other = StateExport([], {})
    store.write(store.place("other"), "c2", other, FACTS, Granted())
    (foreign,) = folder_of(root, "other").glob(path_of(root).name.split("-")[0] + "*")
    path_of(root).write_bytes(foreign.read_bytes())
    with pytest.raises(InvalidCheckpointState):
        read(root)


@pytest.mark.parametrize("path_of", [manifest_of, records_of])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_is_not_read(root: Path, path_of: Callable[[Path], Path], kind: str) -> None:
    path = path_of(root)
    kept = path.rename(root / "kept")
    if kind == "link":
        path.symlink_to(kept)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(InvalidCheckpointState):
        read(root)


def test_a_checkpoint_under_another_name_is_foreign(root: Path) -> None:
    shutil.copytree(folder_of(root), folder_of(root).with_name("other"))
    with pytest.raises(InvalidCheckpointState, match="not one of office/other"):
        read(root, instance="other")
    with pytest.raises(InvalidCheckpointState, match="missing"):
        read(root, instance="third")
    with pytest.raises(InvalidCheckpointState, match="missing"):
        read(root, directory="nowhere")


def reseal(root: Path, change: Callable[[Manifest], None]) -> None:
    manifest = orjson.loads(manifest_of(root).read_bytes())
    del manifest["digest"]
    change(manifest)
    manifest["digest"] = hashlib.sha256(encode_manifest(manifest)).hexdigest()
    manifest_of(root).write_bytes(encode_manifest(manifest))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", 2),
        ("format", "other"),
        ("sha256", "../" * 21 + "x"),
        ("sha256", None),
        ("records", "records.jsonl"),
        ("counts", None),
        ("checkpointId", 7),
        ("kind", "other"),
        ("counts.sessions", 2),
        ("counts.bases", 0),
        ("counts.bytes", -1),
        ("counts.bytes", True),
        ("counts.sessions", "3"),
    ],
)
def test_a_manifest_sealed_by_someone_else_is_not_believed(root: Path, field: str, value: object) -> None:
    def change(manifest: Manifest) -> None:
        *above, name = field.split(".")
        (manifest["counts"] if above else manifest)[name] = value

    reseal(root, change)
    with pytest.raises(InvalidCheckpointState):
        read(root)


def test_a_manifest_that_is_no_object_is_refused(root: Path) -> None:
    manifest_of(root).write_bytes(b"[]\n")
    with pytest.raises(InvalidCheckpointState, match="no object"):
        read(root)


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[]",
        b'{"base":"b2"}',
        b'{"base":"b2","value":1,"more":1}',
        b'{"session":{"sessionId":"x"}}',
        b'{"session":{"sessionId":7,"episode":{"rolloutId":"r","attempt":0}}}',
        b'{"session":{"sessionId":"x","episode":{"rolloutId":"r","attempt":true}}}',
        b'{"session":{"sessionId":"x","episode":{"rolloutId":"r","attempt":-1}}}',
        b'{"session":{"sessionId":"x","episode":{"rolloutId":"r","attempt":0,"more":1}}}',
        b'{"session":7}',
        b'{"facts":{}}',
        b'{"facts":{},"more":1}',
    ],
)
def test_a_line_of_an_unknown_kind_is_refused_even_under_a_right_digest(root: Path, line: bytes) -> None:
    records = records_of(root)
    data = records.read_bytes() + line
    sha256 = hashlib.sha256(data).hexdigest()
    records.with_name(f"records-{sha256}.jsonl").write_bytes(data)

    def change(manifest: Manifest) -> None:
        manifest.update(sha256=sha256, records=f"records-{sha256}.jsonl")
        manifest["counts"]["bytes"] = len(data)

    reseal(root, change)
    with pytest.raises(InvalidCheckpointState):
        read(root)


def test_a_folder_holds_one_checkpoint_for_good(root: Path) -> None:
    store = Store(root, ORIGIN)
    again = store.write(store.place("./step"), "c1", snapshot(), FACTS, Granted())
    assert again == orjson.loads(manifest_of(root).read_bytes())
    with pytest.raises(InvalidCheckpointState, match="another checkpoint"):
        store.write(store.place("step"), "c2", snapshot(), FACTS, Granted())
    with pytest.raises(InvalidCheckpointState, match="another checkpoint"):
        store.write(store.place("step"), "c1", StateExport([], {}), FACTS, Granted())
    assert orjson.loads(manifest_of(root).read_bytes()) == again
    assert sorted(path.name for path in folder_of(root).iterdir()) == ["manifest.json", records_of(root).name]


def test_a_damaged_checkpoint_is_not_repaired_by_committing_it_again(root: Path) -> None:
    records_of(root).write_bytes(b"damaged")
    with pytest.raises(InvalidCheckpointState, match="torn or were altered"):
        write(root, "step")


@pytest.mark.parametrize("turn", range(10))
def test_of_many_threads_that_race_for_a_folder_one_wins(tmp_path: Path, turn: int) -> None:
    store, together, outcomes = Store(tmp_path, ORIGIN), threading.Barrier(4), Counter[str]()

    def race(number: int) -> None:
        together.wait()
        try:
            store.write(store.place("step"), f"c{number}", snapshot(), {**FACTS, "server": [turn]}, Granted())
            outcomes["won"] += 1
        except InvalidCheckpointState as error:
            outcomes[error.reason] += 1

    threads = [threading.Thread(target=race, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {"won": 1, "another checkpoint stands in this folder": 3}
    assert read(tmp_path)


def test_of_two_processes_that_race_for_folders_one_wins_each(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    program = [sys.executable, "-m", "tests.checkpoint.racing_writer", str(tmp_path)]
    racers = [
        subprocess.Popen([*program, name], cwd=PROJECT, env=environment, stdout=subprocess.PIPE, text=True)
        for name in ("a", "b")
    ]
    won = [set(racer.communicate()[0].split()) for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0]
    assert won[0] | won[1] == {f"step-{number}" for number in range(50)}
    assert not won[0] & won[1]
    for number in range(50):
        assert read(tmp_path, f"step-{number}")


@pytest.mark.parametrize(
    "directory", ["", "..", "a/../b", "../{root}/step", "/", "/etc", "a\0b", "a\nb", "\ud800", "/../x"]
)
async def test_a_path_out_of_the_root_is_an_invalid_parameter(root: Path, directory: str) -> None:
    office = make_office(root)
    async with office.control:
        with pytest.raises(InvalidParams) as caught:
            await office.control.restore("r", 5, directory.replace("{root}", root.name))
        assert caught.value.facts["reason"]
        assert office.control.status()["checkpointId"] is None


def test_a_folder_may_be_named_in_several_ways(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    for directory in ("step", "./step", "step/", "step/.", str(root / "step")):
        assert read(root, directory)
    for directory in (str(root / "step"), str(tmp_path / "alias" / "step"), "step"):
        assert read(tmp_path / "alias", directory)
    write(root, ".")
    assert read(root, ".")


@pytest.mark.parametrize("level", ["step", "step/office", "step/office/main"])
async def test_a_link_that_leads_out_of_the_root_is_refused(root: Path, tmp_path: Path, level: str) -> None:
    outside = tmp_path / "outside"
    (root / level).rename(outside)
    (root / level).symlink_to(outside)
    office = make_office(root)
    async with office.control:
        with pytest.raises(InvalidCheckpointState, match="out of the checkpoint root"):
            await office.control.restore("r", 5, "step")
        await office.control.prepare("c", 5)
        with pytest.raises(InvalidCheckpointState, match="out of the checkpoint root"):
            await office.control.commit("c", 5, "step")
        assert (await office.control.resume("c"))["phase"] == "idle"


def test_links_within_the_root_are_followed_and_endless_ones_refused(root: Path) -> None:
    (root / "latest").symlink_to("step")
    assert read(root, "latest")
    (root / "loop").symlink_to("loop")
    with pytest.raises(InvalidCheckpointState):
        read(root, "loop")
    (root / "dangling").symlink_to("nowhere")
    with pytest.raises(InvalidCheckpointState):
        read(root, "dangling")


def test_a_file_where_a_folder_should_be_is_refused(root: Path) -> None:
    (root / "file").write_text("")
    with pytest.raises(InvalidCheckpointState):
        read(root, "file")
    with pytest.raises(InvalidCheckpointState):
        write(root, "file")


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "a b", "ä", "x" * 65])
def test_kind_and_instance_can_name_a_folder(tmp_path: Path, name: str) -> None:
    for origin in (Origin(name, "main", "exported"), Origin("office", name, "exported")):
        with pytest.raises(InvalidParams):
            Store(tmp_path, origin)
    with pytest.raises(InvalidParams):
        make_office(tmp_path, Exporting(), instance=name)


def test_what_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    store = Store(tmp_path, ORIGIN)
    good = {"sessionId": "session-1", "episode": {"rolloutId": "r", "attempt": 0}}
    for state in (
        {**good, "notes": object()},
        {**good, "notes": orjson.Fragment(b"[\n]")},
        {**good, "notes": "\ud800"},
        {**good, "episode": None},
        {"episode": good["episode"]},
    ):
        with pytest.raises(InvalidCheckpointState):
            store.write(store.place("step"), "c", StateExport([state], {}), None, Granted())
    fragment = {**good, "notes": orjson.Fragment(b'["hello"]')}
    store.write(store.place("step"), "c", StateExport([fragment], {}), None, Granted())
    contents = store.read(store.place("step"), "main", Granted())
    assert list(contents.states) == [{**good, "notes": ["hello"]}]


def test_a_checkpoint_of_many_chunks_is_read_back_whole(tmp_path: Path) -> None:
    store = Store(tmp_path, ORIGIN)
    states = [
        {"sessionId": f"s{number}", "episode": {"rolloutId": "r", "attempt": number}, "text": "x" * 500}
        for number in range(1000)
    ]
    store.write(store.place("step"), "c", StateExport(iter(states), {"b": 1}), {}, Granted())
    assert list(store.read(store.place("step"), "main", Granted()).states) == states
