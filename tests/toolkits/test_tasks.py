"""The bundled task set: its kinds, its sizes, and that it is always the same."""

from collections import Counter
from pathlib import Path

import pytest

from toolkits.dataset import BUNDLED, Dataset, load_dataset
from toolkits.tasks import BUNDLED_TASKS, KINDS, Task, as_lines, generate_tasks, responses, shortfalls
from wa_mcp.catalogue import CATALOGUE

pytestmark = pytest.mark.timeout(120)

SHARES = {0: 18, 1: 60, 2: 13, 3: 9}
"""In percent: tasks that end with no change, one, two, and more."""


def test_there_are_69_kinds() -> None:
    assert {category: len(kinds) for category, kinds in KINDS.items()} == {
        "analytics": 12,
        "calendar": 11,
        "email": 9,
        "customers": 8,
        "projects": 8,
        "several": 21,
    }


def test_every_kind_has_ten_tasks(bundled_tasks: list[Task]) -> None:
    counts = Counter(f"{task.category}/{task.kind}" for task in bundled_tasks)
    assert counts == {f"{category}/{kind.name}": 10 for category, kinds in KINDS.items() for kind in kinds}
    assert shortfalls(bundled_tasks) == {}


def test_every_kind_has_three_phrasings_that_leave_the_same_open() -> None:
    for kind in (kind for kinds in KINDS.values() for kind in kinds):
        assert len({phrasing.format_map(Gaps()) for phrasing in kind.phrasings}) == 3
        gaps = [Gaps() for _ in kind.phrasings]
        for phrasing, seen in zip(kind.phrasings, gaps, strict=True):
            assert phrasing.format_map(seen)
        assert all(seen.asked == gaps[0].asked for seen in gaps), kind.name


class Gaps(dict[str, str]):
    """Fills every gap, and remembers which ones there were."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()

    def __missing__(self, name: str) -> str:
        self.asked.add(name)
        return "x"


def test_the_sizes_are_spread_as_they_should_be(bundled_tasks: list[Task]) -> None:
    counts = Counter(min(len(task.ground_truth), 3) for task in bundled_tasks)
    for size, share in SHARES.items():
        assert abs(100 * counts[size] / len(bundled_tasks) - share) < 2.5, (size, counts)


def test_the_shipped_file_is_what_the_generator_makes(bundled_tasks: list[Task]) -> None:
    assert BUNDLED_TASKS.read_bytes() == as_lines(bundled_tasks).encode()


def test_another_seed_makes_other_tasks(dataset: Dataset, bundled_tasks: list[Task]) -> None:
    others = generate_tasks(dataset, 5, per_kind=3)
    known = {task.prompt for task in bundled_tasks}
    assert len(others) == 3 * 69
    assert sum(task.prompt in known for task in others) < 30
    assert others == generate_tasks(dataset, 5, per_kind=3)


def test_no_two_tasks_of_a_set_are_the_same(bundled_tasks: list[Task]) -> None:
    assert len({task.id for task in bundled_tasks}) == len(bundled_tasks)
    assert len({task.prompt for task in bundled_tasks}) == len(bundled_tasks)
    solved = Counter(
        (task.category, task.kind, repr(task.ground_truth)) for task in bundled_tasks if task.ground_truth
    )
    assert [solution for solution, count in solved.items() if count > 1] == []


def test_the_system_message_says_when_it_is_and_who_works_for_whom(bundled_tasks: list[Task]) -> None:
    (system,) = {task.system for task in bundled_tasks}
    assert system.startswith(
        "It is Thursday, 2023-11-30, 11:59 pm. Working hours are 9:00 am to 6:00 pm. "
        "You work for Sunniva Yamauchi (sunniva.yamauchi@tidewell.example).\n"
    )


def test_a_row_for_the_responses_api_carries_all_tools(bundled_tasks: list[Task]) -> None:
    task = bundled_tasks[0]
    row = responses(CATALOGUE.tools)(task)
    asked = row["responses_create_params"]
    assert [tool["name"] for tool in asked["tools"]] == list(CATALOGUE.tools)
    assert {tool["type"] for tool in asked["tools"]} == {"function"}
    assert [tool["parameters"] for tool in asked["tools"]] == [
        tool.schema for tool in CATALOGUE.tools.values()
    ]
    assert [(message["role"], message["content"]) for message in asked["input"]] == [
        ("system", task.system),
        ("user", task.prompt),
    ]


@pytest.mark.parametrize("kept", ["nothing", "the directory"])
def test_a_data_set_that_has_nothing_to_ask_about_yields_fewer_tasks(kept: str, tmp_path: Path) -> None:
    for file in BUNDLED.glob("*.csv"):
        text = file.read_text()
        whole = kept == "the directory" and file.name == "email_addresses.csv"
        (tmp_path / file.name).write_text(text if whole else text.partition("\n")[0] + "\n")
    tasks = generate_tasks(load_dataset(tmp_path, CATALOGUE), 1, per_kind=3)
    found = {task.kind for task in tasks}
    # With nobody in the office there is no task at all; with people alone they can be met and written to.
    assert found == (
        {"create", "send", "mail_if_unmet", "event_if_silent", "event_or_mail_if_unmet", "catch_up_if_unmet"}
        if kept == "the directory"
        else set()
    )
    assert len(shortfalls(tasks, 3)) == 69 - len(found)


def test_cells_that_cannot_be_read_are_asked_about_by_nobody(tmp_path: Path) -> None:
    for file in BUNDLED.glob("*.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    events = (tmp_path / "calendar_events.csv").read_text()
    (tmp_path / "calendar_events.csv").write_text(events.replace(",30\n", ",soon\n").replace("Talk", '""'))
    board = (tmp_path / "project_tasks.csv").read_text()
    (tmp_path / "project_tasks.csv").write_text(board.replace("2023-11-29", "yesterday"))
    tasks = generate_tasks(load_dataset(tmp_path, CATALOGUE), 1, per_kind=3)
    assert len(tasks) > 100
    late = [task.prompt for task in tasks if "overdue" in task.kind]
    unclear = [
        line.split(",")[2].partition(".")[0].capitalize()
        for line in board.splitlines()
        if ",2023-11-29," in line and "Completed" not in line
    ]
    assert late
    assert unclear
    assert [prompt for prompt in late for name in unclear if name in prompt] == []
    assert all(task.prompt.count('"') % 2 == 0 for task in tasks)
