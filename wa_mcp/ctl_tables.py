"""How `wa-mcp ctl` shows answers to people: session ids shortened, since they are credentials."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console

from checkpoint import shortened
from wa_mcp.showing import table

__all__ = ["show_phases", "show_prepared", "show_published", "show_restored", "show_results", "show_retired",
           "show_seeded", "show_sessions", "show_status"]  # fmt: skip

MOST_ROWS: Final = 20
"""Sessions that are shown where not all have to be seen."""


def show_status(console: Console, answer: Mapping[str, Any]) -> None:
    """Show a line for each server, and what holds a checkpoint up."""
    rows = [
        (
            name,
            server["phase"],
            server["checkpointId"] or "",
            "" if server["leaseSeconds"] is None else f"{server['leaseSeconds']:.0f} s",
            server["report"]["sessions"],
            server["report"]["inFlight"],
            len(server["retiredRollouts"]),
        )
        for name, server in answer.items()
    ]
    headings = ("server", "phase", "checkpoint", "lease", "sessions", "in flight", "retired")
    table(console, headings, rows)
    _show_blockers(
        console,
        [
            {"participant": name, **blocker}
            for name, server in answer.items()
            for blocker in server["report"]["blockers"]
        ],
    )


def show_seeded(console: Console, answer: Mapping[str, Any]) -> None:
    """Show the first of the sessions that were seeded."""
    seeded: Sequence[Mapping[str, Any]] = answer["sessions"]
    rows = [
        (shortened(it["sessionId"]), _episode(it["episode"]), len(it["toolkits"]))
        for it in seeded[:MOST_ROWS]
    ]
    table(console, ("session", "episode", "toolkits"), rows)
    _say_rest(console, len(seeded))
    console.print(f"{len(seeded)} seeded; --json has their whole ids and URLs")


def show_sessions(console: Console, answer: Mapping[str, Any]) -> None:
    """Show every live session."""
    rows = [
        (
            shortened(it["sessionId"]), it["instance"], _episode(it["episode"]), it["calls"], it["revision"],
            it["lastCallAt"] or "never",
        )
        for it in answer["sessions"]
    ]  # fmt: skip
    table(console, ("session", "server", "episode", "calls", "changes", "last call"), rows)
    console.print(f"{len(rows)} live")


def show_prepared(console: Console, answer: Mapping[str, Any]) -> None:
    """Show the id of what is prepared, and what holds it up."""
    word = "prepared" if answer["ready"] else "preparing"
    console.print(f"{word}: {answer['checkpointId']}", markup=False)
    _show_blockers(console, answer["blockers"])


def show_published(console: Console, answer: Mapping[str, Any]) -> None:
    """Show what was written, and by whom."""
    rows = [(f"{it['kind']}/{it['instance']}", it["sessions"]) for it in answer["participants"]]
    table(console, ("server", "sessions"), rows)
    console.print(f"published {answer['checkpointId']} in {answer['directory']}", markup=False)
    if "pauseSeconds" in answer:
        console.print(f"calls were held up for {1000 * answer['pauseSeconds']:.0f} ms")


def show_phases(console: Console, answer: Mapping[str, Any]) -> None:
    """Show the phase that each server is in."""
    table(console, ("server", "phase"), [(name, server["phase"]) for name, server in answer.items()])


def show_retired(console: Console, answer: Mapping[str, Any]) -> None:
    """Show the attempts that were retired."""
    table(console, ("rollout", "attempt"), [(it["rolloutId"], it["attempt"]) for it in answer["retired"]])


def show_results(console: Console, answer: Mapping[str, Any]) -> None:
    """Show what each session is worth, or why it was not scored."""
    rows = [_result(result) for result in answer["results"]]
    table(console, ("session", "reward", "missing", "unexpected", "problems"), rows)
    rewards = [it["result"]["reward"] for it in answer["results"] if "result" in it]
    mean = f", on average {sum(rewards) / len(rewards):.3f}" if rewards else ""
    console.print(f"{len(rewards)} scored{mean}")


def show_restored(console: Console, answer: Mapping[str, Any]) -> None:
    """Show the first of the sessions that were restored."""
    restored: Sequence[Mapping[str, Any]] = answer["restored"]
    rows = [(shortened(it["sessionId"]), _episode(it["episode"])) for it in restored[:MOST_ROWS]]
    table(console, ("session", "episode"), rows)
    _say_rest(console, len(restored))
    source = answer["source"]
    console.print(
        f"{len(restored)} restored from {source['checkpointId']}, {answer['attemptStep']} attempt(s) on",
        markup=False,
    )


def _result(result: Mapping[str, Any]) -> tuple[object, ...]:
    session = shortened(result["sessionId"] or "?")
    if "error" in result:
        return (session, "none", "", "", result["error"]["message"])
    scored = result["result"]
    counts = (len(scored["missing"]), len(scored["unexpected"]), len(scored["problems"]))
    return (session, f"{scored['reward']:g}", *counts)


def _show_blockers(console: Console, blockers: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        (it["participant"], _episode(it["episode"]), it["operation"], f"{it['seconds']:.1f} s")
        for it in blockers
    ]
    if rows:
        table(console, ("in flight on", "episode", "operation", "since"), rows)


def _say_rest(console: Console, count: int) -> None:
    if count > MOST_ROWS:
        console.print(f"... and {count - MOST_ROWS} more")


def _episode(episode: Mapping[str, Any]) -> str:
    return f"{episode['rolloutId']}:{episode['attempt']}"
