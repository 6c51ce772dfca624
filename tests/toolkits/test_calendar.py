"""The calendar: look up, search, create, delete and change events."""

import pytest

from tests.toolkits.desk import Desk, desk

EVENTS = "calendar.events"
COLUMNS = "event_id, event_name, participant_email, event_start, duration"
BAD_ID = "Invalid event ID format. Expected 8-digit ID."
BAD_START = "Invalid event_start format. Expected YYYY-MM-DD HH:MM:SS."
BAD_DURATION = "Invalid duration format. Expected a number of minutes."
NOT_POSITIVE = "Duration must be a positive number of minutes."
ROWS = (
    ("00000004", "Board (Q4)", "ada@firm.example", "2023-11-02 09:00:00", "30"),
    ("00000002", "board", "Cy@firm.example", "2023-11-01 10:30:00", "060"),
    ("00000012", "Standup", "ada@firm.example", "2023-11-02 09:00:00", "15"),
    ("00000003", "", "dora@firm.example", "2023-11-03 09:00:00", ""),
)


@pytest.fixture
def calendar() -> Desk:
    return desk({EVENTS: ROWS})


def ids(found: dict[str, list[dict[str, str]]]) -> list[str]:
    return [event["event_id"] for event in found["events"]]


@pytest.mark.parametrize(("field", "value"), [*zip(COLUMNS.split(", "), ROWS[1], strict=True)])
def test_every_field_of_an_event_can_be_read_as_stored(calendar: Desk, field: str, value: str) -> None:
    got = calendar.reads("calendar_get_event_information_by_id", event_id="00000002", field=field)
    assert got == {field: value}


def test_an_empty_cell_reads_as_null(calendar: Desk) -> None:
    got = calendar.reads("calendar_get_event_information_by_id", event_id="00000003", field="event_name")
    assert got == {"event_name": None}


@pytest.mark.parametrize(
    ("event_id", "field", "answer"),
    [
        ("", "", "Event ID not provided."),
        ("4", "", "Field not provided."),
        ("4", "nope", BAD_ID),
        ("000000004", "nope", BAD_ID),
        ("0000000a", "nope", BAD_ID),
        (" 0000004", "nope", BAD_ID),
        ("-0000004", "nope", BAD_ID),
        ("٠٠٠٠٠٠٠٤", "nope", BAD_ID),
        ("0000000²", "nope", BAD_ID),
        ("99999999", "nope", f"Invalid field. Available fields are: {COLUMNS}"),
        ("99999999", "Duration", f"Invalid field. Available fields are: {COLUMNS}"),
        ("99999999", "duration", "Event not found."),
    ],
)
def test_a_lookup_checks_the_id_its_form_the_column_and_the_event_in_this_order(
    calendar: Desk, event_id: str, field: str, answer: str
) -> None:
    assert calendar.refused("calendar_get_event_information_by_id", event_id=event_id, field=field) == answer


def test_a_search_shows_the_latest_start_first_and_ties_in_table_order(calendar: Desk) -> None:
    found = calendar.reads("calendar_search_events")
    assert ids(found) == ["00000003", "00000004", "00000012", "00000002"]
    assert found["pagination"] == {"total_events": 4, "page": 1, "page_size": 5, "total_pages": 1}
    assert found["events"][1] == dict(zip(COLUMNS.split(", "), ROWS[0], strict=True))
    assert found["events"][0]["event_name"] is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("BOARD", ["00000004", "00000002"]),
        ("board (q", ["00000004"]),
        ("(board q4)", []),
        ("cy@FIRM", ["00000002"]),
        ("board ada", []),
        ("2023-11", []),
        ("nan", []),
        (" ", ["00000004"]),
        (".", ["00000003", "00000004", "00000012", "00000002"]),
    ],
)
def test_the_query_is_one_literal_text_in_name_or_participant(
    calendar: Desk, query: str, expected: list[str]
) -> None:
    found = calendar.reads("calendar_search_events", query=query)
    assert (found == "No events found.") if not expected else (ids(found) == expected)


@pytest.mark.parametrize(
    ("time_min", "time_max", "expected"),
    [
        ("2023-11-02 09:00:00", "2023-11-02T09:00", ["00000004", "00000012"]),
        ("2023-11-02 09:00:00.000001", "", ["00000003"]),
        ("", "2023-11-02", ["00000002"]),
        ("2023-11-03", "2023-11-01", []),
        (None, None, ["00000003", "00000004", "00000012", "00000002"]),
    ],
)
def test_bounds_are_inclusive_moments_and_a_bare_date_is_midnight(
    calendar: Desk, time_min: str | None, time_max: str | None, expected: list[str]
) -> None:
    found = calendar.reads("calendar_search_events", time_min=time_min, time_max=time_max)
    assert (found == "No events found.") if not expected else (ids(found) == expected)


