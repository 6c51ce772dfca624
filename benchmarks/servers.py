"""Servers as processes of their own, and the processor time that they take."""

import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from benchmarks.load import request, send

__all__ = ["Server", "echo_process", "our_process"]

TOKEN: Final = "a-token-for-benchmarks-only"  # of a server that lives for some seconds, on loopback
ENDS_WITHIN: Final = 20

_ROOT: Final = Path(__file__).parent.parent
_NUMBERS: Final = count(1)


@dataclass
class Server:
    """A server that can be called.

    Attributes:
        base: The URL that it serves on.
        pid: Its process.
        seeds: Whether sessions have to be seeded before they are called.
    """

    base: str
    pid: int
    seeds: bool

    async def sessions(self, number: int) -> list[str]:
        """Give the paths of so many new sessions."""
        ids = [f"benchmark-session-{next(_NUMBERS):08}" for _ in range(number)]
        if self.seeds:
            asked = {"sessions": [{"sessionId": one} for one in ids]}
            seed = request(self.base, "/admin/mcp", "sessions_seed", asked, TOKEN)
            await send(self.base, [seed], 1)
        return [f"/sessions/{one}/mcp" for one in ids]

    def processor_time(self) -> float | None:
        """Give the seconds that the process has kept a processor busy, None where that is not told."""
        file = Path(f"/proc/{self.pid}/stat")
        if not file.exists():
            return None
        fields = file.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def our_process() -> Generator[Server]:
    """Start `wa-mcp serve`."""
    flags = ("--port", "0", "--offer", "0", "--max-sessions", "1000000", "--log-level", "warning")
    with _process(["wa_mcp", "serve", *flags], WA_MCP_ADMIN_TOKEN=TOKEN) as (process, said):
        yield Server(said.split()[-1], process.pid, seeds=True)


@contextmanager
def echo_process() -> Generator[Server]:
    """Start the server that answers constants."""
    with _process(["benchmarks.echo"]) as (process, said):
        yield Server(said, process.pid, seeds=False)


@contextmanager
def _process(module: Sequence[str], **variables: str) -> Generator[tuple["subprocess.Popen[str]", str]]:
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("WA_MCP_")}
    environment = {**inherited, "PYTHONPATH": str(_ROOT), **variables}
    command = [sys.executable, "-m", *module]
    with subprocess.Popen(command, cwd=_ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()
            process.wait(ENDS_WITHIN)
