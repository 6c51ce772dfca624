"""One entry of a session's history: a call that changed something, and how it is written.

It is written as `{"tool", "arguments", "at", "table", "change"}`, the change as `toolkits.frozen_changes` has
it; with `attempt`, `errors` and `reads` where they are not those of the entry before (0 before the first),
and `callId` and `output` where the call carried a call id. An argument that the call stored is not among its
`arguments`: `storedAt` has its place in what was stored.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from toolkits.frozen_changes import ChangeForm, frozen_change
from toolkits.rows import stored_by
from toolkits.table import Table

__all__ = [
    "COUNTS",
    "NOTHING",
    "SHORT",
    "Entry",
    "EntryForm",
    "encode",
    "frozen_entry",
    "nameless_entry",
    "thaw_entries",
]

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


class EntryForm(
    msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, rename="camel"
):
    """How an entry is written."""

    tool: str
    arguments: dict[str, str]
    stored_at: dict[str, int] | UnsetType = UNSET
    at: float
    attempt: int | UnsetType = UNSET
    errors: int | UnsetType = UNSET
    reads: int | UnsetType = UNSET
    table: str
    change: ChangeForm
    call_id: str | UnsetType = UNSET
    output: Any = UNSET


encode: Final = msgspec.json.Encoder().encode
"""Write a form as JSON."""

_decode: Final = msgspec.json.Decoder(EntryForm).decode


def frozen_entry(entry: Entry, table: Table, before: Entry) -> bytes:
    """Write an entry as JSON.

    Args:
        entry: The entry; what is frozen of it already does not count.
        table: The table that its call made.
        before: The entry before it, `NOTHING` if it is the first.
    """
    change = table.changes[-1]
    stored, arguments = stored_by(change), entry.arguments
    places = {
        name: stored.index(value)
        for name, value in arguments.items()
        if len(value) > SHORT and value in stored
    }
    if places:
        arguments = {name: value for name, value in arguments.items() if name not in places}
    form = EntryForm(
        tool=entry.tool,
        arguments={**arguments},
        stored_at=places or UNSET,
        at=entry.at,
        table=table.spec.name,
        change=frozen_change(change, table.spec.columns),
    )
    if entry[_COUNTED] != before[_COUNTED]:
        for name, now, was in zip(COUNTS, entry[_COUNTED], before[_COUNTED], strict=True):
            if now != was:
                setattr(form, name, now)
    if entry.call_id is not None:
        form.call_id, form.output = entry.call_id, entry.output
    return encode(form)


def nameless_entry(entry: Entry) -> Entry:
    """Give the entry of a call that carried no call id."""
    if entry.call_id is None:
        return entry
    form = _decode(entry.frozen)
    form.call_id = form.output = UNSET
    return entry._replace(call_id=None, output=None, frozen=encode(form))


def thaw_entries(forms: Iterable[EntryForm]) -> Iterator[Entry]:
    """Make entries of forms that were checked."""
    attempt = errors = reads = 0
    for form in forms:
        attempt = attempt if form.attempt is UNSET else form.attempt
        errors = errors if form.errors is UNSET else form.errors
        reads = reads if form.reads is UNSET else form.reads
        places = {} if form.stored_at is UNSET else form.stored_at
        arguments = {**form.arguments, **{name: form.change.stored[place] for name, place in places.items()}}
        call_id, output = (None, None) if form.call_id is UNSET else (form.call_id, form.output)
        counts = (attempt, errors, reads)
        yield Entry(form.tool, arguments, (form.table,), form.at, *counts, call_id, output, encode(form))
