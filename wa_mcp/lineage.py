"""Where the rows of a table come from: which stood in its base, which were added, and what made each so."""

from typing import Final

from toolkits.table import Append, Drop, Table

__all__ = ["Lineage"]


class Lineage:
    """The history of a table, row by row.

    Args:
        table: The table; it is only read.

    Attributes:
        origins: Of each row, top to bottom: its position in the base, or a number below 0 for an added row.
        dropped: Position in the base to the revision that took the row out.
        touched: Origin of an added row to the revision that last made it what it is.
        written: (origin, column) to the revision that last set this cell.
        placed: The revision that last added or took out a row; 0 if none did.
    """

    def __init__(self, table: Table) -> None:
        self.table: Final = table
        self.origins: Final = list(range(len(table.base.rows)))
        self.dropped: Final[dict[int, int]] = {}
        self.touched: Final[dict[int, int]] = {}
        self.written: Final[dict[tuple[int, int], int]] = {}
        self.placed = 0
        self._follow()

    def added(self, place: int) -> bool:
        """Say whether the row at this place was added, and did not stand in the base."""
        return self.origins[place] < 0

    def _follow(self) -> None:
        origins, next_added = self.origins, -1
        for change in self.table.changes:
            if isinstance(change, Append):
                origins.append(next_added)
                self.touched[next_added] = self.placed = change.revision
                next_added -= 1
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
