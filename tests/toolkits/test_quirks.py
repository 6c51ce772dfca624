"""Where other workplaces of this kind surprise: the surprises that are kept, and what happens instead."""

import pytest

from tests.toolkits.desk import Desk, bundled_desk, desk
from toolkits.dataset import Dataset
from toolkits.table import Base

EMAILS, EVENTS = "email.emails", "calendar.events"
CUSTOMERS = "customer_relationship_manager.customers"
PATTERNS = ("(", "[", "*", "C++", ".", "(((((a+)+)+$", "\\", "a|b", "^", "$")
EVENT = {"event_name": "n", "participant_email": "p", "event_start": "2023-12-01", "duration": "5"}


@pytest.fixture
def office(dataset: Dataset) -> Desk:
    return bundled_desk(dataset)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_search_is_literal(pattern: str) -> None:
    named = f"x{pattern}y"
    office = desk(
        {
            EMAILS: [("1", "inbox", "a", named, "", ""), ("2", "inbox", "b", "ccc", "", "")],
            EVENTS: [("1", named, "p", "", "5"), ("2", "ccc", "p", "", "5")],
            "project_management.tasks": [("1", named, "", "", "", ""), ("2", "ccc", "", "", "", "")],
            CUSTOMERS: [
                ("1", "", named, "", "", "", "", "", "", ""),
                ("2", "", "ccc", "", "", "", "", "", "", ""),
            ],
            "company_directory.addresses": [(named,), ("ccc",)],
        }
    )
    query = pattern.upper()
    assert office.reads("email_search_emails", query=query)["pagination"]["total_emails"] == 1
    assert office.reads("calendar_search_events", query=query)["pagination"]["total_events"] == 1
    assert len(office.reads("project_management_search_tasks", task_name=query)) == 1
    found = office.reads("customer_relationship_manager_search_customers", customer_name=query)
    assert found["pagination"]["total_customers"] == 1
    assert office.reads("company_directory_find_email_address", name=query) == [named]


def test_reads_never_change_what_later_reads_show(office: Desk) -> None:
    visitor = {"visitor_id": office.rows("analytics.visits")[0][1]}
    before = office.reads("analytics_get_visitor_information_by_id", **visitor)
    digest = office.table("analytics.visits").base.digest
    office.reads("analytics_get_average_session_duration")
    office.reads("analytics_get_average_session_duration", time_min="2023-10-01")
    assert office.reads("analytics_get_visitor_information_by_id", **visitor) == before
    assert isinstance(before[0]["session_duration_seconds"], str)
    assert str(office.table("analytics.visits").frame["session_duration_seconds"].dtype) == "object"
    visits = office.table("analytics.visits")
    assert Base(visits.spec, visits.rows).digest == digest


def test_a_customer_without_address_or_product_does_not_break_later_searches(office: Desk) -> None:
    office.changes(
        "customer_relationship_manager_add_customer", customer_name="N", assigned_to_email="a", status="s"
    )
    for column in ("customer_email", "product_interest"):
        found = office.reads("customer_relationship_manager_search_customers", **{column: "e"}, page_size=999)
        assert "N" not in [customer["customer_name"] for customer in found["customers"]]
    for bound, day in (("last_contact_date_min", "2000"), ("follow_up_by_max", "3000")):
        found = office.reads("customer_relationship_manager_search_customers", **{bound: day}, page_size=999)
        assert "N" not in [customer["customer_name"] for customer in found["customers"]]


@pytest.mark.parametrize(
    "time",
    [
        "Dec 1 2023 3pm",
        "20231201",
        "now",
        "15:30",
        "2023-12-01T09:00:00Z",
        "2023-12-01 09:00+01:00",
        "12/01/2023",
    ],
)
def test_times_have_the_written_forms_only(office: Desk, time: str) -> None:
    bad = "format. Expected YYYY-MM-DD"
    event_id = str(office.rows(EVENTS)[0][0])
    for tool, arguments, says in (
        ("email_search_emails", {"date_min": time}, f"Invalid date_min {bad}."),
        ("email_search_emails", {"date_max": time, "query": "no such word"}, f"Invalid date_max {bad}."),
        ("calendar_search_events", {"time_min": time}, f"Invalid time_min {bad} HH:MM:SS."),
        ("calendar_search_events", {"time_max": time}, f"Invalid time_max {bad} HH:MM:SS."),
        ("calendar_create_event", {**EVENT, "event_start": time}, f"Invalid event_start {bad} HH:MM:SS."),
        ("calendar_update_event", {"event_id": event_id, "field": "event_start", "new_value": time},
         f"Invalid event_start {bad} HH:MM:SS."),
    ):  # fmt: skip
        assert office.refused(tool, **arguments) == says


