"""What tests of the agent surface share: ways in, and how to read what comes out."""

import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, cast

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, RequestParamsMeta

from wa_mcp import Runtime, agent_server

Era = Literal["auto", "legacy"]
ERAS: tuple[Era, ...] = ("auto", "legacy")

SESSION_ID = "an-agent-s-session-id-0001"
# Unused, but each HTTP client would make one of its own, which takes longer than all else in a test.
TLS = ssl.create_default_context()

MAIL = {"recipient": "ada@example.com", "subject": "Plan", "body": "Let us meet."}


@dataclass(frozen=True)
class Door:
    """A way in for agents: in memory, or over real HTTP, in one protocol era."""

    runtime: Runtime
    era: Era
    base: str | None

    @asynccontextmanager
    async def client(self, session_id: str | None = None) -> AsyncGenerator[Client]:
        """Connect a client of one session, or of none."""
        if self.base is None:
            async with Client(agent_server(self.runtime, session_id), mode=self.era) as client:
                yield client
        else:
            path = "/mcp" if session_id is None else f"/sessions/{session_id}/mcp"
            async with over_http(self.base + path, self.era) as client:
                yield client


@asynccontextmanager
async def over_http(url: str, era: Era, headers: Sequence[tuple[str, str]] = ()) -> AsyncGenerator[Client]:
    """Connect a client that sends these headers too."""
    async with (
        httpx2.AsyncClient(headers=list(headers), verify=TLS, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


def named(**entries: Any) -> RequestParamsMeta:
    """Make `_meta` entries of our own."""
    return cast("RequestParamsMeta", {f"dev.wa-mcp/{name}": value for name, value in entries.items()})


def text(result: CallToolResult) -> str:
    """Give the one text block of a result."""
    (block,) = result.content
    assert block.type == "text"
    return block.text


def output(result: CallToolResult) -> Any:
    """Give the answer in the structured block, which holds nothing else."""
    assert list(result.structured_content) == ["output"]
    return result.structured_content["output"]


def told(result: CallToolResult, name: str) -> Any:
    """Give one of our own `_meta` entries of a result."""
    return (result.meta or {})[f"dev.wa-mcp/{name}"]


async def refusal(call: Awaitable[object]) -> tuple[int, dict[str, Any], str]:
    """Await the JSON-RPC error that a call must come to: its number, its data and its sentence."""
    with pytest.raises(MCPError) as caught:
        await call
    return caught.value.code, caught.value.data, caught.value.message


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what nobody announces, perhaps in a server of another thread."""
    with anyio.fail_after(10):
        while not holds():  # noqa: ASYNC110  # nobody sets an event
            await anyio.sleep(0.001)
