"""The controller surface: every operation as an MCP request method and as a tool, with one behaviour."""

from collections.abc import Mapping
from typing import Any, Final

import orjson
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    RequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

# Importing these registers their operations.
from wa_mcp import checkpoint_operations, session_operations, verify_operation
from wa_mcp.agent_server import META, guarded
from wa_mcp.errors import invalid_params
from wa_mcp.operations import OPERATIONS, Operation
from wa_mcp.runtime import Runtime
from wa_mcp.version import VERSION

__all__ = ["EXTENSION", "admin_server"]

EXTENSION: Final = META + "checkpoint"
"""The extension that the server announces, with the operations it serves."""

_REGISTERED: Final = (checkpoint_operations, session_operations, verify_operation)

Context = ServerRequestContext[Any, Any]


def admin_server(runtime: Runtime) -> Server[Any]:
    """Make the MCP server that controllers drive; whoever reaches it may do everything."""
    tools = {operation.name.replace("/", "_"): operation for operation in OPERATIONS.values()}
    advertised = ListToolsResult(tools=[_advertised(name, operation) for name, operation in tools.items()])

    async def list_tools(_: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        if params is not None and params.cursor is not None:
            raise invalid_params("This list has one page; give no cursor.")
        return advertised

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        operation = tools.get(params.name)
        if operation is None:
            raise invalid_params(f"There is no operation {params.name[:60]!a}.")
        result = await operation(runtime, params.arguments or {})
        text = orjson.dumps(result).decode()
        return CallToolResult(content=[TextContent(text=text)], structured_content=dict(result))

    server: Server[Any] = Server(
        "wa-mcp-controller",
        version=VERSION,
        title="Workplace controller",
        cache_hints={"tools/list": CacheHint(ttl_ms=0, scope="private")},
        get_tool_input_schema=lambda name: tools[name].schema if name in tools else None,
        on_list_tools=guarded(list_tools),
        on_call_tool=guarded(call_tool),
    )
    for operation in OPERATIONS.values():
        _serve(server, runtime, operation)
    server.extensions[EXTENSION] = {"operations": list(OPERATIONS)}
    return server


def _serve(server: Server[Any], runtime: Runtime, operation: Operation) -> None:
    """Serve an operation as a request method of its own."""

    async def handle(context: Context, _: RequestParams) -> dict[str, Any]:
        given: Mapping[str, Any] = context.params or {}
        result = await operation(runtime, {name: given[name] for name in given if name != "_meta"})
        return dict(result)

    server.add_request_handler(META + operation.name, RequestParams, guarded(handle))


def _advertised(name: str, operation: Operation) -> Tool:
    return Tool(
        name=name,
        title=operation.title,
        description=operation.description,
        input_schema=operation.schema,
        annotations=ToolAnnotations(read_only_hint=operation.reads, open_world_hint=False),
    )
