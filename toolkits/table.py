"""Immutable tables: a base that all sessions share, and the changes since.

Nothing here ever writes into a row, a table or a frame: a change makes a new table that shares every row
it did not touch. What is derived from a table is computed at most once and kept with it.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import orjson
import pandas as pd

from toolkits.cells import NAN, Cell, is_nan, stored_bytes, wire
from toolkits.rows import Append, Drop, Row, RowChange, Set, TableSpec, growth

__all__ = ["Append", "Base", "Drop", "Overlay", "Row", "RowChange", "Set", "Table", "TableSpec"]

T = TypeVar("T")


class Base:
    """A whole table as loaded, shared by every session that starts from it."""

    def __init__(self, spec: TableSpec, rows: Iterable[Row], labels: Sequence[int] | None = None) -> None:
        self.spec: Final = spec
        self.rows: Final = tuple(rows)
        self.labels: Final[Sequence[int]] = range(len(self.rows)) if labels is None else tuple(labels)

    @cached_property
    def table(self) -> "Table":
        """The table without any change; one object, so whatever it derives is shared too."""
        return Table(self, (), self.rows, 0)

    @cached_property
    def index(self) -> dict[Cell, tuple[int, ...]]:
        """Positions of the rows that carry each id, ascending."""
        key = self.spec.position[self.spec.key]
        found: dict[Cell, list[int]] = {}
        for position, row in enumerate(self.rows):
            found.setdefault(row.cells[key], []).append(position)
        return {cell: tuple(positions) for cell, positions in found.items()}

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids that are text, the highest first."""
        return tuple(sorted((key for key in self.index if isinstance(key, str)), reverse=True))

    @cached_property
    def places(self) -> dict[Row, int]:
        """Where each row stands."""
        return {row: place for place, row in enumerate(self.rows)}

    @cached_property
    def encoded(self) -> bytes:
        """The whole form as canonical JSON (sorted keys, compact, UTF-8)."""
        return orjson.dumps(self.table.whole(), option=orjson.OPT_SORT_KEYS)

    @cached_property
    def digest(self) -> str:
        """The sha256 of the table's name and its encoded form, in hex."""
        return sha256(self.spec.name.encode() + b"\n" + self.encoded).hexdigest()


class Overlay(NamedTuple):
    """How the rows of a table lie over those of its base.

    Attributes:
        places: For each row its place in the base; for one that the base does not have, the place of the last
            row before it that the base has, -1 if there is none.
        gone: The places of the base whose rows the table does not have.
        own: The positions of the rows that the base does not have, ascending.
    """

    places: list[int]
    gone: frozenset[int]
    own: tuple[int, ...]


