"""Every search is a literal one that does not look at the case, and what stands in a cell finds it."""
# ruff: noqa: RUF001 - letters whose two cases are not a plain pair are what is tested

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.toolkits.desk import Desk, bundled_desk, desk
from toolkits.workplace import Dataset

letters = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="\r\n") | st.sampled_from("aAΣσςßẞİıſ.*+(\\"),
    max_size=8,
)


def offices(text: str) -> Desk:
    return desk(
        {
            "email.emails": [("1", "inbox", "a", text, "", "")],
            "calendar.events": [("1", text, "p", "", "5")],
            "project_management.tasks": [("1", text, "", "", "", "")],
            "customer_relationship_manager.customers": [("1", "", text, "", "", "", "", "", "", "")],
            "company_directory.addresses": [(text,)],
        }
    )


def found(office: Desk, query: str) -> list[Any]:
    return [
        office.reads("calendar_search_events", query=query),
        office.reads("project_management_search_tasks", task_name=query),
        office.reads("customer_relationship_manager_search_customers", customer_name=query),
        office.reads("company_directory_find_email_address", name=query),
    ]


NOTHING: list[Any] = ["No events found.", [], "No customers found.", []]


@given(letters, letters.filter(bool), letters)
@example("Α", "Σ", "Α")
@example("", "ΑΣ", "Α")
@example("İ", "İ", "i")
def test_any_part_of_a_cell_finds_it_also_in_lower_case(before: str, part: str, after: str) -> None:
    office = offices(before + part + after)
    for query in (part, part.lower()):
        assert all(answer != nothing for answer, nothing in zip(found(office, query), NOTHING, strict=True))
        assert office.reads("email_search_emails", query=query) != "No emails found."


@given(letters, letters.filter(bool))
def test_what_does_not_stand_in_a_cell_does_not_find_it(text: str, query: str) -> None:
    if query.casefold() not in text.casefold():
        assert found(offices(text), query) == NOTHING


@pytest.mark.parametrize("name", ["ΝΙΚΟΣ@firm.example", "νικος@firm.example", "νικοσ@firm.example"])
def test_an_assignee_is_known_in_any_case(name: str) -> None:
    board = desk(
        {
            "project_management.tasks": [
                ("1", "n", "Νίκος@x.y", "", "", ""),
                ("2", "n", "ΝΙΚΟΣ@firm.example", "", "", ""),
            ]
        }
    )
    board.changes("project_management_update_task", task_id="1", field="assigned_to_email", new_value=name)
    assert board.rows("project_management.tasks")[0][2] == name.lower()


def test_a_search_asks_for_a_hundred_different_words_at_the_most() -> None:
    office = desk({"email.emails": [["0", "inbox", "a@b.c", "s", "2023-11-01", "word " * 3]]})
    assert office.reads("email_search_emails", query="word " * 101)["pagination"]["total_emails"] == 1
    hundred = " ".join(f"w{number}" for number in range(100))
    assert office.reads("email_search_emails", query=hundred) == "No emails found."
    said = "Argument 'query': expected at most 100 different words, got 101 words."
    assert office.refused("email_search_emails", query=f"{hundred} more") == said


LONG = "a" * 600 + "b" + "a" * 600
FULL = "This search is too long for all the text that this workplace has stored."


def test_a_search_that_is_made_to_take_long_over_what_a_session_stored_is_refused() -> None:
    office = desk({"email.emails": [["0", "inbox", "a@b.c", "s", "2023-11-01", "short"]]})
    for _ in range(100):
        office.changes("email_send_email", recipient="a@b.c", subject="s", body="a" * 2400)
    assert office.refused("email_search_emails", query=LONG).startswith(FULL)
    assert office.reads("email_search_emails", query="a" * 600)["pagination"]["total_emails"] == 100


@pytest.mark.parametrize(
    ("change", "stored", "search", "part"),
    [
        ("calendar_update_event", "event_name", "calendar_search_events", "query"),
        ("project_management_update_task", "task_name", "project_management_search_tasks", "task_name"),
        (
            "customer_relationship_manager_update_customer",
            "notes",
            "customer_relationship_manager_search_customers",
            "customer_name",
        ),
    ],
)
def test_every_search_has_that_limit(
    dataset: Dataset, change: str, stored: str, search: str, part: str
) -> None:
    office = bundled_desk(dataset)
    row = {"calendar": "event_id", "project_management": "task_id"}.get(
        change.rpartition("_update")[0], "customer_id"
    )
    for _ in range(30):
        office.changes(change, **{row: "00000007", "field": stored, "new_value": "a" * 100_000})
    assert office.refused(search, **{part: "a" * 100}).startswith(FULL)
    office.reads(search, **{part: "a" * 50})
