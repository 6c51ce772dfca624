"""The records of a checkpoint as lines of JSON: bases, one line of server facts, one line a session."""

import hashlib
import time
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

import msgspec
import orjson
from msgspec import UNSET, UnsetType

from checkpoint.episode import Episode, read_episode, shortened
from checkpoint.errors import InvalidCheckpointState
from checkpoint.files import write_all
from checkpoint.hooks import State, StateExport
from checkpoint.manifest import Manifest, Records
from checkpoint.stored import NOT_JSON, StoredObject, StoredState, read_json

_CHUNK: Final = 1 << 16
# The worker thread works in slices of about a millisecond and really sleeps between them: giving the
# interpreter lock up for no time at all would not let the event loop have it.
_BREATH: Final = 0.0002
# Reading takes larger slices: a sleep often takes as long as reading a chunk, and nobody is served meanwhile.
_SLICE: Final = 1 << 20
# How a line of a session begins and ends; between is the state.
_SESSION: Final = b'{"session":'
_END: Final = ord("}")


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
    """A checkpoint as read back: every digest and count is right, no state is read yet.

    Attributes:
        manifest: the manifest.
        bases: what the states share, by digest.
        facts: the line of server facts.
        states: one mapping a session; each is read when a walk comes to it, which raises
            `InvalidCheckpointState` if it does not say whose it is.
    """

    manifest: Manifest
    bases: dict[str, Any]
    facts: Any
    states: Collection[State]


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


def write_records(fd: int, snapshot: StateExport, facts: object, permit: Permit) -> Records:
    """Write every line, encoding one at a time.

    Args:
        fd: the file to write to.
        snapshot: walked through once, bases first.
        facts: the line of server facts.
        permit: asked between slices of work.

    Raises:
        InvalidCheckpointState: a line cannot be written down, or could not be read back.
        OSError: the disk does not play along.
    """
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
    if isinstance(state, StoredState):
        return state.whose()
    if isinstance(state, Mapping):
        fields = cast("Mapping[str, Any]", state)
        session_id = fields.get("sessionId")
        if isinstance(session_id, str):
            try:
                return session_id, read_episode(fields.get("episode"))
            except ValueError as error:
                raise InvalidCheckpointState(f"session {shortened(session_id)}: {error}") from error
    raise InvalidCheckpointState("a state does not say which session it is of")


def parse(manifest: Manifest, records: Records, data: bytes, permit: Permit) -> Contents:
    """Read a file whose digest is right: all but the states, which are read as they are walked through.

    Args:
        manifest: its manifest.
        records: what the manifest says of it.
        data: the file.
        permit: asked between slices of work.

    Raises:
        InvalidCheckpointState: the lines are not what they should be.
    """
    bases: dict[str, Any] = {}
    facts: list[Any] = []
    states: list[memoryview] = []
    for line in _lines(data):
        if bytes(line[: len(_SESSION)]) == _SESSION and line[-1] == _END:
            states.append(line)
            continue
        record = _read(line)
        if record.base is not UNSET and record.value is not UNSET and record.facts is UNSET:
            bases[record.base] = _stored(memoryview(record.value))
        elif record.facts is not UNSET and record.base is record.value is UNSET:
            facts.append(read_json(memoryview(record.facts)))
        else:
            raise InvalidCheckpointState("the records hold a line of an unknown kind")
    if (len(bases), len(facts), len(states)) != (records.bases, 1, records.sessions):
        raise InvalidCheckpointState("the manifest counts other records than there are")
    return Contents(manifest, bases, facts[0], _Stored(states, permit))


class _Stored(Collection[State]):
    """States as lines, each handed out when a walk comes to it: thousands at once would fill the memory."""

    def __init__(self, lines: Sequence[memoryview], permit: Permit) -> None:
        self._lines, self._permit = lines, permit

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, item: object) -> bool:
        return any(state == item for state in self)

    def __iter__(self) -> Iterator[State]:
        since = 0
        for line in self._lines:
            # What comes behind the state shows when it is read: only then is the rest no JSON.
            yield StoredState(line[len(_SESSION) : -1])
            since += len(line)
            if since >= _SLICE:
                self._permit.check()
                time.sleep(_BREATH)
                since = 0


def _lines(data: bytes) -> Generator[memoryview]:
    whole, start = memoryview(data), 0
    while start < len(data):
        end = data.find(b"\n", start)
        yield whole[start : end if end >= 0 else None]
        start = end + 1 if end >= 0 else len(data)


class _Record(msgspec.Struct, forbid_unknown_fields=True):
    base: str | UnsetType = UNSET
    value: msgspec.Raw | UnsetType = UNSET
    facts: msgspec.Raw | UnsetType = UNSET


_record: Final = msgspec.json.Decoder(_Record).decode


def _read(line: memoryview) -> _Record:
    try:
        return _record(line)
    except msgspec.ValidationError as error:
        raise InvalidCheckpointState("the records hold a line of an unknown kind") from error
    except NOT_JSON as error:
        raise InvalidCheckpointState("the records hold a line that is not JSON") from error


def _stored(encoded: memoryview) -> Any:
    """Put off reading an object: it may be large, and known already."""
    return StoredObject(encoded) if encoded[0] == ord("{") else read_json(encoded)
