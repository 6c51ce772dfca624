"""The small forms that larger ones are made of, each checked: what is of another form is a ValueError."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Any, Final, cast

__all__ = ["MOST_NUMBER", "fields_of", "list_of", "number_of", "places_of", "positions_of"]

MOST_NUMBER: Final = 2**53
"""The largest label, position or revision that is read."""


def fields_of(form: Any, needed: AbstractSet[str]) -> Mapping[str, Any]:
    """Read an object with just these names."""
    if not isinstance(form, dict):
        raise ValueError(f"expected an object with {', '.join(sorted(needed))}")
    fields = cast("dict[str, Any]", form)
    if fields.keys() != needed:
        raise ValueError(f"expected an object with {', '.join(sorted(needed))}, got other names")
    return fields


def list_of(form: Any, name: str) -> list[Any]:
    """Read a list."""
    values: list[Any] = form
    if not isinstance(form, list):
        raise ValueError(f"{name}: expected a list")
    return values


def number_of(form: Any, name: str) -> int:
    """Read a whole number."""
    if type(form) is not int or not 0 <= form <= MOST_NUMBER:
        raise ValueError(f"{name}: expected a whole number from 0")
    return form


def positions_of(form: Any, count: int) -> tuple[int, ...]:
    """Read the positions of one or more of so many rows."""
    places, before = list_of(form, "positions"), -1
    for place in places:
        if type(place) is not int or place <= before:
            raise ValueError("positions: expected one or more whole numbers from 0, ascending")
        before = place
    if before < 0:
        raise ValueError("positions: expected one or more whole numbers from 0, ascending")
    if before >= count:
        raise ValueError(f"there is no row {before}")
    return tuple(places)


def places_of(form: Any, length: int) -> list[int]:
    """Read places in a list of this length, ascending."""
    places = [number_of(place, "nan") for place in list_of(form, "nan")]
    if any(place >= length for place in places) or any(after <= before for before, after in pairwise(places)):
        raise ValueError("nan: expected places that are there, ascending")
    return places
