"""`wa-mcp ctl`: a controller at the command line, for people and, with `--json`, for programs."""

import argparse
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import orjson
from rich.console import Console

from checkpoint import CheckpointError, FleetError
from wa_mcp import ctl_branches as branches
from wa_mcp import ctl_operations as operations
from wa_mcp import ctl_tables as tables
from wa_mcp.branching import MOST_BRANCHES
from wa_mcp.controller import Controller
from wa_mcp.ctl_operations import Done, ItemsError
from wa_mcp.endpoints import Endpoint
from wa_mcp.failing import plain_reason
from wa_mcp.settings import PREFIX, SettingsError, read_settings
from wa_mcp.showing import Advance, console_on, progress

__all__ = ["add_ctl"]

_TOKEN: Final = f"{PREFIX}ADMIN_TOKEN"
_MOST_SEEDED: Final = 1_000_000
_LONGEST: Final = 3600.0


@dataclass(frozen=True)
class Verb:
    """Something that a controller can do.

    Attributes:
        about: What it does, for its help.
        does: Does it.
        shows: Shows the answer to people.
        arguments: Its own arguments, each with what argparse wants to know.
    """

    about: str
    does: Callable[[Controller, argparse.Namespace, Advance], Awaitable[Done]]
    shows: Callable[[Console, Any], None]
    arguments: tuple[tuple[str, dict[str, Any]], ...] = ()


def add_ctl(commands: Any) -> None:
    """Add `ctl` and its verbs to the command's parsers."""
    about = "drive servers as a controller"
    ctl: argparse.ArgumentParser = commands.add_parser(
        "ctl",
        help=about,
        description=f"{about.capitalize()}: seed, checkpoint, restore and score sessions.",
        epilog="Exit status: 0 done, 1 it failed, and standard error says why, 2 wrong usage.",
    )
    verbs = ctl.add_subparsers(required=True, metavar="COMMAND")
    for name, verb in _VERBS.items():
        parser: argparse.ArgumentParser = verbs.add_parser(
            name, help=verb.about, description=f"{verb.about.capitalize()}."
        )
        for argument, facts in verb.arguments:
            parser.add_argument(argument, **facts)
        for argument, facts in _COMMON:
            parser.add_argument(argument, **facts)
        parser.set_defaults(command=_run, verb=verb)


