"""Measure two things by turns, so that a machine that changes its speed changes it for both.

A baseline and a candidate are measured in pairs, a moment apart, each first as often as the other. A ratio
is taken pair by pair, and the median of the ratios is what is reported, never a time against another time of
another moment. The garbage collector rests while either is measured, and works between the pairs; around
what awaits it works as it does in a server.
"""

import gc
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Final

from wa_mcp.process import tame_collector

__all__ = ["Effort", "Pairs", "Side", "as_served", "by_turns", "compare", "often_enough", "quiet"]

LONG_ENOUGH: Final = 0.005
"""Seconds that one sample of a side should take at least."""

SHRINKS_BY: Final = 50


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Attributes:
        quick: Only enough to see that everything runs; the figures mean little.
    """

    quick: bool = False

    @property
    def shrinks_by(self) -> int:
        """What sizes are divided by."""
        return SHRINKS_BY if self.quick else 1

    def rounds(self, full: int) -> int:
        """Say how many pairs to measure."""
        return 1 if self.quick else full

    def size(self, full: int) -> int:
        """Say how large to make what is measured."""
        return max(full // self.shrinks_by, 2)


@dataclass(frozen=True)
class Side:
    """One of the two that are compared.

    Attributes:
        run: What is measured.
        before: What has to happen before each run, and is not measured.
        times: How many runs make a sample.
        scale: How many things a run does; what counts is the time for one.
    """

    run: Callable[[], object]
    before: Callable[[], object] | None = None
    times: int = 1
    scale: int = 1

    def sample(self) -> float:
        """Measure one sample, and give the seconds for one thing."""
        if self.before is None:
            begun = perf_counter()
            for _ in range(self.times):
                self.run()
            return (perf_counter() - begun) / self.times / self.scale
        took = 0.0
        for _ in range(self.times):
            self.before()
            begun = perf_counter()
            self.run()
            took += perf_counter() - begun
        return took / self.times / self.scale


@dataclass(frozen=True)
class Pairs:
    """Samples of a baseline and of ours, taken by turns.

    Attributes:
        baseline: Those of the baseline, in the order in which they were taken.
        ours: Those of ours.
    """

    baseline: Sequence[float]
    ours: Sequence[float]

    @property
    def better(self) -> float:
        """How many times less ours is: the median over the pairs."""
        return median(theirs / ours for theirs, ours in zip(self.baseline, self.ours, strict=True))

    @property
    def share(self) -> float:
        """How many times the baseline ours is: the median over the pairs."""
        return median(ours / theirs for theirs, ours in zip(self.baseline, self.ours, strict=True))


def compare(baseline: Side, ours: Side, rounds: int) -> Pairs:
    """Measure both by turns, after one sample of each that does not count."""
    theirs: list[float] = []
    own: list[float] = []
    with quiet():
        baseline.sample()
        ours.sample()
        for turn in range(rounds):
            gc.collect()
            if turn % 2:
                own.append(ours.sample())
                theirs.append(baseline.sample())
            else:
                theirs.append(baseline.sample())
                own.append(ours.sample())
    return Pairs(theirs, own)


async def by_turns(
    baseline: Callable[[], Awaitable[float]], ours: Callable[[], Awaitable[float]], rounds: int
) -> Pairs:
    """Take samples of both by turns, after one of each that does not count; both measure themselves."""
    theirs: list[float] = []
    own: list[float] = []
    with as_served():
        await baseline()
        await ours()
        for turn in range(rounds):
            gc.collect()
            if turn % 2:
                own.append(await ours())
                theirs.append(await baseline())
            else:
                theirs.append(await baseline())
                own.append(await ours())
    return Pairs(theirs, own)


def often_enough(run: Callable[[], object], most: int = 1_000) -> int:
    """Say how many runs make a sample that is long enough to be measured."""
    run()
    begun = perf_counter()
    run()
    return min(most, max(1, round(LONG_ENOUGH / (perf_counter() - begun))))


@contextmanager
def quiet() -> Generator[None]:
    """Keep the garbage collector out of what is measured, and what lives already out of the collector.

    Inside of another one it does nothing: to look through everything again would take long.
    """
    if not gc.isenabled():
        yield
        return
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


@contextmanager
def as_served() -> Generator[None]:
    """Let the garbage collector work as it does in a server's process."""
    before = gc.get_threshold()
    gc.collect()
    tame_collector()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
