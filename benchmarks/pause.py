"""How long a checkpoint keeps calls out, by the number of sessions, and how long it holds the event loop.

The baseline, "in the pause", is a commit in the foreground: calls stay out until it is on the disk.
"""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

import anyio

from benchmarks.findings import Finding, Target, found, single
from benchmarks.harness import Effort, Pairs, as_served
from benchmarks.offices import office
from wa_mcp import Runtime

__all__ = ["kept_out", "pause"]

SIZES: Final = (100, 1_000, 10_000)
LARGEST: Final = SIZES[-1]
ROUNDS: Final = 5
TIMEOUT: Final = 600.0
WITHIN: Final = 0.05

_IDS: Final = count(1)


@dataclass
class Blocks:
    """The longest time that the event loop was away, in seconds."""

    longest: float = 0.0


async def pause(effort: Effort) -> list[Finding]:
    """Take checkpoints of ever more sessions, in the background and in the pause by turns."""
    findings: list[Finding] = []
    for size in SIZES:
        sessions = effort.size(size)
        with tempfile.TemporaryDirectory() as folder:
            pairs, longest = await _measured(office(Path(folder), sessions), effort.rounds(ROUNDS))
        target = Target(at_most=WITHIN) if size == LARGEST else None
        findings.append(
            found("pause", f"pause, {sessions:,} sessions", pairs, against="in the pause", target=target)
        )
        block = f"longest block of the event loop in a background commit, {sessions:,} sessions"
        findings.append(single("pause", block, longest, at_most=WITHIN if size == LARGEST else None))
    return findings


async def _measured(runtime: Runtime, rounds: int) -> tuple[Pairs, float]:
    """Give how long calls were kept out, and the median of the longest blocks."""
    ours: list[float] = []
    theirs: list[float] = []
    longest: list[float] = []
    with as_served():
        async with runtime.control:
            for _ in range(rounds):
                async with _watched() as blocks:
                    ours.append(await kept_out(runtime, background=True))
                longest.append(blocks.longest)
                theirs.append(await kept_out(runtime, background=False))
    return Pairs(theirs, ours), median(longest)


async def kept_out(runtime: Runtime, *, background: bool) -> float:
    """Take a checkpoint, and give the seconds for which calls were kept out; wait for the disk after that."""
    checkpoint_id, control = f"round-{next(_IDS)}", runtime.control
    begun = perf_counter()
    await control.prepare(checkpoint_id, TIMEOUT)
    await control.commit(checkpoint_id, TIMEOUT, checkpoint_id, background=background)
    await control.resume(checkpoint_id)
    kept_out = perf_counter() - begun
    await control.wait(checkpoint_id, TIMEOUT)
    return kept_out


@asynccontextmanager
async def _watched() -> AsyncGenerator[Blocks]:
    """Watch how long the loop is away at a time."""
    blocks = Blocks()

    async def watch() -> None:
        while True:
            before = perf_counter()
            await anyio.sleep(0.001)
            blocks.longest = max(blocks.longest, perf_counter() - before - 0.001)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        await anyio.sleep(0.01)
        yield blocks
        tasks.cancel_scope.cancel()
