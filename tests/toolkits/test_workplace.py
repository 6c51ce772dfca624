"""A workplace is a value: what a call changes and leaves, where it ends, and that a crash ends nothing."""

import logging
from collections.abc import Callable
from typing import Annotated, Any

import pandas as pd
import pytest

from tests.toolkits.desk import Desk, bundled_desk, desk, workplace
from toolkits import workplace as module
from toolkits.dataset import Dataset
from toolkits.table import Base
from toolkits.tool import Arg, Change, tool
from toolkits.toolkit import Facts, TableField, Toolkit
from toolkits.workplace import Catalogue, Outcome
from wa_mcp.catalogue import CATALOGUE

EMAILS = "email.emails"
TASKS = "project_management.tasks"
CUSTOMERS = "customer_relationship_manager.customers"
MAIL = {"recipient": "a@b.c", "subject": "s", "body": "b"}
EVENT = {"event_name": "n", "participant_email": "p", "event_start": "2023-12-01", "duration": "5"}


class Faulty(Toolkit):
    """A toolkit of a test's own that breaks."""

    name = "faulty"
    notes = TableField("note")

    @tool(title="Crash")
    def crash(self, why: Annotated[str, Arg("What to say.")]) -> Change:
        """Write a note, then break."""
        self.notes.append(self.revision, ("lost",))
        raise ValueError(why)


def test_a_tool_that_breaks_answers_one_sentence_and_leaves_a_trace_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    catalogue = Catalogue((Faulty,))
    office = Desk(
        Dataset(catalogue, Facts(), {"faulty.notes": Base(Faulty.specs[0], [])}).workplace(["faulty"])
    )
    with caplog.at_level(logging.ERROR, logger="toolkits"):
        assert office.refused("faulty_crash", why="secret") == "faulty_crash failed; nothing was changed."
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage() == "tool 'faulty_crash' crashed"
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], ValueError)
    assert "in crash" in caplog.text
    assert office.rows("faulty.notes") == []


def test_a_call_counts_what_it_changed_also_when_the_value_was_the_same() -> None:
    office = desk({"calendar.events": [("00000001", "é", "p", "2023-11-01", "5")]})
    for count in (1, 2):
        office.changes("calendar_update_event", event_id="00000001", field="event_name", new_value="é")
        counted = office.workplace
        assert (counted.revision, counted.changes, counted.stored) == (count, count, 2 * count)
    office.changes("calendar_delete_event", event_id="00000001")
    assert (office.workplace.revision, office.workplace.changes, office.workplace.stored) == (3, 3, 4)
    assert [change.revision for change in office.table("calendar.events").changes] == [1, 2, 3]


def test_the_workplace_before_a_call_stays_as_it_was() -> None:
    before = workplace()
    after, outcome = before.call("email_send_email", MAIL)
    assert outcome == Outcome("Email sent successfully.", changed=(EMAILS,))
    assert (before.revision, len(before.tables[EMAILS])) == (0, 0)
    assert (after.revision, len(after.tables[EMAILS])) == (1, 1)
    one, two = after.call("email_send_email", MAIL)[0], after.call("email_delete_email", {"email_id": "1"})[0]
    assert (len(one.tables[EMAILS]), len(two.tables[EMAILS]), len(after.tables[EMAILS])) == (2, 0, 1)


def test_a_workplace_takes_the_tables_of_its_toolkits_only(dataset: Dataset) -> None:
    office = dataset.workplace(["email", "analytics"])
    assert list(office.tables) == [EMAILS, "analytics.visits", "analytics.plots"]
    assert dataset.workplace(["email", "analytics"]) is office
    assert dataset.workplace(["analytics", "email"]) is not office


def test_a_workplace_holds_so_many_changes_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CHANGES", 3)
    office = desk()
    office.changes("email_send_email", **MAIL)
    office.changes("calendar_create_event", **EVENT)
    office.changes("email_delete_email", email_id="1")
    full = "This workplace is full: it holds 3 changes. Nothing was changed."
    assert office.refused("email_send_email", **MAIL) == full
    assert office.refused("calendar_delete_event", event_id="00000000") == full
    assert office.refused("email_delete_email", email_id="1") == "Email not found."
    assert office.reads("calendar_search_events")["pagination"]["total_events"] == 1


def test_a_workplace_stores_so_many_bytes_of_text_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    office = desk()
    office.changes("email_send_email", **MAIL)
    one = len("1" + "outbox" + "a@b.c" + "s" + "b") + len(office.workplace.dataset.facts.now)
    assert office.workplace.stored == one
    monkeypatch.setattr(module, "MOST_STORED_BYTES", 2 * one + 1)
    full = f"This workplace is full: its changes hold {2 * one + 1} bytes of text. Nothing was changed."
    assert office.refused("email_send_email", **{**MAIL, "body": "é" + "b"}) == full
    office.changes("email_send_email", **{**MAIL, "body": "é"})
    assert office.workplace.stored == 2 * one + 1
    office.changes("email_delete_email", email_id="1")
    assert office.workplace.stored == 2 * one + 1
    assert office.refused("calendar_create_event", **EVENT) == full


