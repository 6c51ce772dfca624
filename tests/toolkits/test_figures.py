import math
from collections.abc import Mapping

import pandas as pd
import pytest

from tests.toolkits.generated import SEEDS
from toolkits.figures import Figure, figures, render
from toolkits.generator import GeneratedDataset, generate

NOW = "2023-11-30 23:59:00"
FILES = {
    "email.emails": "emails.csv",
    "calendar.events": "calendar_events.csv",
    "analytics.visits": "analytics_data.csv",
    "project_management.tasks": "project_tasks.csv",
    "customer_relationship_manager.customers": "customer_relationship_manager_data.csv",
    "company_directory.addresses": "email_addresses.csv",
}


def frame(columns: str, *rows: list[object]) -> pd.DataFrame:
    """Make a table of objects; `columns` has a space between the names."""
    return pd.DataFrame(list(rows), columns=pd.Index(columns.split()), dtype=object)


def by_name(tables: Mapping[str, pd.DataFrame], table: str, now: str = NOW) -> dict[str, str]:
    return {figure.name: figure.value for figure in figures(tables, now) if figure.table == table}


def loaded(dataset: GeneratedDataset) -> dict[str, pd.DataFrame]:
    """Load a data set as the workplace does: text or NaN, and one column of booleans."""
    tables: dict[str, pd.DataFrame] = {}
    for name, file in FILES.items():
        header, rows = dataset.tables[file].header, dataset.tables[file].rows
        cells = [[cell or math.nan for cell in row] for row in rows]
        tables[name] = pd.DataFrame(cells, columns=pd.Index(header), dtype=object)
    visits = tables["analytics.visits"]
    visits["user_engaged"] = [value == "True" for value in visits["user_engaged"].tolist()]
    return tables


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_the_figures_of_a_generated_data_set_are_those_it_was_made_for(seed: int) -> None:
    tables = loaded(generate(seed))
    events = by_name(tables, "calendar.events")
    assert events["minutes"] == "30 84 (28 %), 60 81 (27 %), 90 75 (25 %), 120 60 (20 %)"
    assert events["names"] == "48, 1 to 11 times each"
    assert events["people with nothing ahead"].startswith("2: ")
    mails = by_name(tables, "email.emails")
    assert mails["about tasks"] == "250 mails (50 %), 40 subjects"
    assert mails["signed by the sender"] == "100 %"
    assert mails["people silent for two weeks"].startswith("3: ")
    tasks = by_name(tables, "project_management.tasks")
    assert (tasks["ids"], tasks["overdue"]) == (
        "0 to n - 1, each once, not in row order",
        "29, over 9 people",
    )
    customers = by_name(tables, "customer_relationship_manager.customers")
    assert customers["empty cells"] == "customer_phone 100, notes 44"
    assert customers["days to follow-up"] == "7 to 30"
    visits = by_name(tables, "analytics.visits")
    assert (visits["days"], visits["visits a day"]) == ("91, 2023-09-01 to 2023-11-30", "3 to 21")
    assert visits["engaged against the rule"] == "0"
    directory = by_name(tables, "company_directory.addresses")
    assert directory["first names within other text"] == "0"


def test_meetings_are_counted_around_now() -> None:
    addresses = frame(
        "email_address", ["ada.low@inn.example"], ["bo.low@inn.example"], ["cy.high@inn.example"]
    )
    events = frame(
        "event_id event_name participant_email event_start duration",
        ["00000000", "Walk", "Ada.Low@inn.example", "2023-11-30 10:00:00", "60"],
        ["00000001", "Walk", "bo.low@inn.example", "2023-11-30 10:30:00", "90"],
        ["00000003", "Talk", "bo.low@inn.example", "2023-12-01 09:00:00", "45"],
        ["00000004", "Talk", "ada.low@inn.example", "2023-12-01 10:00:00", "60"],
        ["00000005", "Rest", "ada.low@inn.example", "2023-12-02", math.nan],
    )
    found = by_name({"calendar.events": events, "company_directory.addresses": addresses}, "calendar.events")
    assert found["ids"] == "not 0 to n - 1, each once"
    assert found["empty cells"] == "duration 1"
    assert found["on Saturday or Sunday"] == "1"
    assert found["overlaps"] == "1"
    assert found["latest end"] == "12:00:00"
    assert found["names"] == "3, 1 to 2 times each"
    assert (found["on the day of now"], found["after now"], found["events tomorrow"]) == ("2", "3", "2")
    assert found["people with nothing ahead"] == "1: cy.high@inn.example"
    # From 09:45 on only a quarter of an hour is free.
    assert found["first free half hour tomorrow"] == "11:00"


