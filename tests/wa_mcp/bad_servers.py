"""Servers that do not do what they should: TCP servers that say anything, and a proxy that loses replies."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from anyio.abc import SocketStream
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import RequestParams

from tests.wa_mcp.agents import TLS

Answering = Callable[[SocketStream, bytes], Awaitable[None]]


@asynccontextmanager
async def listening(answer: Answering, port: int = 0) -> AsyncGenerator[str]:
    """Serve HTTP by hand: `answer` gets each connection and the request that came; gives the base URL."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)

    async def handle(stream: SocketStream) -> None:
        async with stream:
            try:
                await answer(stream, await read_request(stream))
            except (anyio.BrokenResourceError, anyio.EndOfStream):
                return  # the client has gone

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, handle)
        yield f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
        tasks.cancel_scope.cancel()


async def read_request(stream: SocketStream) -> bytes:
    """Read a request whole, head and body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    length = int(lengths[0].split(b":")[1]) if lengths else 0
    while len(body) < length:
        body += await stream.receive()
    return head + b"\r\n\r\n" + body


def response(status: str, kind: str, body: bytes) -> bytes:
    """Make an HTTP response that ends its connection."""
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def saying(data: bytes) -> Answering:
    """Answer everything with the same bytes."""

    async def answer(stream: SocketStream, _: bytes) -> None:
        await stream.send(data)

    return answer


class Proxy:
    """Passes requests on, and loses the replies to some of them.

    `losing` is the name of an operation, `times` how many of its replies are lost; `seen` are the requests.
    """

    def __init__(self, base: str) -> None:
        self.base = base
        self.losing, self.times = "", 0
        self.seen: list[str] = []

    async def answer(self, stream: SocketStream, request: bytes) -> None:
        head, _, body = request.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:])
        operation = next(text for name, text in headers.items() if name.lower() == "mcp-method")
        self.seen.append(operation.removeprefix("dev.wa-mcp/"))
        passed_on = {
            name: text for name, text in headers.items() if name.lower() not in ("host", "connection")
        }
        async with httpx2.AsyncClient(timeout=60, verify=TLS) as http:
            answered = await http.post(self.base + lines[0].split()[1], content=body, headers=passed_on)
        if operation.endswith(self.losing or " ") and self.times:
            self.times -= 1
            return
        kind = answered.headers["content-type"]
        await stream.send(response(f"{answered.status_code} OK", kind, answered.content))


def made_up(**operations: Callable[[dict[str, Any]], dict[str, Any]]) -> Server[Any]:
    """Make a server in memory that has these operations (`sessions_verify` for `sessions/verify`)."""
    server: Server[Any] = Server("made-up")
    for name, function in operations.items():
        server.add_request_handler(f"dev.wa-mcp/{name.replace('_', '/')}", RequestParams, _handler(function))
    return server


def _handler(function: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    async def handle(context: ServerRequestContext[Any, Any], _: RequestParams) -> dict[str, Any]:
        return function({name: value for name, value in (context.params or {}).items() if name != "_meta"})

    return handle
