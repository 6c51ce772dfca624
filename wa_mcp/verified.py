"""The results of verifies that ended their sessions: kept, so that asking again answers the first one."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

__all__ = ["MOST_VERIFIED", "Kept", "Verified"]

MOST_VERIFIED: Final = 10_000
"""Results that are kept."""

MOST_KEPT_BYTES: Final = 64 * 1024 * 1024
"""Bytes of JSON that all kept results may have together: about ten times what as many results come to."""


class Kept(NamedTuple):
    """A result, and what was asked.

    Attributes:
        asked: A digest of the parameters, in hex.
        result: What was answered. Shared: nobody may write into it.
        size: Its bytes as JSON.
    """

    asked: str
    result: Mapping[str, Any]
    size: int

    @classmethod
    def of(cls, asked: str, result: Mapping[str, Any]) -> "Kept":
        """Make the record of a result; measures it, so not on the event loop."""
        return cls(asked, result, len(orjson.dumps(result)))


class Verified:
    """The kept results by session, oldest first; when there are too many, the oldest go."""

    def __init__(self) -> None:
        self._kept: Final[OrderedDict[str, Kept]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        """Count the results."""
        return len(self._kept)

    def __contains__(self, session_id: str) -> bool:
        """Say whether the result of this session is kept."""
        return session_id in self._kept

    def __iter__(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Give (session id, asked, result), oldest first."""
        return ((session_id, kept.asked, kept.result) for session_id, kept in self._kept.items())

    def get(self, session_id: str, asked: str) -> Mapping[str, Any] | None:
        """Find the first result of a session, None if it is not kept or something else was asked."""
        kept = self._kept.get(session_id)
        return kept.result if kept is not None and kept.asked == asked else None

    def keep(self, session_id: str, kept: Kept) -> None:
        """Keep a result as the newest."""
        self.forget([session_id])
        self._kept[session_id] = kept
        self._size += kept.size
        while len(self._kept) > MOST_VERIFIED or (self._size > MOST_KEPT_BYTES and len(self._kept) > 1):
            self.forget([next(iter(self._kept))])

    def keep_older(self, results: dict[str, Kept]) -> list[str]:
        """Keep results that are older than all here, as far as there is room, and list whose they were.

        Nothing that is here gives way, so that `forget` undoes it.
        """
        taken: list[str] = []
        for session_id, kept in reversed(results.items()):
            if len(self._kept) == MOST_VERIFIED or self._size + kept.size > MOST_KEPT_BYTES:
                break
            if session_id not in self._kept:
                self._kept[session_id] = kept
                self._kept.move_to_end(session_id, last=False)
                self._size += kept.size
                taken.append(session_id)
        return taken

    def forget(self, session_ids: Iterable[str]) -> None:
        """Drop the results of these sessions."""
        for session_id in session_ids:
            if (kept := self._kept.pop(session_id, None)) is not None:
                self._size -= kept.size
