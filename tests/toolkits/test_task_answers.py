"""Every task has one answer, and its ground truth is that answer: worked out anew, however it is read."""

import csv
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest

from tests.toolkits.task_oracle import VIEWS, Case, read_files
from tests.toolkits.task_phrases import filled
from tests.toolkits.task_solvers import SOLVERS
from toolkits.dataset import BUNDLED, load_dataset
from toolkits.generator import generate, write_dataset
from toolkits.tasks import KINDS, Task, generate_tasks
from wa_mcp.catalogue import CATALOGUE

pytestmark = pytest.mark.timeout(120)

PHRASINGS = {f"{category}/{kind.name}": kind.phrasings for category, kinds in KINDS.items() for kind in kinds}


def wrong(folder: Path, tasks: list[Task]) -> Iterator[tuple[str, str]]:
    """Give the tasks whose ground truth is not what the files say."""
    files = read_files(folder)
    for task in tasks:
        name = f"{task.category}/{task.kind}"
        slots = filled(task.prompt, *PHRASINGS[name])
        truth = [(call.name, dict(call.arguments)) for call in task.ground_truth]
        if any(SOLVERS[name](Case(files, view, slots)) != truth for view in VIEWS):
            yield task.id, task.prompt


def test_there_is_an_independent_solver_of_every_kind() -> None:
    assert sorted(SOLVERS) == sorted(PHRASINGS)


def test_the_bundled_tasks_are_right_however_they_are_read(bundled_tasks: list[Task]) -> None:
    assert list(wrong(BUNDLED, bundled_tasks)) == []


def test_tasks_of_another_office_are_right_however_they_are_read(tmp_path: Path) -> None:
    write_dataset(generate(7), tmp_path)
    assert list(wrong(tmp_path, generate_tasks(load_dataset(tmp_path, CATALOGUE), 1, per_kind=3))) == []


def test_tasks_of_the_reference_data_are_right_however_they_are_read(reference: Path) -> None:
    folder = reference / "csv_data"
    assert list(wrong(folder, generate_tasks(load_dataset(folder, CATALOGUE), 2, per_kind=3))) == []


def awkward(folder: Path) -> None:
    """Write the bundled office with ties, mails that went out, long lists of one kind, events at the edge."""
    for file in BUNDLED.glob("*.csv"):
        rows = list(csv.reader(StringIO(file.read_text())))
        twins = TWINS.get(file.name)
        if twins is not None:
            rows += [twins(number, row) for number, row in enumerate(rows[1:]) if number % 4 == 0]
        with (folder / file.name).open("w", newline="") as lines:
            csv.writer(lines).writerows(rows)


def sent_out(number: int, row: list[str]) -> list[str]:
    """Answer a mail at the last minute, or get it twice at once."""
    if number % 8:
        return [f"9{row[0][1:]}", "outbox", *row[2:4], "2023-11-30 23:58:59", *row[5:]]
    return [f"9{row[0][1:]}", *row[1:]]


def met_twice(number: int, row: list[str]) -> list[str]:
    """Have two events at once, or one that begins at midnight of today."""
    start = "2023-11-30 00:00:00" if number % 24 == 0 else row[3]
    return [f"9{row[0][1:]}", row[1], row[2], start, row[4]]


def all_alike(number: int, row: list[str]) -> list[str]:
    """Have many customers of one kind."""
    return [f"9{row[0][1:]}", row[1], f"{row[2]} {number}", *row[3:6], "Training", "Lead", *row[8:]]


def namesake(_: int, row: list[str]) -> list[str]:
    """Have a colleague of the same first name."""
    return [row[0].partition(".")[0] + ".namesake@tidewell.example"]


TWINS: dict[str, Callable[[int, list[str]], list[str]]] = {
    "email_addresses.csv": namesake,
    "emails.csv": sent_out,
    "calendar_events.csv": met_twice,
    "customer_relationship_manager_data.csv": all_alike,
}


def test_tasks_of_an_awkward_office_are_right_however_they_are_read(tmp_path: Path) -> None:
    awkward(tmp_path)
    tasks = generate_tasks(load_dataset(tmp_path, CATALOGUE), 1, per_kind=6)
    assert len(tasks) > 300
    assert list(wrong(tmp_path, tasks)) == []
    assert max(len(task.ground_truth) for task in tasks) <= 12
