"""Where the rows of a table come from: which were there before, which were added, and what made each so."""

from collections.abc import Sequence
from typing import Final

from toolkits.rows import Append, Drop, RowChange, growth
from toolkits.table import Table

__all__ = ["Lineage"]


class Lineage:
    """The history of a table, row by row.

    Args:
        table: The table; it is only read.
        since: What came before: so many of its changes, made on its base. Rows are told by where they stood
            then; from 0, in its base.

    Attributes:
        origins: Of each row, top to bottom: where it stood before, or a number below 0 for an added row.
        dropped: Where it stood to the revision that took the row out.
        appended: Origin of an added row to the revision that added it.
        touched: Origin of an added row to the revision that last made it what it is.
        written: (origin, column) to the revision that last set this cell.
        placed: The revision that last added or took out a row; 0 if none did.
        relabelled: The revision that last relabelled all rows; 0 if none did.
    """

    def __init__(self, table: Table, since: int = 0) -> None:
        self.table: Final = table
        before = len(table.base.rows) + sum(map(growth, table.changes[:since]))
        self.origins: Final = list(range(before))
        self.dropped: Final[dict[int, int]] = {}
        self.appended: Final[dict[int, int]] = {}
        self.touched: Final[dict[int, int]] = {}
        self.written: Final[dict[tuple[int, int], int]] = {}
        self.placed = 0
        self.relabelled = 0
        self._follow(table.changes[since:])

    def added(self, place: int) -> bool:
        """Say whether the row at this place was added, and did not stand in the base."""
        return self.origins[place] < 0

    def _follow(self, changes: Sequence[RowChange]) -> None:
        origins, next_added = self.origins, -1
        for change in changes:
            if isinstance(change, Append):
                origins.append(next_added)
                self.appended[next_added] = self.touched[next_added] = self.placed = change.revision
                next_added -= 1
                if change.label is None:
                    self.relabelled = change.revision
            elif isinstance(change, Drop):
                self.placed = change.revision
                for position in reversed(change.positions):
                    self.dropped[origins.pop(position)] = change.revision
            else:
                for position in change.positions:
                    self._write(origins[position], change.column, change.revision)

    def _write(self, origin: int, column: int, revision: int) -> None:
        self.written[origin, column] = revision
        if origin < 0:
            self.touched[origin] = revision
