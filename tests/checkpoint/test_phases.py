"""The diagram: as data, and as drawn."""

import ast
import inspect
from itertools import product
from pathlib import Path

import pytest

from checkpoint import Event, Phase, phase

DESIGNED = {
    ("idle", "prepare"): "preparing",
    ("preparing", "drained"): "prepared",
    ("prepared", "commit"): "committed",
    ("idle", "restore"): "restored",
    **{(name, "resume"): "idle" for name in ("preparing", "prepared", "committed", "restored")},
    **{(name, "lease over"): "idle" for name in ("preparing", "prepared", "committed", "restored")},
}


@pytest.mark.parametrize(("start", "event"), list(product(Phase, Event)))
def test_every_arrow_is_the_designed_one_and_an_absent_one_is_refused(start: Phase, event: Event) -> None:
    target = DESIGNED.get((start.value, event.value))
    if target is None:
        with pytest.raises(KeyError):
            phase.after(start, event)
    else:
        assert phase.after(start, event).value == target


def test_the_documentation_draws_the_arrows_and_replies_of_the_code() -> None:
    text = (Path(__file__).parents[2] / "docs" / "phases.md").read_text()
    assert text.split("```mermaid\n")[1].split("\n```")[0] == phase.mermaid()
    assert phase.replies_table() in text


def test_phases_know_no_clock_no_chance_and_no_files() -> None:
    imported = {
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(ast.parse(inspect.getsource(phase)))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported == {"collections.abc", "enum", "typing"}


def test_nobody_else_compares_phases() -> None:
    for path in Path(inspect.getfile(phase)).parent.glob("*.py"):
        compared = [
            ast.unparse(node)
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Compare) and "Phase." in ast.unparse(node)
        ]
        assert not compared or path.name == "phase.py"