def test_a_day_without_room_has_no_free_half_hour() -> None:
    events = frame("event_start duration", ["2023-12-01 08:00:00", "580"])
    assert by_name({"calendar.events": events}, "calendar.events")["first free half hour tomorrow"] == "none"


def test_a_meeting_that_lasts_beyond_the_calendar_has_no_end() -> None:
    events = frame("event_start duration", ["2023-12-01 09:00:00", "9" * 30])
    found = by_name({"calendar.events": events}, "calendar.events")
    assert (found["latest end"], found["first free half hour tomorrow"]) == ("-", "09:00")


def test_mails_are_counted_by_what_they_are_about_and_when() -> None:
    columns = "email_id inbox/outbox sender/recipient subject sent_datetime body"
    mails = frame(
        columns,
        ["00000001", "inbox", "ada.low@inn.example", "On Walk", "2023-11-29 09:00:00", "Hi\\n\\nAda"],
        ["00000000", "inbox", "ada.low@inn.example", "On Walk", "2023-11-29 10:00:00", "Hi\nAda"],
        ["00000002", "inbox", "bo.low@inn.example", "Dig", "2023-11-02 10:00:00", "Hi"],
        ["00000003", "outbox", "bo.low@inn.example", math.nan, "2023-12-25 10:00:00", math.nan],
    )
    tables = {
        "email.emails": mails,
        "calendar.events": frame("event_name", ["Walk"]),
        "project_management.tasks": frame("task_name", ["Dig"], [math.nan]),
        "company_directory.addresses": frame(
            "email_address", ["ada.low@inn.example"], ["bo.low@inn.example"]
        ),
    }
    found = by_name(tables, "email.emails")
    assert found["sorted by time"] == "no"
    assert found["box"] == "inbox 3 (75 %), outbox 1 (25 %)"
    assert found["about tasks"] == "1 mails (25 %), 1 subjects"
    assert found["about events"] == "2 mails (50 %), 1 subjects"
    assert found["subject again on one day"] == "1"
    assert (found["bodies with real line breaks"], found["bodies with \\n"]) == ("1", "1")
    assert found["signed by the sender"] == "50 %"
    assert found["sender and subject again within a week"] == "1"
    # What comes after now is not heard yet.
    assert found["people silent for two weeks"] == "1: bo.low@inn.example"


def test_a_task_is_overdue_when_it_is_open_and_was_due_before_the_day_of_now() -> None:
    tasks = frame(
        "task_id task_name assigned_to_email list_name due_date board",
        ["00000000", "Dig", "ada@inn.example", "Backlog", "2023-11-29", "Yard"],
        ["00000001", "Dig", "ada@inn.example", "Completed", "2023-11-29", "Yard"],
        ["00000002", "Mow", "ada@inn.example", "Backlog", math.nan, "Yard"],
        ["00000003", "Mow", "bo@inn.example", "In Progress", "2023-11-30", "Yard"],
    )
    found = by_name({"project_management.tasks": tasks}, "project_management.tasks")
    assert found["ids"] == "0 to n - 1, each once, in row order"
    assert found["sorted by due date"] == "no"
    assert found["overdue"] == "1, over 1 people"
    assert found["people with nothing overdue"] == "1"
    assert found["people without In Progress"] == "1"
    assert found["fewest tasks"] == "1: bo@inn.example"
    assert found["name again for one person"] == "1"


