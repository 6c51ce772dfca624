"""Checkpoints as files: the records first, then the manifest that says they are there."""

import errno
import hashlib
import os
import secrets
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, cast

import orjson

from checkpoint.episode import Episode, read_episode, shortened
from checkpoint.errors import InvalidCheckpointState
from checkpoint.files import Folder, Place, check_name, open_folder, place_in, write_all
from checkpoint.hooks import State, StateExport
from checkpoint.manifest import (
    LONGEST_MANIFEST,
    MANIFEST_NAME,
    Manifest,
    Origin,
    Records,
    encode_manifest,
    read_manifest,
    seal,
)

_CHUNK: Final = 1 << 16
# The worker thread works in slices of about a millisecond and really sleeps between them: giving the interpreter
# lock up for no time at all would not let the event loop have it.
_BREATH: Final = 0.0002


class Permit(Protocol):
    """Whether a worker thread may go on."""

    def check(self) -> None:
        """Raise if the work is not wanted any more."""
        ...

    def begin_publishing(self) -> None:
        """Raise if the work is not wanted any more; from here on it cannot be stopped."""
        ...


class Granted:
    """Nobody will stop the work."""

    def check(self) -> None:
        """Go on."""

    def begin_publishing(self) -> None:
        """Go on."""


@dataclass(frozen=True, slots=True)
class Contents:
    """A checkpoint as read back: every digest and count is right, no state is validated yet.

    Attributes:
        manifest: the manifest.
        bases: what the states share, by digest.
        facts: the line of server facts.
        states: one mapping a session.
    """

    manifest: Manifest
    bases: dict[str, Any]
    facts: Any
    states: list[State]


class Store:
    """The checkpoints of one kind of server under one root. Its methods but `place` are for worker threads."""

    def __init__(self, root: Path, origin: Origin) -> None:
        """Keep files under `root`, made when the first one is written.

        Raises:
            InvalidParams: kind or instance cannot name a folder.
        """
        check_name(origin.kind, "kind")
        check_name(origin.instance, "instance")
        self._root, self._origin = root, origin

    def place(self, directory: str) -> Place:
        """Where `directory` is under the root.

        Raises:
            InvalidParams: nowhere.
        """
        return place_in(self._root, directory)

    def write(
        self, place: Place, checkpoint_id: str, snapshot: StateExport, facts: object, permit: Permit
    ) -> Manifest:
        """Write a checkpoint whole; or answer the one that stands there, if it is the same.

        Args:
            place: the checkpoint's folder.
            checkpoint_id: its id.
            snapshot: what to write; walked through once.
            facts: the line of server facts, JSON-able.
            permit: asked between slices of work, and before the checkpoint comes into being.

        Raises:
            InvalidCheckpointState: another checkpoint stands there, or the disk does not play along.
        """
        where = (*place, self._origin.kind, self._origin.instance)
        with (
            _spoken_faults("the checkpoint could not be written"),
            open_folder(self._root, where, create=True) as folder,
        ):
            name = _temporary_name()
            with folder.temporary(name) as fd:
                records = _write_records(fd, snapshot, facts, permit)
                os.fsync(fd)
                is_free = not folder.has(MANIFEST_NAME)
                if is_free:
                    folder.rename(name, records.name)
                    folder.sync()
            permit.begin_publishing()
            manifest = seal(self._origin, checkpoint_id, records)
            if is_free and _publish(folder, manifest):
                return manifest
            return self._standing(folder, checkpoint_id, records)

    def _standing(self, folder: Folder, checkpoint_id: str, wanted: Records) -> Manifest:
        manifest, records, _ = _read_files(folder, self._origin.kind, self._origin.instance)
        if (manifest["checkpointId"], records) != (checkpoint_id, wanted):
            raise InvalidCheckpointState("another checkpoint stands in this folder")
        # Whoever put it there may have died before this.
        folder.sync()
        return manifest

    def read(self, place: Place, instance: str, permit: Permit) -> Contents:
        """Read a checkpoint and verify all of it.

        Args:
            place: the checkpoint's folder.
            instance: whose records to read.
            permit: asked between slices of work.

        Raises:
            InvalidCheckpointState: it is missing, torn, altered or foreign.
        """
        with (
            _spoken_faults("the checkpoint could not be read"),
            open_folder(self._root, (*place, self._origin.kind, instance), create=False) as folder,
        ):
            manifest, records, data = _read_files(folder, self._origin.kind, instance)
        return _parse(manifest, records, data, permit)


