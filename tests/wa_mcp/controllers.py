"""What tests of the controller surface share: every way to ask for an operation and read the answer."""

import json
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Request, RequestParams, Result
from pydantic import ConfigDict

from tests.wa_mcp.agents import Era, refusal, text
from wa_mcp import Runtime, admin_server

METHOD = "dev.wa-mcp/"


class _AnyParams(RequestParams):
    model_config = ConfigDict(extra="allow")


class _AnyRequest(Request[_AnyParams, str]):
    pass


class _AnyResult(Result):
    model_config = ConfigDict(extra="allow")


@dataclass(frozen=True)
class Controller:
    """A controller's client, which asks for operations as methods or as tools."""

    client: Client
    as_tool: bool

    async def ask(self, operation: str, **given: Any) -> dict[str, Any]:
        """Ask for an operation and give its result; as a tool, the text says the same as the structure."""
        if self.as_tool:
            result = await self.client.call_tool(operation.replace("/", "_"), given)
            assert not result.is_error
            assert json.loads(text(result)) == result.structured_content
            return cast("dict[str, Any]", result.structured_content)
        request = _AnyRequest(method=METHOD + operation, params=_AnyParams.model_validate(given))
        answer = await self.client.session.send_request(request, _AnyResult)
        # What a later protocol adds to every result is not the operation's.
        return {name: part for name, part in (answer.model_extra or {}).items() if name != "resultType"}

    async def refused(self, operation: str, **given: Any) -> tuple[int, dict[str, Any], str]:
        """Ask for an operation that must be refused: the error's number, its data and its sentence."""
        return await refusal(self.ask(operation, **given))

    async def code(self, operation: str, **given: Any) -> str:
        """Ask for an operation that must be refused, and give the code of the refusal."""
        return (await self.refused(operation, **given))[1]["code"]

    async def phase(self) -> str:
        """Say which phase the server is in."""
        return (await self.ask("checkpoint/status"))["phase"]


@dataclass(frozen=True)
class Way:
    """A way in for controllers: in memory or over real HTTP, in one protocol era, by method or by tool."""

    runtime: Runtime
    era: Era
    base: str | None
    as_tool: bool

    @asynccontextmanager
    async def controller(self) -> AsyncGenerator[Controller, None]:
        """Connect."""
        if self.base is None:
            async with Client(admin_server(self.runtime), mode=self.era) as client:
                yield Controller(client, self.as_tool)
            return
        async with (
            httpx2.AsyncClient(headers=bearer(self.runtime), timeout=20) as http,
            Client(
                streamable_http_client(self.base + "/admin/mcp", http_client=http), mode=self.era
            ) as client,
        ):
            yield Controller(client, self.as_tool)


def bearer(runtime: Runtime) -> dict[str, str]:
    """Make the header that controllers show."""
    return {"Authorization": f"Bearer {runtime.admin_token}"}


def controlling(runtime: Runtime) -> AbstractAsyncContextManager[Controller]:
    """Connect to a runtime in memory, for tests that are not about the way in."""
    return Way(runtime, "auto", None, as_tool=False).controller()


def timed(checkpoint_id: str, seconds: float = 20, **more: Any) -> dict[str, Any]:
    """Make the parameters that most checkpoint operations have."""
    return {"checkpointId": checkpoint_id, "timeoutSeconds": seconds, **more}
