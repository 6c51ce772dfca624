"""What tables are made of: a layout, rows that are shared, and the changes that are remembered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple

from toolkits.cells import Cell, lowered, read_moment, stored_bytes, wire

__all__ = ["Append", "Drop", "Row", "RowChange", "Set", "TableSpec", "growth", "stored_by", "stored_in"]


@dataclass(frozen=True)
class TableSpec:
    """The layout of a table.

    Attributes:
        name: Full name, `<toolkit>.<table>`.
        file: Name of the CSV file it is loaded from; empty for a table that starts without rows.
        columns: Column names, in order.
        key: The column that holds a row's id; empty where rows have none.
        unique: Whether an id may stand only once in a file.
        boolean: The columns that hold bools; all others hold text.
        times: The columns whose cells must be times, as `read_moment` reads them.
        numbers: The columns whose cells must be numbers, held as text.
        titled: Whether the file's first line must be the column names.
        scored: Whether a score compares it; not so where no tool can change anything.
        latest_first: The column of times that searches show the rows by, latest first; empty for table order.
        looked_through: The columns that searches look for a text in.
        bounded: The columns whose texts searches may bound.
        words: The columns that searches look for words in, taken together.
    """

    name: str
    file: str
    columns: tuple[str, ...]
    key: str = ""
    unique: bool = True
    boolean: frozenset[str] = frozenset()
    times: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    titled: bool = True
    scored: bool = True
    latest_first: str = ""
    looked_through: tuple[str, ...] = ()
    bounded: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each column stands: column name to index."""
        return {column: index for index, column in enumerate(self.columns)}

    @cached_property
    def settable(self) -> frozenset[str]:
        """The columns that can be set: all but the ids, by which rows are found."""
        return frozenset(self.columns) - {self.key}

    def dtype(self, column: str) -> str:
        """Name the pandas dtype of a column: `bool` or `object`."""
        return "bool" if column in self.boolean else "object"


class Row:
    """One row: its cells, in column order, and what was made of them for those who search and show it."""

    __slots__ = ("_lower", "_moment", "_record", "_text", "cells")

    def __init__(self, cells: tuple[Cell, ...]) -> None:
        self.cells: Final = cells
        self._lower: tuple[str | None, ...] | None = None
        self._text: str | None = None
        self._moment: datetime | None = None
        self._record: dict[str, str | bool | None] | None = None

    def with_cell(self, column: int, value: Cell) -> "Row":
        """Make the row that has another value in one column."""
        return Row((*self.cells[:column], value, *self.cells[column + 1 :]))

    @property
    def lower(self) -> tuple[str | None, ...]:
        """The cells in lower case; None where a cell is not text, so that it matches nothing."""
        if self._lower is None:
            self._lower = tuple(lowered(cell) if isinstance(cell, str) else None for cell in self.cells)
        return self._lower

    def text(self, columns: Sequence[int]) -> str:
        """Join the given columns in lower case, a space between.

        A row belongs to one table, and a table is searched through one set of columns: it is kept.
        """
        if self._text is None:
            self._text = " ".join(part for column in columns if (part := self.lower[column]) is not None)
        return self._text

    def record(self, columns: Sequence[str]) -> dict[str, str | bool | None]:
        """Show the row as an object of column names and cells, None where a cell is missing."""
        if self._record is None:
            self._record = dict(zip(columns, map(wire, self.cells), strict=True))
        return self._record.copy()  # who gets it may do with it what he likes

    @staticmethod
    def records(rows: Sequence["Row"], columns: Sequence[str]) -> list[dict[str, str | bool | None]]:
        """Show rows as objects, as `record` does one."""
        # Thousands may be asked for at once; nearly all have been shown before.
        return [row.record(columns) if row._record is None else row._record.copy() for row in rows]

    def moment(self, column: int) -> datetime | None:
        """Read the time in a column, None where there is none; a table has one such column: it is kept."""
        if self._moment is None:
            self._moment = read_moment(self.cells[column])
        return self._moment


class Append(NamedTuple):
    """A row put behind all others; `label` None relabels every row 0..n-1."""

    revision: int
    cells: tuple[Cell, ...]
    label: int | None


class Drop(NamedTuple):
    """The rows at these positions (ascending, in the table as it then was) taken out."""

    revision: int
    positions: tuple[int, ...]


class Set(NamedTuple):
    """One column of the rows at these positions set to a value."""

    revision: int
    positions: tuple[int, ...]
    column: int
    value: Cell


RowChange = Append | Drop | Set


def growth(change: RowChange) -> int:
    """Count the rows that a change adds, or takes away."""
    if isinstance(change, Append):
        return 1
    return -len(change.positions) if isinstance(change, Drop) else 0


def stored_by(change: RowChange) -> Sequence[Cell]:
    """Give the cells that a change stored."""
    if isinstance(change, Set):
        return (change.value,)
    return change.cells if isinstance(change, Append) else ()


def stored_in(change: RowChange) -> int:
    """Count the UTF-8 bytes of text that a change holds."""
    return sum(map(stored_bytes, stored_by(change)))
