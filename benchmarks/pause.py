"""How long a checkpoint keeps calls out, by the number of sessions, and how long it holds the event loop.

The baseline, "in the pause", is a commit in the foreground: calls stay out until it is on the disk.
"""

import gc
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

from benchmarks.offices import office
from wa_mcp import Runtime

__all__ = ["pause"]

SIZES: Final = (100, 1_000, 10_000)
ROUNDS: Final = 5
TIMEOUT: Final = 600.0

_IDS: Final = count(1)


@dataclass
class Blocks:
    """The longest time that the event loop was away, in seconds."""

    longest: float = 0.0


async def pause() -> list[str]:
    """Measure, and give the rows of a Markdown table."""
    rows = [
        "| sessions, ten changes each | calls kept out | in the pause: times | longest block |",
        "|---|---|---|---|",
    ]
    for sessions in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(await _row(office(Path(folder), sessions), sessions))
    return rows


async def _row(runtime: Runtime, sessions: int) -> str:
    gc.collect()
    gc.freeze()
    ours: list[float] = []
    ratios: list[float] = []
    longest: list[float] = []
    async with runtime.control:
        for _ in range(ROUNDS):
            async with _watched() as blocks:
                ours.append(await _checkpoint(runtime, background=True))
            ratios.append(await _checkpoint(runtime, background=False) / ours[-1])
            longest.append(blocks.longest)
    gc.unfreeze()
    kept_out, block = median(ours) * 1e3, median(longest) * 1e3
    return f"| {sessions} | {kept_out:.1f} ms | {median(ratios):.1f} | {block:.1f} ms |"


async def _checkpoint(runtime: Runtime, *, background: bool) -> float:
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
