"""What holds for the ground truth of every task, checked on the files in plain Python."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, time, timedelta
from pathlib import Path

import pytest

from tests.toolkits.task_oracle import Files, Record, read_files
from toolkits.dataset import BUNDLED, Dataset, load_dataset
from toolkits.generator import generate, write_dataset
from toolkits.tasks import Call, Task, generate_tasks
from toolkits.tasks.office import Office
from toolkits.tasks.rules import adds_twice, is_sound
from wa_mcp.catalogue import CATALOGUE

pytestmark = pytest.mark.timeout(120)

ADDS = ("create", "add", "send", "forward", "reply")
CUSTOMERS = "customer_relationship_manager"

Set = tuple[Dataset, Files, list[Task]]


@pytest.fixture(scope="module", params=["bundled", "generated", "reference"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Set:
    """A data set, its files, and its tasks."""
    if request.param == "bundled":
        dataset: Dataset = request.getfixturevalue("dataset")
        return dataset, read_files(BUNDLED), request.getfixturevalue("bundled_tasks")
    if request.param == "reference":
        folder: Path = request.getfixturevalue("reference") / "csv_data"
    else:
        folder = tmp_path_factory.mktemp("office")
        write_dataset(generate(11), folder)
    dataset = load_dataset(folder, CATALOGUE)
    return dataset, read_files(folder), generate_tasks(dataset, 4, per_kind=4)


def verb(call: Call) -> tuple[str, str]:
    """Split a tool's name into its toolkit and the first word of what it does."""
    toolkit = next(name for name in CATALOGUE.names if call.name.startswith(f"{name}_"))
    return toolkit, call.name.removeprefix(f"{toolkit}_").split("_")[0]


def calls(tasks: list[Task]) -> Iterator[tuple[Task, Call]]:
    for task in tasks:
        for call in task.ground_truth:
            yield task, call


def test_it_runs_cleanly_and_every_call_changes_something(made: Set) -> None:
    dataset, _, tasks = made
    for task in tasks:
        place = dataset.workplace(CATALOGUE.names)
        for call in task.ground_truth:
            place, outcome = place.call(call.name, call.arguments)
            assert not outcome.is_error, (task.id, outcome.value)
            assert outcome.changed, task.id
        assert len(task.ground_truth) <= 12


def test_no_table_is_added_to_and_deleted_from(made: Set) -> None:
    for task in made[2]:
        verbs = [verb(call) for call in task.ground_truth]
        adding = {toolkit for toolkit, does in verbs if does in ADDS}
        deleting = {toolkit for toolkit, does in verbs if does == "delete"}
        assert not adding & deleting, task.id


def test_the_order_is_said_to_count_exactly_where_two_rows_are_added_to_a_table(made: Set) -> None:
    for task in made[2]:
        added = Counter(toolkit for toolkit, does in map(verb, task.ground_truth) if does in ADDS)
        assert task.order_sensitive == any(count > 1 for count in added.values()), task.id


def test_no_update_is_to_the_value_that_stands(made: Set) -> None:
    files = made[1]
    tables = {"event": files.events, "task": files.tasks, "customer": files.customers}
    for task, call in calls(made[2]):
        if verb(call)[1] != "update":
            continue
        what = call.name.split("_")[-1]
        key = call.arguments[f"{what}_id"]
        (row,) = (row for row in tables[what] if row[f"{what}_id"] == key)
        assert row[call.arguments["field"]].lower() != call.arguments["new_value"].lower(), task.id


def test_no_event_overlaps_or_leaves_the_working_hours(made: Set) -> None:
    files = made[1]
    found = 0
    for task, call in calls(made[2]):
        moved = placed(files, call)
        if moved is None:
            continue
        found += 1
        start, minutes, own = moved
        end = start + timedelta(minutes=minutes)
        assert time(9) <= start.time() < end.time() <= time(18), task.id
        assert start.date() == end.date()
        for row in files.events:
            other = datetime.fromisoformat(row["event_start"])
            apart = end <= other or other + timedelta(minutes=int(row["duration"])) <= start
            assert apart or row["event_id"] == own, (task.id, row)
    assert found > 20


def placed(files: Files, call: Call) -> tuple[datetime, int, str] | None:
    """Give start, minutes and id of the event that a call puts somewhere, if it does."""
    given = call.arguments
    if call.name == "calendar_create_event":
        return datetime.fromisoformat(given["event_start"]), int(given["duration"]), ""
    if call.name == "calendar_update_event" and given["field"] == "event_start":
        (row,) = (row for row in files.events if row["event_id"] == given["event_id"])
        return datetime.fromisoformat(given["new_value"]), int(row["duration"]), row["event_id"]
    return None


