"""The tables of a data set tell one story, and questions about it have clear answers."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from statistics import mean

import pytest

from tests.toolkits.generated import SEEDS, Record, records, values
from toolkits.generator import GeneratedDataset, generate
from toolkits.generator.words_events import EVENT_NAMES
from toolkits.generator.words_mail import (
    ASIDES,
    CLOSINGS,
    EVENT_LINES_AFTER,
    EVENT_LINES_BEFORE,
    EVENT_SUBJECTS,
    GREETINGS_AFTERNOON,
    GREETINGS_MORNING,
    TASK_LINES,
    TASK_SUBJECTS,
)
from toolkits.generator.words_people import FIRST_NAMES, SURNAMES, WORKPLACES
from toolkits.generator.words_projects import TASK_NAMES

TODAY = "2023-11-30"
CAMPAIGN = "2023-11-18"


@pytest.fixture(scope="module", params=SEEDS)
def dataset(request: pytest.FixtureRequest) -> GeneratedDataset:
    seed: int = request.param
    return generate(seed)


def owner_name(dataset: GeneratedDataset) -> str:
    return dataset.facts.partition('name = "')[2].partition('"')[0]


def topics(dataset: GeneratedDataset) -> dict[str, str]:
    """Map every subject to the task or meeting that it names."""
    names = {
        *values(records(dataset, "project_tasks.csv"), "task_name"),
        *values(records(dataset, "calendar_events.csv"), "event_name"),
    }
    found: dict[str, str] = {}
    for subject in set(values(records(dataset, "emails.csv"), "subject")):
        (found[subject],) = (name for name in names if name in subject)
    return found


def test_every_mail_is_about_a_task_or_a_meeting_of_its_sender(dataset: GeneratedDataset) -> None:
    tasks = {(row["assigned_to_email"], row["task_name"]) for row in records(dataset, "project_tasks.csv")}
    events = {
        (row["participant_email"], row["event_name"]) for row in records(dataset, "calendar_events.csv")
    }
    topic_of = topics(dataset)
    mails = records(dataset, "emails.csv")
    about = [(row["sender/recipient"], topic_of[row["subject"]]) for row in mails]
    assert [pair for pair in about if pair not in tasks | events] == []
    assert sum(pair in tasks for pair in about) == 250
    assert len({name for pair in about for name in [pair[1]] if pair in tasks}) == 40
    assert [row for row in mails if topic_of[row["subject"]] not in row["body"]] == []


def test_a_mail_addresses_the_owner_and_ends_with_the_name_of_its_sender(dataset: GeneratedDataset) -> None:
    owner = owner_name(dataset).split()[0]
    for row in records(dataset, "emails.csv"):
        greeting, *paragraphs, ending = row["body"].split("\\n\\n")
        _closing, signature = ending.split("\\n")
        assert owner in greeting
        assert ("morning" in greeting.lower()) <= (row["sent_datetime"][11:13] < "12")
        assert signature.lower() == row["sender/recipient"].partition(".")[0]
        assert len(paragraphs) in (1, 2)
        assert "\n" not in row["body"]


def test_a_mail_looks_ahead_to_a_meeting_only_while_there_is_one(dataset: GeneratedDataset) -> None:
    topic_of = topics(dataset)
    last = {
        (row["participant_email"], row["event_name"]): row["event_start"]
        for row in records(dataset, "calendar_events.csv")
    }
    for row in records(dataset, "emails.csv"):
        name = topic_of[row["subject"]]
        ahead = any(line.format(name=name) in row["body"] for line in EVENT_LINES_BEFORE)
        if (row["sender/recipient"], name) in last:
            assert ahead == (row["sent_datetime"] < last[row["sender/recipient"], name])
        else:
            assert not ahead


def test_customers_tasks_and_meetings_belong_to_people_of_the_directory(dataset: GeneratedDataset) -> None:
    people = set(values(records(dataset, "email_addresses.csv"), "email_address"))
    customers = set(values(records(dataset, "customer_relationship_manager_data.csv"), "assigned_to_email"))
    assignees = set(values(records(dataset, "project_tasks.csv"), "assigned_to_email"))
    assert customers | assignees == people
    assert set(values(records(dataset, "calendar_events.csv"), "participant_email")) == people


def test_remarks_about_a_customer_end_on_the_day_of_the_last_contact(dataset: GeneratedDataset) -> None:
    for row in records(dataset, "customer_relationship_manager_data.csv"):
        days = [word[:-1] for word in row["notes"].split() if word[0].isdigit() and word[-1] == ":"]
        assert days == sorted(set(days))
        assert not row["notes"] or days[-1] == row["last_contact_date"]


def test_a_first_name_is_found_only_where_its_owner_is_meant(dataset: GeneratedDataset) -> None:
    people = values(records(dataset, "email_addresses.csv"), "email_address")
    rows = [row for table in dataset.tables.values() for row in table.rows]
    for address in people:
        first = address.partition(".")[0]
        assert [row for row in rows if first in " ".join(row).lower() and address not in row] == []
        assert first not in owner_name(dataset).lower()
    owner = owner_name(dataset).split()[0].lower()
    assert [row for row in rows if owner in " ".join(row).lower() and "inbox" not in row] == []


def test_searching_for_the_words_of_a_task_or_meeting_finds_no_mail_about_another() -> None:
    anywhere = " ".join(
        [*ASIDES, *CLOSINGS, *GREETINGS_AFTERNOON, *GREETINGS_MORNING, *FIRST_NAMES, *SURNAMES, *WORKPLACES]
    )
    tasks = [name for names in TASK_NAMES.values() for name in names]
    about_tasks = " ".join([*TASK_SUBJECTS, *(line for lines in TASK_LINES.values() for line in lines)])
    about_events = " ".join([*EVENT_SUBJECTS, *EVENT_LINES_BEFORE, *EVENT_LINES_AFTER])
    texts = {name: f"{name} {about_tasks} {anywhere}".lower() for name in tasks}
    texts |= {name: f"{name} {about_events} {anywhere}".lower() for name in EVENT_NAMES}
    for name in texts:
        words = name.lower().split()
        assert [other for other, text in texts.items() if all(word in text for word in words)] == [name]


def test_the_campaign_turns_the_order_of_the_sources(dataset: GeneratedDataset) -> None:
    visits = records(dataset, "analytics_data.csv")
    early = Counter(row["traffic_source"] for row in visits if row["date_of_visit"] < CAMPAIGN)
    late = Counter(row["traffic_source"] for row in visits if row["date_of_visit"] >= CAMPAIGN)
    assert early["direct"] > early["social media"] > early["search engine"] > early["referral"]
    assert late["social media"] > late["direct"] > late["referral"] > late["search engine"]


def test_the_last_day_is_neither_the_best_nor_the_worst_by_any_measure(dataset: GeneratedDataset) -> None:
    by_day: dict[str, list[Record]] = {}
    for row in records(dataset, "analytics_data.csv"):
        by_day.setdefault(row["date_of_visit"], []).append(row)
    measures: list[Callable[[list[Record]], float]] = [
        len,
        lambda rows: sum(row["user_engaged"] == "True" for row in rows),
        lambda rows: sum(row["traffic_source"] == "direct" for row in rows),
        lambda rows: sum(row["traffic_source"] == "social media" for row in rows),
        lambda rows: mean(int(row["session_duration_seconds"]) for row in rows),
    ]
    for measure in measures:
        amounts = {day: measure(rows) for day, rows in by_day.items()}
        assert sum(amount < amounts[TODAY] for amount in amounts.values()) >= 10
        assert sum(amount > amounts[TODAY] for amount in amounts.values()) >= 5
        assert amounts[TODAY] > 0


@pytest.mark.parametrize("weeks", [3, 5])
def test_all_who_look_after_customers_have_some_old_proposals(dataset: GeneratedDataset, weeks: int) -> None:
    old = Counter(
        row["assigned_to_email"]
        for row in records(dataset, "customer_relationship_manager_data.csv")
        if row["status"] == "Proposal"
        and (datetime.fromisoformat(TODAY) - datetime.fromisoformat(row["last_contact_date"])).days
        > 7 * weeks
    )
    assert sorted(1 <= count <= 12 for count in old.values()) == [True] * 5
