"""A table and a workplace as they were: the base, and the changes up to a revision."""

from collections.abc import Sequence

from toolkits.rows import RowChange, stored_in
from toolkits.table import Table
from toolkits.workplace import Workplace

__all__ = ["table_at", "workplace_at"]


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
    return workplace._replace(tables=tables, revision=revision, changes=changes, stored=stored)


def table_at(table: Table, revision: int) -> Table:
    """Give the table as it was at a revision: this same one if nothing has changed it since."""
    kept = _until(table.changes, revision)
    if len(kept) == len(table.changes):
        return table
    if not kept:
        return table.base.table
    return Table(table.base, kept, None, sum(map(stored_in, kept)))


def _until(changes: Sequence[RowChange], revision: int) -> tuple[RowChange, ...]:
    """Take the changes up to a revision; they are in the order of their revisions."""
    count = len(changes)
    while count and changes[count - 1].revision > revision:
        count -= 1
    return tuple(changes[:count])
