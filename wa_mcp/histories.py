"""A session's history as JSON and back. What its changes say already is not said again."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson
from pydantic import TypeAdapter, ValidationError

from toolkits.cells import Cell
from toolkits.rows import Append, Drop, RowChange
from toolkits.workplace import Workplace
from wa_mcp.session_state import Entry, SessionState
from wa_mcp.state_forms import EntryForm, StateForm

__all__ = ["first_complaint", "freeze_history", "thaw_history"]

SLICE: Final = 500
"""Entries that are checked at once."""

SHORT: Final = 4
"""Characters of a text that takes no more room than its place would."""


_ENTRIES: Final = TypeAdapter(list[EntryForm])


def freeze_history(state: SessionState) -> list[dict[str, Any]]:
    """Show the calls that changed something, oldest first; see `state_forms.EntryForm`."""
    made = _made(state.workplace)
    return [_frozen(entry, made[revision]) for revision, entry in enumerate(state.history, 1)]


def thaw_history(form: StateForm, workplace: Workplace) -> tuple[Entry, ...]:
    """Read the calls that changed something.

    Raises:
        ValueError: They are not one for each revision, or the changes of the tables are not theirs.
    """
    if len(form.history) != workplace.revision:
        raise ValueError(f"history: {len(form.history)} calls for revision {workplace.revision}")
    made = _made(workplace)
    read: list[Entry] = []
    errors = reads = 0
    for entry in _checked(form.history):
        thawed = _thawed(entry, len(read), made)
        if thawed.errors < errors or thawed.reads < reads:
            raise ValueError("history: errors or reads become fewer")
        errors, reads = thawed.errors, thawed.reads
        read.append(thawed)
    if not (errors <= form.errors and reads <= form.reads):
        raise ValueError("history: errors or reads become fewer")
    if form.calls != form.errors + form.reads + workplace.revision:
        raise ValueError("calls: they are not as many as errors, reads and changes together")
    return tuple(read)


def _checked(history: list[Any]) -> Iterator[EntryForm]:
    """Check the form of all entries, some at a time, so that other threads have a turn."""
    for start in range(0, len(history), SLICE):
        try:
            yield from _ENTRIES.validate_python(history[start : start + SLICE])
        except ValidationError as error:
            place, *where = error.errors(include_url=False, include_input=False)[0]["loc"]
            reason = error.errors(include_url=False, include_input=False)[0]["msg"]
            named = ".".join(map(str, [start + int(place), *where]))
            raise ValueError(f"history.{named}: {reason}") from None


_Made = tuple[tuple[str, ...], RowChange]
"""The tables that a call changed, and the first change."""


def _made(workplace: Workplace) -> dict[int, _Made]:
    """Say what each revision made."""
    made: dict[int, _Made] = {}
    for name, table in workplace.tables.items():
        for change in table.changes:
            tables, first = made.get(change.revision, ((), change))
            if name not in tables:
                made[change.revision] = ((*tables, name), first)
    return made


def _stored(change: RowChange) -> Sequence[Cell]:
    if isinstance(change, Append):
        return change.cells
    return () if isinstance(change, Drop) else (change.value,)


def _frozen(entry: Entry, made: _Made) -> dict[str, Any]:
    form = {
        "tool": entry.tool,
        "arguments": dict(_placed(entry.arguments, _stored(made[1]))),
        "at": entry.at,
        "attempt": entry.attempt,
        "errors": entry.errors,
        "reads": entry.reads,
    }
    return form if entry.call_id is None else {**form, "callId": entry.call_id, "output": entry.output}


def _placed(arguments: Mapping[str, Any], stored: Sequence[Cell]) -> Iterator[tuple[str, Any]]:
    for name, value in arguments.items():
        is_there = isinstance(value, str) and len(value) > SHORT and value in stored
        yield name, [stored.index(value)] if is_there else value


def _thawed(form: EntryForm, place: int, made: Mapping[int, _Made]) -> Entry:
    known = made.get(place + 1)
    if known is None:
        raise ValueError(f"history.{place}: it changed nothing")
    tables, change = known
    stored = _stored(change)
    arguments: dict[str, Any] = {}
    for name, said in form["arguments"].items():
        value = said if isinstance(said, str) else _stored_at(said[0], stored)
        # There is one way to say it: what came in goes out again.
        if value is None or (len(value) > SHORT and value in stored) is isinstance(said, str):
            raise ValueError(f"history.{place}: an argument is not said as it has to be")
        if not isinstance(said, str) and stored.index(value) != said[0]:
            raise ValueError(f"history.{place}: an argument is not said as it has to be")
        arguments[name] = value
    call_id, output = form.get("callId"), form.get("output")
    if ("output" in form) != (call_id is not None) or not (isinstance(output, str) or is_json(output)):
        raise ValueError(
            f"history.{place}: its call id and its output, as JSON, are there together or not at all"
        )
    return Entry(
        form["tool"],
        arguments,
        tables,
        form["at"],
        form["attempt"],
        form["errors"],
        form["reads"],
        call_id,
        output,
    )


def _stored_at(place: int, stored: Sequence[Cell]) -> str | None:
    cell = stored[place] if 0 <= place < len(stored) else None
    return cell if isinstance(cell, str) else None


def is_json(value: Any) -> bool:
    """Say whether a value can be sent, and written into the next checkpoint, and comes back the same."""
    try:
        return orjson.loads(orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)) == value
    except orjson.JSONEncodeError:
        return False


def first_complaint(error: ValidationError) -> str:
    """Say where a form is not what it should be, and what was expected."""
    detail = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}"
