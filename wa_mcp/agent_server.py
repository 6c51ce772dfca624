"""The agent surface: an MCP server on which each agent works its own session, and nothing else."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

import orjson
from mcp import MCPError
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as AdvertisedTool

from toolkits.tool import Tool
from wa_mcp.errors import CodedError, SessionError, invalid_params, on_the_wire
from wa_mcp.runtime import Runtime
from wa_mcp.sessions import MOST_ATTEMPTS, Answer
from wa_mcp.version import VERSION

__all__ = ["META", "advertised", "agent_server", "guarded"]

META: Final = "dev.wa-mcp/"
"""What the names of our own `_meta` entries start with."""

Context = ServerRequestContext[Any, Any]
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
        named = _session_named(context, session_id)
        if named is None:
            return ListToolsResult(tools=[advertised(tool) for tool in tools.values()])
        session = runtime.sessions.get(named)
        return ListToolsResult(tools=[advertised(tool) for tool in tools.values() if session.sees(tool.name)])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        call_id = (context.meta or {}).get(META + "callId")
        session = runtime.sessions.find(_session_required(context, session_id), _attempts(context))
        # No await from here to the answer: the call is atomic.
        before = session.state
        try:
            return _result(session.call(params.name, params.arguments, call_id=call_id))
        except Exception:
            session.state = before  # what could not be answered was not done
            raise

    def input_schema(name: str) -> Mapping[str, Any] | None:
        return tool.schema if (tool := tools.get(name)) is not None else None

    tools = runtime.dataset.catalogue.tools
    return Server(
        "wa-mcp",
        version=VERSION,
        title="Workplace",
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": CacheHint(ttl_ms=0, scope="private")},
        get_tool_input_schema=input_schema,
        on_list_tools=guarded(list_tools),
        on_call_tool=guarded(call_tool),
    )


def guarded(handler: Callable[[Context, P], Awaitable[R]]) -> Callable[[Context, P], Awaitable[R]]:
    """Let only coded refusals out of a handler; anything else is logged, and a plain sentence is sent."""

    async def guard(context: Context, params: P) -> R:
        try:
            return await handler(context, params)
        except CodedError as error:
            raise on_the_wire(error) from None
        except MCPError:
            raise
        except Exception:  # the boundary: nothing internal may reach a client
            logger.exception("%s failed", context.method)
            raise MCPError(code=-32603, message="The server failed; nothing was changed.") from None

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


def _session_required(context: Context, bound: str | None) -> str:
    named = _session_named(context, bound)
    if named is None:
        raise SessionError(
            "session_required",
            "A tool call needs a session: use the URL /sessions/<id>/mcp that the controller handed out, "
            "the header WA-Session, or _meta['dev.wa-mcp/session'].",
        )
    return named


def _session_named(context: Context, bound: str | None) -> str | None:
    """Find which session a request names, in any of the ways it can."""
    ways: list[Any] = [bound, (context.meta or {}).get(META + "session")]
    if context.request is not None:
        ways.append(context.request.path_params.get("session_id"))
        ways += context.request.headers.getlist("WA-Session")
    named = {way for way in ways if isinstance(way, str)}
    if any(way is not None and not isinstance(way, str) for way in ways):
        raise invalid_params("_meta['dev.wa-mcp/session'] must be a text.")
    if len(named) > 1:
        raise SessionError("session_conflict", "This request names two different sessions.")
    return next(iter(named), None)


def _attempts(context: Context) -> list[int]:
    """List the attempts that a request names: in a header, in `_meta`, in the URL."""
    ways: list[Any] = [(context.meta or {}).get(META + "attempt")]
    if context.request is not None:
        ways += context.request.headers.getlist("WA-Attempt")
        ways += context.request.query_params.getlist("attempt")
    return [_attempt(way) for way in ways if way is not None]


def _attempt(given: Any) -> int:
    if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) <= 16:
        given = int(given)
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= MOST_ATTEMPTS:
        return given
    raise invalid_params("An attempt must be a whole number from 0.")


def _result(answer: Answer) -> CallToolResult:
    value = answer.outcome.value
    encoded = orjson.dumps(value).decode()  # a text too: one that is no Unicode must not leave
    text = value if isinstance(value, str) else encoded
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content={"output": value},
        is_error=answer.outcome.is_error,
        _meta={
            META + "revision": answer.revision,
            META + "attempt": answer.attempt,
            META + "changed": list(answer.outcome.changed),
        },
    )
