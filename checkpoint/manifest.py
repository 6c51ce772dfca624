"""The manifest: the file whose existence says that a checkpoint is complete."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

import orjson

from checkpoint.errors import InvalidCheckpointState

FORMAT: Final = "checkpoint"
VERSION: Final = 1
MANIFEST_NAME: Final = "manifest.json"
LONGEST_MANIFEST: Final = 1 << 20
_HEX_DIGITS: Final = frozenset("0123456789abcdef")

Manifest = dict[str, Any]
"""A manifest as it is written down and answered: see `seal`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Who writes a checkpoint.

    Attributes:
        kind: what kind of server it is; only the same kind reads it back.
        instance: which one of them.
        mode: its `checkpoint_mode`.
        data_set: digest of the data it was started with, if that means anything. Told, never compared.
        versions: what it ran on, by name. Told, never compared.
    """

    kind: str
    instance: str
    mode: str
    data_set: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Records:
    """What the records file holds.

    Attributes:
        sha256: of the whole file, in hex.
        size: in bytes.
        bases: how many lines are bases.
        sessions: how many lines are sessions.
    """

    sha256: str
    size: int
    bases: int
    sessions: int

    @property
    def name(self) -> str:
        """The name of the file."""
        return f"records-{self.sha256}.jsonl"


def seal(origin: Origin, checkpoint_id: str, records: Records) -> Manifest:
    """Make a manifest, with a digest over all the rest of it."""
    manifest: Manifest = {
        "format": FORMAT,
        "version": VERSION,
        "kind": origin.kind,
        "instance": origin.instance,
        "mode": origin.mode,
        "checkpointId": checkpoint_id,
        "records": records.name,
        "sha256": records.sha256,
        "counts": {"bases": records.bases, "sessions": records.sessions, "bytes": records.size},
        "dataSet": origin.data_set,
        "versions": dict(origin.versions),
    }
    return {**manifest, "digest": _digest(manifest)}


def encode_manifest(manifest: Manifest) -> bytes:
    """The one way to write a manifest down."""
    return orjson.dumps(manifest, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def read_manifest(data: bytes, *, kind: str, instance: str) -> tuple[Manifest, Records]:
    """Verify a manifest byte by byte.

    Args:
        data: the file.
        kind: what kind it must be.
        instance: which instance must have written it.

    Raises:
        InvalidCheckpointState: it is altered, foreign, or of another format.
    """
    try:
        manifest = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InvalidCheckpointState("the manifest is not JSON") from error
    if not isinstance(manifest, dict):
        raise InvalidCheckpointState("the manifest is no object")
    manifest = cast("Manifest", manifest)
    if (manifest.get("format"), manifest.get("version")) != (FORMAT, VERSION):
        raise InvalidCheckpointState("the manifest is of an unknown format")
    # Written down again it must be the same bytes: a changed blank is an alteration, too.
    sealed = {name: value for name, value in manifest.items() if name != "digest"}
    if manifest.get("digest") != _digest(sealed) or encode_manifest(manifest) != data:
        raise InvalidCheckpointState("the manifest was altered")
    if (manifest.get("kind"), manifest.get("instance")) != (kind, instance):
        raise InvalidCheckpointState(f"the manifest is not one of {kind}/{instance}")
    return manifest, _records(manifest)


def _records(manifest: Manifest) -> Records:
    # Whoever writes a manifest can seal it, so a sealed one is not believed blindly either.
    counts, sha256 = manifest.get("counts"), manifest.get("sha256")
    if not isinstance(counts, dict) or not isinstance(manifest.get("checkpointId"), str):
        raise InvalidCheckpointState("the manifest lacks what belongs in it")
    counts = cast("dict[str, Any]", counts)
    if not isinstance(sha256, str) or len(sha256) != 64 or not _HEX_DIGITS.issuperset(sha256):
        raise InvalidCheckpointState("the manifest names no sha256")
    numbers = [counts.get(name) for name in ("bytes", "bases", "sessions")]
    if any(type(number) is not int or number < 0 for number in numbers):
        raise InvalidCheckpointState("the manifest counts with something else than numbers")
    records = Records(sha256, *cast("list[int]", numbers))
    if manifest.get("records") != records.name:
        raise InvalidCheckpointState("the manifest names a foreign records file")
    return records


def _digest(manifest: Manifest) -> str:
    return hashlib.sha256(encode_manifest(manifest)).hexdigest()
