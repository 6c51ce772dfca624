"""The baseline, "plain": a workplace as people write it today.

Every session reads its tables from CSV into frames of its own; tools search and change the frames; a
checkpoint is one JSON of whole tables for each session; a run is scored by doing both sides' calls on fresh
workplaces and comparing the frames. Nothing is slow on purpose: where there were several usual ways, the
faster is taken, and it does not check arguments, keep revisions, or wait for the disk.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from benchmarks.plain.analytics import Analytics
from benchmarks.plain.calendar import Calendar
from benchmarks.plain.company_directory import CompanyDirectory
from benchmarks.plain.customer_relationship_manager import CustomerRelationshipManager
from benchmarks.plain.email import Email
from benchmarks.plain.project_management import ProjectManagement
from toolkits.dataset import BUNDLED

__all__ = ["Calls", "PlainWorkplace", "plain_score"]

Calls = Sequence[tuple[str, Mapping[str, Any]]]
"""Tool names and arguments, in order."""

_TOOLKITS: Final = {
    "company_directory": CompanyDirectory,
    "email": Email,
    "calendar": Calendar,
    "analytics": Analytics,
    "project_management": ProjectManagement,
    "customer_relationship_manager": CustomerRelationshipManager,
}
_TABLES: Final = {
    "company_directory.addresses": ("company_directory", "addresses"),
    "email.emails": ("email", "emails"),
    "calendar.events": ("calendar", "events"),
    "analytics.visits": ("analytics", "visits"),
    "analytics.plots": ("analytics", "plots"),
    "project_management.tasks": ("project_management", "tasks"),
    "customer_relationship_manager.customers": ("customer_relationship_manager", "customers"),
}
_SCORED: Final = tuple(
    name for name in _TABLES if name not in ("analytics.visits", "company_directory.addresses")
)

_CASED: Final = frozenset({"status", "list_name", "board"})


class PlainWorkplace:
    """The frames of one session, and the tools on them."""

    def __init__(self, folder: Path = BUNDLED) -> None:
        self._toolkits = {name: toolkit(folder) for name, toolkit in _TOOLKITS.items()}

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool: `<toolkit>_<method>`."""
        for toolkit, owner in self._toolkits.items():
            if name.startswith(toolkit):
                return getattr(owner, name[len(toolkit) + 1 :])(**arguments)
        return f"Unknown tool: {name}"

    def table(self, name: str) -> pd.DataFrame:
        """Give one table, as it is now."""
        toolkit, field = _TABLES[name]
        return getattr(self._toolkits[toolkit], field)

    def put(self, name: str, frame: pd.DataFrame) -> None:
        """Put a frame in the place of a table."""
        toolkit, field = _TABLES[name]
        setattr(self._toolkits[toolkit], field, frame)

    def save(self, file: Path) -> None:
        """Write all tables, whole."""
        tables = (f"{json.dumps(name)}: {self.table(name).to_json(orient='split')}" for name in _TABLES)
        file.write_text("{" + ", ".join(tables) + "}")

    @classmethod
    def load(cls, file: Path) -> "PlainWorkplace":
        """Make a workplace of what `save` wrote; no CSV is read."""
        workplace = cls.__new__(cls)
        workplace._toolkits = {name: toolkit.__new__(toolkit) for name, toolkit in _TOOLKITS.items()}
        for name, table in json.loads(file.read_text()).items():
            workplace.put(name, pd.DataFrame(**table))
        return workplace


def plain_score(ground_truth: Calls, calls: Calls) -> bool:
    """Do both sides' calls on fresh workplaces, and say whether they leave the same tables."""
    expected, actual = PlainWorkplace(), PlainWorkplace()
    for workplace, side in ((expected, ground_truth), (actual, calls)):
        for name, arguments in side:
            workplace.call(name, arguments)
    return all(_comparable(expected.table(name)).equals(_comparable(actual.table(name))) for name in _SCORED)


def _comparable(frame: pd.DataFrame) -> pd.DataFrame:
    """Show text in lower case, but for three columns in which the case counts."""
    frame = frame.copy()
    for column in frame.columns:
        if column not in _CASED:
            frame[column] = frame[column].str.lower()
    return frame