class Table:
    """An immutable table: its base, the changes since, and the rows they amount to.

    Args:
        base: What it started from.
        changes: The changes since, all of rows that are there.
        rows: The rows; None to make them when they are first asked for.
        stored: The UTF-8 bytes of text that the changes hold.
    """

    __slots__ = ("_derived", "_rows", "base", "changes", "stored")

    def __init__(
        self, base: Base, changes: tuple[RowChange, ...], rows: tuple[Row, ...] | None, stored: int
    ) -> None:
        self.base: Final = base
        self.changes: Final = changes
        self._rows = rows
        self.stored: Final = stored
        self._derived: dict[Callable[[Table], Any], Any] = {}

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows, top to bottom."""
        if self._rows is None:
            self._rows = _rows(self.base, self.changes)
        return self._rows

    @property
    def spec(self) -> TableSpec:
        """The table's layout."""
        return self.base.spec

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.rows)

    def __repr__(self) -> str:
        """Name the table and say how large it is and how far from its base."""
        return f"<Table {self.spec.name}: {len(self.rows)} rows, {len(self.changes)} changes>"

    def derive(self, function: Callable[["Table"], T]) -> T:
        """Compute `function(table)` at most once and keep the answer.

        The answer is shared by every session that has this table, so nobody may write into it.
        """
        if function not in self._derived:
            self._derived[function] = function(self)
        return self._derived[function]

    def find(self, key: str) -> tuple[int, ...]:
        """Find the positions of all rows with this id, ascending."""
        if not self.changes:
            return self.base.index.get(key, ())
        overlay = self.overlay
        kept = [place for place in self.base.index.get(key, ()) if place not in overlay.gone]
        positions = [bisect_left(overlay.places, place) for place in kept]
        where = self.spec.position[self.spec.key]
        own = [position for position in overlay.own if self.rows[position].cells[where] == key]
        return tuple(sorted(positions + own))

    @property
    def highest_id(self) -> str | None:
        """The highest id, as text; None if no row has one."""
        where, gone = self.spec.position[self.spec.key], self.overlay.gone
        found = [self.rows[position].cells[where] for position in self.overlay.own]
        found.extend(islice((key for key in self.base.ids if not gone.issuperset(self.base.index[key])), 1))
        return max((key for key in found if isinstance(key, str)), default=None)

    @property
    def overlay(self) -> Overlay:
        """How its rows lie over those of its base."""
        return self.derive(_overlay)

    def column(self, name: str) -> list[Cell]:
        """List the cells of a column, top to bottom."""
        column = self.spec.position[name]
        return [row.cells[column] for row in self.rows]

    def record(self, row: Row) -> dict[str, str | bool | None]:
        """Show a row as an object of column names and cells, None where a cell is missing."""
        return row.record(self.spec.columns)

    def append(self, revision: int, cells: tuple[Cell, ...], *, label: int | None = None) -> "Table":
        """Make the table with one row more, last; without a label all rows are relabelled 0..n-1."""
        stored = self.stored + sum(map(stored_bytes, cells))
        return Table(
            self.base, (*self.changes, Append(revision, cells, label)), (*self.rows, Row(cells)), stored
        )

    def drop(self, revision: int, positions: tuple[int, ...]) -> "Table":
        """Make the table without the rows at these positions (ascending); the rest keep their labels."""
        rows = list(self.rows)
        for position in reversed(positions):
            del rows[position]
        return Table(self.base, (*self.changes, Drop(revision, positions)), tuple(rows), self.stored)

    def set(self, revision: int, positions: tuple[int, ...], column: str, value: Cell) -> "Table":
        """Make the table with `value` in one column of the rows at these positions."""
        where = self.spec.position[column]
        rows = list(self.rows)
        for position in positions:
            rows[position] = rows[position].with_cell(where, value)
        change = Set(revision, positions, where, value)
        stored = self.stored + stored_bytes(value)
        return Table(self.base, (*self.changes, change), tuple(rows), stored)

    @property
    def labels(self) -> Sequence[int]:
        """The row labels, top to bottom. Only scoring and export read them, so they are made on demand."""
        return self.derive(_labels)

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a frame (columns `object` or `bool`, labels as index), not to be written into."""
        return self.derive(_frame)

    def whole(self) -> dict[str, Any]:
        """Show the whole table: `{"index": [labels], "columns": [{name, dtype, values, nan}]}`.

        `values` has null at the positions listed in `nan` as well as for None.
        """
        return {
            "index": list(self.labels),
            "columns": [self._whole_column(name) for name in self.spec.columns],
        }

    def _whole_column(self, name: str) -> dict[str, Any]:
        cells = self.column(name)
        return {
            "name": name,
            "dtype": self.spec.dtype(name),
            "values": [wire(cell) for cell in cells],
            "nan": [position for position, cell in enumerate(cells) if is_nan(cell)],
        }


def _rows(base: Base, changes: Sequence[RowChange]) -> tuple[Row, ...]:
    """Do the changes on the rows of the base again; those that none of them touches are shared."""
    rows = list(base.rows)
    for change in changes:
        if isinstance(change, Append):
            rows.append(Row(change.cells))
        elif isinstance(change, Drop):
            for position in reversed(change.positions):
                del rows[position]
        else:
            for position in change.positions:
                rows[position] = rows[position].with_cell(change.column, change.value)
    return tuple(rows)


def _overlay(table: Table) -> Overlay:
    known = table.base.places
    places = [known.get(row, -1) for row in table.rows]
    own = tuple(position for position, place in enumerate(places) if place < 0)
    for position in own:
        places[position] = places[position - 1] if position else -1
    return Overlay(places, frozenset(range(len(table.base.rows))).difference(places), own)


def _labels(table: Table) -> Sequence[int]:
    # What was before the last relabelling only counts by the number of its rows.
    relabelled = _relabelled(table.changes)
    before = table.changes[:relabelled]
    labels = list(range(len(table.base.rows) + sum(map(growth, before))) if before else table.base.labels)
    for change in table.changes[relabelled:]:
        if isinstance(change, Append):
            labels.append(change.label or 0)
        elif isinstance(change, Drop):
            for position in reversed(change.positions):
                del labels[position]
    return tuple(labels)


def _relabelled(changes: Sequence[RowChange]) -> int:
    """Count the changes up to and with the last that relabels every row."""
    for count in range(len(changes), 0, -1):
        change = changes[count - 1]
        if isinstance(change, Append) and change.label is None:
            return count
    return 0


def _frame(table: Table) -> pd.DataFrame:
    index = pd.Index(list(table.labels), dtype="int64")
    series = {
        name: pd.Series(
            [NAN if is_nan(cell) else cell for cell in table.column(name)],
            index=index,
            dtype=table.spec.dtype(name),
        )
        for name in table.spec.columns
    }
    return pd.DataFrame(series, index=index, columns=list(table.spec.columns))
