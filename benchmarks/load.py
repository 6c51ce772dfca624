"""A raw HTTP/1.1 load: requests made beforehand, sent over connections that are kept open.

The SDK's own client takes longer for a call than a server does, so it cannot show how fast a server is.
"""

import asyncio
import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any, Final
from urllib.parse import urlsplit

__all__ = ["request", "send"]

PROTOCOL: Final = "2026-07-28"
WITHIN: Final = 60.0

_ABOUT: Final = "io.modelcontextprotocol/"
_HEAD_ENDS: Final = b"\r\n\r\n"
_FINE: Final = b"HTTP/1.1 200 "
_LENGTH: Final = b"content-length:"


def request(base: str, path: str, tool: str, arguments: Mapping[str, Any], token: str = "") -> bytes:
    """Make a tool call as the SDK's client would send it."""
    meta = {
        f"{_ABOUT}protocolVersion": PROTOCOL,
        f"{_ABOUT}clientInfo": {"name": "benchmarks", "version": "1"},
        f"{_ABOUT}clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    body = json.dumps(asked, separators=(",", ":")).encode()
    head = [
        f"POST {path} HTTP/1.1",
        f"Host: {urlsplit(base).netloc}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"MCP-Protocol-Version: {PROTOCOL}",
        "Mcp-Method: tools/call",
        f"Mcp-Name: {tool}",
        f"Content-Length: {len(body)}",
        *([f"Authorization: Bearer {token}"] if token else []),
    ]
    return "\r\n".join(head).encode() + _HEAD_ENDS + body


async def send(base: str, requests: Sequence[bytes], connections: int) -> tuple[float, list[bytes]]:
    """Send all requests, each as soon as a connection is free.

    Returns:
        The seconds from the first request to the last answer, and the bodies as they came.

    Raises:
        ConnectionError: A server did not answer, or not with success.
    """
    loop, waiting, bodies = asyncio.get_running_loop(), deque(requests), list[bytes]()
    over = loop.create_future()

    def connection() -> _Connection:
        return _Connection(waiting, bodies, over, len(requests))

    where = urlsplit(base)
    opened = [
        (await loop.create_connection(connection, where.hostname or "", where.port or 80))[1]
        for _ in range(min(connections, len(requests)))
    ]
    try:
        begun = perf_counter()
        for each in opened:
            each.ask()
        await asyncio.wait_for(over, WITHIN)
        return perf_counter() - begun, bodies
    finally:
        for each in opened:
            each.close()
        await asyncio.sleep(0)  # a transport closes in the turn after the one that it is told to


class _Connection(asyncio.Protocol):
    """Sends one request after the other, each when the answer to the last is there."""

    transport: asyncio.Transport

    def __init__(
        self, waiting: deque[bytes], bodies: list[bytes], over: "asyncio.Future[None]", wanted: int
    ) -> None:
        self._waiting: Final = waiting
        self._bodies: Final = bodies
        self._over: Final = over
        self._wanted: Final = wanted
        self._came = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be ready to ask."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def ask(self) -> None:
        """Send the next request, if there is one."""
        if self._waiting:
            self.transport.write(self._waiting.popleft())

    def data_received(self, data: bytes) -> None:
        """Take in what came; when that is a whole answer, keep its body and ask for the next."""
        self._came += data
        head, ends, body = self._came.partition(_HEAD_ENDS)
        if not ends or len(body) < _body_length(head.splitlines()):
            return
        if not head.startswith(_FINE):
            self._fail(ConnectionError(f"not answered: {self._came!r}"))
            return
        self._came = b""
        self._bodies.append(body)
        if len(self._bodies) == self._wanted:
            self._over.set_result(None)
        else:
            self.ask()

    def connection_lost(self, exc: Exception | None) -> None:
        """A connection that ends before all is answered ends it all."""
        self._fail(ConnectionError(f"the connection ended: {exc}"))

    def close(self) -> None:
        """End the connection."""
        self.transport.close()

    def _fail(self, error: ConnectionError) -> None:
        if not self._over.done():
            self._over.set_exception(error)


def _body_length(lines: Iterable[bytes]) -> int:
    for line in lines:
        if line.lower().startswith(_LENGTH):
            return int(line[len(_LENGTH) :])
    return 0
