"""What sets two tables of one base apart, as row changes, each with the revision that made it."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

from toolkits.cells import Cell, wire
from toolkits.rows import Row
from toolkits.table import Table
from wa_mcp.lineage import Lineage
from wa_mcp.profiles import Profile

__all__ = ["RowChange", "differences"]

LONGEST_SHOWN: Final = 200
"""Characters of a cell that are shown."""


class RowChange(NamedTuple):
    """One change of a table since its base that the other side lacks.

    Attributes:
        table: Full name of the table.
        change: `added` or `removed`, a row; `set`, a cell; `placed`, where all rows are alike and only their
            order or their labels differ, the first row of which that is so.
        revision: The revision that made it, 0 where nothing did.
        facts: Of an added row `row`, its cells by column; of a removed one `row` as it was; of a cell `id`,
            `column`, `was` and `value`; of a placed row `place` from 0, `label` and `id`. Texts are cut.
    """

    table: str
    change: Literal["added", "removed", "set", "placed"]
    revision: int
    facts: dict[str, Any]


_Found = tuple[Hashable, RowChange]
"""A change, and what it is compared by."""


def differences(expected: Table, actual: Table, profile: Profile) -> tuple[list[RowChange], list[RowChange]]:
    """List the changes that `actual` lacks, and those that it should not have; the tables are not equal."""
    mine, theirs = Lineage(expected), Lineage(actual)
    wanted, got = list(_changes(mine, profile)), list(_changes(theirs, profile))
    missing, unexpected = _without(wanted, got), _without(got, wanted)
    if missing or unexpected:
        return missing, unexpected
    place = _first_difference(expected, actual, profile)
    return [_placed(mine, place)], [_placed(theirs, place)]


def _without(changes: Iterable[_Found], others: Iterable[_Found]) -> list[RowChange]:
    left = Counter(key for key, _ in others)
    found: list[RowChange] = []
    for key, change in changes:
        if left[key]:
            left[key] -= 1
        else:
            found.append(change)
    return found


def _changes(lineage: Lineage, profile: Profile) -> Iterator[_Found]:
    """Give what the table's changes come to, top to bottom: rows removed, cells set, rows added."""
    table = lineage.table
    for position, revision in sorted(lineage.dropped.items()):
        if position >= 0:
            facts = {"row": _shown_row(table, table.base.rows[position])}
            yield ("removed", position), RowChange(table.spec.name, "removed", revision, facts)
    yield from _cells(lineage, profile)
    for place, origin in enumerate(lineage.origins):
        if origin < 0:
            row = table.rows[place]
            change = RowChange(
                table.spec.name, "added", lineage.touched[origin], {"row": _shown_row(table, row)}
            )
            yield ("added", profile.identity(table.spec, row, added=True)), change


def _cells(lineage: Lineage, profile: Profile) -> Iterator[_Found]:
    """Give the cells of the base's rows that are not what they were."""
    table, spec = lineage.table, lineage.table.spec
    places = {origin: place for place, origin in enumerate(lineage.origins)} if lineage.written else {}
    for (origin, column), revision in sorted(lineage.written.items()):
        if origin < 0 or origin not in places:
            continue
        row, was = table.rows[places[origin]], table.base.rows[origin].cells[column]
        key = profile.key(spec, column, row.cells[column])
        if key != profile.key(spec, column, was):
            facts = {
                "id": _id(table, row),
                "column": spec.columns[column],
                "was": _shown(was),
                "value": _shown(row.cells[column]),
            }
            yield ("set", origin, column, key), RowChange(spec.name, "set", revision, facts)


def _first_difference(expected: Table, actual: Table, profile: Profile) -> int:
    places = enumerate(zip(expected.rows, expected.labels, actual.rows, actual.labels, strict=True))
    for place, (mine, label, other, other_label) in places:
        if label != other_label or profile.keys(expected.spec, mine) != profile.keys(expected.spec, other):
            return place
    raise AssertionError("tables that are equal have been compared")


def _placed(lineage: Lineage, place: int) -> RowChange:
    table = lineage.table
    facts = {"place": place, "label": table.labels[place], "id": _id(table, table.rows[place])}
    return RowChange(table.spec.name, "placed", lineage.placed, facts)


def _id(table: Table, row: Row) -> str | bool | None:
    return _shown(row.cells[table.spec.position[table.spec.key]]) if table.spec.key else None


def _shown_row(table: Table, row: Row) -> dict[str, str | bool | None]:
    return dict(zip(table.spec.columns, map(_shown, row.cells), strict=True))


def _shown(cell: Cell) -> str | bool | None:
    value = wire(cell)
    if isinstance(value, str) and len(value) > LONGEST_SHOWN:
        return f"{value[:LONGEST_SHOWN]}..."
    return value
