"""Changes of tables as JSON and back; nothing is guessed or repaired.

What is read is checked first, and made a change of when somebody asks for it: of the thousands of sessions
that come back at once, most will not be called for a while.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from toolkits.cells import NAN, Cell, is_id, is_nan, is_storable, wire
from toolkits.forms import number_of, places_of, positions_of
from toolkits.rows import Append, Drop, RowChange, Set, TableSpec, stored_by
from toolkits.workplace import MOST_STORED_BYTES

__all__ = ["WRONG", "ChangeForm", "frozen_change", "is_cell"]

WRONG: Final = "a value of the wrong type, or one that cannot be stored"


class _Form(msgspec.Struct, tag_field="kind", forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """How a change is written."""


class SetForm(_Form, tag="set"):
    """One column of some rows set to a value; `nan` is [0] if that is NaN, and null otherwise."""

    rows: Sequence[int]
    column: str
    value: str | bool | None
    nan: Sequence[int] | UnsetType = UNSET

    @property
    def stored(self) -> Sequence[str | bool | None]:
        """What it stored, as JSON shows it."""
        return (self.value,)

    def check(self, spec: TableSpec, count: int, stored: list[Any]) -> int:
        """Check all but texts, which are better looked at together with many others.

        Args:
            spec: The layout of its table.
            count: How many rows the table has.
            stored: Where to put what it stored.

        Returns:
            How many rows the table has after it.

        Raises:
            ValueError: It does not apply.
        """
        rows, value = self.rows, self.value
        if len(rows) != 1 or not 0 <= rows[0] < count:
            positions_of(rows, count)
        if self.column not in spec.settable:
            raise ValueError(f"{self.column[:60]!a} is not a column that can be set")
        if self.nan is not UNSET:
            _check_nan(self.nan, (value,))
        if spec.boolean:
            self.check_cells(spec)
        stored.append(value)
        return count

    def check_cells(self, spec: TableSpec) -> None:
        """Check each cell that it stored.

        Raises:
            ValueError: One is of the wrong type, or cannot be stored.
        """
        _check_cells(spec, (self.column,), (self.value,))

    def thaw(self, revision: int, spec: TableSpec) -> RowChange:
        """Make a change of it, once it was checked."""
        value = self.value if self.nan is UNSET else NAN
        return Set(revision, tuple(self.rows), spec.position[self.column], value)


class AppendForm(_Form, tag="append"):
    """A row put behind all others, which relabels all rows 0..n-1 unless it says a label.

    `nan` has the places of the cells that are NaN, and null otherwise.
    """

    cells: Sequence[str | bool | None]
    label: int | UnsetType = UNSET
    nan: Sequence[int] | UnsetType = UNSET

    @property
    def stored(self) -> Sequence[str | bool | None]:
        """As `SetForm.stored`."""
        return self.cells

    def check(self, spec: TableSpec, count: int, stored: list[Any]) -> int:
        """As `SetForm.check`."""
        cells = self.cells
        if len(cells) != len(spec.columns):
            raise ValueError(f"expected {len(spec.columns)} cells, got {len(cells)}")
        # The tools count on from the highest id.
        if spec.key and not is_id(cells[spec.position[spec.key]]):
            raise ValueError(f"column {spec.key!r}: not an id")
        if self.label is not UNSET:
            number_of(self.label, "label")
        if self.nan is not UNSET:
            _check_nan(self.nan, cells)
        if spec.boolean:
            self.check_cells(spec)
        stored.extend(cells)
        return count + 1

    def check_cells(self, spec: TableSpec) -> None:
        """As `SetForm.check_cells`."""
        _check_cells(spec, spec.columns, self.cells)

    def thaw(self, revision: int, spec: TableSpec) -> RowChange:
        """As `SetForm.thaw`."""
        cells: list[Cell] = list(self.cells)
        for place in () if self.nan is UNSET else self.nan:
            cells[place] = NAN
        return Append(revision, tuple(cells), None if self.label is UNSET else self.label)


class DropForm(_Form, tag="drop"):
    """Some rows taken out."""

    rows: Sequence[int]

    @property
    def stored(self) -> Sequence[str | bool | None]:
        """Nothing."""
        return ()

    def check(self, spec: TableSpec, count: int, stored: list[Any]) -> int:
        """As `SetForm.check`."""
        return count - len(positions_of(self.rows, count))

    def check_cells(self, spec: TableSpec) -> None:
        """Nothing: it stored none."""

    def thaw(self, revision: int, spec: TableSpec) -> RowChange:
        """As `SetForm.thaw`."""
        return Drop(revision, tuple(self.rows))


ChangeForm = SetForm | AppendForm | DropForm


def frozen_change(change: RowChange, columns: Sequence[str]) -> ChangeForm:
    """Show a change of a table with these columns."""
    if isinstance(change, Drop):
        return DropForm(change.positions)
    shown: Sequence[Any] = stored_by(change)
    nan: list[int] | UnsetType = UNSET
    if float in map(type, shown):  # seldom so, and every call that changes something comes by
        nan = [place for place, cell in enumerate(shown) if is_nan(cell)]
        shown = [wire(cell) for cell in shown]
    if isinstance(change, Append):
        return AppendForm(shown, UNSET if change.label is None else change.label, nan)
    return SetForm(change.positions, columns[change.column], shown[0], nan)


def _check_nan(nan: Sequence[int], stored: Sequence[object]) -> None:
    """Where none of what a change stored is NaN, it does not say `nan`."""
    places = places_of(nan, len(stored))
    if not places or any(stored[place] is not None for place in places):
        raise ValueError("nan: expected the places of one or more cells that are null otherwise")


def _check_cells(spec: TableSpec, columns: Sequence[str], stored: Sequence[object]) -> None:
    for column, value in zip(columns, stored, strict=True):
        # Tools mark, join and lower texts: what they store may be longer than an argument may be.
        if not is_cell(spec, column, value, MOST_STORED_BYTES):
            raise ValueError(f"column {column!r}: {WRONG}")


def is_cell(spec: TableSpec, column: str, value: object, longest: int) -> bool:
    """Say whether a column can hold what JSON shows so: a bool; or null, or text of at most such a length."""
    if column in spec.boolean:
        return isinstance(value, bool)
    return value is None or is_storable(value, longest)
