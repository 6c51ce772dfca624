"""The two ways to compare tables: `gym`, to the letter, and `workbench`, which forgives what does not matter.

Both read cells alike where nothing else is said: text whatever its case, save in three columns, and a cell
that holds nothing is the same be it NaN or None, but not the same as `""`. Types need no look of their own:
a column's dtype is part of the layout, which both tables share, and a bool is never a text.
"""

from collections import Counter
from collections.abc import Callable
from typing import Final, Literal, cast, get_args

from toolkits.analytics import PLOT_ENDINGS
from toolkits.cells import Cell, is_missing, is_nan
from toolkits.rows import Row, TableSpec
from toolkits.table import Table
from toolkits.workplace import Workplace
from wa_mcp.errors import invalid_params
from wa_mcp.lineage import Lineage

__all__ = ["Exact", "Gym", "Key", "Profile", "ProfileName", "Workbench", "profile_named"]

ProfileName = Literal["gym", "workbench"]

Key = str | bool | float | None
"""A cell as a profile sees it: two cells are the same to it if their keys are equal."""

_CASED: Final = frozenset({"status", "list_name", "board"})
"""The columns in which the case of a text counts."""

_EMPTY: Final = -1.0
_VISITS: Final = "analytics.visits"
_PLOTS: Final = "analytics.plots"


class Gym:
    """Row order, row labels and every cell count.

    Attributes:
        made_ids: Whether the ids that tools gave to new rows count.
    """

    made_ids: bool = True

    def key(self, spec: TableSpec, column: int, cell: Cell) -> Key:
        """See a cell as this profile does."""
        if isinstance(cell, str):
            return cell if spec.columns[column] in _CASED else cell.lower()
        return None if is_missing(cell) else cast("bool", cell)

    def keys(self, spec: TableSpec, row: Row) -> tuple[Key, ...]:
        """See a row as this profile does."""
        return tuple(self.key(spec, column, cell) for column, cell in enumerate(row.cells))

    def identity(self, spec: TableSpec, row: Row, *, added: bool) -> tuple[Key, ...]:
        """See a row as this profile does, without the id that a tool gave it where that does not count."""
        keys = self.keys(spec, row)
        if self.made_ids or not added or not spec.key:
            return keys
        where = spec.position[spec.key]
        return (*keys[:where], None, *keys[where + 1 :])

    def equal(self, expected: Table, actual: Table) -> bool:
        """Say whether two tables of one base are the same; rows that both share cost nothing."""
        if expected is actual:
            return True
        if len(expected) != len(actual) or list(expected.labels) != list(actual.labels):
            return False
        return all(
            mine is other or self.keys(expected.spec, mine) == self.keys(expected.spec, other)
            for mine, other in zip(expected.rows, actual.rows, strict=True)
        )


class Workbench(Gym):
    """Rows count as an unordered multiset; line breaks may be written out; a plot may end a day early.

    The id that a tool gave to a new row only says when the row came, so it does not count either.

    Args:
        fresh: The workplace before any call: its data says which days are the last.
    """

    made_ids: bool = False

    def __init__(self, fresh: Workplace) -> None:
        visits = fresh.tables.get(_VISITS)
        self._last_days: Final = () if visits is None else visits.base.table.derive(_last_days)

    def key(self, spec: TableSpec, column: int, cell: Cell) -> Key:
        """See a cell as this profile does: line breaks are never written out, the two last days are one."""
        if not isinstance(cell, str):
            return super().key(spec, column, cell)
        if spec.name == _PLOTS:
            cell = self._ended(cell)
        return super().key(spec, column, cell.replace("\\n", "\n"))

    def equal(self, expected: Table, actual: Table) -> bool:
        """Say whether two tables of one base hold the same rows, in any order."""
        if expected is actual:
            return True
        return len(expected) == len(actual) and self._unshared(expected, actual) == self._unshared(
            actual, expected
        )

    def _unshared(self, table: Table, other: Table) -> Counter[tuple[Key, ...]]:
        """Count the rows that the other table does not share; those that it shares are equal anyway."""
        shared = set(map(id, other.rows))
        lineage = Lineage(table)
        found: Counter[tuple[Key, ...]] = Counter()
        for place, row in enumerate(table.rows):
            if id(row) not in shared:
                found[self.identity(table.spec, row, added=lineage.added(place))] += 1
        return found

    def _ended(self, path: str) -> str:
        """Give the path of a plot that ends on the last day in place of one that ends the day before."""
        if len(self._last_days) < 2:
            return path
        before, last = self._last_days
        head, between, ending = path.rpartition(f"_{before}_")
        return f"{head}_{last}_{ending}" if between and ending in PLOT_ENDINGS else path


def _last_days(visits: Table) -> tuple[str, ...]:
    """Give the last-but-one and the last day that have visits; one or none where there are no more."""
    days = {day for day in visits.column("date_of_visit") if isinstance(day, str)}
    return tuple(sorted(days)[-2:])


class Exact(Gym):
    """Not for scores: two tables are the very same state only if nothing at all tells them apart."""

    def key(self, spec: TableSpec, column: int, cell: Cell) -> Key:
        """See a cell as it is; NaN, which equals nothing, as a number that no cell is."""
        del spec, column
        return _EMPTY if is_nan(cell) else cell


Profile = Gym

_PROFILES: Final[dict[ProfileName, Callable[[Workplace], Profile]]] = {
    "gym": lambda _: Gym(),
    "workbench": Workbench,
}


def profile_named(name: str, fresh: Workplace) -> Profile:
    """Make the comparison of this name for a workplace.

    Raises:
        CodedError: `invalid_params`: there is none of that name.
    """
    if name not in get_args(ProfileName):
        raise invalid_params(f"profile: expected {' or '.join(get_args(ProfileName))}.")
    return _PROFILES[cast("ProfileName", name)](fresh)
