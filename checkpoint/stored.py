"""Objects as they stand in the records, read only as far as somebody asks."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, Protocol, TypeVar, cast

import msgspec
import orjson

from checkpoint.episode import Episode, is_attempt
from checkpoint.errors import InvalidCheckpointState


class EpisodeForm(msgspec.Struct, forbid_unknown_fields=True, rename="camel", gc=False):
    """An episode as it is written down."""

    rollout_id: str
    attempt: int


class _Whose(msgspec.Struct, rename="camel", gc=False):
    session_id: str
    episode: EpisodeForm


_whose: Final = msgspec.json.Decoder(_Whose).decode


class Whose(Protocol):
    """What any reading of a state has to tell."""

    @property
    def session_id(self) -> str:
        """The session."""
        ...

    @property
    def episode(self) -> EpisodeForm:
        """The rollout, and which attempt at it."""
        ...


Form = TypeVar("Form", bound=Whose)


class StoredObject(Mapping[str, Any]):
    """An object as JSON; a server that knows what to expect may read `encoded` itself, at one go.

    Attributes:
        encoded: the JSON. That it is something else than an object, if it is, shows when it is read.
    """

    def __init__(self, encoded: memoryview) -> None:
        """Keep the JSON."""
        self.encoded: Final = encoded

    @cached_property
    def _fields(self) -> dict[str, Any]:
        return self._decoded()

    def _decoded(self) -> dict[str, Any]:
        fields = read_json(self.encoded)
        if not isinstance(fields, dict):
            raise InvalidCheckpointState("the records hold something else where an object should be")
        return cast("dict[str, Any]", fields)

    def __getitem__(self, name: str) -> Any:
        """What a name holds."""
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._fields)

    def __len__(self) -> int:
        """How many names there are."""
        return len(self._fields)

    def __eq__(self, other: object) -> bool:
        """Whether it holds the same; what is written alike does, and need not be read for that."""
        if isinstance(other, StoredObject) and bytes(self.encoded) == bytes(other.encoded):
            return True
        return super().__eq__(other)

    __hash__ = None


class StoredState(StoredObject):
    """One session."""

    def __init__(self, encoded: memoryview) -> None:
        """Keep the JSON."""
        super().__init__(encoded)
        self._whose: Whose | None = None

    def _decoded(self) -> dict[str, Any]:
        self.whose()  # who reads a state by its names can rely on some
        return super()._decoded()

    def read(self, decode: Callable[[memoryview], Form]) -> Form:
        """Decode the state in the server's own way, which spares the reading of whose it is."""
        self._whose = form = decode(self.encoded)
        return form

    def whose(self) -> tuple[str, Episode]:
        """Whose state it is.

        Raises:
            InvalidCheckpointState: it does not say, or is not JSON.
        """
        try:
            form = self._whose or _whose(self.encoded)
        except msgspec.ValidationError as error:
            raise InvalidCheckpointState("a state does not say which session it is of") from error
        except NOT_JSON as error:
            raise InvalidCheckpointState("the records hold a line that is not JSON") from error
        episode = form.episode
        if not is_attempt(episode.attempt):
            raise InvalidCheckpointState("a state does not say which attempt it is of")
        return form.session_id, Episode(episode.rollout_id, episode.attempt)


NOT_JSON: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What `msgspec` raises where there is no JSON that it could read."""


def read_json(encoded: memoryview | bytes) -> Any:
    """Read what stands in the records.

    Raises:
        InvalidCheckpointState: it is not JSON.
    """
    try:
        return orjson.loads(encoded)
    except orjson.JSONDecodeError as error:
        raise InvalidCheckpointState("the records hold a line that is not JSON") from error
