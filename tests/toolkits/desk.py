"""Small workplaces made by hand, and a desk at which their tools are called and checked."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolkits.cells import NAN, Cell
from toolkits.dataset import Dataset
from toolkits.table import Base, Row, Table, TableSpec
from toolkits.toolkit import Facts
from toolkits.workplace import Outcome, Workplace
from wa_mcp.catalogue import CATALOGUE

__all__ = ["CHANGED_BY", "NOW", "SPECS", "Desk", "Tables", "bundled_desk", "desk", "strict_json", "workplace"]

NOW = Facts.now
SPECS = {spec.name: spec for spec in CATALOGUE.specs(CATALOGUE.names)}
CHANGED_BY = {
    "email": "email.emails",
    "calendar": "calendar.events",
    "analytics": "analytics.plots",
    "project_management": "project_management.tasks",
    "customer_relationship_manager": "customer_relationship_manager.customers",
}
"""The one table that the changing tools of each toolkit change."""

Tables = Mapping[str, Sequence[Sequence[str]]]
"""Rows by table name, as text in a file: an empty text is an empty cell."""


def workplace(tables: Tables | None = None, *, toolkits: Sequence[str] = CATALOGUE.names) -> Workplace:
    """Make a workplace with these rows; tables that are not named are empty."""
    given = tables or {}
    bases = {
        name: Base(spec, [_row(spec, cells) for cells in given.get(name, ())]) for name, spec in SPECS.items()
    }
    return Dataset(CATALOGUE, Facts(), bases).workplace(toolkits)


def desk(tables: Tables | None = None) -> "Desk":
    """Open a desk at a workplace with these rows."""
    return Desk(workplace(tables))


def bundled_desk(dataset: Dataset) -> "Desk":
    """Open a desk at a fresh workplace of a data set."""
    return Desk(dataset.workplace(CATALOGUE.names))


def strict_json(value: Any) -> str:
    """Write a value as strict JSON that can be sent as UTF-8."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    text.encode()
    return text


class Desk:
    """Calls tools one after another on the workplace as it then is, and checks what holds of every call."""

    def __init__(self, workplace: Workplace) -> None:
        self.workplace = workplace

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Outcome:
        before = self.workplace
        self.workplace, outcome = before.call(tool, arguments)
        strict_json(outcome.value)
        if outcome.changed:
            assert not outcome.is_error
            assert self.workplace == before._replace(
                tables=self.workplace.tables,
                revision=before.revision + 1,
                changes=before.changes + 1,
                stored=self.workplace.stored,
            )
            for name, table in self.workplace.tables.items():
                assert (table is before.tables[name]) is (name not in outcome.changed)
        else:
            assert self.workplace is before
        return outcome

    def reads(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that must succeed without changing anything; gives its answer."""
        outcome = self.call(tool, arguments)
        assert outcome == (outcome.value, False, ())
        return outcome.value

    def changes(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that must succeed and change its toolkit's table; gives its answer."""
        outcome = self.call(tool, arguments)
        table = CHANGED_BY[CATALOGUE.tools[tool].toolkit]
        assert outcome == (outcome.value, False, (table,))
        return outcome.value

    def refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool that must refuse; gives the reason."""
        outcome = self.call(tool, arguments)
        assert outcome == (outcome.value, True, ())
        assert isinstance(outcome.value, str)
        return outcome.value

    def table(self, name: str) -> Table:
        return self.workplace.tables[name]

    def rows(self, name: str) -> list[tuple[Cell, ...]]:
        return [row.cells for row in self.table(name).rows]

    def column(self, name: str, column: str) -> list[Cell]:
        return self.table(name).column(column)

    def labels(self, name: str) -> list[int]:
        return list(self.table(name).labels)


def _row(spec: TableSpec, cells: Sequence[str]) -> Row:
    return Row(tuple(_cell(spec, *pair) for pair in zip(spec.columns, cells, strict=True)))


def _cell(spec: TableSpec, column: str, text: str) -> Cell:
    if column in spec.boolean:
        return text == "True"
    return text or NAN
