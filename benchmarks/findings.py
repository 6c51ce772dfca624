"""What was found: a figure of ours, the baseline's, their ratio, and whether that is what was aimed at."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Literal

from benchmarks.harness import Pairs

__all__ = ["Finding", "Target", "Unit", "found", "over_tools", "single"]

Unit = Literal["s", "B"]


@dataclass(frozen=True)
class Target:
    """What is aimed at; everything that is given has to hold.

    Attributes:
        better: Ours is at least so many times less than the baseline.
        at_most: Ours is at most this.
        share: Ours is at most so many times the baseline.
    """

    better: float | None = None
    at_most: float | None = None
    share: float | None = None

    def met(self, ours: float, ratio: float | None) -> bool:
        """Say whether it is reached by this figure and this ratio."""
        if self.at_most is not None and not ours <= self.at_most:
            return False
        if self.better is not None and not (ratio is not None and ratio >= self.better):
            return False
        return self.share is None or (ratio is not None and ratio <= self.share)


@dataclass(frozen=True)
class Finding:
    """One row of the table.

    Attributes:
        question: The program that asked.
        what: What was measured.
        unit: Of both figures: seconds or bytes.
        ours: The median of ours.
        against: What the baseline is; empty if there is none.
        baseline: The median of the baseline.
        ratio: The median of the ratios, pair by pair: how many times less ours is, or with `is_share` how
            many times the baseline.
        is_share: Which of the two the ratio is.
        target: What is aimed at; None for a figure that is only shown.
        met: Whether it is reached.
        note: What else there is to know.
        detail: Whether it is left out of the short table.
    """

    question: str
    what: str
    unit: Unit
    ours: float
    against: str = ""
    baseline: float | None = None
    ratio: float | None = None
    is_share: bool = False
    target: Target | None = None
    met: bool | None = None
    note: str = ""
    detail: bool = False

    def as_json(self) -> dict[str, Any]:
        """Show it as it is written to a file."""
        return asdict(self)


def found(
    question: str,
    what: str,
    pairs: Pairs,
    *,
    against: str = "plain",
    unit: Unit = "s",
    target: Target | None = None,
    is_share: bool = False,
    note: str = "",
    detail: bool = False,
) -> Finding:
    """Make a finding of samples that were taken by turns."""
    ours, ratio = median(pairs.ours), pairs.share if is_share else pairs.better
    return Finding(
        question,
        what,
        unit,
        ours,
        against,
        median(pairs.baseline),
        ratio,
        is_share,
        target,
        None if target is None else target.met(ours, ratio),
        note,
        detail,
    )


def over_tools(
    question: str, what: str, pairs: Mapping[str, Pairs], *, against: str, target: Target, note: str = ""
) -> Finding:
    """Make a finding of many tools: the medians over the tools, of the figures and of the ratios."""
    ours = median(median(each.ours) for each in pairs.values())
    baseline = median(median(each.baseline) for each in pairs.values())
    ratio = median(each.share for each in pairs.values())
    met = target.met(ours, ratio)
    return Finding(question, what, "s", ours, against, baseline, ratio, True, target, met, note)


def single(
    question: str,
    what: str,
    ours: float,
    *,
    unit: Unit = "s",
    at_most: float | None = None,
    note: str = "",
    detail: bool = False,
) -> Finding:
    """Make a finding of a figure that has no baseline."""
    target = None if at_most is None else Target(at_most=at_most)
    met = None if target is None else target.met(ours, None)
    return Finding(question, what, unit, ours, target=target, met=met, note=note, detail=detail)
