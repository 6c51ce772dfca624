"""Whether what stands in a session's history can have been: every entry, before anything is made of it."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple

import orjson
from msgspec import UNSET, UnsetType

from toolkits.cells import has_surrogate, is_storable, stored_bytes
from toolkits.forms import MOST_NUMBER
from toolkits.rows import TableSpec
from wa_mcp.entries import EntryForm
from wa_mcp.session import LONGEST_CALL_ID
from wa_mcp.state_forms import LATEST, StateForm

__all__ = ["Known", "check_history"]

LONGEST_NAME: Final = 200


class Known(NamedTuple):
    """What there is, of the toolkits that a session has.

    Attributes:
        specs: The layouts of the tables, by full name.
        rows: How many rows the tables have at first.
        tools: The names of all tools.
    """

    specs: Mapping[str, TableSpec]
    rows: Mapping[str, int]
    tools: AbstractSet[str]


def check_history(form: StateForm, known: Known, *, closely: bool) -> tuple[int, Sequence[str | None]]:
    """Check the calls that changed something, and what they changed.

    Args:
        form: The session.
        known: What there is.
        closely: Whether a text may be too long.

    Returns:
        The UTF-8 bytes of text that the calls stored; and the call id of each call, None where it carried
        none, without those after the last that did.

    Raises:
        ValueError: An entry is not what it has to be, or its change does not apply; the message names the
            entry, counted from 0.
    """
    entries, count = form.history, len(form.history)
    if count != form.revision:
        raise ValueError(f"history: {count} calls for revision {form.revision}")
    if form.calls != form.errors + form.reads + count:
        raise ValueError("calls: they are not as many as errors, reads and changes together")
    seen = _Seen()
    _check_entries(entries, known, seen)
    if not (seen.counts.errors <= form.errors and seen.counts.reads <= form.reads):
        raise ValueError("history: errors or reads become fewer")
    size = _text_bytes(seen.stored)
    if closely or size is None:
        _look_closely(entries, known)
    return sum(map(stored_bytes, seen.stored)) if size is None else size, seen.call_ids


class _Counts(NamedTuple):
    attempt: int
    errors: int
    reads: int


NO_COUNTS: Final = _Counts(0, 0, 0)


class _Seen:
    """What was seen of a history so far."""

    __slots__ = ("call_ids", "counts", "stored")

    def __init__(self) -> None:
        self.stored: Final[list[Any]] = []
        self.counts = NO_COUNTS
        self.call_ids: Final[list[str | None]] = []


def _check_entries(entries: Sequence[EntryForm], known: Known, seen: _Seen) -> None:
    specs, rows, tools, stored, at = known.specs, {**known.rows}, known.tools, seen.stored, -1
    try:
        for at, entry in enumerate(entries):
            table = entry.table
            if table not in rows:
                raise ValueError(f"table {table[:60]!a} is not one of its toolkits'")
            before = len(stored)
            rows[table] = entry.change.check(specs[table], rows[table], stored)
            if entry.tool not in tools or not 0 <= entry.at <= LATEST:
                _check_call(entry)
            if entry.stored_at is not UNSET:
                _check_places(entry, entry.stored_at, stored, before)
            if not entry.attempt is entry.errors is entry.reads is UNSET:
                seen.counts = _counts(entry, seen.counts)
            if not entry.call_id is entry.output is UNSET:
                seen.call_ids.extend([None] * (at - len(seen.call_ids)))
                seen.call_ids.append(_call_id(entry))
    except ValueError as error:
        raise ValueError(f"history[{at}]: {error}") from None


def _check_call(entry: EntryForm) -> None:
    if not 0 <= entry.at <= LATEST:
        raise ValueError("at: expected seconds since 1970")
    if not is_storable(entry.tool, LONGEST_NAME) or not entry.tool:
        raise ValueError("tool: expected a name")


def _look_closely(entries: Sequence[EntryForm], known: Known) -> None:
    for place, entry in enumerate(entries):
        try:
            entry.change.check_cells(known.specs[entry.table])
            stored_at = {} if entry.stored_at is UNSET else entry.stored_at
            for name in (*entry.arguments, *stored_at):
                # No shorter than a value may be: what is looked at only here must be all right elsewhere.
                if not is_storable(name) or not is_storable(entry.arguments.get(name, "")):
                    raise ValueError(f"argument {name[:60]!a}: it cannot be stored")
        except ValueError as error:
            raise ValueError(f"history[{place}]: {error}") from None


def _text_bytes(values: Sequence[Any]) -> int | None:
    """Count the UTF-8 bytes of values that are all text, or null; None if they are not, or no Unicode."""
    try:
        try:
            joined = "".join(values)
        except TypeError:
            joined = "".join([value for value in values if value is not None])
        return len(joined) if joined.isascii() else len(joined.encode())
    except (TypeError, UnicodeEncodeError):
        return None


def _check_places(entry: EntryForm, places: Mapping[str, int], stored: Sequence[Any], before: int) -> None:
    """Check where the arguments stand that were stored; what was stored before does not count."""
    for name, place in places.items():
        is_there = 0 <= place < len(stored) - before and isinstance(stored[before + place], str)
        if not is_there or name in entry.arguments:
            raise ValueError(f"storedAt: argument {name[:60]!a} is not the place of a text that was stored")


def _counts(entry: EntryForm, before: _Counts) -> _Counts:
    counts = _Counts(
        _number("attempt", entry.attempt, before.attempt),
        _number("errors", entry.errors, before.errors),
        _number("reads", entry.reads, before.reads),
    )
    if counts.errors < before.errors or counts.reads < before.reads:
        raise ValueError("errors or reads become fewer")
    return counts


def _number(name: str, said: int | UnsetType, before: int) -> int:
    if said is UNSET:
        return before
    if not 0 <= said <= MOST_NUMBER or said == before:
        raise ValueError(f"{name}: expected a whole number from 0, another than before")
    return said


def _call_id(entry: EntryForm) -> str:
    call_id = entry.call_id
    if not is_storable(call_id, LONGEST_CALL_ID) or not call_id or not call_id.isprintable():
        raise ValueError("callId: expected a call id wherever there is an output")
    if entry.output is UNSET or not _is_json(entry.output):
        raise ValueError("output: expected JSON wherever there is a call id")
    return call_id


def _is_json(value: Any) -> bool:
    """Say whether a value can be sent, and written into the next checkpoint, and comes back the same."""
    if isinstance(value, str):
        return not has_surrogate(value)
    try:
        return orjson.loads(orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)) == value
    except orjson.JSONEncodeError:
        return False