def test_what_is_new_is_new(made: Set) -> None:
    files = made[1]
    known: list[tuple[str, list[Record], str]] = [
        (f"{CUSTOMERS}_add_customer", files.customers, "customer_name"),
        ("project_management_create_task", files.tasks, "task_name"),
    ]
    for name, rows, column in known:
        there = {row[column].lower() for row in rows}
        added = [call.arguments[column].lower() for _, call in calls(made[2]) if call.name == name]
        assert added
        assert there.isdisjoint(added)


def test_every_time_of_day_says_am_or_pm(made: Set) -> None:
    times = 0
    for task in made[2]:
        for text in (task.prompt, task.system):
            for at, letter in enumerate(text):
                if letter == ":" and text[at - 1].isdigit() and text[at + 1].isdigit():
                    times += 1
                    assert text[at + 3 : at + 6] in (" am", " pm"), task.prompt
    assert times > len(made[2])


def test_a_prompt_leaves_no_gap_and_no_quotation_open(made: Set) -> None:
    for task in made[2]:
        assert task.prompt.count('"') % 2 == 0
        assert not set("{}") & set(task.prompt)
        assert "  " not in task.prompt


def test_people_are_called_by_names_that_the_directory_knows_once(made: Set) -> None:
    dataset, files, tasks = made
    for task in tasks:
        named = [address for address in files.people if f"{first(address)} " in f"{task.prompt} "]
        for address in named:
            assert sum(first(address).lower() in other for other in files.people) == 1
    assert dataset.facts.owner_email not in {
        person.address for person in Office(dataset.workplace(CATALOGUE.names)).people
    }


def first(address: str) -> str:
    return address.partition(".")[0].capitalize()


def event(name: str, start: str, duration: str = "30") -> Call:
    given = {"event_name": name, "participant_email": "a@b.example", "event_start": start}
    return Call("calendar_create_event", {**given, "duration": duration})


def lead(name: str) -> Call:
    given = {"customer_name": name, "assigned_to_email": "a@b.example", "status": "Lead"}
    return Call(f"{CUSTOMERS}_add_customer", given)


def send(subject: str) -> Call:
    return Call("email_send_email", {"recipient": "a@b.example", "subject": subject, "body": "Yes."})


def update(field: str, change: Callable[[str], str]) -> Callable[[Files], list[Call]]:
    def make(files: Files) -> list[Call]:
        row = files.events[-1]
        given = {"event_id": row["event_id"], "field": field, "new_value": change(row[field])}
        return [Call("calendar_update_event", given)]

    return make


SATURDAY = "2023-12-02"
UNSOUND: dict[str, Callable[[Files], list[Call]]] = {
    "a call that fails": lambda _: [Call("email_delete_email", {"email_id": "none"})],
    "an update to the value that stands": update("event_name", str),
    "an update of the case alone": update("event_name", str.swapcase),
    "a mail sent and another deleted": lambda files: [
        send("Hello"),
        Call("email_delete_email", {"email_id": files.mails[0]["email_id"]}),
    ],
    "an event over another": lambda files: [event("x", files.events[-1]["event_start"])],
    "two new events at once": lambda _: [event(name, f"{SATURDAY} 10:00:00") for name in "xy"],
    "an event before the day starts": lambda _: [event("x", f"{SATURDAY} 08:30:00")],
    "an event that ends after the day": lambda _: [event("x", f"{SATURDAY} 17:30:00", "60")],
    "an event moved out of the day": update("event_start", lambda _: f"{SATURDAY} 07:00:00"),
    "a lead whom we know": lambda files: [lead(files.customers[0]["customer_name"].upper())],
    "a lead twice": lambda _: [lead("Somebody New"), lead("Somebody New")],
}  # fmt: skip


@pytest.mark.parametrize("what", UNSOUND)
def test_the_generator_gives_up(what: str, dataset: Dataset) -> None:
    office = Office(dataset.workplace(CATALOGUE.names))
    assert not is_sound(office, UNSOUND[what](read_files(BUNDLED)))


def test_the_generator_keeps_what_is_sound(dataset: Dataset) -> None:
    office = Office(dataset.workplace(CATALOGUE.names))
    assert is_sound(office, [])
    assert is_sound(office, [event("x", f"{SATURDAY} 10:00:00"), lead("Somebody New"), send("Hello")])
    assert not adds_twice(office, [lead("Somebody New"), send("Hello")])
    assert adds_twice(office, [send("One"), send("Two")])
