"""A checkpoint of several servers as it lies in its folder: `checkpoint.json` says that it is complete."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from checkpoint.errors import CheckpointError, InvalidCheckpointState
from checkpoint.files import Folder, check_name, open_folder
from checkpoint.manifest import LONGEST_MANIFEST, MANIFEST_NAME, Manifest, read_manifest
from checkpoint.participants import Kind
from checkpoint.store import spoken_faults

FORMAT: Final = "fleet-checkpoint"
VERSION: Final = 1
CHECKPOINT_NAME: Final = "checkpoint.json"
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
        return {**content, "digest": hashlib.sha256(encoded(content)).hexdigest()}


def read_published(directory: Path) -> Published:
    """Read which servers wrote a checkpoint, and verify that their manifests are those. For worker threads.

    Raises:
        InvalidCheckpointState: it was never published, or it was altered.
    """
    with spoken_faults("there is no checkpoint"), open_folder(directory, (), create=False) as folder:
        data = folder.read(CHECKPOINT_NAME, at_most=LONGEST)
    published = _read(directory, data)
    for part in published.parts:
        if manifest_in(directory, part.kind, part.instance)["digest"] != part.digest:
            raise InvalidCheckpointState(f"{part.kind}/{part.instance}: the manifest is another one")
    return published


def manifest_in(directory: Path, kind: str, instance: str) -> Manifest:
    """The manifest that a participant wrote, verified.

    Raises:
        InvalidCheckpointState: it is missing, or it was altered.
    """
    what = f"{kind}/{instance}: its manifest cannot be seen from here"
    with spoken_faults(what), open_folder(directory, (kind, instance), create=False) as folder:
        manifest, _ = read_manifest(sealed_in(folder), kind=kind, instance=instance)
    return manifest


def sealed_in(folder: Folder) -> bytes:
    """The manifest in a participant's folder, as it is."""
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
    if encoded(published.as_json()) != data:
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


def encoded(content: Mapping[str, Any]) -> bytes:
    """The one way to write it down."""
    return orjson.dumps(content, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
