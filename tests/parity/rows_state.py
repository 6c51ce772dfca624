"""Digests of tables in the form in which the reference's runs record them."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from toolkits.cells import Cell
from toolkits.table import Table

NAMES = {
    "calendar_events": "calendar.events",
    "emails": "email.emails",
    "analytics_data": "analytics.visits",
    "plots_data": "analytics.plots",
    "project_tasks": "project_management.tasks",
    "crm_data": "customer_relationship_manager.customers",
    "directory": "company_directory.addresses",
}


def digests(tables: Mapping[str, Table]) -> dict[str, str]:
    return {recorded: digest(tables[ours]) for recorded, ours in NAMES.items()}


def changed_digests(tables: Mapping[str, Table]) -> dict[str, str]:
    """Digest the tables that differ from their bases; one that was set to what it held does not."""
    found = {recorded: tables[ours] for recorded, ours in NAMES.items() if tables[ours].changes}
    return {
        recorded: table.derive(digest)
        for recorded, table in found.items()
        if table.derive(digest) != table.base.table.derive(digest)
    }


def digest(table: Table) -> str:
    form = {
        "columns": list(table.spec.columns),
        "index": list(table.labels),
        "rows": [[_cell(cell) for cell in row.cells] for row in table.rows],
    }
    text = json.dumps(form, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode()).hexdigest()


def _cell(cell: Cell) -> list[Any]:
    if cell is None:
        return ["none"]
    if isinstance(cell, bool):
        return ["bool", cell]
    return ["nan"] if isinstance(cell, float) else ["str", cell]
