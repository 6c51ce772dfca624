"""One entry of a session's history: a call that changed something, and how it is written.

It is written as `{"tool", "arguments", "at"}`, with `attempt`, `errors` and `reads` where they are not those
of the entry before (0 before the first), and `callId` and `output` where the call carried a call id. An
argument is a text, or `[place]` for the one that stands at that place of what the call stored.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from toolkits.cells import Cell, encoded

__all__ = ["COUNTS", "NOTHING", "SHORT", "Entry", "frozen_entry"]

SHORT: Final = 4
"""Characters of a text that takes no more room than its place would."""


class Entry(NamedTuple):
    """A call that changed something. The revision that it made is its place in the history, counted from 1.

    Attributes:
        tool: Name of the tool.
        arguments: What it was given. Shared: nobody may write into it.
        tables: Full names of the tables that it changed.
        at: When it was done, in seconds since 1970.
        attempt: The session's attempt then.
        errors: Tool calls of the session until then that failed.
        reads: Those that only read.
        call_id: The call id that it carried, None if none.
        output: Its answer, kept if it carried a call id. Shared: nobody may write into it.
        frozen: The entry as JSON, as checkpoints have it; made once, since there are many checkpoints.
    """

    tool: str
    arguments: Mapping[str, Any]
    tables: tuple[str, ...]
    at: float
    attempt: int
    errors: int
    reads: int
    call_id: str | None = None
    output: Any = None
    frozen: bytes = b""


COUNTS: Final = ("attempt", "errors", "reads")
"""What entries say only where it is not as before."""

_COUNTED: Final = slice(Entry._fields.index(COUNTS[0]), Entry._fields.index(COUNTS[-1]) + 1)

NOTHING: Final = Entry("", {}, (), at=0, attempt=0, errors=0, reads=0)
"""What stands before the first entry."""


def frozen_entry(entry: Entry, stored: Sequence[Cell], before: Entry) -> bytes:
    """Write an entry as JSON.

    Args:
        entry: The entry; what is frozen of it already does not count.
        stored: What its call stored.
        before: The entry before it, `NOTHING` if it is the first.
    """
    arguments = {
        name: [stored.index(value)] if len(value) > SHORT and value in stored else value
        for name, value in entry.arguments.items()
    }
    form: dict[str, Any] = {"tool": entry.tool, "arguments": arguments, "at": entry.at}
    if entry[_COUNTED] != before[_COUNTED]:
        pairs = zip(COUNTS, entry[_COUNTED], before[_COUNTED], strict=True)
        form |= {name: now for name, now, was in pairs if now != was}
    if entry.call_id is not None:
        form |= {"callId": entry.call_id, "output": entry.output}
    return encoded(form)
