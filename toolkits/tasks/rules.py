"""What the ground truth of every task must keep to, whatever its kind."""

from collections.abc import Sequence

from toolkits.cells import Cell, lowered
from toolkits.table import Append, Drop, Table
from toolkits.tasks.kinds import Call
from toolkits.tasks.office import Office
from toolkits.workplace import Workplace

__all__ = ["adds_twice", "is_sound"]


def is_sound(office: Office, calls: Sequence[Call]) -> bool:
    """Say whether calls run cleanly on fresh tables, each changes something, and the result makes sense.

    No table is both added to and deleted from, since ids and labels would then depend on the order; no new
    or moved event meets another or lies outside of working hours; no new customer has a name that is there.
    """
    place = office.place
    for call in calls:
        after, outcome = place.call(call.name, call.arguments)
        if outcome.is_error or not any(_differs(place, after, name) for name in outcome.changed):
            return False
        place = after
    changed = [table for table in place.tables.values() if table.changes]
    return not any(map(_adds_and_drops, changed)) and _events_fit(office, place) and _names_new(place)


def adds_twice(office: Office, calls: Sequence[Call]) -> bool:
    """Say whether calls add two rows to one table, so that their order shows."""
    place = office.place
    for call in calls:
        place, _ = place.call(call.name, call.arguments)
    return any(_count(table, Append) > 1 for table in place.tables.values())


def _differs(before: Workplace, after: Workplace, name: str) -> bool:
    old, new = before.tables[name].rows, after.tables[name].rows
    if len(old) != len(new):
        return True
    return any(_plain(a.cells) != _plain(b.cells) for a, b in zip(old, new, strict=True) if a is not b)


def _plain(cells: tuple[Cell, ...]) -> list[str]:
    # Scores do not tell upper from lower case, so a change of case alone is none.
    return [lowered(cell) if isinstance(cell, str) else "" for cell in cells]


def _count(table: Table, change: type) -> int:
    return sum(isinstance(one, change) for one in table.changes)


def _adds_and_drops(table: Table) -> bool:
    return bool(_count(table, Append) and _count(table, Drop))


def _events_fit(office: Office, place: Workplace) -> bool:
    if not place.tables["calendar.events"].changes:
        return True
    after = Office(place)
    known = {(event.id, event.start, event.minutes) for event in office.events}
    moved = [event for event in after.events if (event.id, event.start, event.minutes) not in known]
    return all(after.is_free(event.start, event.end, but=event.id) for event in moved)


def _names_new(place: Workplace) -> bool:
    table = place.tables["customer_relationship_manager.customers"]
    if not table.changes:
        return True
    column = table.spec.position["customer_name"]
    known = {lowered(str(row.cells[column])) for row in table.base.rows}
    added = [lowered(str(one.cells[column])) for one in table.changes if isinstance(one, Append)]
    return len(set(added)) == len(added) and not known.intersection(added)
