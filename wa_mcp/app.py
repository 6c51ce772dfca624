"""The HTTP application: the agent surface, and whether the server lives and is ready."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

import anyio
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import DEFAULT_MAX_REQUEST_BODY_SIZE, TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from wa_mcp.admin_server import admin_server
from wa_mcp.agent_server import agent_server
from wa_mcp.bearer import Guarded
from wa_mcp.runtime import Runtime
from wa_mcp.settings import Settings

__all__ = ["http_app"]

LARGEST_ADMIN_BODY: Final = 256 * 1024 * 1024
"""Bytes of a controller's request: it may hand sessions over inline."""

SWEEP_EVERY: Final = 30.0
"""Seconds between two looks for idle sessions, at most."""

_EXCEPTION_TEXT: Final = b'"message":"Validation error: '
_NO_REQUEST: Final = {
    "jsonrpc": "2.0",
    "id": None,
    "error": {"code": -32600, "message": "Body must be a single JSON-RPC request or notification object"},
}


def http_app(runtime: Runtime) -> Starlette:
    """Make the ASGI application of a runtime.

    Routes: `/sessions/{id}/mcp` and `/mcp` for agents, `/admin/mcp` for controllers, `/healthz`, `/readyz`.
    """
    agents = _Surface(agent_server(runtime), runtime.settings)
    controllers = _Surface(admin_server(runtime), runtime.settings, largest_body=LARGEST_ADMIN_BODY)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(runtime.control)
            await stack.enter_async_context(agents.running())
            await stack.enter_async_context(controllers.running())
            tasks = await stack.enter_async_context(anyio.create_task_group())
            tasks.start_soon(_sweep, runtime)
            yield
            tasks.cancel_scope.cancel()

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def readyz(_: Request) -> Response:
        ready = runtime.ready
        return JSONResponse({"status": "ready" if ready else "not ready"}, status_code=200 if ready else 503)

    app = Starlette(
        routes=[
            # Only POST: a GET would park an idle stream for each TypeScript client.
            Route("/sessions/{session_id}/mcp", agents, methods=["POST"]),
            Route("/mcp", agents, methods=["POST"]),
            Route("/admin/mcp", Guarded(controllers, runtime.admin_token), methods=["POST"]),
            Route("/healthz", healthz),
            Route("/readyz", readyz),
        ],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


class _Surface:
    """An MCP server as an ASGI endpoint, stateless: nothing of a connection has to survive a restart."""

    def __init__(
        self, server: Server, settings: Settings, *, largest_body: int = DEFAULT_MAX_REQUEST_BODY_SIZE
    ) -> None:
        self._server: Final = server
        self._largest_body: Final = largest_body
        self._security: Final = _security(settings)
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Serve until the context ends; a manager can run only once, so each start makes a new one."""
        manager = StreamableHTTPSessionManager(
            self._server,
            stateless=True,
            json_response=True,
            security_settings=self._security,
            max_request_body_size=self._largest_body,
        )
        async with manager.run():
            self._manager = manager
            yield
        self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if self._manager is None:
            await Response("The server is not running.", status_code=503)(scope, receive, send)
            return
        await self._manager.handle_request(scope, receive, _plainly(scope, receive, send))


def _plainly(scope: Scope, receive: Receive, send: Send) -> Send:
    """Send plain words in place of an exception's text, the SDK's answer to legacy bodies of no use."""
    held: list[Message] = []

    async def plain(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 400:
            held.append(message)
        elif held and _EXCEPTION_TEXT in message["body"]:
            await JSONResponse(_NO_REQUEST, status_code=400)(scope, receive, send)
        else:
            for earlier in held:
                await send(earlier)
            held.clear()
            await send(message)

    return plain


def _security(settings: Settings) -> TransportSecuritySettings:
    """Name the hosts that requests may ask for, against DNS rebinding."""
    hosts = ["127.0.0.1", "localhost", "[::1]", *settings.allowed_host]
    if settings.host not in ("0.0.0.0", "::"):
        hosts.append(f"[{settings.host}]" if ":" in settings.host else settings.host)
    if settings.public_url is not None:
        hosts.append(urlsplit(settings.public_url).netloc)
    hosts = [host.lower() for host in hosts]  # as clients send it
    return TransportSecuritySettings(
        allowed_hosts=[form for host in hosts for form in (host, f"{host}:*")],
        allowed_origins=[
            f"{scheme}://{form}"
            for host in hosts
            for form in (host, f"{host}:*")
            for scheme in ("http", "https")
        ],
    )


async def _sweep(runtime: Runtime) -> None:
    idle_after = runtime.settings.idle_after
    while idle_after:
        await anyio.sleep(min(SWEEP_EVERY, idle_after / 2))
        runtime.sweep()