def test_customers_and_visits_are_counted() -> None:
    customers = frame(
        "assigned_to_email customer_name last_contact_date follow_up_by status product_interest",
        ["ada@inn.example", "X", "2023-11-02", "2023-11-12", "Won", "Ropes"],
        ["bo@inn.example", "X", "2023-11-01", "soon", "Won", math.nan],
    )
    visits = frame(
        "date_of_visit visitor_id page_views session_duration_seconds traffic_source user_engaged",
        ["2023-11-01", "0001", "2", "11", "direct", False],
        ["2023-11-01", "0001", "many", "10", "direct", True],
        ["2023-11-02", "0002", "11", "30", "ads", True],
    )
    tables = {"customer_relationship_manager.customers": customers, "analytics.visits": visits}
    found = by_name(tables, "customer_relationship_manager.customers")
    assert (found["newest contact first"], found["names used twice"]) == ("yes", "1")
    assert found["days to follow-up"] == "10 to 10"
    assert found["products"] == "Ropes 1 (50 %), (empty) 1 (50 %)"
    found = by_name(tables, "analytics.visits")
    assert found["visitor again on one day"] == "1"
    assert found["page views"] == "2 to 11, 1 up to 10"
    assert found["seconds"] == "10 to 30, mean 17.0"
    assert (found["engaged"], found["engaged against the rule"]) == ("2", "1")


def test_a_first_name_within_other_text_is_reported() -> None:
    addresses = frame("email_address", ["ada.low@inn.example"], ["bo.low@inn.example"])
    tasks = frame("task_name assigned_to_email", ["Ask Ada", "ada.low@inn.example"], ["Fix bolts", "x"])
    tables = {"company_directory.addresses": addresses, "project_management.tasks": tasks}
    assert by_name(tables, "company_directory.addresses")["first names within other text"] == "1: bo"


def test_there_are_the_same_figures_whether_tables_are_missing_empty_or_full() -> None:
    full = [(figure.table, figure.name) for figure in figures(loaded(generate(1)), NOW)]
    empty = {name: table.iloc[:0] for name, table in loaded(generate(1)).items()}
    for tables in ({}, empty, {"calendar.events": pd.DataFrame()}):
        assert [(figure.table, figure.name) for figure in figures(tables, NOW)] == full


ODD = [
    "",
    " ",
    "\x00",
    "nan",
    "2023-13-45",
    "9999-12-31T23:59:59+14:00",
    "0001-01-01",
    "-5",
    "9" * 4000,
    "9" * 9000,
]


@pytest.mark.parametrize("cell", [*ODD, math.nan, None, 7, 1.5, True, pd.NA, pd.NaT, ["a"], "é\ud800", b"x"])
def test_no_cell_is_too_odd(cell: object) -> None:
    tables = loaded(generate(1))
    for name, table in tables.items():
        odd = [[cell for _ in table.columns] for _ in range(3)]
        full = [table.iloc[0].tolist() for _ in range(2)]
        tables[name] = pd.DataFrame([*odd, *full], columns=table.columns, dtype=object)
    for now in (NOW, "9999-12-31 23:59:00", "0001-01-01"):
        render(figures(tables, now)).encode("utf-8")


def test_columns_may_repeat_or_be_numbered() -> None:
    doubled = pd.DataFrame([["a", "Walk"]], columns=pd.Index(["event_name", "event_name"]), dtype=object)
    assert by_name({"calendar.events": doubled}, "calendar.events")["names"] == "1, 1 to 1 times each"
    numbered = pd.DataFrame([["a", "b"]], dtype=object)
    assert by_name({"email.emails": numbered}, "email.emails")["rows"] == "1"


def test_now_must_be_a_time() -> None:
    with pytest.raises(ValueError, match=r"now is 'noon'; expected YYYY-MM-DD HH:MM:SS"):
        figures({}, "noon")


def test_rendering_aligns_names_and_values_under_a_heading_per_table() -> None:
    computed = [
        Figure("a.b", "rows", "3"),
        Figure("a.b", "names used twice", "0"),
        Figure("c.d", "rows", "1"),
    ]
    lines = ["a.b", "  rows              3", "  names used twice  0", "", "c.d", "  rows              1", ""]
    assert render(computed) == "\n".join(lines)
    assert render([]) == ""


def test_rendering_keeps_control_characters_out_of_the_terminal() -> None:
    assert render([Figure("a", "b", "é\x1b[2J\n\ud800")]) == "a\n  b  é\\x1b[2J\\n\\ud800\n"