def _run(asked: argparse.Namespace) -> int:
    verb: Verb = asked.verb
    endpoints = _endpoints(asked)
    try:
        done = anyio.run(_do, verb, endpoints, asked)
    except (FleetError, CheckpointError, ItemsError, OSError) as error:
        sys.stderr.write(f"wa-mcp: {plain_reason(error)}\n")
        return 1
    if asked.json:
        sys.stdout.write(orjson.dumps(done.answer, option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        verb.shows(console_on(sys.stdout), done.answer)
    if done.complaint:
        sys.stderr.write(f"wa-mcp: {done.complaint}\n")
    return 1 if done.complaint else 0


async def _do(verb: Verb, endpoints: list[Endpoint], asked: argparse.Namespace) -> Done:
    with progress(console_on(sys.stderr), hidden=asked.json) as advance:
        async with Controller(endpoints, timeout_seconds=asked.timeout) as fleet:
            return await verb.does(fleet, asked, advance)


def _endpoints(asked: argparse.Namespace) -> list[Endpoint]:
    """Say which servers are driven, and with which token.

    Raises:
        SettingsError: A URL is none, or there is no token.
    """
    environment = dict(os.environ)
    if asked.token_file is not None:
        environment.pop(_TOKEN, None)
    settings = read_settings(environment, {"admin_token_file": asked.token_file})
    token = settings.token()
    if token is None:
        raise SettingsError(f"give the controllers' token in {_TOKEN} or with --token-file")
    try:
        return [Endpoint(url, token) for url in asked.url or [settings.base_url()]]
    except ValueError as error:
        raise SettingsError(f"--url: {error}") from None


def _count(text: str, most: int = _MOST_SEEDED) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 15 or not 1 <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"expected 1 to {most}, got {text!r}")
    return int(text)


def _fork_count(text: str) -> int:
    return _count(text, MOST_BRANCHES)


def _revision(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise argparse.ArgumentTypeError(f"expected a revision, a whole number from 0, got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _LONGEST:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, at most {_LONGEST:g}, got {text!r}")
    return seconds


def _named_episode(text: str) -> tuple[str, int | None]:
    """Read ROLLOUT or ROLLOUT:ATTEMPT; a rollout's own id may have colons in it."""
    rollout, colon, attempt = text.rpartition(":")
    if not colon:
        rollout = text
    elif not attempt.isascii() or not attempt.isdigit() or len(attempt) > 15:
        raise argparse.ArgumentTypeError(f"expected ROLLOUT or ROLLOUT:ATTEMPT, got {text!r}")
    if not rollout:
        raise argparse.ArgumentTypeError(f"expected the name of a rollout, got {text!r}")
    return rollout, int(attempt) if colon else None


_COMMON: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("--url", {
        "action": "append", "metavar": "URL",
        "help": "a server; repeat it for each server of the fleet (default: the local one)",
    }),
    ("--token-file", {
        "type": Path, "metavar": "FILE", "help": f"file of the controllers' token, if not in {_TOKEN}",
    }),
    ("--timeout", {
        "type": _seconds, "default": 60.0, "metavar": "SECONDS",
        "help": "what each step may take (default: 60)",
    }),
    ("--json", {"action": "store_true", "help": "for machines: the whole answer, with whole session ids"}),
)  # fmt: skip
_FOLDER: Final = (
    "folder",
    {"type": Path, "metavar": "DIR", "help": "a folder under every server's --checkpoint-root"},
)
_ID: Final = ("id", {"metavar": "ID", "help": "id of the checkpoint, as prepare said it"})
_SESSION: Final = ("session", {
    "type": branches.session_id_in, "metavar": "SESSION",
    "help": "a session's URL, or its whole id, as --json says it",
})  # fmt: skip
_VERBS: Final = {
    "status": Verb("say where each server stands", operations.status, tables.show_status),
    "seed": Verb(
        "seed sessions", operations.seed, tables.show_seeded,
        (("--count", {"type": _count, "default": 1, "metavar": "N", "help": "how many (default: 1)"}),),
    ),
    "sessions": Verb("list the live sessions", operations.sessions, tables.show_sessions),
    "fork": Verb(
        "fork a session: others that start where it stands", branches.fork, branches.show_forked,
        (
            _SESSION,
            ("--count", {"type": _fork_count, "default": 1, "metavar": "N", "help": "how many (default: 1)"}),
            ("--at", {"type": _revision, "metavar": "REVISION", "help": "as it was then (default: now)"}),
        ),
    ),
    "history": Verb(
        "tell which calls changed a session", branches.history, branches.show_history, (_SESSION,)
    ),
    "diff": Verb(
        "show what calls changed in a session's tables, or in which rows two sessions differ",
        branches.diff, branches.show_diff,
        (
            _SESSION,
            ("--from", {
                "type": _revision, "metavar": "REVISION", "help": "from this state (default: as seeded)",
            }),
            ("--to", {"type": _revision, "metavar": "REVISION", "help": "to this one (default: now)"}),
            ("--other", {
                "type": branches.session_id_in, "metavar": "SESSION",
                "help": "instead: to another session, both as they are now",
            }),
        ),
    ),
    "rewind": Verb(
        "take a session back to a revision; what came after is gone", branches.rewind, branches.show_rewound,
        (_SESSION, ("revision", {"type": _revision, "metavar": "REVISION", "help": "0 is as it was seeded"})),
    ),
    "close": Verb(
        "end sessions, such as forks that are of no use any more", branches.close, branches.show_closed,
        (("sessions", {
            "type": branches.session_id_in, "nargs": "+", "metavar": "SESSION",
            "help": "URLs or whole ids",
        }),),
    ),
    "prepare": Verb(
        "hold calls up and wait for those in flight", operations.prepare, tables.show_prepared,
        (("id", {"nargs": "?", "metavar": "ID", "help": "to wait on for this one (default: a new one)"}),),
    ),
    "commit": Verb(
        "write and publish what is prepared", operations.commit, tables.show_published, (_ID, _FOLDER)
    ),
    "resume": Verb(
        "let calls in again", operations.resume, tables.show_phases,
        (_ID, ("--discard", {"action": "store_true", "help": "take out again what was restored"})),
    ),
    "retire": Verb(
        "refuse attempts and earlier ones from now on, and drop their sessions",
        operations.retire, tables.show_retired,
        (("episodes", {
            "type": _named_episode, "nargs": "+", "metavar": "ROLLOUT[:ATTEMPT]",
            "help": "without an attempt, the one that is live",
        }),),
    ),
    "verify": Verb(
        "score sessions and end them", operations.verify, tables.show_results,
        (("file", {
            "type": Path, "metavar": "FILE",
            "help": "JSON or JSON lines of {sessionId, groundTruth, calls?, profile?, keep?}; - reads input",
        }),),
    ),
    "checkpoint": Verb(
        "take a checkpoint of all servers", operations.checkpoint, tables.show_published, (_FOLDER,)
    ),
    "restore": Verb(
        "restore a checkpoint on all servers, and let calls in", operations.restore, tables.show_restored,
        (_FOLDER,),
    ),
}  # fmt: skip
