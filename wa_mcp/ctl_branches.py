"""The verbs of `wa-mcp ctl` that are about a session's past: what they do, and how it is shown."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from checkpoint import shortened
from wa_mcp.controller import Controller
from wa_mcp.ctl_operations import Done
from wa_mcp.showing import Advance, printable, table

__all__ = [
    "close",
    "diff",
    "fork",
    "history",
    "rewind",
    "session_id_in",
    "show_closed",
    "show_diff",
    "show_forked",
    "show_history",
    "show_rewound",
]

MOST_ROWS: Final = 20
"""Forks that are shown."""

LONGEST: Final = 60
"""Characters of a cell or an argument that are shown."""

_LOOKS: Final = (("removed", "-", "red"), ("added", "+", "green"), ("changed", "~", "yellow"))


def session_id_in(text: str) -> str:
    """Take the session's id out of its URL; what is no URL is taken for the id."""
    return text.partition("/sessions/")[2].partition("/")[0] or text


async def fork(fleet: Controller, asked: Namespace, _: Advance) -> Done:
    """Fork a session."""
    forks = await fleet.fork(asked.session, asked.count, at_revision=asked.at, timeout_seconds=asked.timeout)
    return Done({"sessions": forks})


async def history(fleet: Controller, asked: Namespace, _: Advance) -> Done:
    """Tell the calls that changed something."""
    return Done({"history": await fleet.history(asked.session, timeout_seconds=asked.timeout)})


async def diff(fleet: Controller, asked: Namespace, _: Advance) -> Done:
    """Compare two states."""
    tables = await fleet.diff(
        asked.session,
        from_revision=vars(asked)["from"],
        to_revision=asked.to,
        other_session_id=asked.other,
        timeout_seconds=asked.timeout,
    )
    return Done({"tables": tables})


async def close(fleet: Controller, asked: Namespace, _: Advance) -> Done:
    """End sessions."""
    return Done({"outcomes": await fleet.close(asked.sessions, timeout_seconds=asked.timeout)})


async def rewind(fleet: Controller, asked: Namespace, _: Advance) -> Done:
    """Take a session back."""
    revision = await fleet.rewind(asked.session, asked.revision, timeout_seconds=asked.timeout)
    return Done({"revision": revision})


def show_forked(console: Console, answer: Mapping[str, Any]) -> None:
    """Show the first of the forks."""
    forks: Sequence[Mapping[str, Any]] = answer["sessions"]
    rows = [
        (shortened(it["sessionId"]), f"{it['episode']['rolloutId']}:{it['episode']['attempt']}")
        for it in forks[:MOST_ROWS]
    ]
    table(console, ("session", "episode"), rows)
    if len(forks) > MOST_ROWS:
        console.print(f"... and {len(forks) - MOST_ROWS} more")
    console.print(f"{len(forks)} forked; --json has their whole ids and URLs")


def show_history(console: Console, answer: Mapping[str, Any]) -> None:
    """Show a line for each call."""
    rows = [
        (it["revision"], it["when"], it["attempt"], it["tool"], _listed(it["arguments"]))
        for it in answer["history"]
    ]
    table(console, ("revision", "when", "attempt", "tool", "arguments"), rows)


def show_diff(console: Console, answer: Mapping[str, Any]) -> None:
    """Show rows taken out, put in and changed, in colour where there is one."""
    tables: Mapping[str, Mapping[str, Any]] = answer["tables"]
    if not tables:
        console.print("no difference")
    for name, found in tables.items():
        console.print(Text(printable(name), "bold"))
        for kind, mark, colour in _LOOKS:
            for facts in found[kind]:
                what = _cells(facts["cells"]) if kind == "changed" else _listed(facts["row"])
                row = facts.get("id", facts["label"])
                console.print(Text(f"  {mark} {row}: {what}", colour), _by(facts), soft_wrap=True)
        if "relabelled" in found:
            console.print("  rows are labelled anew", _by(found["relabelled"]), soft_wrap=True)


def show_closed(console: Console, answer: Mapping[str, Any]) -> None:
    """Say what became of each session."""
    outcomes: Mapping[str, str] = answer["outcomes"]
    rows = [(shortened(session_id), outcome) for session_id, outcome in outcomes.items()]
    table(console, ("session", "outcome"), rows)


def show_rewound(console: Console, answer: Mapping[str, Any]) -> None:
    """Say where the session is now."""
    console.print(f"back at revision {answer['revision']}")


def _by(facts: Mapping[str, Any]) -> Text:
    undone = "undone: " if facts.get("undone") else ""
    return Text(printable(f"({undone}revision {facts['revision']}, {facts['tool']})"), "dim")


def _cells(cells: Mapping[str, Mapping[str, Any]]) -> str:
    return ", ".join(f"{name} {_cut(cell['old'])} -> {_cut(cell['new'])}" for name, cell in cells.items())


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_cut(value)}" for name, value in values.items() if value is not None)


def _cut(value: object) -> str:
    text = repr(value) if value is not None else "nothing"
    return printable(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")
