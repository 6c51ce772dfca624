"""A session's history as JSON and back. What its changes, or the call before, say already is not said again.

How an entry is written, `wa_mcp.entries` says; which revision it made, its place says; and which tables,
their changes. There are many, so they are read by hand.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from toolkits.cells import Cell, encoded, is_storable
from toolkits.forms import MOST_NUMBER
from toolkits.rows import stored_by
from toolkits.workplace import Workplace
from wa_mcp.entries import COUNTS, NOTHING, SHORT, Entry
from wa_mcp.session import LONGEST_CALL_ID
from wa_mcp.session_state import SessionState
from wa_mcp.state_forms import LATEST, StateForm

__all__ = ["freeze_history", "thaw_history"]

MOST_ARGUMENTS: Final = 20
LONGEST_NAME: Final = 200

_NEEDED: Final = frozenset({"tool", "arguments", "at"})
_KNOWN: Final = _NEEDED | {"attempt", "errors", "reads", "callId", "output"}


class _Made(NamedTuple):
    """What a revision made: the tables that it changed, and what it stored in the first of them."""

    tables: tuple[str, ...]
    stored: Sequence[Cell]


def freeze_history(state: SessionState) -> orjson.Fragment:
    """Show the calls that changed something, oldest first, a JSON list."""
    return orjson.Fragment(b"[" + b",".join([entry.frozen for entry in state.history]) + b"]")


def thaw_history(form: StateForm, workplace: Workplace) -> tuple[Entry, ...]:
    """Read the calls that changed something.

    Raises:
        ValueError: They are not one for each revision, or the changes of the tables are not theirs; the
            message names the entry, counted from 0.
    """
    if len(form.history) != workplace.revision:
        raise ValueError(f"history: {len(form.history)} calls for revision {workplace.revision}")
    made, last = _made(workplace), NOTHING
    read: list[Entry] = []
    for revision, entry in enumerate(form.history, 1):
        try:
            last = _thawed(entry, made.get(revision), last)
        except ValueError as error:
            raise ValueError(f"history.{revision - 1}: {error}") from None
        read.append(last)
    if not (last.errors <= form.errors and last.reads <= form.reads):
        raise ValueError("history: errors or reads become fewer")
    if form.calls != form.errors + form.reads + workplace.revision:
        raise ValueError("calls: they are not as many as errors, reads and changes together")
    return tuple(read)


def _made(workplace: Workplace) -> dict[int, _Made]:
    """Say what each revision made."""
    made: dict[int, _Made] = {}
    for name, table in workplace.tables.items():
        alone = (name,)
        for change in table.changes:
            known = made.get(change.revision)
            if known is None:
                made[change.revision] = _Made(alone, stored_by(change))
            elif name not in known.tables:
                made[change.revision] = _Made((*known.tables, name), known.stored)
    return made


def _thawed(form: Any, made: _Made | None, before: Entry) -> Entry:
    fields: dict[str, Any] = form
    if made is None:
        raise ValueError("it changed nothing")
    if not isinstance(form, dict):
        raise ValueError("expected an object")
    names = fields.keys()
    if names != _NEEDED and not _NEEDED <= names <= _KNOWN:
        raise ValueError(f"expected an object with {', '.join(sorted(_NEEDED))}, got other names")
    tool, at = fields["tool"], fields["at"]
    if not is_storable(tool, LONGEST_NAME) or not tool:
        raise ValueError("tool: expected a name")
    if type(at) not in (int, float) or not 0 <= at <= LATEST:
        raise ValueError("at: expected seconds since 1970")
    arguments = _arguments(fields["arguments"], made.stored)
    if len(fields) == len(_NEEDED):
        return Entry(
            tool, arguments, made.tables, float(at), before.attempt, before.errors, before.reads,
            frozen=encoded(fields),
        )  # fmt: skip
    attempt, errors, reads = (_number(fields, name, getattr(before, name)) for name in COUNTS)
    if errors < before.errors or reads < before.reads:
        raise ValueError("errors or reads become fewer")
    call_id, output = _answer(fields) if "callId" in fields or "output" in fields else (None, None)
    frozen = encoded(fields)
    return Entry(tool, arguments, made.tables, float(at), attempt, errors, reads, call_id, output, frozen)


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
    fields: dict[Any, Any] = form
    if not isinstance(form, dict) or len(fields) > MOST_ARGUMENTS:
        raise ValueError(f"arguments: expected an object with at most {MOST_ARGUMENTS}")
    read: dict[str, str] = {}
    for name, said in fields.items():
        value = said if isinstance(said, str) else _stored_at(said, stored)
        # There is one way to say it: what comes in goes out again.
        is_right = value is not said or (is_storable(said) and (len(said) <= SHORT or said not in stored))
        if value is None or not is_right or not is_storable(name, LONGEST_NAME):
            raise ValueError(f"argument {ascii(name)[:60]}: not said as it has to be")
        read[name] = value
    return read


def _stored_at(said: Any, stored: Sequence[Cell]) -> str | None:
    """Find the text that `[place]` stands for; None if it is not the one way to say it."""
    places: list[Any] = said
    if not isinstance(said, list) or len(places) != 1:
        return None
    place = places[0]
    if type(place) is not int or not 0 <= place < len(stored):
        return None
    cell = stored[place]
    return cell if isinstance(cell, str) and len(cell) > SHORT and stored.index(cell) == place else None


def _is_json(value: Any) -> bool:
    """Say whether a value can be sent, and written into the next checkpoint, and comes back the same."""
    try:
        return orjson.loads(orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)) == value
    except orjson.JSONEncodeError:
        return False
