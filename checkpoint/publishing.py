"""Bringing a checkpoint of several servers into being in its folder: `checkpoint.json` is written last."""

import os
import threading
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

import orjson

from checkpoint.errors import InvalidCheckpointState
from checkpoint.files import Folder, open_folder, write_all
from checkpoint.journal import open_journal
from checkpoint.manifest import MANIFEST_NAME, Manifest, read_manifest
from checkpoint.participants import Kind
from checkpoint.published import CHECKPOINT_NAME, LONGEST, Part, Published, encoded, manifest_in, sealed_in
from checkpoint.store import spoken_faults, temporary_name

RESTORES_NAME: Final = "restores.jsonl"
TRIES_NAME: Final = "tries.jsonl"
# A thread whose caller was cancelled may still publish what the caller has taken away.
_ONE_AT_A_TIME: Final = threading.Lock()


def absolute(directory: str | os.PathLike[str]) -> Path:
    """The folder as it is sent to servers: absolute, without `.` and `..`."""
    return Path(os.path.abspath(directory))  # noqa: PTH100  # Path.resolve follows links, .absolute keeps ..


def publish(directory: Path, checkpoint_id: str, manifests: Mapping[str, Manifest]) -> Published:
    """Say that a checkpoint is complete; or find that it was said already. For worker threads.

    Args:
        directory: its folder, absolute.
        checkpoint_id: its id.
        manifests: name of each participant, such as `environment/main`, to the manifest it answered.

    Raises:
        InvalidCheckpointState: a manifest is not in the folder, another checkpoint stands there, or the disk
            does not play along.
    """
    with _ONE_AT_A_TIME, spoken_faults("the checkpoint could not be published"):
        published = Published(checkpoint_id, directory, _parts_of(directory, checkpoint_id, manifests))
        with open_folder(directory, (), create=False) as folder:
            _write(folder, encoded(published.as_json()))
    return published


def _write(folder: Folder, data: bytes) -> None:
    name = temporary_name()
    with folder.temporary(name) as fd:
        write_all(fd, data)
        os.fsync(fd)
        try:
            folder.link(name, CHECKPOINT_NAME)
        except FileExistsError:
            if folder.read(CHECKPOINT_NAME, at_most=LONGEST) != data:
                raise InvalidCheckpointState("another checkpoint stands in this folder") from None
            folder.sync()
            return
        try:
            folder.sync()
        except OSError:
            # What may be gone after the next power cut was not published.
            folder.remove(CHECKPOINT_NAME)
            raise


def count_restore(directory: Path, restore_id: str) -> int:
    """Note a restore before it happens; its number is how many attempts further on its sessions are.

    No two restores get the same number, whichever controllers they are of. For worker threads.

    Raises:
        InvalidCheckpointState: the note cannot be written.
    """
    with (
        spoken_faults(f"{RESTORES_NAME} could not be written"),
        open_folder(directory, (), create=False) as folder,
        open_journal(folder, RESTORES_NAME, wait=True) as journal,
    ):
        assert journal is not None
        return journal.append({"restore": restore_id})


@contextmanager
def taking(directory: Path, checkpoint_id: str) -> Generator[list[str]]:
    """Have a folder alone while a checkpoint is taken into it. For worker threads.

    Gives the ids of earlier tries, which came to nothing: what they left there is to be taken away.

    Raises:
        InvalidCheckpointState: a checkpoint stands there, or is being taken by another controller.
    """
    with (
        spoken_faults("the folder cannot be used"),
        open_folder(directory, (), create=True) as folder,
        open_journal(folder, TRIES_NAME, wait=False) as journal,
    ):
        if journal is None:
            raise InvalidCheckpointState("another controller takes a checkpoint into this folder")
        if folder.has(CHECKPOINT_NAME):
            raise InvalidCheckpointState("another checkpoint stands in this folder")
        tried = [tried for line in journal.lines() if (tried := _tried(line))]
        journal.append({"checkpoint": checkpoint_id})
        yield tried


def take_away(directory: Path, checkpoint_ids: Collection[str]) -> None:
    """Take away what servers wrote for these checkpoints, unless one was published. For worker threads.

    Raises:
        InvalidCheckpointState: the disk does not play along.
    """
    with _ONE_AT_A_TIME, spoken_faults("an abandoned checkpoint could not be taken away"):
        with open_folder(directory, (), create=False) as folder:
            if folder.has(CHECKPOINT_NAME):
                return
        _sweep(directory, checkpoint_ids)


def _sweep(directory: Path, checkpoint_ids: Collection[str]) -> None:
    for kind in Kind:
        with open_folder(directory, (), create=False) as folder:
            if not folder.has(kind):
                continue
        with open_folder(directory, (kind,), create=False) as folder:
            instances = folder.folders()
        for instance in instances:
            with open_folder(directory, (kind, instance), create=False) as folder:
                _sweep_part(folder, kind, instance, checkpoint_ids)


def _sweep_part(folder: Folder, kind: str, instance: str, checkpoint_ids: Collection[str]) -> None:
    if not folder.has(MANIFEST_NAME):
        return
    try:
        manifest, records = read_manifest(sealed_in(folder), kind=kind, instance=instance)
    except InvalidCheckpointState:
        return  # whatever it is, it is none of ours
    if manifest["checkpointId"] in checkpoint_ids:
        folder.remove(MANIFEST_NAME)
        folder.sync()
        folder.remove(records.name)


def _tried(line: bytes) -> str | None:
    try:
        entry = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None  # torn by a crash before anybody was asked to write
    tried = cast("dict[str, Any]", entry).get("checkpoint") if isinstance(entry, dict) else None
    return tried if isinstance(tried, str) else None


def _parts_of(directory: Path, checkpoint_id: str, manifests: Mapping[str, Manifest]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for name, manifest in sorted(manifests.items()):
        kind, _, instance = name.partition("/")
        if manifest["checkpointId"] != checkpoint_id or manifest_in(directory, kind, instance) != manifest:
            raise InvalidCheckpointState(f"{name}: what it wrote is not what lies in the folder")
        parts.append(Part(kind, instance, manifest["digest"], manifest["counts"]["sessions"]))
    return tuple(parts)
