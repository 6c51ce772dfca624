"""A table and a workplace as they were: the changes up to a revision, done on the base again."""

from collections.abc import Sequence
from dataclasses import replace

from toolkits.cells import stored_bytes
from toolkits.rows import Append, Drop, Row, RowChange
from toolkits.table import Table
from toolkits.workplace import Workplace

__all__ = ["apply", "table_at", "workplace_at"]


def workplace_at(workplace: Workplace, revision: int) -> Workplace:
    """Give the workplace as it was after so many calls had changed something; 0 is as it was seeded.

    Raises:
        ValueError: It has not come to that revision.
    """
    if not 0 <= revision <= workplace.revision:
        raise ValueError(f"revision {revision} is not one of 0 to {workplace.revision}")
    if revision == workplace.revision:
        return workplace
    tables = {name: table_at(table, revision) for name, table in workplace.tables.items()}
    changes = sum(len(table.changes) for table in tables.values())
    stored = sum(table.stored for table in tables.values())
    return replace(workplace, tables=tables, revision=revision, changes=changes, stored=stored)


def table_at(table: Table, revision: int) -> Table:
    """Give the table as it was at a revision: this same one if nothing has changed it since."""
    kept = _until(table.changes, revision)
    if len(kept) == len(table.changes):
        return table
    if not kept:
        return table.base.table
    rows = list(table.base.rows)
    stored = sum(apply(change, rows) for change in kept)
    return Table(table.base, kept, tuple(rows), stored)


def apply(change: RowChange, rows: list[Row]) -> int:
    """Do a change to rows that nobody else has yet, and count the bytes that it stores.

    Raises:
        ValueError: There is no such row.
    """
    if isinstance(change, Append):
        rows.append(Row(change.cells))
        return sum(map(stored_bytes, change.cells))
    if change.positions[-1] >= len(rows):
        raise ValueError(f"there is no row {change.positions[-1]}")
    if isinstance(change, Drop):
        for position in reversed(change.positions):
            del rows[position]
        return 0
    for position in change.positions:
        rows[position] = rows[position].with_cell(change.column, change.value)
    return stored_bytes(change.value)


def _until(changes: Sequence[RowChange], revision: int) -> tuple[RowChange, ...]:
    """Take the changes up to a revision; they are in the order of their revisions."""
    count = len(changes)
    while count and changes[count - 1].revision > revision:
        count -= 1
    return tuple(changes[:count])
