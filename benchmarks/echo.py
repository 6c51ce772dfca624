"""The floor: a server whose tools answer a constant, on the same SDK, transport and web server as ours.

Its tools have the names and schemas of ours, and each answers, to the byte, what ours answers to the call
that is measured; but nothing is looked up, searched or changed. As a program (`python -m benchmarks.echo`)
it serves over HTTP on a free port, which it prints.
"""

import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import uvicorn
from mcp import Client
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from benchmarks.calls import CALLS
from wa_mcp import Runtime, Settings, agent_server
from wa_mcp.agent_server import META, advertised
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.process import http_protocol, tame_collector
from wa_mcp.version import VERSION

__all__ = ["Constant", "constants", "echo_server"]

Constant = tuple[str, dict[str, Any], dict[str, Any]]
"""What a tool answers: text, structured content and `_meta`."""


async def constants(runtime: Runtime) -> dict[str, Constant]:
    """Ask our own server what it answers to each call, in a fresh session each time."""
    found: dict[str, Constant] = {}
    for name, arguments in CALLS.items():
        session = runtime.sessions.seed()
        async with Client(agent_server(runtime, session.id)) as client:
            result = await client.call_tool(name, dict(arguments))
        content, structured = result.content[0], result.structured_content
        if result.is_error or structured is None or not isinstance(content, TextContent):
            raise RuntimeError(f"{name} failed: {content}")
        # What the SDK stamps on every result, it stamps on the echo's too.
        meta = {key: value for key, value in (result.meta or {}).items() if META in key}
        found[name] = content.text, structured, meta
        runtime.sessions.close(session.id)
    return found


def echo_server(answers: Mapping[str, Constant]) -> Server[Any]:
    """Make the MCP server that answers constants."""
    tools = CATALOGUE.tools
    whole = ListToolsResult(tools=[advertised(tool) for tool in tools.values()])

    async def list_tools(_: Any, __: PaginatedRequestParams | None) -> ListToolsResult:
        return whole

    async def call_tool(_: Any, params: CallToolRequestParams) -> CallToolResult:
        text, structured, meta = answers[params.name]
        return CallToolResult(content=[TextContent(text=text)], structured_content=structured, _meta=meta)

    def input_schema(name: str) -> Mapping[str, Any] | None:
        return tools[name].schema

    return Server(
        "wa-mcp",  # name, version and title are in every answer
        version=VERSION,
        title="Workplace",
        cache_hints={"tools/list": CacheHint(ttl_ms=0, scope="private")},
        get_tool_input_schema=input_schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class _Endpoint:
    """The MCP server as an ASGI endpoint, with the transport settings of ours."""

    def __init__(self, server: Server[Any]) -> None:
        hosts = ["127.0.0.1", "localhost", "[::1]"]
        self.manager: Final = StreamableHTTPSessionManager(
            server,
            stateless=True,
            json_response=True,
            security_settings=TransportSecuritySettings(
                allowed_hosts=[form for host in hosts for form in (host, f"{host}:*")],
                allowed_origins=[f"http://{form}" for host in hosts for form in (host, f"{host}:*")],
            ),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self.manager.handle_request(scope, receive, send)


def _app(server: Server[Any]) -> Starlette:
    endpoint = _Endpoint(server)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with endpoint.manager.run():
            yield

    return Starlette(
        routes=[Route("/sessions/{session_id}/mcp", endpoint, methods=["POST"])], lifespan=lifespan
    )


def main() -> None:
    """Serve over HTTP until a signal comes."""
    app = _app(echo_server(anyio.run(constants, Runtime(Settings()))))
    tame_collector()
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            http=http_protocol(),
            ws="none",
            lifespan="on",
        )
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
