"""What the demonstration found: both runs of every task side by side, and what does not agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson
from rich.console import Console

from checkpoint import shortened
from wa_mcp.controller import Controller
from wa_mcp.demo_agents import Agent
from wa_mcp.demo_server import DemoError
from wa_mcp.showing import size, table

__all__ = ["Figures", "Outcome", "disagreements", "outcomes", "show_figures", "show_outcomes"]


@dataclass(frozen=True)
class Outcome:
    """How a session ended.

    Attributes:
        calls: Calls that it remembers.
        changes: Those that changed something.
        tables: Full name of each table to a digest of all that is in it.
        reward: What it was worth.
    """

    calls: int
    changes: int
    tables: Mapping[str, str]
    reward: float


@dataclass(frozen=True)
class Figures:
    """Times in seconds and sizes in bytes.

    Attributes:
        pause: How long admission was closed for the checkpoint.
        taking: From asking for the checkpoint until it was published.
        written: What it takes on disk.
        starting: From the crash until the fresh server could be called.
        restoring: What the restore took.
        lost: Calls that came after the checkpoint and were gone.
        whole: What all of it took.
    """

    pause: float
    taking: float
    written: int
    starting: float
    restoring: float
    lost: int
    whole: float


async def outcomes(fleet: Controller, agents: Sequence[Agent]) -> list[Outcome]:
    """Look at the sessions of agents, then score them by their live tables; that ends them.

    Raises:
        DemoError: A session is not there, or could not be scored.
    """
    listed = {session["sessionId"]: session async for session in fleet.sessions()}
    if missing := [agent.task.id for agent in agents if agent.session_id not in listed]:
        raise DemoError(f"{len(missing)} session(s) are not there any more, such as that of {missing[0]}")
    seen = {agent.session_id: await fleet.tables(agent.session_id) for agent in agents}
    items = [{"sessionId": agent.session_id, "groundTruth": _truth(agent)} for agent in agents]
    found: list[Outcome] = []
    for agent, scored in zip(agents, await fleet.verify(items), strict=True):
        if "error" in scored:
            raise DemoError(f"the session of {agent.task.id} was not scored: {scored['error']['message']}")
        session, tables = listed[agent.session_id], seen[agent.session_id]["tables"]
        digests = {name: _digest(whole) for name, whole in tables.items()}
        found.append(Outcome(session["calls"], session["revision"], digests, scored["result"]["reward"]))
    return found


def disagreements(agents: Sequence[Agent], crashed: Sequence[Outcome], calm: Sequence[Outcome]) -> list[str]:
    """Say, a sentence each, what differs between the two runs, and which task was not solved."""
    complaints: list[str] = []
    for agent, one, other in zip(agents, crashed, calm, strict=True):
        differing = sorted(
            name for name in one.tables.keys() | other.tables.keys()
            if one.tables.get(name) != other.tables.get(name)
        )  # fmt: skip
        facts = {
            "calls": (one.calls, other.calls),
            "changes": (one.changes, other.changes),
            "reward": (one.reward, other.reward),
        }
        complaints += [
            f"{agent.task.id}: {name} {with_crash} with the crash, {without} without"
            for name, (with_crash, without) in facts.items()
            if with_crash != without
        ]
        if differing:
            complaints.append(f"{agent.task.id}: after the crash these tables differ: {', '.join(differing)}")
        if other.reward != 1:
            complaints.append(f"{agent.task.id}: its solution is worth {other.reward}")
    return complaints


def show_outcomes(
    console: Console, agents: Sequence[Agent], crashed: Sequence[Outcome], calm: Sequence[Outcome]
) -> None:
    """Print a line for every session: with the crash / without it."""
    headings = ("session", "task", "redone", "calls", "changes", "reward", "tables")
    table(
        console,
        headings,
        [
            (
                shortened(agent.session_id),
                agent.task.id.partition("/")[2],
                agent.crash - agent.cut,
                f"{one.calls} / {other.calls}",
                f"{one.changes} / {other.changes}",
                f"{one.reward:g} / {other.reward:g}",
                "same" if one.tables == other.tables else "DIFFER",
            )
            for agent, one, other in zip(agents, crashed, calm, strict=True)
        ],
    )
    console.print("each with the crash / undisturbed; redone: calls that the crash took")


def show_figures(console: Console, sessions: int, figures: Figures) -> None:
    """Print times and sizes."""
    each = size(figures.written / sessions)
    console.print(
        f"checkpoint: agents were held up for {1000 * figures.pause:.0f} ms; "
        f"{size(figures.written)} on disk ({each} a session) after {figures.taking:.2f} s",
        soft_wrap=True,
    )
    console.print(
        f"crash: a fresh server after {figures.starting:.1f} s, {sessions} sessions restored in "
        f"{figures.restoring:.2f} s, {figures.lost} calls done again",
        soft_wrap=True,
    )
    console.print(f"all of it: {figures.whole:.1f} s")


def _truth(agent: Agent) -> list[dict[str, Any]]:
    return [{"name": call.name, "arguments": dict(call.arguments)} for call in agent.task.calls]


def _digest(whole: Any) -> str:
    return sha256(orjson.dumps(whole, option=orjson.OPT_SORT_KEYS)).hexdigest()
