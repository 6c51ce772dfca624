"""`wa-mcp tasks`: makes task sets and checks them."""

import sys
from argparse import Namespace
from pathlib import Path
from typing import Final

from toolkits.dataset import BUNDLED, load_dataset
from toolkits.generator import BUNDLED_SEED, write_whole
from toolkits.tasks import as_lines, generate_tasks, plain, responses, shortfalls
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.task_checks import check_tasks, render_checked

__all__ = ["FORMATS", "MOST_PER_KIND", "TASKS_SEED", "check", "generate"]

FORMATS: Final = ("plain", "responses")
MOST_PER_KIND: Final = 1_000
TASKS_SEED: Final = BUNDLED_SEED
"""The seed of the tasks that come with the package."""


def generate(asked: Namespace) -> int:
    """Write the tasks of a data set to a new file."""
    out: Path = asked.out
    if out.exists():
        raise FileExistsError(f"{out} is there already; choose another name or remove it first")
    dataset = load_dataset(asked.data or BUNDLED, CATALOGUE)
    tasks = generate_tasks(dataset, asked.seed, asked.per_kind)
    shown = responses(CATALOGUE.tools) if asked.format == "responses" else plain
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, as_lines(tasks, shown))
    kinds = len({(task.category, task.kind) for task in tasks})
    sys.stdout.write(f"wrote {len(tasks)} tasks of {kinds} kinds to {out}\n")
    for kind, count in shortfalls(tasks, asked.per_kind).items():
        sys.stdout.write(f"  {kind}: only {count}, the data set has no more clear cases\n")
    return 0


def check(asked: Namespace) -> int:
    """Check a file of tasks; the exit status is 1 if there is anything to complain about."""
    dataset = load_dataset(asked.data or BUNDLED, CATALOGUE)
    with asked.file.open("rb") as lines:
        checks = check_tasks(lines, dataset)
    sys.stdout.write(render_checked(checks) + "\n")
    return 1 if checks.complaints else 0
