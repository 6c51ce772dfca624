"""How long it takes to give an agent a workplace of its own."""

from benchmarks.baseline import PlainWorkplace
from benchmarks.findings import Finding, Target, found
from benchmarks.harness import Effort, Side, compare
from wa_mcp import Runtime, Settings

__all__ = ["seeding"]


async def seeding(effort: Effort) -> list[Finding]:
    """Seed one session after the other, with all that a server does for it: ours has an id and an episode."""
    runtime = Runtime(Settings(max_sessions=1_000_000))
    pairs = compare(Side(PlainWorkplace), Side(runtime.sessions.seed, times=500), effort.rounds(25))
    return [found("seeding", "seed a session", pairs, target=Target(better=500, at_most=20e-6))]
