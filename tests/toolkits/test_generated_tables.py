"""The figures that every generated data set has, whatever its seed."""

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from itertools import pairwise

import pytest

from tests.toolkits.generated import SEEDS, Record, records, values
from toolkits.generator import GeneratedDataset, generate

TODAY = "2023-11-30"
ROWS = {
    "calendar_events.csv": 300,
    "emails.csv": 500,
    "project_tasks.csv": 300,
    "customer_relationship_manager_data.csv": 200,
    "analytics_data.csv": 1000,
    "email_addresses.csv": 20,
}


@pytest.fixture(scope="module", params=SEEDS)
def dataset(request: pytest.FixtureRequest) -> GeneratedDataset:
    seed: int = request.param
    return generate(seed)


def uses(rows: Iterable[Record], column: str) -> tuple[int, int, int]:
    """Give how many values there are, and the fewest and the most uses of one."""
    counts = Counter(values(rows, column)).values()
    return len(counts), min(counts), max(counts)


def percent(rows: list[Record], column: str) -> dict[str, int]:
    return {value: round(100 * count / len(rows)) for value, count in Counter(values(rows, column)).items()}


def test_rows_are_counted_and_ids_are_8_digits_each_once_not_in_row_order(dataset: GeneratedDataset) -> None:
    assert {file: len(table.rows) for file, table in dataset.tables.items()} == ROWS
    for file in (
        "calendar_events.csv",
        "emails.csv",
        "project_tasks.csv",
        "customer_relationship_manager_data.csv",
    ):
        ids = [row[0] for row in dataset.tables[file].rows]
        assert sorted(ids) == [f"{number:08d}" for number in range(len(ids))]
        assert ids != sorted(ids)


def test_the_facts_say_now_working_hours_and_owner(dataset: GeneratedDataset) -> None:
    tomllib = pytest.importorskip("tomllib")
    facts = tomllib.loads(dataset.facts)
    assert facts["format"] == 1
    assert facts["now"] == "2023-11-30 23:59:00"
    assert facts["working_hours"] == {"start": "09:00", "end": "18:00"}
    first, last = facts["owner"]["name"].lower().split()
    addresses = values(records(dataset, "email_addresses.csv"), "email_address")
    assert facts["owner"]["email"] == f"{first}.{last}@{addresses[0].partition('@')[2]}"
    assert first not in {address.partition(".")[0] for address in addresses}


def test_twenty_people_have_unique_first_names_and_one_surname_twice(dataset: GeneratedDataset) -> None:
    addresses = values(records(dataset, "email_addresses.csv"), "email_address")
    firsts = Counter(address.partition(".")[0] for address in addresses)
    lasts = Counter(address.partition(".")[2] for address in addresses)
    assert len(firsts) == 20
    assert sorted(lasts.values()) == [1] * 18 + [2]
    assert {address.endswith(".example") for address in addresses} == {True}


def test_meetings_lie_in_the_working_week_and_never_overlap(dataset: GeneratedDataset) -> None:
    events = records(dataset, "calendar_events.csv")
    starts = [datetime.fromisoformat(text) for text in values(events, "event_start")]
    ends = [
        start + timedelta(minutes=int(row["duration"])) for start, row in zip(starts, events, strict=True)
    ]
    assert starts == sorted(starts)
    assert (starts[0].date(), starts[-1].date()) == (date(2023, 8, 1), date(2023, 12, 21))
    assert {start.weekday() for start in starts} == {0, 1, 2, 3, 4}
    assert {(start.minute % 30, start.second) for start in starts} == {(0, 0)}
    assert min(start.time() for start in starts) == time(9)
    assert max(start.time() for start in starts) == time(15, 30)
    assert max(end.time() for end in ends) == time(17, 30)
    assert [end for end, start in zip(ends, starts[1:], strict=False) if start < end] == []


def test_meetings_have_the_lengths_names_and_people_of_the_specification(dataset: GeneratedDataset) -> None:
    events = records(dataset, "calendar_events.csv")
    assert percent(events, "duration") == {"30": 28, "60": 27, "90": 25, "120": 20}
    assert uses(events, "event_name") == (48, 1, 11)
    assert uses(events, "participant_email") == (20, 8, 24)
    by_day = Counter((row["event_start"][:10], row["event_name"]) for row in events)
    assert max(by_day.values()) == 1


