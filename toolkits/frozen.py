"""Tables as JSON and back: a base whole, a changed table as its changes. Nothing is guessed or repaired.

Everything read here may have been written by anybody: each form is checked before anything is made of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from toolkits.cells import LONGEST_TEXT, NAN, Cell, encoded, is_nan, is_storable, read_moment, wire
from toolkits.forms import check_names, fields_of, list_of, number_of, places_of, positions_of
from toolkits.rows import Append, Drop, Row, RowChange, Set, TableSpec, growth, stored_in
from toolkits.table import Base, Table
from toolkits.toolkit import Facts
from toolkits.workplace import MOST_STORED_BYTES, Catalogue, Dataset

__all__ = ["freeze_changes", "thaw_base", "thaw_dataset", "thaw_table"]


def freeze_changes(table: Table) -> bytes:
    """Encode the changes of a table since its base, a JSON list of objects, oldest first.

    `{"revision", "append": [cells], "label"}`, `{"revision", "drop": [positions]}` or
    `{"revision", "set": [positions], "column", "value"}`; `nan` lists the places of NaN in what was stored.
    """
    return table.derive(_encoded)


def _encoded(table: Table) -> bytes:
    columns = table.spec.columns
    return encoded([_frozen(change, columns) for change in table.changes])


def _frozen(change: RowChange, columns: Sequence[str]) -> dict[str, Any]:
    if isinstance(change, Append):
        nan = [place for place, cell in enumerate(change.cells) if is_nan(cell)]
        form = {
            "revision": change.revision,
            "append": [wire(cell) for cell in change.cells],
            "label": change.label,
        }
        return {**form, "nan": nan} if nan else form
    if isinstance(change, Drop):
        return {"revision": change.revision, "drop": change.positions}
    form = {
        "revision": change.revision,
        "set": change.positions,
        "column": columns[change.column],
        "value": wire(change.value),
    }
    return {**form, "nan": [0]} if is_nan(change.value) else form


def thaw_base(spec: TableSpec, digest: str, form: Any, known: Base | None = None) -> Base:
    """Make a base of its whole form; or give the known one of that digest, where the form is its own.

    Raises:
        ValueError: The form is not one of this table, or is not what the digest was made of.
    """
    if known is not None and known.spec is spec and _is_form_of(known, form):
        return known
    fields = fields_of(form, {"index", "columns"})
    columns = list_of(fields["columns"], "columns")
    if len(columns) != len(spec.columns):
        raise ValueError(f"expected {len(spec.columns)} columns, got {len(columns)}")
    labels = [number_of(label, "label") for label in list_of(fields["index"], "index")]
    cells = [
        _thaw_column(spec, name, column, len(labels))
        for name, column in zip(spec.columns, columns, strict=True)
    ]
    rows = [Row(row) for row in zip(*cells, strict=True)]
    for row in rows:
        _check_row(spec, row.cells)
    base = Base(spec, rows, labels)
    if base.digest != digest:
        raise ValueError("the base is not what its digest was made of")
    return base


def _is_form_of(base: Base, form: Any) -> bool:
    # Equal forms may still hold 1 for true, and forms that are written alike NaN for null.
    try:
        is_written_alike = orjson.dumps(form, option=orjson.OPT_SORT_KEYS) == base.encoded
    except orjson.JSONEncodeError:
        return False
    return is_written_alike and orjson.loads(base.encoded) == form


def _thaw_column(spec: TableSpec, name: str, form: Any, length: int) -> list[Cell]:
    fields = fields_of(form, {"name", "dtype", "values", "nan"})
    values, nan = list_of(fields["values"], "values"), places_of(fields["nan"], length)
    if fields["name"] != name:
        raise ValueError(f"expected the column {name!r}, got {str(fields['name'])[:60]!r}")
    if fields["dtype"] != spec.dtype(name):
        raise ValueError(f"column {name!r}: expected dtype {spec.dtype(name)}")
    if len(values) != length:
        raise ValueError(f"column {name!r} has {len(values)} values for {length} row labels")
    return _thaw_cells([name] * length, values, nan, spec, LONGEST_TEXT)


def thaw_table(base: Base, form: Any, last_revision: int) -> Table:
    """Read the changes of a table; its rows are made of them when they are first asked for.

    Raises:
        ValueError: A change is not of a known form or does not apply; the message says which, counted from 0.
    """
    changes: list[RowChange] = []
    spec, count, stored, revision = base.spec, len(base.rows), 0, 1
    for entry in list_of(form, "changes"):
        try:
            change = _thaw_change(spec, entry, count)
            if not revision <= change.revision <= last_revision:
                raise ValueError(f"revision {change.revision} is out of order")
        except ValueError as error:
            raise ValueError(f"change {len(changes)}: {error}") from None
        revision = change.revision
        count += growth(change)
        stored += stored_in(change)
        changes.append(change)
    return Table(base, tuple(changes), None, stored) if changes else base.table


def _thaw_change(spec: TableSpec, form: Any, count: int) -> RowChange:
    """Read a change of a table that has so many rows."""
    fields: dict[str, Any] = form
    if isinstance(form, dict):
        if "set" in fields:
            return _thaw_set(spec, fields, count)
        if "append" in fields:
            return _thaw_append(spec, fields)
        if "drop" in fields:
            check_names(fields, _DROP)
            return Drop(number_of(fields["revision"], "revision"), positions_of(fields["drop"], count))
    raise ValueError("not an append, a drop or a set")


def _thaw_append(spec: TableSpec, fields: Mapping[str, Any]) -> RowChange:
    check_names(fields, _APPEND, _NAN)
    values, label = list_of(fields["append"], "append"), fields["label"]
    if len(values) != len(spec.columns):
        raise ValueError(f"expected {len(spec.columns)} cells, got {len(values)}")
    cells = tuple(_thaw_stored(spec.columns, values, fields, spec))
    _check_row(spec, cells)
    if label is not None:
        number_of(label, "label")
    return Append(number_of(fields["revision"], "revision"), cells, label)


def _thaw_set(spec: TableSpec, fields: Mapping[str, Any], count: int) -> RowChange:
    check_names(fields, _SET, _NAN)
    name = fields["column"]
    column = spec.position.get(name) if isinstance(name, str) else None
    if column is None or name == spec.key:
        raise ValueError(f"{str(name)[:60]!r} is not a column that can be set")
    (value,) = _thaw_stored((name,), [fields["value"]], fields, spec)
    return Set(number_of(fields["revision"], "revision"), positions_of(fields["set"], count), column, value)


_APPEND: Final = frozenset({"revision", "append", "label"})
_DROP: Final = frozenset({"revision", "drop"})
_SET: Final = frozenset({"revision", "set", "column", "value"})
_NAN: Final = frozenset({"nan"})


def _thaw_stored(
    columns: Sequence[str], values: list[Any], change: Mapping[str, Any], spec: TableSpec
) -> list[Cell]:
    """Read the cells that a change stored; where none of them is NaN, it does not say `nan`."""
    # Tools mark, join and lower texts: what they store may be longer than an argument may be.
    if "nan" not in change:
        if not spec.boolean and _is_all_text(values, MOST_STORED_BYTES):
            return values
        return _thaw_cells(columns, values, (), spec, MOST_STORED_BYTES)
    nan = places_of(change["nan"], len(values))
    if not nan:
        raise ValueError("nan: expected one or more places")
    return _thaw_cells(columns, values, nan, spec, MOST_STORED_BYTES)


def _is_all_text(values: list[Any], longest: int) -> bool:
    """Say in one look whether all values are text that may be stored, also taken together: most are."""
    try:
        return is_storable("".join(values), longest)
    except TypeError:
        return False


def _thaw_cells(
    columns: Sequence[str], values: list[Any], nan: Sequence[int], spec: TableSpec, longest: int
) -> list[Cell]:
    boolean = spec.boolean
    for name, value in zip(columns, values, strict=True):
        is_right = (
            isinstance(value, bool) if name in boolean else value is None or is_storable(value, longest)
        )
        if not is_right:
            raise ValueError(f"column {name!r}: a value of the wrong type, or one that cannot be stored")
    cells: list[Cell] = values
    for place in nan:
        if cells[place] is not None:
            raise ValueError(f"column {columns[place]!r}: a place is NaN and holds a value")
        if cells is values:
            cells = list(values)
        cells[place] = NAN
    return cells


def _check_row(spec: TableSpec, cells: tuple[Cell, ...]) -> None:
    """Refuse an id that is not digits: the tools count on from the highest."""
    if spec.key and not is_id(cells[spec.position[spec.key]]):
        raise ValueError(f"column {spec.key!r}: not an id")


def is_id(cell: Cell) -> bool:
    """Say whether a cell is an id as the tools make and read them: a few ASCII digits."""
    return isinstance(cell, str) and 0 < len(cell) <= 16 and cell.isascii() and cell.isdigit()


def thaw_dataset(catalogue: Catalogue, digest: str, named: Any, bases: Mapping[str, Base]) -> Dataset:
    """Make a data set of what `Dataset.named` gave, from bases by digest.

    Raises:
        ValueError: The form is not that of a data set, a base is missing, or it is not what the digest names.
    """
    fields = fields_of(named, {"facts", "tables"})
    names = fields_of(fields["tables"], {spec.name for spec in catalogue.specs(catalogue.names)})
    facts = fields_of(fields["facts"], set(Facts.__dataclass_fields__))
    if not all(is_storable(fact) for fact in facts.values()) or read_moment(facts["now"]) is None:
        raise ValueError("facts: not a clock, working hours and an owner")
    found: dict[str, Base] = {}
    for spec in catalogue.specs(catalogue.names):
        base = bases.get(str(names[spec.name]))
        if base is None or base.spec is not spec:
            raise ValueError(f"table {spec.name}: its base is not there")
        found[spec.name] = base
    dataset = Dataset(catalogue, Facts(**facts), found)
    if dataset.digest != digest:
        raise ValueError("the data set is not what its digest was made of")
    return dataset
