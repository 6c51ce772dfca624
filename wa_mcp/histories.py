"""A session's history as JSON and back. What its changes, or the call before, say already is not said again.

An entry is `{"tool", "arguments", "at"}`, with `attempt`, `errors` and `reads` where they are not those of
the entry before (0 before the first), and `callId` and `output` where the call carried a call id. An
argument is a text, or `[place]` for the one that stands at that place of what the call stored. Which revision
an entry made, its place says; which tables, their changes. There are many, so they are read by hand.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import orjson

from toolkits.cells import Cell, is_storable
from toolkits.frozen import MOST_NUMBER
from toolkits.rows import Append, Drop, RowChange
from toolkits.workplace import Workplace
from wa_mcp.session import LONGEST_CALL_ID
from wa_mcp.session_state import Entry, SessionState
from wa_mcp.state_forms import LATEST, StateForm

__all__ = ["freeze_history", "thaw_history"]

SHORT: Final = 4
"""Characters of a text that takes no more room than its place would."""

MOST_ARGUMENTS: Final = 20
LONGEST_NAME: Final = 200

_NEEDED: Final = frozenset({"tool", "arguments", "at"})
_KNOWN: Final = _NEEDED | {"attempt", "errors", "reads", "callId", "output"}


class _Made(NamedTuple):
    """What a revision made: the tables that it changed, and what it stored in the first of them."""

    tables: tuple[str, ...]
    stored: Sequence[Cell]


class _Counted(NamedTuple):
    """What entries say only where it is not as before."""

    attempt: int = 0
    errors: int = 0
    reads: int = 0


def freeze_history(state: SessionState) -> list[dict[str, Any]]:
    """Show the calls that changed something, oldest first."""
    made, before = _made(state.workplace), _Counted()
    frozen: list[dict[str, Any]] = []
    for revision, entry in enumerate(state.history, 1):
        arguments = dict(_said(entry.arguments, made[revision].stored))
        form: dict[str, Any] = {"tool": entry.tool, "arguments": arguments, "at": entry.at}
        now = _Counted(entry.attempt, entry.errors, entry.reads)
        if now != before:
            form |= {name: now[at] for at, name in enumerate(_Counted._fields) if now[at] != before[at]}
            before = now
        if entry.call_id is not None:
            form |= {"callId": entry.call_id, "output": entry.output}
        frozen.append(form)
    return frozen


def thaw_history(form: StateForm, workplace: Workplace) -> tuple[Entry, ...]:
    """Read the calls that changed something.

    Raises:
        ValueError: They are not one for each revision, or the changes of the tables are not theirs; the
            message names the entry, counted from 0.
    """
    if len(form.history) != workplace.revision:
        raise ValueError(f"history: {len(form.history)} calls for revision {workplace.revision}")
    made, counted = _made(workplace), _Counted()
    read: list[Entry] = []
    for entry in form.history:
        try:
            thawed = _thawed(entry, made.get(len(read) + 1), counted)
        except ValueError as error:
            raise ValueError(f"history.{len(read)}: {error}") from None
        counted = _Counted(thawed.attempt, thawed.errors, thawed.reads)
        read.append(thawed)
    if not (counted.errors <= form.errors and counted.reads <= form.reads):
        raise ValueError("history: errors or reads become fewer")
    if form.calls != form.errors + form.reads + workplace.revision:
        raise ValueError("calls: they are not as many as errors, reads and changes together")
    return tuple(read)


def _made(workplace: Workplace) -> dict[int, _Made]:
    """Say what each revision made."""
    made: dict[int, _Made] = {}
    for name, table in workplace.tables.items():
        for change in table.changes:
            known = made.get(change.revision)
            if known is None:
                made[change.revision] = _Made((name,), _stored(change))
            elif name not in known.tables:
                made[change.revision] = _Made((*known.tables, name), known.stored)
    return made


def _stored(change: RowChange) -> Sequence[Cell]:
    if isinstance(change, Append):
        return change.cells
    return () if isinstance(change, Drop) else (change.value,)


def _said(arguments: Mapping[str, Any], stored: Sequence[Cell]) -> Iterator[tuple[str, Any]]:
    for name, value in arguments.items():
        is_there = len(value) > SHORT and value in stored
        yield name, [stored.index(value)] if is_there else value


def _thawed(form: Any, made: _Made | None, before: _Counted) -> Entry:
    if made is None:
        raise ValueError("it changed nothing")
    if not isinstance(form, dict):
        raise ValueError("expected an object")
    fields = cast("dict[str, Any]", form)
    if not _NEEDED <= fields.keys() <= _KNOWN:
        raise ValueError(f"expected an object with {', '.join(sorted(_NEEDED))}, got other names")
    tool, at = fields["tool"], fields["at"]
    if not is_storable(tool, LONGEST_NAME) or not tool:
        raise ValueError("tool: expected a name")
    if type(at) not in (int, float) or not 0 <= at <= LATEST:
        raise ValueError("at: expected seconds since 1970")
    attempt, errors, reads = before
    if len(fields) > len(_NEEDED):
        attempt, errors, reads = (
            _number(fields, name, was) for name, was in zip(_Counted._fields, before, strict=True)
        )
        if errors < before.errors or reads < before.reads:
            raise ValueError("errors or reads become fewer")
    call_id, output = _answer(fields) if "callId" in fields or "output" in fields else (None, None)
    arguments = _arguments(fields["arguments"], made.stored)
    return Entry(tool, arguments, made.tables, float(at), attempt, errors, reads, call_id, output)


def _number(fields: Mapping[str, Any], name: str, before: int) -> int:
    if name not in fields:
        return before
    number = fields[name]
    if type(number) is not int or not 0 <= number <= MOST_NUMBER or number == before:
        raise ValueError(f"{name}: expected a whole number from 0, another than before")
    return number


def _answer(fields: Mapping[str, Any]) -> tuple[str, Any]:
    call_id = fields.get("callId")
    if not is_storable(call_id, LONGEST_CALL_ID) or not call_id or not call_id.isprintable():
        raise ValueError("callId: expected a call id wherever there is an output")
    if "output" not in fields or not _is_json(fields["output"]):
        raise ValueError("output: expected JSON wherever there is a call id")
    return call_id, fields["output"]


def _arguments(form: Any, stored: Sequence[Cell]) -> dict[str, str]:
    if not isinstance(form, dict) or len(cast("dict[str, Any]", form)) > MOST_ARGUMENTS:
        raise ValueError(f"arguments: expected an object with at most {MOST_ARGUMENTS}")
    read: dict[str, str] = {}
    for name, said in cast("dict[Any, Any]", form).items():
        value = said
        if isinstance(said, list):
            value = _stored_at(cast("list[Any]", said), stored)
        # There is one way to say it: what comes in goes out again.
        elif not is_storable(said) or (len(said) > SHORT and said in stored):
            value = None
        if value is None or not is_storable(name, LONGEST_NAME):
            raise ValueError(f"argument {ascii(name)[:60]}: not said as it has to be")
        read[name] = value
    return read


def _stored_at(said: Sequence[Any], stored: Sequence[Cell]) -> str | None:
    """Find the text that `[place]` stands for; None if it is not the one way to say it."""
    if len(said) != 1 or type(said[0]) is not int or not 0 <= said[0] < len(stored):
        return None
    cell = stored[said[0]]
    return cell if isinstance(cell, str) and len(cell) > SHORT and stored.index(cell) == said[0] else None


def _is_json(value: Any) -> bool:
    """Say whether a value can be sent, and written into the next checkpoint, and comes back the same."""
    try:
        return orjson.loads(orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)) == value
    except orjson.JSONEncodeError:
        return False