def test_mails_and_events_of_one_time_stay_in_table_order_however_many() -> None:
    ids = [str(number) for number in range(40, 0, -1)]
    moments = ["2023-11-01 09:00:00", "2023-11-01T09:00", "2023-11-01 09:00"]
    office = desk(
        {
            EMAILS: [(mail, "inbox", "a", "s", moments[at % 3], "b") for at, mail in enumerate(ids)],
            EVENTS: [(event.zfill(8), "n", "p", moments[at % 3], "5") for at, event in enumerate(ids)],
        }
    )
    mails = office.reads("email_search_emails", page_size=40)["emails"]
    assert [mail["email_id"] for mail in mails] == ids
    events = office.reads("calendar_search_events", page_size=40)["events"]
    assert [event["event_id"] for event in events] == [event.zfill(8) for event in ids]


@pytest.mark.parametrize("size", [0, -1, -5])
@pytest.mark.parametrize("tool", ["email_search_emails", "calendar_search_events"])
def test_a_page_of_no_or_fewer_results_is_an_input_error(office: Desk, tool: str, size: int) -> None:
    refused = office.refused(tool, page_size=size)
    assert refused == f"Argument 'page_size': expected an integer of at least 1, got {size}."


def test_an_id_cannot_be_changed(office: Desk) -> None:
    task = str(office.rows("project_management.tasks")[0][0])
    customer = str(office.rows(CUSTOMERS)[0][0])
    refused = office.refused("project_management_update_task", task_id=task, field="task_id", new_value="x")
    assert refused == "Field not valid."
    refused = office.refused(
        "customer_relationship_manager_update_customer",
        customer_id=customer,
        field="customer_id",
        new_value="x",
    )
    assert refused.startswith("Field not valid. Please choose from: 'customer_name', ")


def test_an_empty_workplace_can_be_worked() -> None:
    office = desk()
    assert office.reads("email_search_emails", query="x") == "No emails found."
    assert office.changes("calendar_create_event", **EVENT) == "00000000"
    added = {"customer_name": "n", "assigned_to_email": "a", "status": "s"}
    assert office.changes("customer_relationship_manager_add_customer", **added) == "00000000"
    office.changes("email_send_email", recipient="a@b.c", subject="s", body="b")
    assert office.column(EMAILS, "email_id") == ["1"]


def test_a_number_is_no_text_and_a_text_no_number(office: Desk) -> None:
    refused = office.refused("calendar_create_event", **{**EVENT, "duration": 30})
    assert refused == "Argument 'duration': expected a value of type string, got an integer."
    refused = office.refused("email_search_emails", page="1")
    assert refused == "Argument 'page': expected a value of type integer, got a string."


def test_sent_mails_have_unpadded_ids_and_repeat_from_the_501st_on(office: Desk) -> None:
    for _ in range(502):
        office.changes("email_send_email", recipient="a@b.c", subject="s", body="b")
    assert office.column(EMAILS, "email_id")[500:502] == ["500", "501"]
    assert office.column(EMAILS, "email_id")[-3:] == ["999", "1000", "1000"]


def test_appends_relabel_all_rows_but_the_calendar_s_which_take_label_0(office: Desk) -> None:
    office.changes("calendar_delete_event", event_id=office.rows(EVENTS)[3][0])
    office.changes("calendar_create_event", **EVENT)
    assert office.labels(EVENTS) == [0, 1, 2, *range(4, 300), 0]
    office.changes("email_delete_email", email_id=office.rows(EMAILS)[3][0])
    assert office.labels(EMAILS) == [0, 1, 2, *range(4, 500)]
    office.changes("email_send_email", recipient="a@b.c", subject="s", body="b")
    assert office.labels(EMAILS) == list(range(500))
