"""How what things cost grows with the number of sessions, and with the number of rows.

Each row of the table is the cost for one session, or for one row, at the largest size beside that at the
smallest: what grows linearly has a ratio of 1, what grows with the square of the size one of 100.
"""

import gc
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

from benchmarks.calls import Call, calendar_searches, customer_searches, mail_searches
from benchmarks.checkpoints import Checkpoints
from benchmarks.findings import Finding, Target, Unit, found
from benchmarks.harness import Effort, Pairs, as_served
from benchmarks.large import large_runtime
from benchmarks.large_tables import slowest
from benchmarks.memory import session_bytes
from benchmarks.offices import office, prepared_dataset
from benchmarks.pause import kept_out
from benchmarks.table import figure
from toolkits.workplace import Dataset, Workplace
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.sessions import Sessions

__all__ = ["growth"]

SESSIONS: Final = (100, 1_000, 10_000)
ROWS: Final = (500, 5_000, 50_000)
ROUNDS: Final = 3
SEARCHES: Final = 6
ENOUGH: Final = 2_000
"""Sessions that a sample of a small size is repeated for, so that it takes long enough to be measured."""

LINEAR: Final = Target(share=1.5)
"""What linear growth may look like on a machine whose caches are finite, over a hundred times the size."""

Sample = Callable[[], Awaitable[float]]
"""Measures once, and gives what it cost for one session, or for one row."""


async def growth(effort: Effort) -> list[Finding]:
    """Measure at three sizes of each, by turns."""
    return [*await _by_sessions(effort), *await _by_rows(effort)]


async def _by_sessions(effort: Effort) -> list[Finding]:
    sizes = [effort.size(size) for size in SESSIONS]
    dataset = prepared_dataset()
    memory = {size: _memory(size) for size in sizes}
    with tempfile.TemporaryDirectory() as root:
        offices = {
            size: Checkpoints(Path(root) / str(size), office(Path(root) / str(size), size)) for size in sizes
        }
        asked: list[tuple[str, Mapping[int, Sample]]] = [
            ("seed", {size: _seeding(dataset, size) for size in sizes}),
            ("commit", {size: _shared(each.commit, size) for size, each in offices.items()}),
            ("restore", {size: _shared(each.restore, size) for size, each in offices.items()}),
            ("pause", {size: _pausing(each, size) for size, each in offices.items()}),
        ]
        findings = [
            await _grown(f"{what}, for each session", samples, effort.rounds(ROUNDS), warm_up=0)
            for what, samples in asked
        ]
    # In processes of their own, which know nothing of what was measured before: once is enough.
    return [*findings, await _grown("memory with ten changes, for each session", memory, 1, "B", warm_up=0)]


async def _by_rows(effort: Effort) -> list[Finding]:
    dataset = prepared_dataset()
    sizes = [rows // effort.shrinks_by for rows in ROWS]
    searches = {
        "mail search": mail_searches(dataset, 1),
        "calendar search": calendar_searches(dataset),
        "customer search": customer_searches(dataset),
    }
    with tempfile.TemporaryDirectory() as root:
        offices = {
            rows: large_runtime(Path(root) / str(rows), rows).dataset.workplace(CATALOGUE.names)
            for rows in sizes
        }
    asked = {
        what: {rows: _searching(each, calls, rows) for rows, each in offices.items()}
        for what, calls in searches.items()
    }
    asked["slowest tool"] = {rows: _slowest(each, rows) for rows, each in offices.items()}
    return [
        await _grown(f"{what}, for each row", samples, effort.rounds(ROUNDS))
        for what, samples in asked.items()
    ]


async def _grown(
    what: str, samples: Mapping[int, Sample], rounds: int, unit: Unit = "s", *, warm_up: int = 1
) -> Finding:
    """Measure at all sizes by turns; compare the largest with the smallest, and tell all."""
    taken: dict[int, list[float]] = {size: [] for size in samples}
    with as_served():
        for turn in range(warm_up + rounds):
            for size, sample in samples.items():
                gc.collect()
                cost = await sample()
                if turn >= warm_up:
                    taken[size].append(cost)
    sizes = sorted(taken)
    pairs = Pairs(taken[sizes[0]], taken[sizes[-1]])
    note = ", ".join(f"{figure(median(taken[size]), unit)} at {size:,}" for size in sizes)
    return found(
        "growth", f"growth: {what}", pairs,
        against=f"at {sizes[0]:,}", unit=unit, target=LINEAR, is_share=True, note=note,
    )  # fmt: skip


def _seeding(dataset: Dataset, size: int) -> Sample:
    async def sample() -> float:
        took, times = 0.0, max(1, ENOUGH // size)
        for _ in range(times):
            sessions = Sessions(dataset, most=size)
            begun = perf_counter()
            for _ in range(size):
                sessions.seed()
            took += perf_counter() - begun
        return took / times / size

    return sample


def _shared(sample: Sample, size: int) -> Sample:
    async def each() -> float:
        return await sample() / size

    return each


def _pausing(checkpoints: Checkpoints, size: int) -> Sample:
    async def sample() -> float:
        async with checkpoints.runtime.control:
            return await kept_out(checkpoints.runtime, background=True) / size

    return sample


def _memory(size: int) -> Sample:
    async def sample() -> float:
        return session_bytes("ours", "changed", size)

    return sample


def _searching(workplace: Workplace, calls: Sequence[Call], rows: int) -> Sample:
    # The same searches at every size: some take much longer than others.
    asked = cycle(calls)

    async def sample() -> float:
        begun = perf_counter()
        for _ in range(SEARCHES):
            workplace.call(*next(asked))
        return (perf_counter() - begun) / SEARCHES / rows

    return sample


def _slowest(workplace: Workplace, rows: int) -> Sample:
    async def sample() -> float:
        return slowest(workplace, samples=1)[0] / rows

    return sample