def _publish(folder: Folder, manifest: Manifest) -> bool:
    """Bring the manifest into being whole; False if there is one already."""
    name = _temporary_name()
    with folder.temporary(name) as fd:
        write_all(fd, encode_manifest(manifest))
        os.fsync(fd)
        try:
            folder.link(name, MANIFEST_NAME)
        except FileExistsError:
            return False
        folder.sync()
    return True


class _Sink:
    """Encodes lines, hashes and writes them chunk by chunk."""

    def __init__(self, fd: int, permit: Permit) -> None:
        self._fd, self._permit = fd, permit
        self._buffer = bytearray()
        self.sha256, self.size = hashlib.sha256(), 0

    def add(self, record: object) -> None:
        try:
            line = orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
        except orjson.JSONEncodeError as error:
            raise InvalidCheckpointState("a state cannot be written down as JSON") from error
        if line.find(b"\n") != len(line) - 1:
            raise InvalidCheckpointState("a ready-made fragment has more than one line")
        self._buffer += line
        if len(self._buffer) >= _CHUNK:
            self.flush()

    def flush(self) -> None:
        self._permit.check()
        self.sha256.update(self._buffer)
        write_all(self._fd, self._buffer)
        self.size += len(self._buffer)
        self._buffer = bytearray()
        time.sleep(_BREATH)


def _write_records(fd: int, snapshot: StateExport, facts: object, permit: Permit) -> Records:
    sink = _Sink(fd, permit)
    bases = sessions = 0
    for digest, base in snapshot.bases.items():
        sink.add({"base": digest, "value": base})
        bases += 1
    sink.add({"facts": facts})
    for state in snapshot.states:
        # What could not be read back must not be written.
        session_of(state)
        sink.add({"session": state})
        sessions += 1
    sink.flush()
    return Records(sink.sha256.hexdigest(), sink.size, bases, sessions)


def session_of(state: object) -> tuple[str, Episode]:
    """Whose state it is.

    Raises:
        InvalidCheckpointState: it does not say.
    """
    if isinstance(state, Mapping):
        fields = cast("Mapping[str, Any]", state)
        session_id = fields.get("sessionId")
        if isinstance(session_id, str):
            try:
                return session_id, read_episode(fields.get("episode"))
            except ValueError as error:
                raise InvalidCheckpointState(f"session {shortened(session_id)}: {error}") from error
    raise InvalidCheckpointState("a state does not say which session it is of")


def _read_files(folder: Folder, kind: str, instance: str) -> tuple[Manifest, Records, bytes]:
    sealed = folder.read(MANIFEST_NAME, at_most=LONGEST_MANIFEST)
    manifest, records = read_manifest(sealed, kind=kind, instance=instance)
    data = folder.read(records.name, at_most=records.size)
    if len(data) != records.size or hashlib.sha256(data).hexdigest() != records.sha256:
        raise InvalidCheckpointState("the records are torn or were altered")
    return manifest, records, data


def _parse(manifest: Manifest, records: Records, data: bytes, permit: Permit) -> Contents:
    bases: dict[str, Any] = {}
    facts: list[Any] = []
    states: list[State] = []
    for record in _lines(data, permit):
        match record:
            case {"base": str(digest), "value": value} if len(record) == 2:
                bases[digest] = value
            case {"facts": value} if len(record) == 1:
                facts.append(value)
            case {"session": dict(state)} if len(record) == 1:
                session_of(cast("State", state))
                states.append(cast("State", state))
            case _:
                raise InvalidCheckpointState("the records hold a line of an unknown kind")
    if (len(bases), len(facts), len(states)) != (records.bases, 1, records.sessions):
        raise InvalidCheckpointState("the manifest counts other records than there are")
    return Contents(manifest, bases, facts[0], states)


def _lines(data: bytes, permit: Permit) -> Generator[dict[str, Any]]:
    start = breathed_at = 0
    while start < len(data):
        end = data.find(b"\n", start)
        if start - breathed_at >= _CHUNK:
            permit.check()
            time.sleep(_BREATH)
            breathed_at = start
        try:
            yield orjson.loads(memoryview(data)[start : end if end >= 0 else None])
        except orjson.JSONDecodeError as error:
            raise InvalidCheckpointState("the records hold a line that is not JSON") from error
        start = end + 1 if end >= 0 else len(data)


def _temporary_name() -> str:
    return f".{secrets.token_hex(8)}.tmp"


@contextmanager
def _spoken_faults(what: str) -> Generator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise InvalidCheckpointState(f"{what}: a file or folder is missing") from error
    except OSError as error:
        # The number's own text rather than the error's: that one names paths.
        raise InvalidCheckpointState(f"{what}: {os.strerror(error.errno or errno.EIO)}") from error
