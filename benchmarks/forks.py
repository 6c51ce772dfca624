"""How long it takes to fork a session, and what a fork takes: to try what comes next in many ways at once.

The baseline copies the frames, as people do who branch a workplace today.
"""

from copy import deepcopy

from benchmarks.baseline import PlainWorkplace
from benchmarks.findings import Finding, Target, found
from benchmarks.harness import Effort, Pairs, Side, compare
from benchmarks.memory import session_bytes
from benchmarks.offices import seed_changed
from wa_mcp import Runtime, Settings
from wa_mcp.branching import fork, read_branches

__all__ = ["forks"]

CHANGES = 20
FORKS = 1_000
PLAIN_FORKS = 10
ROUNDS = 9


async def forks(effort: Effort) -> list[Finding]:
    """Fork a session with twenty changes a thousand times, and take the forks away again."""
    runtime, plain = Runtime(Settings()), PlainWorkplace()
    parent = seed_changed(runtime, 1)
    while parent.revision < CHANGES:
        parent.call(
            "email_send_email", {"recipient": "ada@example.com", "subject": "Plan", "body": "Thanks."}
        )

    def take_away() -> None:
        ids = [session.id for session in runtime.sessions.list() if session is not parent]
        runtime.sessions.remove(ids)

    def make() -> None:
        fork(runtime.sessions, parent.id, list(read_branches(FORKS, None, None)))

    def copy() -> list[PlainWorkplace]:
        return [deepcopy(plain) for _ in range(PLAIN_FORKS)]

    one = compare(Side(copy, scale=PLAIN_FORKS), Side(make, take_away, scale=FORKS), effort.rounds(ROUNDS))
    thousand = Pairs([it * FORKS for it in one.baseline], [it * FORKS for it in one.ours])
    sizes = Pairs(
        [FORKS * session_bytes("plain", "forked", effort.size(100))],
        [FORKS * session_bytes("ours", "forked", effort.size(20_000))],
    )
    scaled = f"plain's were measured on {PLAIN_FORKS} copies, and multiplied"
    what = f"{FORKS:,} forks of a session with {CHANGES} changes"
    return [
        found("forks", what, thousand, target=Target(at_most=0.05), note=scaled),
        found("forks", f"memory of {FORKS:,} forks", sizes, unit="B", target=Target(at_most=2e6)),
    ]
