"""The programs, by the names that `python -m benchmarks` takes; a new one is a line here."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from benchmarks.findings import Finding
from benchmarks.harness import Effort
from benchmarks.pause import pause
from benchmarks.searching import searching
from benchmarks.seeding import seeding
from benchmarks.tools import tools

__all__ = ["PROGRAMS", "Program"]

Program = Callable[[Effort], Awaitable[list[Finding]]]
"""Measures one question, and gives the rows that answer it."""

PROGRAMS: Final[Mapping[str, Program]] = {
    "seeding": seeding,
    "searching": searching,
    "tools": tools,
    "pause": pause,
}
