"""Tables as JSON and back, whole, and the data sets that they make up. Nothing is guessed or repaired.

Everything read here may have been written by anybody: each form is checked before anything is made of it.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from toolkits.cells import LONGEST_TEXT, NAN, Cell, is_id, is_storable, read_moment
from toolkits.forms import fields_of, list_of, number_of, places_of
from toolkits.frozen_changes import WRONG, is_cell
from toolkits.rows import Row, TableSpec
from toolkits.table import Base
from toolkits.toolkit import Facts
from toolkits.workplace import Catalogue, Dataset

__all__ = ["thaw_base", "thaw_dataset"]


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
    # The tools count on from the highest id.
    if spec.key and not all(is_id(row.cells[spec.position[spec.key]]) for row in rows):
        raise ValueError(f"column {spec.key!r}: not an id")
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
    if not all(is_cell(spec, name, value, LONGEST_TEXT) for value in values):
        raise ValueError(f"column {name!r}: {WRONG}")
    cells: list[Cell] = values[:]
    for place in nan:
        if cells[place] is not None:
            raise ValueError(f"column {name!r}: a place is NaN and holds a value")
        cells[place] = NAN
    return cells


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
