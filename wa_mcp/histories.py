"""A session's history as JSON and back: its calls and the changes they made, from which come its tables.

How an entry is written, `wa_mcp.entries` says; which revision it made, its place says. Thousands come back at
once: all are checked then, and made entries and tables of when somebody asks for them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, overload

import msgspec
import orjson

from toolkits.rows import RowChange, stored_in
from toolkits.table import Table
from wa_mcp.entries import Entry, EntryForm, encode, thaw_entries
from wa_mcp.session_state import SessionState
from wa_mcp.state_forms import decode_state

__all__ = ["StoredHistory", "StoredTables", "freeze_history"]

_decoder: Final = msgspec.json.Decoder(list[EntryForm])


class StoredHistory(Sequence[Entry]):
    """A history as a checkpoint has it; its entries are made when they are first asked for.

    Args:
        state: The session as JSON, which `wa_mcp.history_checks` has looked at.
        count: How many entries there are.
    """

    __slots__ = ("_count", "_encoded", "_entries", "_state")

    def __init__(self, state: bytes, count: int) -> None:
        self._state: bytes | None = state
        self._count: Final = count
        self._encoded = b""
        self._entries: tuple[Entry, ...] | None = None

    @property
    def forms(self) -> list[EntryForm]:
        """The entries as they are written."""
        state = self._state
        return _decoder.decode(self._encoded) if state is None else decode_state(state).history

    @property
    def encoded(self) -> bytes:
        """The entries, a JSON list."""
        if self._state is not None:
            # In this order: another thread may ask at the same time.
            self._encoded = encode(self.forms)
            self._state = None
        return self._encoded

    def make(self) -> tuple[Entry, ...]:
        """Make the entries, once."""
        if self._entries is None:
            self._entries = tuple(thaw_entries(self.forms))
        return self._entries

    def __iter__(self) -> Iterator[Entry]:
        """Give the entries, oldest first."""
        return iter(self.make())

    def __len__(self) -> int:
        """Count the entries."""
        return self._count

    @overload
    def __getitem__(self, at: int) -> Entry: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Entry, ...]: ...
    def __getitem__(self, at: int | slice) -> Entry | tuple[Entry, ...]:
        """Give an entry, or those of a slice."""
        return self.make()[at]


class StoredTables(Mapping[str, Table]):
    """The tables of a session as its history has them; they are made when one is first asked for.

    Args:
        fresh: The tables as the session started, by full name.
        history: The calls that changed them.
    """

    __slots__ = ("_fresh", "_history", "_tables")

    def __init__(self, fresh: Mapping[str, Table], history: StoredHistory) -> None:
        self._fresh: Final = fresh
        self._history: Final = history
        self._tables: Mapping[str, Table] | None = None

    def make(self) -> Mapping[str, Table]:
        """Make the tables, once, by full name."""
        if self._tables is None:
            self._tables = {**self._fresh, **_tables(self._fresh, self._history.forms)}
        return self._tables

    def make_rows(self) -> None:
        """Make the tables, and their rows."""
        for table in self.make().values():
            len(table)

    def __getitem__(self, name: str) -> Table:
        """Give a table."""
        return self.make()[name]

    def __iter__(self) -> Iterator[str]:
        """Give the full names."""
        return iter(self._fresh)

    def __len__(self) -> int:
        """Count the tables."""
        return len(self._fresh)


def _tables(fresh: Mapping[str, Table], forms: Sequence[EntryForm]) -> dict[str, Table]:
    changes: dict[str, list[RowChange]] = {}
    for revision, form in enumerate(forms, 1):
        change = form.change.thaw(revision, fresh[form.table].spec)
        changes.setdefault(form.table, []).append(change)
    return {
        name: Table(fresh[name].base, tuple(made), None, sum(map(stored_in, made)))
        for name, made in changes.items()
    }


def freeze_history(state: SessionState) -> orjson.Fragment:
    """Show the calls that changed something, oldest first, a JSON list."""
    if isinstance(state.history, StoredHistory):
        return orjson.Fragment(state.history.encoded)
    return orjson.Fragment(b"[" + b",".join([entry.frozen for entry in state.history]) + b"]")
