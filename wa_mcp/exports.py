"""Exports inline: one snapshot, handed out in pages."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.to_thread
import orjson

from checkpoint import StateExport
from wa_mcp.errors import invalid_params
from wa_mcp.hooks import SessionHooks
from wa_mcp.paging import LARGEST_LOAD

if TYPE_CHECKING:
    from wa_mcp.runtime import Runtime

__all__ = ["Exports", "next_page"]

LARGEST_PAGE: Final = 16 * 1024 * 1024
"""Bytes of JSON on a page; a single entry that is larger is alone on its page."""

LONGEST_CURSOR: Final = 64
"""Bytes that the cursor takes on a page, at most."""

MOST_OPEN: Final = 8
"""Exports that may be under way; the oldest is given up for a new one."""


@dataclass
class _Export:
    """An export under way.

    Attributes:
        facts: The server facts of the snapshot's moment.
        entries: What is still to be handed out: (where it goes, its key or none, its JSON).
        kept: The entry that did not fit on the page before.
        number: The number of the page that comes next.
        page: The page before, for a caller whose answer was lost.
        turn: Pages are made one at a time.
    """

    facts: Mapping[str, Any]
    entries: Iterator[tuple[str, str | None, bytes]]
    kept: tuple[str, str | None, bytes] | None = None
    number: int = 0
    page: dict[str, Any] = field(default_factory=dict[str, Any])
    turn: anyio.Lock = field(default_factory=anyio.Lock)


class Exports:
    """The exports of one server that are under way, by name."""

    def __init__(self) -> None:
        self._open: Final[OrderedDict[str, _Export]] = OrderedDict()

    def start(self, export: _Export) -> str:
        """Keep an export, and name it."""
        name = token_urlsafe(16)
        self._open[name] = export
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        return name

    def end(self, name: str) -> None:
        """Keep an export no longer."""
        self._open.pop(name, None)

    async def page(self, name: str, number: int) -> dict[str, Any]:
        """Give a page: the next one, or the one before once more.

        Raises:
            CodedError: `invalid_params`, there is no such export or page any more.
        """
        export = self._open.get(name)
        if export is None:
            raise invalid_params("cursor: this export is over; start a new one.")
        async with export.turn:
            if number == export.number:
                self._open.pop(name, None)  # an export that breaks is over, rather than short
                export.page = await anyio.to_thread.run_sync(_make_page, export, name)
                self._open[name] = export
                export.number += 1
            elif number != export.number - 1:
                raise invalid_params("cursor: this page is over; start a new export.")
            return export.page


async def next_page(
    runtime: "Runtime", session_ids: Sequence[str] | None, cursor: str | None
) -> dict[str, Any]:
    """Give the first page of a new export, or the page that a cursor names.

    Raises:
        CodedError: `invalid_params`.
    """
    if cursor is not None:
        if session_ids is not None:
            raise invalid_params("cursor: give it alone, the sessions were named with the first page.")
        name, _, number = cursor.partition(".")
        if not number.isascii() or not number.isdigit() or len(number) > 9:
            raise invalid_params("cursor: give the nextCursor of the page before.")
        return await runtime.exports.page(name, int(number))
    sessions = runtime.sessions
    named = [session.id for session in sessions.list()] if session_ids is None else session_ids
    for session_id in named:
        sessions.shown(session_id)
    # No await between the snapshot and the facts: they are of one moment.
    snapshot = SessionHooks(sessions).export_session_states(list(dict.fromkeys(named)))
    export = _Export(runtime.control.facts(), _entries(snapshot))
    name = runtime.exports.start(export)
    page = await runtime.exports.page(name, 0)
    if "nextCursor" not in page:
        runtime.exports.end(name)  # nobody can ask for it again
    return page


def _entries(snapshot: StateExport) -> Iterator[tuple[str, str | None, bytes]]:
    for digest, base in snapshot.bases.items():
        yield "bases", digest, orjson.dumps(base)
    for state in snapshot.states:
        yield "states", None, orjson.dumps(state)


def _make_page(export: _Export, name: str) -> dict[str, Any]:
    page: dict[str, Any] = {"states": [], "bases": {}, "facts": export.facts}
    size = len(orjson.dumps(page)) + LONGEST_CURSOR
    largest = min(LARGEST_PAGE, size + LARGEST_LOAD)
    while (entry := export.kept or next(export.entries, None)) is not None:
        where, key, content = entry
        export.kept = None
        room = len(content) + len(key or "") + len('"":,')
        if size + room > largest and (page["states"] or page["bases"]):
            export.kept = entry
            page["nextCursor"] = f"{name}.{export.number + 1}"
            break
        size += room
        if key is None:
            page[where].append(orjson.loads(content))
        else:
            page[where][key] = orjson.loads(content)
    return page
