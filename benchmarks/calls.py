"""The calls that are measured: one of every tool, many different searches, and what changes a table."""

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

from toolkits.workplace import Dataset

__all__ = [
    "BROAD",
    "CALLS",
    "CHANGED_TABLE",
    "Call",
    "calendar_searches",
    "changes_of",
    "customer_searches",
    "mail_searches",
    "touching",
]

Call = tuple[str, Mapping[str, Any]]
"""A tool's name and its arguments."""

_DAYS: Final = {"time_min": "2023-10-05", "time_max": "2023-11-20"}
_COLLEAGUE: Final = "lucjan.lombardo@tidewell.example"

CALLS: Final[Mapping[str, Mapping[str, Any]]] = {
    "company_directory_find_email_address": {"name": "lucjan"},
    "email_get_email_information_by_id": {"email_id": "00000163", "field": "subject"},
    "email_search_emails": {"query": "report", "date_min": "2023-10-10"},
    "email_send_email": {"recipient": _COLLEAGUE, "subject": "Lunch", "body": "Shall we say one o'clock?"},
    "email_delete_email": {"email_id": "00000163"},
    "email_forward_email": {"email_id": "00000163", "recipient": _COLLEAGUE},
    "email_reply_email": {"email_id": "00000163", "body": "Thank you, I will be there."},
    "calendar_get_event_information_by_id": {"event_id": "00000046", "field": "event_start"},
    "calendar_search_events": {"query": "board", "time_min": "2023-09-01 00:00:00"},
    "calendar_create_event": {
        "event_name": "Lunch",
        "participant_email": _COLLEAGUE,
        "event_start": "2023-12-01 13:00:00",
        "duration": "60",
    },
    "calendar_delete_event": {"event_id": "00000046"},
    "calendar_update_event": {"event_id": "00000046", "field": "duration", "new_value": "45"},
    "analytics_get_visitor_information_by_id": {"visitor_id": "0507"},
    "analytics_create_plot": {**_DAYS, "value_to_plot": "total_visits", "plot_type": "line"},
    "analytics_total_visits_count": _DAYS,
    "analytics_engaged_users_count": _DAYS,
    "analytics_traffic_source_count": {**_DAYS, "traffic_source": "referral"},
    "analytics_get_average_session_duration": _DAYS,
    "project_management_get_task_information_by_id": {"task_id": "00000264", "field": "due_date"},
    "project_management_search_tasks": {"assigned_to_email": _COLLEAGUE, "list_name": "Backlog"},
    "project_management_create_task": {
        "task_name": "Order lunch",
        "assigned_to_email": _COLLEAGUE,
        "list_name": "Backlog",
        "due_date": "2023-12-01",
        "board": "Design",
    },
    "project_management_delete_task": {"task_id": "00000264"},
    "project_management_update_task": {"task_id": "00000264", "field": "list_name", "new_value": "In Review"},
    "customer_relationship_manager_search_customers": {"status": "Lead", "product_interest": "Software"},
    "customer_relationship_manager_update_customer": {
        "customer_id": "00000101",
        "field": "status",
        "new_value": "Won",
    },
    "customer_relationship_manager_add_customer": {
        "customer_name": "Lunch Limited",
        "assigned_to_email": _COLLEAGUE,
        "status": "Lead",
    },
    "customer_relationship_manager_delete_customer": {"customer_id": "00000101"},
}
"""A sensible call of every tool, which succeeds in a fresh workplace."""

BROAD: Final[Sequence[Call]] = (
    ("company_directory_find_email_address", {"name": "e"}),
    ("email_search_emails", {"query": "e"}),
    ("email_search_emails", {"query": "e", "page_size": 1_000_000}),
    ("calendar_search_events", {"query": "e"}),
    ("calendar_search_events", {"query": "e", "page_size": 1_000_000}),
    ("analytics_total_visits_count", {}),
    ("project_management_search_tasks", {"due_date": "2023"}),
    ("customer_relationship_manager_search_customers", {"customer_email": "e"}),
    ("customer_relationship_manager_search_customers", {"customer_email": "e", "page_size": 1_000_000}),
)
"""Calls that find all rows of a table, by pages and at once."""

CHANGED_TABLE: Final[Mapping[str, str]] = {
    "email": "email.emails",
    "calendar": "calendar.events",
    "analytics": "analytics.plots",
    "project_management": "project_management.tasks",
    "customer_relationship_manager": "customer_relationship_manager.customers",
}
"""The table that a toolkit's changing tools change."""


