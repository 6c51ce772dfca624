"""The programs, by the names that `python -m benchmarks` takes; a new one is a line here."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from benchmarks.checkpoints import checkpoints
from benchmarks.end_to_end import end_to_end
from benchmarks.findings import Finding
from benchmarks.forks import forks
from benchmarks.growth import growth
from benchmarks.harness import Effort
from benchmarks.large_tables import large_tables
from benchmarks.memory import memory
from benchmarks.pause import pause
from benchmarks.scoring import scoring
from benchmarks.searching import searching
from benchmarks.seeding import seeding
from benchmarks.tools import tools

__all__ = ["PROGRAMS", "Program"]

Program = Callable[[Effort], Awaitable[list[Finding]]]
"""Measures one question, and gives the rows that answer it."""

PROGRAMS: Final[Mapping[str, Program]] = {
    "seeding": seeding,
    "memory": memory,
    "searching": searching,
    "tools": tools,
    "end_to_end": end_to_end,
    "scoring": scoring,
    "checkpoints": checkpoints,
    "pause": pause,
    "forks": forks,
    "large_tables": large_tables,
    "growth": growth,
}
