"""A checkpoint of several servers as a folder: `checkpoint.json` is written last, and makes it one."""

import hashlib
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import orjson

from checkpoint.errors import CheckpointError, InvalidCheckpointState
from checkpoint.files import Folder, check_name, open_folder, write_all
from checkpoint.journal import open_journal
from checkpoint.manifest import LONGEST_MANIFEST, MANIFEST_NAME, Manifest, read_manifest
from checkpoint.participants import Kind
from checkpoint.store import spoken_faults, temporary_name

FORMAT: Final = "fleet-checkpoint"
VERSION: Final = 1
CHECKPOINT_NAME: Final = "checkpoint.json"
RESTORES_NAME: Final = "restores.jsonl"
TRIES_NAME: Final = "tries.jsonl"
LONGEST: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class Part:
    """What one server wrote.

    Attributes:
        kind: its kind.
        instance: its instance.
        digest: of its manifest.
        sessions: how many sessions it holds.
    """

    kind: str
    instance: str
    digest: str
    sessions: int

    def as_json(self) -> dict[str, Any]:
        """As it is written down."""
        manifest = f"{self.kind}/{self.instance}/{MANIFEST_NAME}"
        return {
            "kind": self.kind,
            "instance": self.instance,
            "manifest": manifest,
            "digest": self.digest,
            "sessions": self.sessions,
        }


@dataclass(frozen=True, slots=True)
class Published:
    """A checkpoint of several servers that is complete.

    Attributes:
        checkpoint_id: its id.
        directory: its folder, absolute.
        parts: what each server wrote, sorted by kind and instance.
    """

    checkpoint_id: str
    directory: Path
    parts: tuple[Part, ...]

    @property
    def sessions(self) -> int:
        """How many sessions it holds."""
        return sum(part.sessions for part in self.parts)

    def instances(self, kind: str) -> list[str]:
        """The instances of a kind that wrote it, sorted."""
        return [part.instance for part in self.parts if part.kind == kind]

    def as_json(self) -> dict[str, Any]:
        """As it is written down, with a digest over all the rest."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "checkpointId": self.checkpoint_id,
            "participants": [part.as_json() for part in self.parts],
        }
        return {**content, "digest": hashlib.sha256(_encoded(content)).hexdigest()}


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
    published = Published(checkpoint_id, directory, _parts_of(directory, checkpoint_id, manifests))
    data = _encoded(published.as_json())
    with (
        spoken_faults("the checkpoint could not be published"),
        open_folder(directory, (), create=False) as folder,
    ):
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
    return published


def read_published(directory: Path) -> Published:
    """Read which servers wrote a checkpoint, and verify that their manifests are those. For worker threads.

    Raises:
        InvalidCheckpointState: it was never published, or it was altered.
    """
    with spoken_faults("there is no checkpoint"), open_folder(directory, (), create=False) as folder:
        data = folder.read(CHECKPOINT_NAME, at_most=LONGEST)
    published = _read(directory, data)
    for part in published.parts:
        if _manifest(directory, part.kind, part.instance)["digest"] != part.digest:
            raise InvalidCheckpointState(f"{part.kind}/{part.instance}: the manifest is another one")
    return published


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
def taking(directory: Path, checkpoint_id: str) -> Generator[None]:
    """Have a folder alone while a checkpoint is taken into it. For worker threads.

    What earlier tries that came to nothing left there is taken away, so that a folder can be tried again.

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
        _sweep(directory, {tried for line in journal.lines() if (tried := _tried(line))})
        journal.append({"checkpoint": checkpoint_id})
        yield


def take_away(directory: Path, checkpoint_id: str) -> None:
    """Take away what servers wrote for a checkpoint that was not published. For worker threads.

    Raises:
        InvalidCheckpointState: the disk does not play along.
    """
    with spoken_faults("an abandoned checkpoint could not be taken away"):
        _sweep(directory, {checkpoint_id})


def _sweep(directory: Path, checkpoint_ids: set[str]) -> None:
    for kind in Kind:
        with open_folder(directory, (), create=False) as folder:
            if not folder.has(kind):
                continue
        with open_folder(directory, (kind,), create=False) as folder:
            instances = folder.folders()
        for instance in instances:
            with open_folder(directory, (kind, instance), create=False) as folder:
                _sweep_part(folder, kind, instance, checkpoint_ids)


def _sweep_part(folder: Folder, kind: str, instance: str, checkpoint_ids: set[str]) -> None:
    if not folder.has(MANIFEST_NAME):
        return
    try:
        manifest, records = read_manifest(_sealed(folder), kind=kind, instance=instance)
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
        if manifest["checkpointId"] != checkpoint_id or _manifest(directory, kind, instance) != manifest:
            raise InvalidCheckpointState(f"{name}: what it wrote is not what lies in the folder")
        parts.append(Part(kind, instance, manifest["digest"], manifest["counts"]["sessions"]))
    return tuple(parts)


def _manifest(directory: Path, kind: str, instance: str) -> Manifest:
    what = f"{kind}/{instance}: its manifest cannot be seen from here"
    with spoken_faults(what), open_folder(directory, (kind, instance), create=False) as folder:
        manifest, _ = read_manifest(_sealed(folder), kind=kind, instance=instance)
    return manifest


def _sealed(folder: Folder) -> bytes:
    return folder.read(MANIFEST_NAME, at_most=LONGEST_MANIFEST)


def _read(directory: Path, data: bytes) -> Published:
    try:
        content: Any = orjson.loads(data)
        if (content["format"], content["version"]) != (FORMAT, VERSION):
            raise InvalidCheckpointState(f"{CHECKPOINT_NAME} is of an unknown format")
        parts = tuple(map(_read_part, content["participants"]))
        published = Published(str(content["checkpointId"]), directory, parts)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise InvalidCheckpointState(f"{CHECKPOINT_NAME} is no list of what was written") from error
    # Written down again it must be the same bytes: whatever was altered, it shows.
    if _encoded(published.as_json()) != data:
        raise InvalidCheckpointState(f"{CHECKPOINT_NAME} was altered")
    return published


def _read_part(entry: Any) -> Part:
    try:
        return Part(
            Kind(entry["kind"]),
            check_name(entry["instance"], "an instance"),
            str(entry["digest"]),
            int(entry["sessions"]),
        )
    except CheckpointError as error:
        raise ValueError(str(error)) from error


def _encoded(content: Mapping[str, Any]) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
