"""The README's table of figures is made of a run of the benchmarks, which is in the tree."""

import json
from pathlib import Path

from benchmarks.programs import PROGRAMS
from benchmarks.table import table

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "benchmarks" / "results.json"


def test_the_readme_shows_what_the_last_run_measured() -> None:
    report = json.loads(RESULTS.read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("<!-- benchmarks -->\n")[2].partition("<!-- end of benchmarks -->")[0]
    assert shown.strip() == table(report)


def test_the_run_was_one_of_all_programs_and_no_quick_one() -> None:
    report = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert {row["question"] for row in report["findings"]} == set(PROGRAMS)
    assert not report["quick"]
