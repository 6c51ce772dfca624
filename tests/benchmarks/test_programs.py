"""Every program runs and gives rows that are whole; no test asks how long anything takes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main, report
from benchmarks.harness import Effort
from benchmarks.memory import session_bytes
from benchmarks.programs import PROGRAMS
from benchmarks.table import table

SLOW = {"growth", "memory"}
"""Programs that are not run whole by the tests."""

Report = Mapping[str, Any]


def strict(text: str) -> Any:
    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def assert_whole(measured: Report) -> None:
    again = strict(json.dumps(measured))
    assert set(again) == {"machine", "versions", "quick", "findings"}
    assert again["findings"]
    for row in again["findings"]:
        assert row["what"]
        assert row["unit"] in ("s", "B")
        assert row["ours"] > 0
        assert (row["baseline"] is None) == (row["ratio"] is None) == (row["against"] == "")
        assert (row["target"] is None) == (row["met"] is None)
    shown = [row for row in again["findings"] if not row["detail"]]
    lines = table(again).splitlines()
    assert sum(line.startswith("| ") for line in lines) == len(shown) + 1
    assert all(line.count("|") == 7 for line in lines if line.startswith("|"))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - SLOW))
def test_a_quick_run_of_a_program_gives_rows_that_are_whole(name: str) -> None:
    measured = report([name], Effort(quick=True))
    assert_whole(measured)
    assert {row["question"] for row in measured["findings"]} == {name}


@pytest.mark.timeout(60)
def test_memory_is_measured_in_a_process_of_its_own() -> None:
    assert session_bytes("ours", "changed", 50) > 0


def test_a_run_prints_a_table_and_writes_what_it_was_made_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "measured.json"
    main(["--quick", "--json", str(file), "scoring"])
    measured = strict(file.read_text())
    assert_whole(measured)
    assert capsys.readouterr().out == table(measured) + "\n"


def test_a_table_names_the_machine_and_the_versions() -> None:
    said = table(report(["seeding"], Effort(quick=True)))
    assert "cores" in said
    assert "pandas" in said


def test_a_program_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["speed"])
    assert ended.value.code == 2
    assert "no such program: speed" in capsys.readouterr().err
