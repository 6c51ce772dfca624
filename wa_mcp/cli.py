"""The command `wa-mcp`."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from toolkits.dataset import DataError, load_dataset
from toolkits.figures import figures, render
from toolkits.generator import BUNDLED_SEED, generate, write_dataset
from wa_mcp import task_commands
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.ctl import add_ctl
from wa_mcp.demo import demo
from wa_mcp.inspecting import inspect, published, render_inspected
from wa_mcp.logs import log_to_stderr
from wa_mcp.runtime import Runtime
from wa_mcp.serve import serve_http, serve_stdio
from wa_mcp.settings import PREFIX, Settings, SettingsError, read_settings
from wa_mcp.version import VERSION

__all__ = ["main"]

Command = Callable[[argparse.Namespace], int]

_FLAGS: Final[dict[str, dict[str, Any]]] = {
    "data": {"metavar": "DIR", "help": "folder of the data set (default: the bundled one)"},
    "max_sessions": {"metavar": "N", "help": "sessions that may live at once (default: 20000)"},
    "log_level": {"metavar": "LEVEL", "help": "debug, info, warning or error (default: info)"},
    "host": {"metavar": "ADDRESS", "help": "address to listen on (default: 127.0.0.1)"},
    "port": {"metavar": "N", "help": "port to listen on, 0 for a free one (default: 8765)"},
    "checkpoint_root": {"metavar": "DIR", "help": "folder for checkpoints (default: checkpoints)"},
    "instance": {"metavar": "NAME", "help": "name of this server in a shared checkpoint (default: main)"},
    "public_url": {"metavar": "URL", "help": "where clients reach this server, if not at host and port"},
    "allowed_host": {
        "metavar": "HOST", "action": "append", "help": "another host name that requests may name; repeatable",
    },
    "on_checkpoint": {"metavar": "WHAT", "help": "calls meanwhile: refuse or wait (default: refuse)"},
    "wait_limit": {"metavar": "SECONDS", "help": "how long such a call waits at most (default: 60)"},
    "lease_grace": {"metavar": "SECONDS", "help": "a lease beyond a controller's timeout (default: 30)"},
    "admin_token_file": {"metavar": "FILE", "help": "controllers' token, if not in WA_MCP_ADMIN_TOKEN"},
    "offer": {"metavar": "N", "help": "session URLs to print, to try (default: 1)"},
    "idle_after": {"metavar": "SECONDS", "help": "close sessions idle for this long (default: 0, never)"},
}  # fmt: skip
_STDIO_FLAGS: Final = ("data", "log_level")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit status.

    0 done, 1 it failed, 2 it was asked for wrongly, 130 interrupted before it had anything to end in order.
    """
    parser = _parser()
    asked = parser.parse_args(arguments)
    try:
        return asked.command(asked)
    except (SettingsError, DataError, OSError) as error:
        sys.stderr.write(f"wa-mcp: {error}\n")
        return 2 if isinstance(error, SettingsError) else 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wa-mcp",
        description="Workplaces for language-model agents, served over MCP.",
        epilog=f"Every flag of serve and stdio can be set as {PREFIX}<FLAG> in the environment; flags win.",
    )
    parser.add_argument("--version", action="version", version=f"wa-mcp {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = _command(commands, "serve", _serve, "serve workplaces over HTTP")
    _add_flags(serve, tuple(_FLAGS))
    stdio = _command(commands, "stdio", _stdio, "serve one workplace over standard input and output")
    _add_flags(stdio, _STDIO_FLAGS)
    _command(
        commands,
        "demo",
        _demo,
        "kill a server under twenty agents, restore them, and show that nothing was lost",
    )
    add_ctl(commands)
    inspecting = _command(
        commands, "inspect", _inspect, "show what a checkpoint holds, and whether it verifies"
    )
    inspecting.add_argument("folder", type=Path, metavar="DIR", help="folder of the checkpoint")
    inspecting.add_argument("--json", action="store_true", help="for machines, with every session")
    data = _command(commands, "data", None, "make and check data sets").add_subparsers(
        required=True, metavar="COMMAND"
    )
    making = _command(data, "generate", _generate, "write a new data set")
    making.add_argument(
        "--seed", type=int, default=BUNDLED_SEED, metavar="N", help="the same seed, the same data"
    )
    making.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write it to")
    checking = _command(data, "check", _check, "check a data set and print its figures")
    checking.add_argument("folder", type=Path, metavar="DIR", help="folder of the data set")
    _add_tasks(commands)
    return parser


def _add_tasks(commands: Any) -> None:
    tasks = _command(commands, "tasks", None, "make and check tasks").add_subparsers(
        required=True, metavar="COMMAND"
    )
    making = _command(
        tasks, "generate", task_commands.generate, "write tasks for a data set, each with its solution"
    )
    checking = _command(
        tasks, "check", task_commands.check, "check tasks, and print how many there are of every kind"
    )
    for parser in (making, checking):
        parser.add_argument("--data", type=Path, **_FLAGS["data"])
    making.add_argument(
        "--seed",
        type=int,
        default=task_commands.TASKS_SEED,
        metavar="N",
        help="the same seed, the same tasks",
    )
    making.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="file to write, one task a line"
    )
    making.add_argument(
        "--format",
        choices=task_commands.FORMATS,
        default=task_commands.FORMATS[0],
        help="responses: rows for the Responses API, with the tools (default: plain)",
    )
    making.add_argument(
        "--per-kind", type=_per_kind, default=10, metavar="N", help="tasks of every kind (default: 10)"
    )
    checking.add_argument("file", type=Path, metavar="FILE", help="file of tasks, one a line")