def test_an_event_without_a_start_comes_last_and_within_no_bounds() -> None:
    calendar = desk({EVENTS: [("00000001", "n", "p@q.r", "", "5"), *ROWS]})
    assert ids(calendar.reads("calendar_search_events"))[-1] == "00000001"
    assert "00000001" not in ids(calendar.reads("calendar_search_events", time_min="0001-01-01"))


def test_bounds_are_checked_first_and_time_min_before_time_max(calendar: Desk) -> None:
    refused = calendar.refused("calendar_search_events", query="nope", time_min="now", time_max="x")
    assert refused == "Invalid time_min format. Expected YYYY-MM-DD HH:MM:SS."
    refused = calendar.refused("calendar_search_events", query="nope", time_max="2023-11-31")
    assert refused == "Invalid time_max format. Expected YYYY-MM-DD HH:MM:SS."


def test_events_come_in_pages(calendar: Desk) -> None:
    found = calendar.reads("calendar_search_events", page=9, page_size=3)
    assert ids(found) == ["00000002"]
    assert found["pagination"] == {"total_events": 4, "page": 2, "page_size": 3, "total_pages": 2}


def test_a_created_event_goes_last_under_label_0_and_the_others_keep_theirs(calendar: Desk) -> None:
    calendar.changes("calendar_delete_event", event_id="00000002")
    given = {"event_name": " N ", "participant_email": "Bo@Firm", "event_start": "2023-12-01T08:00"}
    assert calendar.changes("calendar_create_event", **given, duration=" 45 ") == "00000013"
    assert calendar.rows(EVENTS)[-1] == ("00000013", " N ", "bo@firm", "2023-12-01T08:00", " 45 ")
    assert calendar.labels(EVENTS) == [0, 2, 3, 0]
    assert calendar.changes("calendar_create_event", **given, duration="+5") == "00000014"
    assert calendar.labels(EVENTS) == [0, 2, 3, 0, 0]
    assert list(calendar.table(EVENTS).frame.index) == [0, 2, 3, 0, 0]


def test_the_first_event_of_an_empty_calendar_has_id_zero() -> None:
    calendar = desk()
    assert calendar.reads("calendar_search_events", query="x") == "No events found."
    given = {"event_name": "n", "participant_email": "p", "event_start": "2023-12-01", "duration": "1"}
    assert calendar.changes("calendar_create_event", **given) == "00000000"
    assert calendar.changes("calendar_create_event", **given) == "00000001"
    assert calendar.labels(EVENTS) == [0, 0]


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        (("", "", "", ""), "Event name not provided."),
        (("n", "", "", ""), "Participant email not provided."),
        (("n", "p", "", ""), "Event start not provided."),
        (("n", "p", "soon", ""), "Event duration not provided."),
        (("n", "p", "soon", "long"), BAD_START),
        (("n", "p", "2023-12-01", "long"), BAD_DURATION),
        (("n", "p", "2023-12-01", "0"), NOT_POSITIVE),
    ],
)
def test_a_create_checks_its_values_in_this_order(
    calendar: Desk, values: tuple[str, str, str, str], answer: str
) -> None:
    names = ("event_name", "participant_email", "event_start", "duration")
    given = dict(zip(names, values, strict=True))
    assert calendar.refused("calendar_create_event", **given) == answer


@pytest.mark.parametrize(
    ("duration", "answer"),
    [
        ("30.0", BAD_DURATION), ("1e2", BAD_DURATION), (" ", BAD_DURATION), ("3 0", BAD_DURATION),
        ("0x1e", BAD_DURATION), ("nan", BAD_DURATION), ("9" * 5000, BAD_DURATION), ("½", BAD_DURATION),
        ("-1", NOT_POSITIVE), ("-0", NOT_POSITIVE), ("000", NOT_POSITIVE), ("\t-30\n", NOT_POSITIVE),
        ("1_000", ""), ("٣", ""), ("007", ""), ("\n45\t", ""), ("9" * 4000, ""),
    ],
)  # fmt: skip
def test_a_duration_is_a_positive_whole_number_as_python_reads_it(
    calendar: Desk, duration: str, answer: str
) -> None:
    created = {"event_name": "n", "participant_email": "p", "event_start": "2023-12-01", "duration": duration}
    updated = {"event_id": "00000004", "field": "duration", "new_value": duration}
    if answer:
        assert calendar.refused("calendar_create_event", **created) == answer
        assert calendar.refused("calendar_update_event", **updated) == answer
    else:
        calendar.changes("calendar_create_event", **created)
        calendar.changes("calendar_update_event", **updated)
        durations = calendar.column(EVENTS, "duration")
        assert (durations[0], durations[-1]) == (duration, duration)


