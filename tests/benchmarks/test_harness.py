"""How figures are taken and compared."""

import pytest

from benchmarks.findings import Target, found, over_tools, single
from benchmarks.harness import Effort, Pairs, Side, by_turns, compare


def test_each_side_goes_first_as_often_as_the_other() -> None:
    went: list[str] = []
    compare(Side(lambda: went.append("plain")), Side(lambda: went.append("ours")), rounds=4)
    warm_up, rounds = went[:2], [went[start : start + 2] for start in range(2, 10, 2)]
    assert warm_up == ["plain", "ours"]
    assert rounds == [["plain", "ours"], ["ours", "plain"]] * 2


async def test_sides_that_measure_themselves_take_turns_too() -> None:
    went: list[str] = []

    async def plain() -> float:
        went.append("plain")
        return 6.0

    async def ours() -> float:
        went.append("ours")
        return 2.0

    pairs = await by_turns(plain, ours, rounds=2)
    assert went == ["plain", "ours", "plain", "ours", "ours", "plain"]
    assert (pairs.baseline, pairs.ours, pairs.better) == ([6.0, 6.0], [2.0, 2.0], 3.0)


def test_what_comes_before_a_run_is_done_each_time_and_is_no_part_of_the_figure() -> None:
    done: list[str] = []
    side = Side(lambda: done.append("run"), lambda: done.append("before"), times=2)
    assert side.sample() >= 0
    assert done == ["before", "run", "before", "run"]


def test_a_ratio_is_the_median_of_the_pairs_and_not_of_the_figures() -> None:
    pairs = Pairs(baseline=[10, 100, 30], ours=[1, 50, 1])
    assert pairs.better == 10
    assert pairs.share == pytest.approx(1 / 10)


@pytest.mark.parametrize(
    ("target", "ours", "ratio", "met"),
    [
        (Target(better=50), 1.0, 50.0, True),
        (Target(better=50), 1.0, 49.9, False),
        (Target(better=50), 1.0, None, False),
        (Target(at_most=2), 2.0, None, True),
        (Target(at_most=2), float("nan"), None, False),
        (Target(better=50, at_most=2), 2.1, 60.0, False),
        (Target(share=1.25), 1.0, 1.25, True),
        (Target(share=1.25), 1.0, 1.26, False),
    ],
)
def test_a_target_is_met_when_all_of_it_holds(
    target: Target, ours: float, ratio: float | None, met: bool
) -> None:
    assert target.met(ours, ratio) is met


def test_a_finding_says_whether_its_target_is_met() -> None:
    pairs = Pairs([10.0], [1.0])
    assert found("q", "w", pairs, target=Target(better=10)).met is True
    assert found("q", "w", pairs).met is None
    assert single("q", "w", 3.0, at_most=2.0).met is False
    assert single("q", "w", 3.0).met is None


def test_many_tools_are_summed_up_by_the_median_tool() -> None:
    pairs = {"a": Pairs([1.0], [1.1]), "b": Pairs([2.0], [2.4]), "c": Pairs([3.0], [9.0])}
    summed = over_tools("q", "w", pairs, against="echo", target=Target(share=1.25))
    assert (summed.ours, summed.baseline, summed.ratio) == (2.4, 2.0, pytest.approx(1.2))
    assert summed.is_share
    assert summed.met


def test_a_quick_run_is_smaller() -> None:
    assert (Effort().rounds(15), Effort().size(1_000)) == (15, 1_000)
    assert (Effort(quick=True).rounds(15), Effort(quick=True).size(1_000)) == (1, 20)
    assert Effort(quick=True).size(10) == 2
