"""Small data sets with empty cells, random calls that mostly succeed, and what there is to see."""

import csv
from pathlib import Path
from typing import Any

from hypothesis import Phase
from hypothesis import strategies as st

from toolkits.rows import TableSpec
from toolkits.workplace import Workplace
from wa_mcp.catalogue import CATALOGUE

Call = tuple[str, dict[str, Any]]

UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)
"""A failure of what is slow is shown as it was found: making it smaller takes minutes."""

ADA, BO = "ada@firm.example", "bo@firm.example"
TABLES: dict[str, list[tuple[str, ...]]] = {
    "company_directory.addresses": [(ADA,), (BO,)],
    "email.emails": [
        ("1", "inbox", ADA, "Plan", "2023-11-01 09:00:00", ""),
        ("2", "inbox", BO, "", "2023-11-02 09:00:00", "NA"),
        ("3", "outbox", "", "Zo\u00eb \u2014 \u2028 nan", "", "None"),
    ],
    "calendar.events": [
        ("00000000", "Board", ADA, "2023-11-01 09:00:00", "30"),
        ("00000001", "", "", "", ""),
        ("00000002", "Talk", BO, "2023-11-03 09:00:00", "60"),
    ],
    "analytics.visits": [
        ("2023-11-01", "0001", "2", "9", "direct", "True"),
        ("2023-11-01", "0002", "1", "19", "referral", "False"),
        ("2023-11-02", "0001", "4", "30", "", "True"),
    ],
    "project_management.tasks": [
        ("00000000", "Fix", ADA, "Backlog", "2023-11-30", "Design"),
        ("00000001", "", BO, "Completed", "", "Back end"),
    ],
    "customer_relationship_manager.customers": [
        ("00000000", ADA, "Zo\u00eb", "", "", "2023-11-30", "Software", "Won", "", "note"),
        ("00000001", BO, "NA", "na@x.example", "00000189", "", "", "Lead", "2023-12-01", ""),
    ],
}


def write_dataset(folder: Path, *, now: str = "2023-11-30 23:59:00", first: int = 0) -> Path:
    """Write a small data set; one with another `first` leaves out that many rows of each table."""
    folder.mkdir(parents=True)
    for spec in CATALOGUE.specs(CATALOGUE.names):
        if spec.file:
            _write_table(folder / spec.file, spec, TABLES[spec.name][first:])
    (folder / "dataset.toml").write_text(
        f'format = 1\nnow = "{now}"\n[owner]\nname = "Ada"\nemail = "{ADA}"\n'
    )
    return folder


def _write_table(file: Path, spec: TableSpec, rows: list[tuple[str, ...]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        if spec.titled:
            writer.writerow(spec.columns)
        writer.writerows(rows)


def seen(workplace: Workplace) -> dict[str, Any]:
    """Show all there is to a workplace; NaN and None look different, and NaN equals NaN."""
    return {
        "revision": workplace.revision,
        "changes": workplace.changes,
        "stored": workplace.stored,
        "facts": workplace.dataset.facts,
        **{
            name: (list(table.labels), [repr(row.cells) for row in table.rows], repr(table.changes))
            for name, table in workplace.tables.items()
        },
    }


_EIGHT_DIGITS = st.sampled_from([f"0000000{number}" for number in range(4)] + ["99999999"])
_ADDRESSES = st.sampled_from([ADA, "Bo@Firm.Example", ADA, "nobody"])
_TEXTS = st.sampled_from(["Plan", "", "Zo\u00eb", "NA", "nan", "a\nb", '"\\', "\U0001f4c5 \u2028", "None"])
_DAYS = st.sampled_from(["2023-11-01", "2023-11-02", "2023-12-01"])
_ARGUMENTS: dict[str, st.SearchStrategy[Any]] = {
    "email_id": st.sampled_from([*"112345", "99"]),
    "event_id": _EIGHT_DIGITS,
    "task_id": _EIGHT_DIGITS,
    "customer_id": _EIGHT_DIGITS,
    "visitor_id": st.sampled_from(["0001", "0009"]),
    "recipient": _ADDRESSES,
    "participant_email": _ADDRESSES,
    "assigned_to_email": _ADDRESSES,
    "event_start": st.sampled_from(["2023-12-01 10:00:00", "2023-12-02T08:00"]),
    "duration": st.sampled_from(["30", "45"]),
    "due_date": _DAYS,
    "time_min": _DAYS,
    "time_max": _DAYS,
    "status": st.sampled_from(["Won", "Lead", "Odd"]),
    "product_interest": st.sampled_from(["Software", "Training"]),
    "list_name": st.sampled_from(["Backlog", "In Review"]),
    "board": st.sampled_from(["Design", "Front end"]),
    "value_to_plot": st.sampled_from(["total_visits", "visits_direct"]),
    "plot_type": st.sampled_from(["bar", "line"]),
    "page": st.integers(0, 3),
    "page_size": st.integers(1, 3),
    "new_value": st.sampled_from(
        ["Design", "Backlog", "Won", "Software", "45", "2023-12-01", "ADA@firm.example"]
    ),
}


def _call_of(name: str) -> st.SearchStrategy[Call]:
    tool = CATALOGUE.tools[name]
    columns = [column for spec in CATALOGUE.by_name[tool.toolkit].specs for column in spec.columns]
    given = {
        argument: st.sampled_from(columns) if argument == "field" else _ARGUMENTS.get(argument, _TEXTS)
        for argument in tool.schema["properties"]
    }
    required = {argument: given.pop(argument) for argument in tool.schema["required"]}
    return st.tuples(st.just(name), st.fixed_dictionaries(required, optional=given))


CHANGING = [name for name, tool in CATALOGUE.tools.items() if tool.changes]

calls: st.SearchStrategy[Call] = st.sampled_from([*CATALOGUE.tools, *CHANGING, *CHANGING]).flatmap(_call_of)
"""Calls of every tool, those that change something more often; most of them succeed."""

# Every kind of change, and every way in which a cell can be empty.
SCRIPT: list[Call] = [
    ("email_forward_email", {"email_id": "1", "recipient": "Bo@Firm.Example"}),
    ("email_delete_email", {"email_id": "2"}),
    ("calendar_delete_event", {"event_id": "00000001"}),
    (
        "calendar_create_event",
        {
            "event_name": "Zo\u00eb",
            "participant_email": ADA,
            "event_start": "2023-12-01 10:00",
            "duration": "30",
        },
    ),
    (
        "analytics_create_plot",
        {
            "time_min": "2023-11-01",
            "time_max": "2023-11-02",
            "value_to_plot": "total_visits",
            "plot_type": "bar",
        },
    ),
    (
        "customer_relationship_manager_add_customer",
        {"customer_name": "New", "assigned_to_email": ADA, "status": "Lead"},
    ),
    (
        "project_management_update_task",
        {"task_id": "00000000", "field": "list_name", "new_value": "Completed"},
    ),
    ("customer_relationship_manager_delete_customer", {"customer_id": "00000000"}),
]
