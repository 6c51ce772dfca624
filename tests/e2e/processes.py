"""The real command as a process: started, spoken to, and always ended."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parent.parent.parent
OFFERED = "Workplace to try: "
ENDS_WITHIN = 60
"""Seconds after which a process that must end is taken to hang."""

COMMAND = (sys.executable, "-m", "wa_mcp")


def environment(**variables: str) -> dict[str, str]:
    """Make the environment of a process: this one's, with no settings but those given."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("WA_MCP_")}
    return {**inherited, **variables}


def run(*arguments: str, within: float = ENDS_WITHIN, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run the command to its end, which must come within so many seconds."""
    return subprocess.run(
        [*COMMAND, *arguments],
        check=False, cwd=ROOT, env=environment(**variables), capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=within,
    )  # fmt: skip


@dataclass
class Server:
    """A server process that can be called.

    Attributes:
        process: The process.
        said: The lines it printed when it could be called.
        errors: Where its standard error goes.
    """

    process: "subprocess.Popen[str]"
    said: list[str]
    errors: Path

    @property
    def urls(self) -> list[str]:
        """The session URLs that it offers."""
        return [line.removeprefix(OFFERED) for line in self.said if line.startswith(OFFERED)]

    @property
    def base(self) -> str:
        """The URL that it serves on."""
        return self.said[0].split()[-1]

    @property
    def port(self) -> int:
        """The port that it listens on."""
        port = urlsplit(self.base).port
        assert port is not None
        return port

    def log(self) -> str:
        """Give what it has logged so far."""
        return self.errors.read_text()

    def stop(self, sent: int) -> int:
        """Send a signal, wait for the end, and give the exit status."""
        self.process.send_signal(sent)
        return self.process.wait(ENDS_WITHIN)


@contextmanager
def serving(folder: Path, *flags: str, **variables: str) -> Generator[Server, None, None]:
    """Start `wa-mcp serve` on a free port; its log goes to a file in the folder."""
    errors = folder / "stderr.txt"
    command = [*COMMAND, "serve", "--port", "0", *flags]
    with (
        errors.open("w") as log,
        subprocess.Popen(
            command, cwd=ROOT, env=environment(**variables), stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            yield Server(process, _greeting(process), errors)
        finally:
            process.kill()


def _greeting(process: "subprocess.Popen[str]") -> list[str]:
    assert process.stdout is not None
    said: list[str] = []
    while line := process.stdout.readline():
        said.append(line.rstrip("\n"))
        if line.lstrip().startswith("{"):  # the client configuration comes last
            return said
    raise AssertionError(f"the server ended with {process.wait(ENDS_WITHIN)} after saying {said}")


@contextmanager
def speaking(*flags: str, **variables: str) -> Generator["subprocess.Popen[str]", None, None]:
    """Start `wa-mcp stdio`, to be spoken to over its pipes."""
    with subprocess.Popen(
        [*COMMAND, "stdio", *flags],
        cwd=ROOT, env=environment(**variables), text=True, encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


Message = dict[str, Any]