def test_one_day_has_six_meetings_and_two_people_have_nothing_ahead(dataset: GeneratedDataset) -> None:
    events = records(dataset, "calendar_events.csv")
    by_day = Counter(text[:10] for text in values(events, "event_start"))
    assert [day for day, count in by_day.items() if count > 5] == ["2023-12-01"]
    assert (len(by_day), by_day["2023-12-01"], by_day[TODAY]) == (103, 6, 4)
    assert by_day["2023-12-21"] >= 1
    ahead = [row for row in events if row["event_start"] > TODAY + " 23:59:00"]
    assert 45 <= len(ahead) <= 55
    assert len(set(values(ahead, "participant_email"))) == 18
    # Nor today: it makes no difference whether now is the start or the end of the day.
    assert len(set(values(events, "participant_email")) - set(values(ahead, "participant_email"))) == 2


def test_tomorrow_is_busy_up_to_one_half_hour_with_meetings_right_before_and_after(
    dataset: GeneratedDataset,
) -> None:
    events = [row for row in records(dataset, "calendar_events.csv") if row["event_start"] > "2023-12-01"][:6]
    busy = [
        (start, start + timedelta(minutes=int(row["duration"])))
        for row in events
        if (start := datetime.fromisoformat(row["event_start"]))
    ]
    gaps = [(end, start - end) for (_, end), (start, _) in pairwise(busy) if start > end]
    assert busy[0][0] == datetime.fromisoformat("2023-12-01 09:00:00")
    assert gaps[0][1] == timedelta(minutes=30)
    assert time(11) <= gaps[0][0].time() <= time(14)


def test_some_people_were_met_lately_and_some_not_for_three_weeks(dataset: GeneratedDataset) -> None:
    last_met: dict[str, str] = {}
    for row in records(dataset, "calendar_events.csv"):
        if row["event_start"] <= TODAY + " 23:59:00":
            last_met[row["participant_email"]] = row["event_start"]
    assert sum(met > "2023-11-24" for met in last_met.values()) >= 8
    assert sum(met < "2023-11-09" for met in last_met.values()) >= 4


def test_mails_come_to_the_inbox_over_two_months_in_office_hours(dataset: GeneratedDataset) -> None:
    mails = records(dataset, "emails.csv")
    sent = values(mails, "sent_datetime")
    assert sent == sorted(set(sent))
    assert (sent[0][:10], sent[-1][:10]) == ("2023-10-01", TODAY)
    assert {text[11:13] for text in sent} == {"09", "10", "11", "12", "13", "14", "15"}
    assert {datetime.fromisoformat(text).weekday() for text in sent} == set(range(7))
    assert set(values(mails, "inbox/outbox")) == {"inbox"}
    assert uses(mails, "sender/recipient") == (20, 10, 44)
    assert uses(mails, "subject")[0] == 80
    assert max(Counter((row["subject"], row["sent_datetime"][:10]) for row in mails).values()) == 1


def test_some_mails_repeat_within_the_last_week_and_three_people_are_silent(
    dataset: GeneratedDataset,
) -> None:
    mails = records(dataset, "emails.csv")
    for first_day in ("2023-11-23", "2023-11-25"):
        week = [row for row in mails if row["sent_datetime"] > first_day]
        again = Counter((row["sender/recipient"], row["subject"]) for row in week)
        assert sum(count > 1 for count in again.values()) >= 12
    for first_day in ("2023-11-15", "2023-11-17"):
        heard = {row["sender/recipient"] for row in mails if row["sent_datetime"] > first_day}
        assert len(heard) == 17


def test_tasks_are_spread_over_boards_lists_and_people(dataset: GeneratedDataset) -> None:
    tasks = records(dataset, "project_tasks.csv")
    due = values(tasks, "due_date")
    assert due == sorted(due)
    assert (due[0], due[-1]) == ("2023-11-27", "2023-12-13")
    assert Counter(values(tasks, "board")) == {"Back end": 100, "Front end": 100, "Design": 100}
    assert percent(tasks, "list_name") == {"Backlog": 64, "Completed": 17, "In Review": 15, "In Progress": 4}
    assert uses(tasks, "assigned_to_email") == (15, 16, 23)
    assert sorted(Counter(values(tasks, "assigned_to_email")).values())[1] > 16
    assert len({(row["board"], row["assigned_to_email"]) for row in tasks}) == 15
    assert uses(tasks, "task_name")[0] == 77
    assert len({(row["task_name"], row["assigned_to_email"]) for row in tasks}) == 300
    started = {row["assigned_to_email"] for row in tasks if row["list_name"] == "In Progress"}
    assert 5 <= len(started) <= 12


def test_nine_people_are_late_and_two_of_them_have_more_due_today(dataset: GeneratedDataset) -> None:
    still_open = [row for row in records(dataset, "project_tasks.csv") if row["list_name"] != "Completed"]
    late = [row for row in still_open if row["due_date"] < TODAY]
    today = {row["assigned_to_email"] for row in still_open if row["due_date"] == TODAY}
    late_people = set(values(late, "assigned_to_email"))
    assert len(late) == 29
    assert len(late_people) == 9
    assert len(today) == 2
    assert today < late_people


