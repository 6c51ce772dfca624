"""The figures that describe a data set: what its tables hold, how it is spread, what is ahead and overdue.

They are made for reading: to see whether a data set of one's own resembles the bundled one, and whether
conditions like "overdue", "not met lately" or "the first free half hour" occur in it at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

import pandas as pd

from toolkits.figure_calendar import event_figures
from toolkits.figure_columns import Row, moment, rows
from toolkits.figure_mail import mail_figures
from toolkits.figure_people import people_figures
from toolkits.figure_records import customer_figures, task_figures, visit_figures

EVENTS = "calendar.events"
MAILS = "email.emails"
TASKS = "project_management.tasks"
CUSTOMERS = "customer_relationship_manager.customers"
VISITS = "analytics.visits"
PLOTS = "analytics.plots"
ADDRESSES = "company_directory.addresses"


@dataclass(frozen=True)
class Figure:
    """One figure of a table, in words; `-` stands for what cannot be said."""

    table: str
    name: str
    value: str


def figures(tables: Mapping[str, pd.DataFrame], now: str) -> list[Figure]:
    """Compute the figures of a data set.

    Tables, columns and cells may be missing or hold anything: what cannot be read is left out of a figure.

    Args:
        tables: The tables by name, like `email.emails`.
        now: The clock of the data set, `YYYY-MM-DD HH:MM:SS`.

    Returns:
        The figures, table by table, always the same ones in the same order.

    Raises:
        ValueError: `now` is not a time.
    """
    clock = moment(now)
    if clock is None:
        raise ValueError(f"now is {now!r}; expected YYYY-MM-DD HH:MM:SS")
    read = {name: rows(tables.get(name)) for name in (*_ID_COLUMNS, PLOTS, ADDRESSES)}
    sections = _sections(read, clock)
    return [
        Figure(table, name, value)
        for table, section in sections.items()
        for name, value in {**_shape(read[table], _ID_COLUMNS.get(table)), **section}.items()
    ]


def render(computed: list[Figure]) -> str:
    """Lay figures out as lines for a terminal: a heading per table, names and values aligned."""
    width = max((len(figure.name) for figure in computed), default=0)
    lines: list[str] = []
    for table, section in groupby(computed, key=lambda figure: figure.table):
        lines += ["", table] if lines else [table]
        lines += [f"  {figure.name:<{width}}  {_printable(figure.value)}" for figure in section]
    return "".join(f"{line}\n" for line in lines)


_ID_COLUMNS = {
    MAILS: "email_id",
    EVENTS: "event_id",
    TASKS: "task_id",
    CUSTOMERS: "customer_id",
    VISITS: None,
}


def _sections(read: dict[str, list[Row]], now: datetime) -> dict[str, dict[str, str]]:
    people = [row.text("email_address") for row in read[ADDRESSES]]
    events, mails, tasks = read[EVENTS], read[MAILS], read[TASKS]
    return {
        ADDRESSES: people_figures(people, read),
        EVENTS: event_figures(events, people, now),
        MAILS: mail_figures(mails, events, tasks, people, now),
        TASKS: task_figures(tasks, now),
        CUSTOMERS: customer_figures(read[CUSTOMERS], tasks),
        VISITS: visit_figures(read[VISITS]),
        PLOTS: {},
    }


def _shape(table: list[Row], id_column: str | None) -> dict[str, str]:
    """Count rows and empty cells, and see whether ids are 8 digits, 0 to n - 1, each once."""
    found = {"rows": str(len(table))}
    if id_column is not None:
        ids = [row.text(id_column) for row in table]
        whole = sorted(ids) == [f"{number:08d}" for number in range(len(table))]
        order = "in row order" if ids == sorted(ids) else "not in row order"
        found["ids"] = f"0 to n - 1, each once, {order}" if whole else "not 0 to n - 1, each once"
    columns = dict.fromkeys(name for row in table for name in row.cells)
    gaps = {name: sum(row.cells.get(name) is None for row in table) for name in columns}
    found["empty cells"] = ", ".join(f"{name} {count}" for name, count in gaps.items() if count) or "none"
    return found


def _printable(value: str) -> str:
    """Escape what could move a terminal's cursor: values come from files of unknown origin."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in value)
