"""The raw load: answers in pieces, answers that are refusals, servers that go."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import pytest

from benchmarks.load import request, send

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
REFUSAL = b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno"


class Answering(asyncio.Protocol):
    """Answers every request with the same pieces, one after the other."""

    def __init__(self, pieces: Sequence[bytes], *, stays: bool) -> None:
        self.pieces, self.stays = pieces, stays
        self.came = b""
        self.gone = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()

    def data_received(self, data: bytes) -> None:
        self.came += data
        if self.came.endswith(b"}"):
            self.came = b""
            self.answer(list(self.pieces))

    def answer(self, pieces: list[bytes]) -> None:
        self.transport.write(pieces.pop(0))
        if pieces:
            asyncio.get_running_loop().call_later(0.001, self.answer, pieces)
        elif not self.stays:
            self.transport.close()


@asynccontextmanager
async def server(pieces: Sequence[bytes], *, stays: bool = True) -> AsyncGenerator[str]:
    made: list[Answering] = []

    def connection() -> Answering:
        made.append(Answering(pieces, stays=stays))
        return made[-1]

    listening = await asyncio.get_running_loop().create_server(connection, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    for each in made:
        await each.gone.wait()


def asked(base: str, number: int) -> list[bytes]:
    return [request(base, "/mcp", "email_delete_email", {"email_id": str(one)}) for one in range(number)]


@pytest.mark.parametrize("connections", [1, 4])
@pytest.mark.parametrize("pieces", [[ANSWER], [ANSWER[:10], ANSWER[10:40], ANSWER[40:]]])
async def test_every_request_is_answered(pieces: Sequence[bytes], connections: int) -> None:
    async with server(pieces) as base:
        took, bodies = await send(base, asked(base, 10), connections)
    assert took > 0
    assert bodies == [b"hello"] * 10


async def test_a_refusal_ends_the_measurement() -> None:
    async with server([REFUSAL]) as base:
        with pytest.raises(ConnectionError, match="not answered"):
            await send(base, asked(base, 3), 1)


async def test_a_server_that_goes_ends_the_measurement() -> None:
    async with server([ANSWER], stays=False) as base:
        with pytest.raises(ConnectionError, match="ended"):
            await send(base, asked(base, 3), 1)