def test_on_two_boards_one_person_has_the_fewest_overdue(dataset: GeneratedDataset) -> None:
    tasks = records(dataset, "project_tasks.csv")
    teams = {(row["board"], row["assigned_to_email"]) for row in tasks}
    late = {
        (row["board"], row["assigned_to_email"])
        for row in tasks
        if row["due_date"] <= TODAY and row["list_name"] != "Completed"
    }
    assert sorted(Counter(board for board, _ in teams - late).values()) == [1, 1, 4]


def test_everybody_has_one_open_task_due_before_all_their_others(dataset: GeneratedDataset) -> None:
    dates: dict[str, list[str]] = {}
    first_open: dict[str, list[str]] = {}
    for row in records(dataset, "project_tasks.csv"):
        dates.setdefault(row["assigned_to_email"], []).append(row["due_date"])
        if row["list_name"] != "Completed":
            first_open.setdefault(row["assigned_to_email"], []).append(row["due_date"])
    assert [who for who, days in first_open.items() if not days[0] < days[1]] == []
    # For those who are late it is the first of all their tasks, completed ones too.
    late = [who for who, days in first_open.items() if days[0] < TODAY]
    assert [who for who in late if not first_open[who][0] == dates[who][0] < dates[who][1]] == []


def test_customers_are_spread_over_people_statuses_and_products(dataset: GeneratedDataset) -> None:
    customers = records(dataset, "customer_relationship_manager_data.csv")
    tasks = records(dataset, "project_tasks.csv")
    assert len(set(values(customers, "customer_name"))) == 200
    assert uses(customers, "assigned_to_email") == (5, 31, 50)
    assert set(values(customers, "assigned_to_email")) & set(values(tasks, "assigned_to_email")) == set()
    statuses = {"Won": 45, "Lost": 43, "Lead": 42, "Proposal": 37, "Qualified": 33}
    products = {"Services": 51, "Training": 45, "Software": 39, "Hardware": 35, "Consulting": 30}
    assert Counter(values(customers, "status")) == statuses
    assert Counter(values(customers, "product_interest")) == products
    assert values(customers, "customer_phone").count("") == 100
    assert values(customers, "notes").count("") == 44


def test_customers_come_newest_contact_first_with_a_follow_up_in_7_to_30_days(
    dataset: GeneratedDataset,
) -> None:
    customers = records(dataset, "customer_relationship_manager_data.csv")
    contact = [date.fromisoformat(text) for text in values(customers, "last_contact_date")]
    follow_up = [date.fromisoformat(text) for text in values(customers, "follow_up_by")]
    assert contact == sorted(contact, reverse=True)
    assert (contact[-1], contact[0]) == (date(2023, 10, 1), date(2023, 11, 30))
    waits = [(later - day).days for later, day in zip(follow_up, contact, strict=True)]
    assert (min(waits), max(waits)) == (7, 30)
    emails = values(customers, "customer_email")
    assert {email.isascii() and email.endswith(".example") for email in emails} == {True}
    assert sum(not name.isascii() for name in values(customers, "customer_name")) >= 20


def test_visits_have_the_days_visitors_and_sources_of_the_specification(dataset: GeneratedDataset) -> None:
    visits = records(dataset, "analytics_data.csv")
    days = values(visits, "date_of_visit")
    assert days != sorted(days)
    assert (min(days), max(days)) == ("2023-09-01", TODAY)
    assert uses(visits, "date_of_visit") == (91, 3, 21)
    assert {len(visitor) == 4 and visitor.isdigit() for visitor in values(visits, "visitor_id")} == {True}
    assert uses(visits, "visitor_id")[0] == 946
    assert len({(row["date_of_visit"], row["visitor_id"]) for row in visits}) == 1000
    sources = Counter(values(visits, "traffic_source"))
    assert sources == {"direct": 515, "social media": 275, "search engine": 110, "referral": 100}


def test_visits_are_engaged_exactly_beyond_ten_seconds_and_one_page(dataset: GeneratedDataset) -> None:
    visits = records(dataset, "analytics_data.csv")
    views = [int(text) for text in values(visits, "page_views")]
    seconds = [int(text) for text in values(visits, "session_duration_seconds")]
    assert (min(views), max(views)) == (1, 41)
    assert sum(count <= 10 for count in views) > 800
    assert (min(seconds), max(seconds)) == (0, 154)
    assert 18.5 < sum(seconds) / 1000 < 19.9
    engaged = [str(count > 1 and stay > 10) for count, stay in zip(views, seconds, strict=True)]
    assert values(visits, "user_engaged") == engaged
    assert 400 < engaged.count("True") < 600
