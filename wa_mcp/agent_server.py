"""The agent surface: an MCP server on which each agent works its own session, and nothing else."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

import orjson
from mcp import MCPError
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    ListToolsResult,
    PaginatedRequestParams,
    ToolAnnotations,
)
from mcp.types import Tool as AdvertisedTool

from checkpoint.errors import CheckpointError
from toolkits.tool import Tool
from wa_mcp.admission import META, Context, admitted, call_id_of, session_named
from wa_mcp.errors import CodedError, failure, invalid_params, on_the_wire
from wa_mcp.runtime import Runtime
from wa_mcp.session import Answer
from wa_mcp.version import VERSION

__all__ = ["META", "advertised", "agent_server", "guarded"]

P = TypeVar("P")
R = TypeVar("R")

INSTRUCTIONS: Final = (
    "A workplace of your own: mail, calendar, web analytics, project board, customers and company directory. "
    "What you change stays changed, and nobody else sees it."
)

logger = logging.getLogger(__name__)


def agent_server(runtime: Runtime, session_id: str | None = None) -> Server[Any]:
    """Make the MCP server that agents work on.

    Args:
        runtime: Where the sessions are.
        session_id: The one session that this server is bound to (in memory, stdio); None takes it from each
            request's path, `WA-Session` header or `_meta["dev.wa-mcp/session"]`.
    """

    async def list_tools(context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        if params is not None and params.cursor is not None:
            raise invalid_params("This list has one page; give no cursor.")
        named = session_named(context, session_id)
        session = None if named is None else runtime.sessions.peek(named)
        if session is None:
            return whole
        return ListToolsResult(tools=[tool for tool in whole.tools if session.sees(tool.name)])

    async def call_tool(context: Context, params: CallToolRequestParams) -> dict[str, Any]:
        session, call = await admitted(runtime, context, session_id, params.name)
        # No await from here to the answer: the call is atomic.
        before = session.state
        try:
            return _result(session.call(params.name, params.arguments, call_id=call_id_of(context)))
        except Exception:
            session.state = before  # what could not be answered was not done
            raise
        finally:
            runtime.control.gate.leave(call)

    def input_schema(name: str) -> Mapping[str, Any] | None:
        return tool.schema if (tool := tools.get(name)) is not None else None

    tools = runtime.dataset.catalogue.tools
    whole = ListToolsResult(tools=[advertised(tool) for tool in tools.values()])
    server = Server[Any](
        "wa-mcp",
        version=VERSION,
        title="Workplace",
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": CacheHint(ttl_ms=0, scope="private")},
        get_tool_input_schema=input_schema,
        on_list_tools=guarded(list_tools),
    )
    # Unlike `on_call_tool`, this takes a result as it is on the wire; the SDK checks it either way.
    server.add_request_handler("tools/call", CallToolRequestParams, guarded(call_tool))
    return server


def guarded(handler: Callable[[Context, P], Awaitable[R]]) -> Callable[[Context, P], Awaitable[R]]:
    """Let only coded refusals out of a handler; anything else is logged, and a plain sentence is sent."""

    async def guard(context: Context, params: P) -> R:
        try:
            return await handler(context, params)
        except (CodedError, CheckpointError) as error:
            raise on_the_wire(error) from None
        except MCPError:
            raise
        except Exception:  # the boundary: nothing internal may reach a client
            logger.exception("%s failed", context.method)
            raise failure("The server failed; nothing was changed.") from None

    return guard


def advertised(tool: Tool) -> AdvertisedTool:
    """Show a tool as `tools/list` does."""
    return AdvertisedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=ToolAnnotations(
            read_only_hint=not tool.changes,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _result(answer: Answer) -> dict[str, Any]:
    value = answer.outcome.value
    encoded = orjson.dumps(value).decode()  # a text too: one that is no Unicode must not leave
    return {
        "content": [{"type": "text", "text": value if isinstance(value, str) else encoded}],
        "structuredContent": {"output": value},
        "isError": answer.outcome.is_error,
        "resultType": "complete",
        "_meta": {
            META + "revision": answer.revision,
            META + "attempt": answer.attempt,
            META + "changed": list(answer.outcome.changed),
        },
    }
