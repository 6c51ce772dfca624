"""The streams of a stdio client, whose end waits for the answers: a file of requests is answered whole."""

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing, asynccontextmanager
from typing import Final, Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse, RequestId

__all__ = ["until_answered"]

_UNREADABLE: Final = JSONRPCError(
    jsonrpc="2.0",
    id=None,
    error=ErrorData(code=-32700, message="A line is no readable JSON-RPC message."),
)

Incoming = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]


class Writing(Protocol):
    """Where messages to the client go."""

    async def send(self, item: SessionMessage, /) -> None: ...
    async def aclose(self) -> None: ...


@asynccontextmanager
async def until_answered(
    reading: AsyncIterable[Incoming], writing: Writing, *, within: float
) -> AsyncGenerator[Streams]:
    """Give streams of which the reading one ends only when all that was read has been answered.

    The SDK's server drops what it is working on as soon as its input ends.

    Args:
        reading: What the client sends.
        writing: What the client is sent.
        within: Seconds to wait for the last answers; a request that was cancelled never gets one.
    """
    asked: set[RequestId | None] = set()
    answered = anyio.Condition()

    async def read(onward: MemoryObjectSendStream[Incoming]) -> None:
        async with onward:
            async for message in _readable(reading, writing):
                if isinstance(message.message, JSONRPCRequest):
                    asked.add(message.message.id)
                await onward.send(message)
            with anyio.move_on_after(within):
                async with answered:
                    while asked:
                        await answered.wait()

    async def write(given: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with given, aclosing(writing):
            async for message in given:
                await writing.send(message)
                if isinstance(message.message, JSONRPCResponse | JSONRPCError):
                    async with answered:
                        asked.discard(message.message.id)
                        answered.notify()

    onward, read_on = anyio.create_memory_object_stream[Incoming]()
    write_on, given = anyio.create_memory_object_stream[SessionMessage]()
    async with anyio.create_task_group() as tasks, read_on, write_on:
        tasks.start_soon(read, onward)
        tasks.start_soon(write, given)
        yield read_on, write_on


async def _readable(reading: AsyncIterable[Incoming], writing: Writing) -> AsyncGenerator[SessionMessage]:
    """Give what can be read, and answer the rest: the SDK would drop it, and its sender wait for ever."""
    async for message in reading:
        if isinstance(message, Exception):
            await writing.send(SessionMessage(_UNREADABLE))
        else:
            yield message