def mail_searches(dataset: Dataset, words: int) -> list[Call]:
    """Give searches of so many words that stand in one mail, each search different, in no order."""
    dice, seen = Random(words), dict[tuple[str, ...], None]()
    rows = list(dataset.bases["email.emails"].rows)
    dice.shuffle(rows)
    for row in rows:
        there = sorted({word for word in _words(str(row.cells[5])) if len(word) > 3})
        dice.shuffle(there)
        for start in range(0, len(there) - words + 1, words):
            seen.setdefault(tuple(there[start : start + words]))
    return [("email_search_emails", {"query": " ".join(asked)}) for asked in seen]


def calendar_searches(dataset: Dataset) -> list[Call]:
    """Give searches of the calendar, each different: words of names, every other within two months."""
    rows = dataset.bases["calendar.events"].rows
    words = {word for row in rows for column in (1, 2) for word in _words(str(row.cells[column]))}
    windows = [{"time_min": f"2023-{month:02}-01 00:00:00", "time_max": f"2023-{month + 2:02}-01 00:00:00"}
               for month in range(8, 11)]  # fmt: skip
    asked = [{"query": word, **window} for word in sorted(words) for window in ({}, *windows)]
    return _shuffled("calendar_search_events", asked)


def customer_searches(dataset: Dataset) -> list[Call]:
    """Give searches of the customer list, each different: by name, and by product, status and assignee."""
    rows = dataset.bases["customer_relationship_manager.customers"].rows
    names = {word for row in rows for word in _words(str(row.cells[2]))}
    asked: list[dict[str, Any]] = [{"customer_name": name} for name in sorted(names)]
    for product, status in sorted({(str(row.cells[6]), str(row.cells[7])) for row in rows}):
        given = {"product_interest": product, "status": status}
        asked += [given | {"last_contact_date_min": f"2023-11-{day:02}"} for day in range(1, 29, 3)]
    return _shuffled("customer_relationship_manager_search_customers", asked)


def changes_of(toolkit: str, number: int) -> list[Call]:
    """Give ten calls that change a toolkit's table, different for every number; all succeed when fresh."""
    ids = [f"{one:08}" for one in Random(number).sample(range(200), 10)]
    return list(_MAKERS[toolkit](ids))


def touching(number: int) -> Iterator[Call]:
    """Give a call that changes each table that can be changed, different for every number."""
    one = "00000001"
    yield "email_reply_email", {"email_id": one, "body": f"Number {number}."}
    yield "calendar_update_event", {"event_id": one, "field": "event_name", "new_value": f"Number {number}"}
    yield "analytics_create_plot", CALLS["analytics_create_plot"]
    task = {"task_id": one, "field": "task_name", "new_value": f"Number {number}"}
    yield "project_management_update_task", task
    customer = {"customer_id": one, "field": "notes", "new_value": f"Number {number}."}
    yield "customer_relationship_manager_update_customer", customer


def _mail_changes(ids: list[str]) -> Iterator[Call]:
    for one in ids[:4]:
        yield "email_reply_email", {"email_id": one, "body": f"Thank you for {one}."}
    for one in ids[4:7]:
        yield (
            "email_send_email",
            {"recipient": _COLLEAGUE, "subject": f"About {one}", "body": "See you there."},
        )
    for one in ids[7:]:
        yield "email_delete_email", {"email_id": one}


def _calendar_changes(ids: list[str]) -> Iterator[Call]:
    for one in ids[:5]:
        yield "calendar_update_event", {"event_id": one, "field": "event_name", "new_value": f"Moved {one}"}
    for one in ids[5:7]:
        yield "calendar_create_event", {**CALLS["calendar_create_event"], "event_name": f"Lunch {one}"}
    for one in ids[7:]:
        yield "calendar_delete_event", {"event_id": one}


def _customer_changes(ids: list[str]) -> Iterator[Call]:
    name = "customer_relationship_manager_"
    for one in ids[:5]:
        yield name + "update_customer", {"customer_id": one, "field": "status", "new_value": "Won"}
    for one in ids[5:7]:
        yield name + "add_customer", {**CALLS[name + "add_customer"], "customer_name": f"Number {one}"}
    for one in ids[7:]:
        yield name + "delete_customer", {"customer_id": one}


_MAKERS: Final = {"email": _mail_changes, "calendar": _calendar_changes, "customers": _customer_changes}


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]{3,}", text)


def _shuffled(name: str, asked: list[dict[str, Any]]) -> list[Call]:
    Random(name).shuffle(asked)
    return [(name, arguments) for arguments in asked]