def test_a_deleted_event_is_gone_and_the_others_keep_their_labels(calendar: Desk) -> None:
    assert calendar.changes("calendar_delete_event", event_id="00000004") == "Event deleted successfully."
    assert calendar.labels(EVENTS) == [1, 2, 3]
    assert calendar.refused("calendar_delete_event", event_id="00000004") == "Event not found."
    assert calendar.refused("calendar_delete_event", event_id="4") == BAD_ID
    assert calendar.refused("calendar_delete_event", event_id="") == "Event ID not provided."


@pytest.mark.parametrize(
    ("field", "given", "stored"),
    [
        ("event_name", " New NAME ", " New NAME "),
        ("participant_email", "Not An Address", "not an address"),
        ("event_start", "2023-12-01T08:00:00.5", "2023-12-01T08:00:00.5"),
        ("duration", "+90", "+90"),
    ],
)
def test_an_update_sets_one_cell_and_keeps_all_labels(
    calendar: Desk, field: str, given: str, stored: str
) -> None:
    calendar.changes("calendar_delete_event", event_id="00000002")
    before = calendar.rows(EVENTS)
    done = calendar.changes("calendar_update_event", event_id="00000012", field=field, new_value=given)
    assert done == "Event updated successfully."
    row = list(before[1])
    row[[*COLUMNS.split(", ")].index(field)] = stored
    assert calendar.rows(EVENTS) == [before[0], tuple(row), before[2]]
    assert calendar.labels(EVENTS) == [0, 2, 3]


@pytest.mark.parametrize(
    ("event_id", "field", "value", "answer"),
    [
        ("", "nope", "x", "Event ID, field, or new value not provided."),
        ("4", "", "x", "Event ID, field, or new value not provided."),
        ("4", "nope", "", "Event ID, field, or new value not provided."),
        ("4", "nope", "x", BAD_ID),
        ("99999999", "nope", "x", f"Invalid field. Available fields are: {COLUMNS.partition(', ')[2]}"),
        ("00000004", "event_id", "x", f"Invalid field. Available fields are: {COLUMNS.partition(', ')[2]}"),
        ("99999999", "event_start", "x", BAD_START),
        ("99999999", "duration", "x", BAD_DURATION),
        ("99999999", "duration", "-5", NOT_POSITIVE),
        ("99999999", "event_name", "x", "Event not found."),
    ],
)
def test_an_update_checks_id_field_value_and_event_in_this_order(
    calendar: Desk, event_id: str, field: str, value: str, answer: str
) -> None:
    refused = calendar.refused("calendar_update_event", event_id=event_id, field=field, new_value=value)
    assert refused == answer


def test_ids_grow_from_the_highest_as_text_and_shared_ids_are_changed_together() -> None:
    calendar = desk({EVENTS: [("9", "short", "p", "2023-11-01", "1"), ("00000012", "n", "p", "", "1")]})
    given = {"event_name": "new", "participant_email": "p", "event_start": "2023-12-01", "duration": "1"}
    assert calendar.changes("calendar_create_event", **given) == "00000010"

    calendar = desk({EVENTS: [("99999999", "n", "p", "2023-11-01", "1")]})
    assert calendar.changes("calendar_create_event", **given) == "100000000"
    assert calendar.changes("calendar_create_event", **given) == "100000000"
    calendar.changes("calendar_delete_event", event_id="99999999")
    assert calendar.labels(EVENTS) == [0, 0]
    assert calendar.refused("calendar_delete_event", event_id="100000000") == BAD_ID


def test_an_id_that_would_be_too_long_for_a_checkpoint_is_not_made() -> None:
    calendar = desk({EVENTS: [("9" * 16, "n", "p", "2023-11-01", "1")]})
    given = {"event_name": "new", "participant_email": "p", "event_start": "2023-12-01", "duration": "1"}
    refused = calendar.refused("calendar_create_event", **given)
    assert refused == "There are no more ids. Nothing was changed."
