"""A session's history as JSON and back. What its changes say already is not said again."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

import orjson
from pydantic import ValidationError

from toolkits.cells import Cell
from toolkits.rows import Append, Drop, RowChange
from toolkits.workplace import Workplace
from wa_mcp.session_state import Entry, SessionState
from wa_mcp.state_forms import EntryForm, StateForm

__all__ = ["first_complaint", "freeze_history", "thaw_history"]

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
    counted = (0, 0)
    for revision, entry in enumerate(form.history, 1):
        try:
            # One by one, so that other threads have a turn.
            thawed = _thawed(EntryForm.model_validate(entry), made.get(revision))
        except ValidationError as error:
            raise ValueError(f"history.{revision - 1}.{first_complaint(error)}") from None
        except ValueError as error:
            raise ValueError(f"history.{revision - 1}: {error}") from None
        counted = _counted(counted, thawed)
        read.append(thawed)
    if not (counted[0] <= form.errors and counted[1] <= form.reads):
        raise ValueError("history: errors or reads become fewer")
    if form.calls != form.errors + form.reads + workplace.revision:
        raise ValueError("calls: they are not as many as errors, reads and changes together")
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


def _thawed(form: EntryForm, made: _Made | None) -> Entry:
    if made is None:
        raise ValueError("it changed nothing")
    tables, change = made
    stored = _stored(change)
    arguments = {name: _argument(value, stored) for name, value in form.arguments.items()}
    if dict(_placed(arguments, stored)) != form.arguments:
        raise ValueError("an argument is not said in the one way in which it can be")
    if ("output" in form.model_fields_set) != (form.call_id is not None):
        raise ValueError("it has a call id or an output, and not both")
    if form.output is not None and not is_json(form.output):
        raise ValueError("its output cannot be sent as JSON")
    return Entry(
        form.tool,
        arguments,
        tables,
        form.at,
        form.attempt,
        form.errors,
        form.reads,
        form.call_id,
        form.output,
    )


def _argument(value: Any, stored: Sequence[Cell]) -> Any:
    if not isinstance(value, list):
        return value
    (place,) = cast("list[int]", value)
    if not 0 <= place < len(stored) or not isinstance(stored[place], str):
        raise ValueError(f"an argument is no text that was stored at place {place}")
    return stored[place]


def _counted(before: tuple[int, int], entry: Entry) -> tuple[int, int]:
    if entry.errors < before[0] or entry.reads < before[1]:
        raise ValueError("history: errors or reads become fewer")
    return entry.errors, entry.reads


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
