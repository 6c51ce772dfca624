"""Every task has one answer, and its ground truth is that answer: worked out anew, however it is read."""

from collections.abc import Iterator
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
    assert list(wrong(tmp_path, generate_tasks(load_dataset(tmp_path, CATALOGUE), 1, per_kind=4))) == []


def test_tasks_of_the_reference_data_are_right_however_they_are_read(reference: Path) -> None:
    folder = reference / "csv_data"
    assert list(wrong(folder, generate_tasks(load_dataset(folder, CATALOGUE), 2, per_kind=4))) == []
