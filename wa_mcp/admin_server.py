"""The controller surface: every operation as an MCP request method and as a tool, with one behaviour."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import orjson
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
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
from wa_mcp import branch_operations, checkpoint_operations, session_operations, verify_operation
from wa_mcp.admission import Context, check_client
from wa_mcp.agent_server import META, guarded
from wa_mcp.errors import invalid_params
from wa_mcp.operations import OPERATIONS, Operation
from wa_mcp.runtime import Runtime
from wa_mcp.version import VERSION

__all__ = ["EXTENSION", "admin_server"]

EXTENSION: Final = META + "checkpoint"
"""The extension that the server announces, with the operations it serves."""

_REGISTERED: Final = (checkpoint_operations, session_operations, branch_operations, verify_operation)


def admin_server(runtime: Runtime) -> Server[Any]:
    """Make the MCP server that controllers drive; whoever reaches it may do everything."""
    tools = {operation.name.replace("/", "_"): operation for operation in OPERATIONS.values()}
    advertised = ListToolsResult(tools=[_advertised(name, operation) for name, operation in tools.items()])

    async def list_tools(_: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        if params is not None and params.cursor is not None:
            raise invalid_params("This list has one page; give no cursor.")
        return advertised

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        operation = tools.get(params.name)
        if operation is None:
            raise invalid_params(f"There is no operation {params.name[:60]!a}.")
        result = await operation(runtime, params.arguments or {}, partial(check_client, context))
        text = orjson.dumps(result).decode()
        return CallToolResult(content=[TextContent(text=text)], structured_content=dict(result))

    server = _Announcing(
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


class _Announcing(Server[Any]):
    """Announces its extensions to legacy clients too, in the one place that their protocol has for it."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Say to a client that shakes hands what the server can do."""
        experimental = {**self.extensions, **(experimental_capabilities or {})}
        return super().create_initialization_options(notification_options, experimental, extensions)


def _serve(server: Server[Any], runtime: Runtime, operation: Operation) -> None:
    """Serve an operation as a request method of its own."""

    async def handle(context: Context, _: RequestParams) -> dict[str, Any]:
        given: Mapping[str, Any] = context.params or {}
        named = {name: given[name] for name in given if name != "_meta"}
        result = await operation(runtime, named, partial(check_client, context))
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
