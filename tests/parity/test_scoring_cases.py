"""The reference's cases, and every ground truth in its runs, score as recorded."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolkits.dataset import load_dataset
from toolkits.workplace import Workplace
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.replay import GroundTruthError
from wa_mcp.scoring import score

pytestmark = pytest.mark.timeout(180)

RUNS = ("example", "rollouts_recorded", "ground_truth_three_domains", "fuzz_sample")


@pytest.fixture(scope="module")
def fresh(reference: Path) -> Workplace:
    return load_dataset(reference / "csv_data", CATALOGUE).workplace(CATALOGUE.names)


def lines(reference: Path, name: str) -> list[dict[str, Any]]:
    text = (reference / "trajectories" / f"{name}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_every_case_scores_as_recorded(fresh: Workplace, reference: Path) -> None:
    cases = lines(reference, "scoring_cases")
    assert len(cases) > 10
    for case in cases:
        scored = score(fresh, case["ground_truth"], case["predicted"])
        assert scored.reward == float(case["result"]), case["id"]
        assert (not scored.missing and not scored.unexpected) == case["result"], case["id"]


@pytest.mark.parametrize("name", RUNS)
def test_every_run_is_right_by_itself_and_doing_nothing_only_where_nothing_is_to_do(
    fresh: Workplace, reference: Path, name: str
) -> None:
    for run in lines(reference, name):
        try:
            scored = score(fresh, run["calls"], run["calls"])
        except GroundTruthError:
            # Recorded from models and at random, some calls fail: those are no ground truths.
            assert name != "ground_truth_three_domains", run["id"]
            scored = score(fresh, [], run["calls"])
            assert scored.counts is not None
            assert scored.counts.errors, run["id"]
        else:
            assert scored.reward == 1.0, run["id"]
            assert score(fresh, run["calls"], []).reward == float(not run["rows_state"]), run["id"]
