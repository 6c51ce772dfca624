"""A server process of the demonstration: started, killed the hard way, and never left behind."""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import anyio
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from wa_mcp.endpoints import Endpoint
from wa_mcp.settings import PREFIX

__all__ = ["DemoError", "DemoServer", "serving"]

READY_WITHIN: Final = 60.0
"""Seconds after which a server that has not said where it serves is given up."""

_ENDS_WITHIN: Final = 10.0


class DemoError(Exception):
    """The demonstration cannot go on; the message is a sentence for people."""


class DemoServer:
    """A server process on loopback.

    Args:
        process: The process; its standard output is read here.
        token: What controllers show it.
        log: Where its standard error goes.
    """

    def __init__(self, process: Process, token: str, log: Path) -> None:
        self._process: Final = process
        self._token: Final = token
        self._log: Final = log
        self.base = ""

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return urlsplit(self.base).port or 0

    @property
    def endpoint(self) -> Endpoint:
        """The server as controllers reach it."""
        return Endpoint(self.base, self._token)

    async def ready(self) -> None:
        """Wait until it can be called.

        Raises:
            DemoError: It ended, or it does not get that far in time.
        """
        assert self._process.stdout is not None
        said = ""
        with anyio.move_on_after(READY_WITHIN) as waiting:
            async for text in TextReceiveStream(self._process.stdout):
                said += text
                if "\n" in said:
                    self.base = said.split("\n", 1)[0].split()[-1]
                    return
        if waiting.cancelled_caught:
            raise DemoError(f"a server was not ready within {READY_WITHIN:g} s")
        logged = self._log.read_text(errors="replace").strip().splitlines()
        raise DemoError(f"a server ended before it was ready: {logged[-1] if logged else 'it said nothing'}")

    async def kill(self) -> None:
        """End it as a crash would: at once, with nothing saved."""
        if self._process.returncode is None:
            self._process.kill()
        with anyio.move_on_after(_ENDS_WITHIN, shield=True):
            await self._process.wait()


@asynccontextmanager
async def serving(folder: Path, name: str, token: str, port: int = 0) -> AsyncGenerator[DemoServer]:
    """Start a server on the bundled data; it is `ready` later, and has ended when this is over.

    Args:
        folder: Where checkpoints and logs go.
        name: What its log is called.
        token: What controllers show it, handed over where no other user can read it.
        port: Where it listens, 0 for any free port.
    """
    # No setting of whoever runs this reaches the server, and no proxy: all of it stays on this machine.
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(PREFIX)}
    environment = {**inherited, f"{PREFIX}ADMIN_TOKEN": token}
    command = [sys.executable, "-m", "wa_mcp", "serve", "--host", "127.0.0.1", "--port", str(port)]
    flags = ["--checkpoint-root", str(folder / "checkpoints"), "--log-level", "warning", "--offer", "0"]
    log = folder / f"{name}.log"
    with log.open("wb") as errors:
        process = await anyio.open_process(
            [*command, *flags], stdin=subprocess.DEVNULL, stderr=errors, env=environment
        )
    server = DemoServer(process, token, log)
    try:
        yield server
    finally:
        await server.kill()
        with anyio.CancelScope(shield=True):
            await process.aclose()
