"""What sets two states of a session, or two sessions, apart: row by row, and whose call it was."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from toolkits.cells import Cell, is_nan, wire
from toolkits.rows import Row
from toolkits.table import Table
from wa_mcp.errors import invalid_params
from wa_mcp.lineage import Lineage
from wa_mcp.session_state import SessionState

__all__ = ["ADDED", "CHANGED", "RELABELLED", "REMOVED", "Difference", "diff"]

REMOVED: Final = "removed"
ADDED: Final = "added"
CHANGED: Final = "changed"
RELABELLED: Final = "relabelled"


class Difference(NamedTuple):
    """One thing in which two states differ.

    Attributes:
        table: Full name of the table.
        kind: `removed`, a row that only the first has; `added`, one that only the second has; `changed`, one
            that both have, with other cells; `relabelled`, rows that both have, with other labels.
        facts: As `sessions/diff` answers them.
    """

    table: str
    kind: str
    facts: Mapping[str, Any]


def diff(before: SessionState, after: SessionState) -> Iterator[Difference]:
    """Tell how to make the tables of one state those of another.

    Of each table come first the rows to take out, by their places in `before`; then those to put in, by their
    places in `after`, top to bottom; then the cells to set, by the places of their rows in `after`; then the
    labels, if rows that stay have other ones.

    Each says by its revision and tool which call made the difference; `undone` says that it is one that
    `before` has done and `after` has not.

    Raises:
        CodedError: `invalid_params`, the two cannot be compared: they have other toolkits or other data.
    """
    names = before.workplace.tables.keys()
    if names != after.workplace.tables.keys():
        raise invalid_params("otherSessionId: the two sessions have different toolkits.")
    for name, first in before.workplace.tables.items():
        second = after.workplace.tables[name]
        if first.base.digest != second.base.digest:
            raise invalid_params(f"otherSessionId: {name} started from other data in that session.")
        if first is not second and first.changes != second.changes:
            yield from _Comparison(first, second, before, after).differences()


class _Comparison:
    """Two tables that have a beginning in common."""

    def __init__(self, first: Table, second: Table, before: SessionState, after: SessionState) -> None:
        shared = _shared(first, second)
        self.first: Final = Lineage(first, shared)
        self.second: Final = Lineage(second, shared)
        self._tools: Final = (before.history, after.history)
        self._first_places: Final = _places(self.first.origins)
        self._second_places: Final = _places(self.second.origins)

    def differences(self) -> Iterator[Difference]:
        name = self.first.table.spec.name
        for kind, found in (
            (REMOVED, self._removed()),
            (ADDED, self._added()),
            (CHANGED, self._changed()),
            (RELABELLED, self._relabelled()),
        ):
            for facts in found:
                yield Difference(name, kind, facts)

    def _removed(self) -> Iterator[dict[str, Any]]:
        for place, origin in enumerate(self.first.origins):
            if origin < 0:
                yield _shown(self.first.table, place) | self._by(self.first.appended[origin], undone=True)
            elif origin not in self._second_places:
                yield _shown(self.first.table, place) | self._by(self.second.dropped[origin])

    def _added(self) -> Iterator[dict[str, Any]]:
        for place, origin in enumerate(self.second.origins):
            if origin < 0:
                yield _shown(self.second.table, place) | self._by(self.second.appended[origin])
            elif origin not in self._first_places:
                yield _shown(self.second.table, place) | self._by(self.first.dropped[origin], undone=True)

    def _changed(self) -> Iterator[dict[str, Any]]:
        table, columns = self.second.table, self.second.table.spec.columns
        written: dict[int, set[int]] = {}
        for origin, column in (*self.first.written, *self.second.written):
            if origin in self._first_places and origin in self._second_places:
                written.setdefault(self._second_places[origin], set()).add(column)
        for place in sorted(written):
            origin = self.second.origins[place]
            old, new = self.first.table.rows[self._first_places[origin]], table.rows[place]
            cells = {
                columns[column]: _set(old.cells[column], new.cells[column]) | self._writer(origin, column)
                for column in sorted(written[place])
                if old.cells[column] is not new.cells[column] and old.cells[column] != new.cells[column]
            }
            if cells:
                last = max(cells.values(), key=_recency)
                done = {name: last[name] for name in ("revision", "tool", "undone") if name in last}
                yield _named(table, place) | {"cells": cells} | done

    def _relabelled(self) -> Iterator[dict[str, Any]]:
        first, second = self.first.table.labels, self.second.table.labels
        if all(
            first[self._first_places[origin]] == second[place]
            for origin, place in self._second_places.items()
            if origin in self._first_places
        ):
            return
        by = (
            self._by(self.second.relabelled)
            if self.second.relabelled
            else self._by(self.first.relabelled, undone=True)
        )
        yield {"labels": _runs(second)} | by

    def _writer(self, origin: int, column: int) -> dict[str, Any]:
        revision = self.second.written.get((origin, column))
        if revision is None:
            return self._by(self.first.written[origin, column], undone=True)
        return self._by(revision)

    def _by(self, revision: int, *, undone: bool = False) -> dict[str, Any]:
        history = self._tools[0 if undone else 1]
        said = {"revision": revision, "tool": history[revision - 1].tool}
        return {**said, "undone": True} if undone else said


def _shared(first: Table, second: Table) -> int:
    """Count the changes with which both begin."""
    count = 0
    for mine, theirs in zip(first.changes, second.changes, strict=False):
        if mine is not theirs and mine != theirs:
            break
        count += 1
    return count


def _places(origins: Sequence[int]) -> dict[int, int]:
    return {origin: place for place, origin in enumerate(origins) if origin >= 0}


def _recency(cell: Mapping[str, Any]) -> tuple[bool, int]:
    return "undone" not in cell, cell["revision"]


def _named(table: Table, place: int) -> dict[str, Any]:
    named: dict[str, Any] = {"position": place, "label": table.labels[place]}
    if table.spec.key:
        named["id"] = table.rows[place].cells[table.spec.position[table.spec.key]]
    return named


def _shown(table: Table, place: int) -> dict[str, Any]:
    row: Row = table.rows[place]
    nan = [name for name, cell in zip(table.spec.columns, row.cells, strict=True) if is_nan(cell)]
    shown = _named(table, place) | {"row": table.record(row)}
    return {**shown, "nan": nan} if nan else shown


def _set(old: Cell, new: Cell) -> dict[str, Any]:
    nan = [name for name, cell in (("old", old), ("new", new)) if is_nan(cell)]
    shown = {"old": wire(old), "new": wire(new)}
    return {**shown, "nan": nan} if nan else shown


def _runs(labels: Sequence[int]) -> list[list[int]]:
    """Show labels as runs that count on by one, each as its first label and its length."""
    runs: list[list[int]] = []
    for label in labels:
        if runs and label == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([label, 1])
    return runs
