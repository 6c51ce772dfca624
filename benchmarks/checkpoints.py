"""How long it takes to write all sessions and to bring them back, and how much of the disk they take.

Ours is a whole checkpoint, in the foreground: admission closed, sessions written and synced to the disk, the
manifest last. The baseline writes one file for each session and waits for no disk; it does so for a tenth of
the sessions, and its figures are scaled to all of them.
"""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Final

from benchmarks.baseline import PlainWorkplace
from benchmarks.findings import Finding, Target, found
from benchmarks.harness import Effort, Pairs, by_turns
from benchmarks.offices import office, ten_changes
from toolkits.workplace import Dataset
from wa_mcp import Runtime, Settings

__all__ = ["Checkpoints", "PlainCheckpoints", "checkpoints"]

SESSIONS: Final = 1_000
FEWER: Final = 10
ROUNDS: Final = 5
TIMEOUT: Final = 600.0

NOTE: Final = f"plain was measured with a {FEWER}th of the sessions, and scaled"


async def checkpoints(effort: Effort) -> list[Finding]:
    """Commit and restore sessions with ten changes each."""
    sessions = effort.size(SESSIONS)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        ours = Checkpoints(root / "ours", office(root / "ours", sessions))
        some = plain_office(ours.runtime.dataset, sessions // FEWER or 1)
        plain = PlainCheckpoints(root / "plain", some, scale=sessions / len(some))
        committed = await by_turns(plain.commit, ours.commit, effort.rounds(ROUNDS))
        sizes = Pairs([plain.size()], [ours.size()])
        restored = await by_turns(plain.restore, ours.restore, effort.rounds(ROUNDS))
    of = f"{sessions:,} sessions with ten changes each"
    better = Target(better=100)
    return [
        found("checkpoints", f"commit {of}", committed, target=better, note=NOTE),
        found("checkpoints", f"size of {of} on the disk", sizes, unit="B", target=better, note=NOTE),
        found("checkpoints", f"restore {of}", restored, target=better, note=NOTE),
    ]


def plain_office(dataset: Dataset, sessions: int) -> list[PlainWorkplace]:
    """Make plain workplaces with the changes that the sessions of `office` have."""
    workplaces = [PlainWorkplace() for _ in range(sessions)]
    for number, workplace in enumerate(workplaces):
        for call in ten_changes(dataset, number):
            workplace.call(*call)
    return workplaces


class Checkpoints:
    """Checkpoints of a runtime, one after the other, each in a folder of its own.

    Args:
        root: The runtime's folder of checkpoints.
        runtime: Whose sessions.
    """

    def __init__(self, root: Path, runtime: Runtime) -> None:
        self.root: Final = root
        self.runtime: Final = runtime
        self._numbers: Final = count(1)
        self._last = ""

    async def commit(self) -> float:
        """Take a checkpoint, and give the seconds from closing admission until it is on the disk."""
        if self._last:
            shutil.rmtree(self.root / self._last)
        self._last, control = f"commit-{next(self._numbers)}", self.runtime.control
        async with control:
            begun = perf_counter()
            await control.prepare(self._last, TIMEOUT)
            await control.commit(self._last, TIMEOUT, self._last)
            took = perf_counter() - begun
            await control.resume(self._last)
        return took

    async def restore(self) -> float:
        """Bring all sessions back in a new runtime, and give the seconds until they may be called."""
        runtime = Runtime(Settings(checkpoint_root=self.root))
        name = f"restore-{next(self._numbers)}"
        async with runtime.control as control:
            begun = perf_counter()
            await control.restore(name, TIMEOUT, self._last)
            await control.resume(name)
            took = perf_counter() - begun
        if len(runtime.sessions) != len(self.runtime.sessions):
            raise RuntimeError(f"{len(runtime.sessions)} sessions came back")
        return took

    def size(self) -> int:
        """Count the bytes of the last checkpoint."""
        return _size(self.root / self._last)


@dataclass
class PlainCheckpoints:
    """Checkpoints as one file for each workplace.

    Attributes:
        root: The folder of the files.
        workplaces: Whose tables.
        scale: How many times as many sessions the figures are for.
    """

    root: Path
    workplaces: Sequence[PlainWorkplace]
    scale: float

    async def commit(self) -> float:
        """Write all files, and give the seconds that takes."""
        shutil.rmtree(self.root, ignore_errors=True)
        begun = perf_counter()
        self.root.mkdir()
        for number, workplace in enumerate(self.workplaces):
            workplace.save(self.root / f"session-{number}.json")
        return (perf_counter() - begun) * self.scale

    async def restore(self) -> float:
        """Read all files, and give the seconds that takes."""
        begun = perf_counter()
        back = [PlainWorkplace.load(self.root / f"session-{n}.json") for n in range(len(self.workplaces))]
        took = perf_counter() - begun
        if len(back) != len(self.workplaces):
            raise RuntimeError(f"{len(back)} workplaces came back")
        return took * self.scale

    def size(self) -> float:
        """Count the bytes of the files."""
        return _size(self.root) * self.scale


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
