"""How much memory a session takes, as the operating system sees it: each figure from a process of its own."""

import gc
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Final

from benchmarks.baseline import PlainWorkplace
from benchmarks.calls import CALLS
from benchmarks.findings import Finding, Target, found
from benchmarks.harness import Effort, Pairs
from benchmarks.offices import seed_changed, ten_changes
from toolkits.dataset import BUNDLED, load_dataset
from wa_mcp import Runtime, Settings
from wa_mcp.branching import fork, read_branches
from wa_mcp.catalogue import CATALOGUE

__all__ = ["memory", "session_bytes"]

ROUNDS: Final = 3
WARM_UP: Final = 20

_ROOT: Final = Path(__file__).parent.parent
_ROLLUP: Final = Path("/proc/self/smaps_rollup")
_SEARCHES: Final = [call for call in CALLS.items() if "search" in call[0]]


async def memory(effort: Effort) -> list[Finding]:
    """Compare sessions as they are seeded, with ten changes, and with searches in the changed tables."""
    asked = (
        ("memory of a fresh session", "fresh", 15_000, 50, ROUNDS, Target(at_most=10e3)),
        ("memory of a session with ten changes", "changed", 1_000, 40, ROUNDS, Target(at_most=50e3)),
        ("the same after a search of each kind", "searched", 1_000, 40, 1, None),
    )
    findings: list[Finding] = []
    for what, state, sessions, plain_sessions, rounds, target in asked:
        theirs: list[float] = []
        ours: list[float] = []
        for _ in range(effort.rounds(rounds)):
            theirs.append(session_bytes("plain", state, effort.size(plain_sessions)))
            ours.append(session_bytes("ours", state, effort.size(sessions)))
        pairs = Pairs(theirs, ours)
        findings.append(found("memory", what, pairs, unit="B", target=target))
    return findings


def session_bytes(side: str, state: str, sessions: int) -> float:
    """Measure in a process of its own how many bytes one session takes, of so many.

    Args:
        side: `ours` or `plain`.
        state: `fresh`, `changed`, `searched`, which is changed and then searched, or `forked` from one.
        sessions: How many are made.
    """
    command = [sys.executable, "-m", "benchmarks.memory", side, state, str(sessions)]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    done = subprocess.run(command, check=True, cwd=_ROOT, env=environment, capture_output=True, text=True)
    # A machine that gives whole pages away cannot show less than one for few sessions.
    return max(float(done.stdout), 1.0)


def _measure(side: str, state: str, sessions: int) -> float:
    """Make sessions, and say by how many bytes this process grew with each; some are made before that."""
    kept: list[object] = []
    make = _ours(state) if side == "ours" else _plain(state)
    kept += [make(number) for number in range(WARM_UP)]
    gc.collect()
    before = _resident()
    kept += [make(WARM_UP + number) for number in range(sessions)]
    gc.collect()
    return (_resident() - before) / sessions


def _ours(state: str) -> Callable[[int], object]:
    runtime = Runtime(Settings(max_sessions=1_000_000))
    runtime.dataset.prepare()  # as a server does when it starts
    if state == "forked":
        parent = seed_changed(runtime, 0)
        return lambda _: fork(runtime.sessions, parent.id, list(read_branches(1, None, None)))

    def make(number: int) -> object:
        session = runtime.sessions.seed() if state == "fresh" else seed_changed(runtime, number)
        for call in _SEARCHES if state == "searched" else ():
            session.call(*call)
        return session

    return make


def _plain(state: str) -> Callable[[int], object]:
    dataset, whole = load_dataset(BUNDLED, CATALOGUE), PlainWorkplace()
    if state == "forked":
        return lambda _: deepcopy(whole)

    def make(number: int) -> object:
        workplace = PlainWorkplace()
        if state != "fresh":
            for call in ten_changes(dataset, number):
                workplace.call(*call)
        for call in _SEARCHES if state == "searched" else ():
            workplace.call(*call)
        return workplace

    return make


def _resident() -> int:
    """Ask the operating system how many bytes this process occupies, its share of what it has in common."""
    if _ROLLUP.exists():
        for line in _ROLLUP.read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


if __name__ == "__main__":
    print(_measure(sys.argv[1], sys.argv[2], int(sys.argv[3])))
