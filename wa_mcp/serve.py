"""Serve a runtime: over HTTP until a signal comes, or over stdio until the client has gone."""

import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import anyio
import uvicorn
from mcp.server.stdio import stdio_server

from wa_mcp.agent_server import agent_server
from wa_mcp.app import http_app
from wa_mcp.process import http_protocol, raise_descriptors, tame_collector
from wa_mcp.runtime import Runtime
from wa_mcp.settings import Settings, SettingsError
from wa_mcp.stdio import until_answered
from wa_mcp.version import VERSION

__all__ = ["CannotListen", "serve_http", "serve_stdio"]

DRAIN_WITHIN: Final = 10
"""Seconds that calls in flight get to end when the server is told to stop."""

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class CannotListen(OSError):
    """The address cannot be listened on; the message says which, why, and what to do."""


class _Server(uvicorn.Server):
    """A uvicorn server that greets when it can be called, and ends with status 0 when told to stop."""

    def __init__(self, config: uvicorn.Config, runtime: Runtime, greeting: str) -> None:
        super().__init__(config)
        self._runtime: Final = runtime
        self._greeting: Final = greeting

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say where; from here on a signal is a wish to stop cleanly."""
        await super().startup(sockets)
        sys.stdout.write(self._greeting)
        sys.stdout.flush()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop taking calls, and turn away those that wait; a second signal ends at once."""
        self._runtime.stop()
        self.force_exit = self.should_exit
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Handle the signals while serving; unlike the parent's, do not raise them again afterwards."""
        before = {sig: signal.signal(sig, self.handle_exit) for sig in _SIGNALS}
        try:
            yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)


def serve_http(runtime: Runtime) -> None:
    """Serve over HTTP until SIGINT or SIGTERM, and print ready-made session URLs to try.

    Raises:
        CannotListen: The address is taken or is not this machine's.
        SettingsError: Others can reach the server, and no token was given for controllers.
    """
    settings = runtime.settings
    made = settings.token() is None
    if made and not settings.is_loopback:
        raise SettingsError(
            f"{settings.host} can be reached by others: give the controllers' token in WA_MCP_ADMIN_TOKEN "
            "or with --admin-token-file"
        )
    raise_descriptors()
    runtime.dataset.prepare()
    gc.collect()
    tame_collector()
    runtime.on_restored = tame_collector
    with _listen(settings) as listening:
        runtime.base_url = settings.base_url(listening.getsockname()[1])
        greeting = _greeting(runtime, shows_token=made)
        config = uvicorn.Config(
            http_app(runtime),
            log_config=None,
            access_log=False,  # its lines hold whole session ids
            server_header=False,
            http=http_protocol(),
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=DRAIN_WITHIN,
        )
        _Server(config, runtime, greeting).run(sockets=[listening])


def serve_stdio(runtime: Runtime) -> None:
    """Serve one new session over standard input and output until the input ends or a signal comes."""
    runtime.dataset.prepare()
    anyio.run(_serve_stdio, runtime)


async def _serve_stdio(runtime: Runtime) -> None:
    server = agent_server(runtime, runtime.sessions.seed().id)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_on_signal)
        async with (
            stdio_server() as streams,
            until_answered(*streams, within=DRAIN_WITHIN) as (reading, writing),
        ):
            await server.run(reading, writing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _end_on_signal() -> None:
    with anyio.open_signal_receiver(*_SIGNALS) as signals:
        async for _ in signals:
            sys.stdout.flush()
            # The thread that reads standard input cannot be interrupted, and there is no state to save.
            os._exit(0)


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        raise CannotListen(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror or error}. "
            "Give another --host or --port; port 0 takes a free one."
        ) from error


def _greeting(runtime: Runtime, *, shows_token: bool) -> str:
    base = runtime.base_url
    lines = [f"wa-mcp {VERSION} serves workplaces on {base}", f"Controllers: {base}/admin/mcp"]
    if shows_token:
        lines.append(f"Controllers' token, made for this run: {runtime.admin_token}")
    urls = [f"{base}/sessions/{runtime.sessions.offer()}/mcp" for _ in range(runtime.settings.offer)]
    lines += [f"Workplace to try: {url}" for url in urls]
    if urls:
        config: dict[str, Any] = {"mcpServers": {"workplace": {"type": "http", "url": urls[0]}}}
        lines += [
            "Add it to a client:",
            f"  claude mcp add --transport http workplace {urls[0]}",
            f"  npx @modelcontextprotocol/inspector --cli {urls[0]} --transport http --method tools/list",
            f"  {json.dumps(config)}",
        ]
    return "\n".join(lines) + "\n"