def _command(commands: Any, name: str, does: Command | None, about: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=about, description=f"{about.capitalize()}."
    )
    parser.set_defaults(command=does)
    return parser


def _add_flags(parser: argparse.ArgumentParser, names: Sequence[str]) -> None:
    for name in names:
        parser.add_argument(f"--{name.replace('_', '-')}", **_FLAGS[name])


def _per_kind(text: str) -> int:
    most = task_commands.MOST_PER_KIND
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"expected 1 to {most}, got {text!r}")
    return int(text)


def _runtime(asked: argparse.Namespace, flags: Sequence[str]) -> Runtime:
    settings: Settings = read_settings(os.environ, {name: getattr(asked, name) for name in flags})
    log_to_stderr(settings.log_level)
    return Runtime(settings)


def _serve(asked: argparse.Namespace) -> int:
    serve_http(_runtime(asked, tuple(_FLAGS)))
    return 0


def _stdio(asked: argparse.Namespace) -> int:
    serve_stdio(_runtime(asked, _STDIO_FLAGS))
    return 0


def _demo(_: argparse.Namespace) -> int:
    return demo()


def _inspect(asked: argparse.Namespace) -> int:
    found, (is_sound, said) = inspect(asked.folder), published(asked.folder)
    if asked.json:
        shown = orjson.dumps([one.as_json() for one in found], option=orjson.OPT_INDENT_2).decode()
    else:
        shown = f"{render_inspected(found)}\n{said}"
    sys.stdout.write(shown + "\n")
    return 0 if is_sound and all(one.verifies for one in found) else 1


def _generate(asked: argparse.Namespace) -> int:
    write_dataset(generate(asked.seed), asked.out)
    sys.stdout.write(f"wrote a data set with seed {asked.seed} to {asked.out}\n")
    return 0


def _check(asked: argparse.Namespace) -> int:
    dataset = load_dataset(asked.folder, CATALOGUE)
    frames = {name: base.table.frame for name, base in dataset.bases.items()}
    sys.stdout.write(render(figures(frames, dataset.facts.now)) + "\n")
    return 0