def test_sixteen_mebibytes_of_text_and_ten_thousand_changes_are_the_limits() -> None:
    assert (module.MOST_CHANGES, module.MOST_STORED_BYTES) == (10_000, 16 * 1024 * 1024)
    office = desk()
    body = "é" * 100_000
    for _ in range(83):
        office.changes("email_send_email", **{**MAIL, "body": body})
    assert office.workplace.stored > 16_600_000
    refused = office.refused("email_send_email", **{**MAIL, "body": body})
    assert refused.startswith("This workplace is full: its changes hold 16777216 bytes")
    office.changes("email_send_email", **MAIL)


def arguments_for_all(office: Desk) -> dict[str, dict[str, Any]]:
    """Give arguments with which every tool succeeds on the bundled data."""
    tables = {"email_id": EMAILS, "event_id": "calendar.events", "task_id": TASKS, "customer_id": CUSTOMERS}
    ids = {argument: office.rows(table)[0][0] for argument, table in tables.items()}
    return {
        "company_directory_find_email_address": {"name": "a"},
        "email_get_email_information_by_id": {"email_id": ids["email_id"], "field": "body"},
        "email_search_emails": {"query": "the", "date_min": "2023-10-01"},
        "email_send_email": MAIL,
        "email_forward_email": {"email_id": ids["email_id"], "recipient": "a@b.c"},
        "email_reply_email": {"email_id": ids["email_id"], "body": "b"},
        "email_delete_email": {"email_id": ids["email_id"]},
        "calendar_get_event_information_by_id": {"event_id": ids["event_id"], "field": "duration"},
        "calendar_search_events": {"query": "a", "time_min": "2023-01-01"},
        "calendar_create_event": EVENT,
        "calendar_update_event": {"event_id": ids["event_id"], "field": "duration", "new_value": "45"},
        "calendar_delete_event": {"event_id": ids["event_id"]},
        "analytics_get_visitor_information_by_id": {"visitor_id": office.rows("analytics.visits")[0][1]},
        "analytics_create_plot": {
            "time_min": "a", "time_max": "b", "value_to_plot": "user_engaged", "plot_type": "bar",
        },
        "analytics_total_visits_count": {},
        "analytics_engaged_users_count": {},
        "analytics_traffic_source_count": {"traffic_source": "direct"},
        "analytics_get_average_session_duration": {},
        "project_management_get_task_information_by_id": {"task_id": ids["task_id"], "field": "board"},
        "project_management_search_tasks": {"task_name": "a"},
        "project_management_create_task": {
            "task_name": "n",
            "assigned_to_email": office.rows(TASKS)[0][2],
            "list_name": "Backlog",
            "due_date": "d", "board": "Design",
        },
        "project_management_update_task": {
            "task_id": ids["task_id"], "field": "board", "new_value": "Design",
        },
        "project_management_delete_task": {"task_id": ids["task_id"]},
        "customer_relationship_manager_search_customers": {"customer_name": "a", "follow_up_by_min": "2023"},
        "customer_relationship_manager_add_customer": {
            "customer_name": "n", "assigned_to_email": "a", "status": "s",
        },
        "customer_relationship_manager_update_customer": {
            "customer_id": ids["customer_id"], "field": "notes", "new_value": "n",
        },
        "customer_relationship_manager_delete_customer": {"customer_id": ids["customer_id"]},
    }  # fmt: skip


def test_no_tool_ever_writes_into_a_table_or_a_frame(dataset: Dataset) -> None:
    tables = {name: base.table for name, base in dataset.bases.items()}
    copies = {name: table.frame.copy(deep=True) for name, table in tables.items()}
    digests = {name: base.digest for name, base in dataset.bases.items()}
    office = bundled_desk(dataset)
    calls = arguments_for_all(office)
    assert set(calls) == set(CATALOGUE.tools)
    for name, arguments in calls.items():
        act = office.changes if CATALOGUE.tools[name].changes else office.reads
        assert act(name, **arguments) not in ({}, [])
        office.refused(name, **arguments, unknown="x")
    assert office.workplace.revision == sum(made.changes for made in CATALOGUE.tools.values())
    for name, table in tables.items():
        assert bundled_desk(dataset).table(name) is table
        pd.testing.assert_frame_equal(table.frame, copies[name], check_exact=True)
        assert sum(table.frame[column].isna().sum() for column in table.frame) == sum(
            cell is None or cell != cell for row in table.rows for cell in row.cells
        )
        assert Base(table.spec, table.rows).digest == digests[name]


@pytest.mark.parametrize("make", [dict, lambda: None])
def test_no_arguments_are_an_empty_object(make: Callable[[], dict[str, Any] | None]) -> None:
    assert workplace().call("analytics_total_visits_count", make())[1] == Outcome({})
