"""A session's history as JSON and back. What its changes say already is not said again."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from toolkits.cells import Cell
from toolkits.rows import Append, Drop, RowChange
from toolkits.workplace import Workplace
from wa_mcp.session_state import Entry, SessionState
from wa_mcp.state_forms import Argument, EntryForm, StateForm

__all__ = ["freeze_history", "thaw_history"]

SHORT: Final = 4
"""Characters of a text that takes no more room than its place would."""


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
    counted = [0, 0, 0]
    for revision, entry in enumerate(form.history, 1):
        if revision not in made:
            raise ValueError(f"history: nothing was changed at revision {revision}")
        _check_counts(counted, entry.counts)
        counted = entry.counts
        read.append(_thawed(entry, made[revision]))
    _check_counts(counted, [form.calls, form.errors, form.reads])
    return tuple(read)


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
    return {
        "tool": entry.tool,
        "arguments": dict(_placed(entry.arguments, _stored(made[1]))),
        "at": entry.at,
        "attempt": entry.attempt,
        "counts": [entry.calls, entry.errors, entry.reads],
    }


def _placed(arguments: Mapping[str, Any], stored: Sequence[Cell]) -> Iterator[tuple[str, Any]]:
    for name, value in arguments.items():
        is_there = isinstance(value, str) and len(value) > SHORT and value in stored
        yield name, [stored.index(value)] if is_there else value


def _thawed(form: EntryForm, made: _Made) -> Entry:
    tables, change = made
    stored = _stored(change)
    arguments = {name: _argument(value, stored) for name, value in form.arguments.items()}
    if dict(_placed(arguments, stored)) != form.arguments:
        raise ValueError("history: an argument is not said in the one way in which it can be")
    calls, errors, reads = form.counts
    return Entry(form.tool, arguments, tables, form.at, form.attempt, calls, errors, reads)


def _argument(value: Argument, stored: Sequence[Cell]) -> Any:
    if not isinstance(value, list):
        return value
    (place,) = value
    if place >= len(stored) or not isinstance(stored[place], str):
        raise ValueError(f"history: an argument is no text that was stored at place {place}")
    return stored[place]


def _check_counts(before: Sequence[int], after: Sequence[int]) -> None:
    if any(later < earlier for earlier, later in zip(before, after, strict=True)):
        raise ValueError("history: calls, errors or reads become fewer")
