"""Servers as a controller reaches them: over MCP, each request on a connection of its own."""

import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, cast
from urllib.parse import urlsplit

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.types import Request
from pydantic import RootModel

from checkpoint import Answer, AskFailed, Kind, Nonsense, NoReply, Refused
from wa_mcp.agent_server import META

__all__ = ["Endpoint", "Peer"]

CONNECT_WITHIN: Final = 5.0
"""Seconds that a connection may take to come about."""

_ERA: Final = "2026-07-28"
"""No handshake: a request stands alone, so nothing of a connection has to survive a restart."""

_ADMIN: Final = "/admin/mcp"
_LOST: Final = frozenset({-32000, -32001})
"""Numbers with which the SDK says that a connection was closed, or that a reply did not come in time."""
_GARBLED: Final = frozenset({-32700, -32600})
_TOKEN_REFUSED: Final = frozenset({401, 403})


class _Object(RootModel[dict[str, Any]]):
    """A result, whatever is in it."""


@dataclass(frozen=True)
class Endpoint:
    """A server that a controller drives.

    Attributes:
        server: Its base URL, the URL of its `/admin/mcp`, or an `admin_server` in memory.
        token: What the controller shows; none for a server in memory.
        public_url: Where agents reach the server, if that is not the base URL.
    """

    server: str | Server[Any]
    token: str | None = field(default=None, repr=False)
    public_url: str | None = None

    def __post_init__(self) -> None:
        """Refuse what is no address.

        Raises:
            ValueError: The URL is none that a server could have.
        """
        if isinstance(self.server, str):
            parts = urlsplit(self.server)
            is_plain = not (parts.query or parts.fragment or parts.username)
            if parts.scheme not in ("http", "https") or not parts.hostname or not is_plain:
                raise ValueError(
                    f"{self.server[:200]!r} is not a server's URL, such as http://127.0.0.1:8765"
                )

    @property
    def base(self) -> str | None:
        """Its base URL without a slash at the end, None in memory."""
        if not isinstance(self.server, str):
            return None
        return self.server.rstrip("/").removesuffix(_ADMIN).rstrip("/")

    @property
    def address(self) -> str:
        """Where it is, for people."""
        return self.base or "in memory"


class Peer:
    """A server as a participant: see `checkpoint.Participant`.

    Attributes:
        endpoint: Where it is.
        kind: What it is to the others; as its status says.
        instance: Its name; as its status says.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        """Reach the server at `endpoint`; who it is must be asked."""
        self.endpoint: Final = endpoint
        self.kind, self.instance = Kind.ENVIRONMENT, "?"
        headers = {} if endpoint.token is None else {"Authorization": f"Bearer {endpoint.token}"}
        self._http: Final = _http(endpoint.base, headers)

    @property
    def address(self) -> str:
        """Where it is, for people."""
        return self.endpoint.address

    async def close(self) -> None:
        """Close the connections that are kept for the next request."""
        if self._http is not None:
            await self._http.aclose()

    async def ask(self, operation: str, parameters: Mapping[str, Any], within: float) -> Answer:
        """Have the server do an operation, once.

        Raises:
            NoReply: The server cannot be reached, or the reply was lost.
            Refused: The server refuses.
            Nonsense: What answers is no such server.
        """
        request = Request[dict[str, Any], str](method=META + operation, params=dict(parameters))
        answer: dict[str, Any] | None = None
        try:
            with anyio.fail_after(within):
                async with self._client() as client:
                    answer = (await client.session.send_request(request, _Object)).root
        except Exception as error:  # the SDK lets out whatever its transport met
            # An answer that came counts, whatever its connection met when it was closed.
            if answer is None:
                raise _failure(error, within) from error
        return {name: value for name, value in answer.items() if name not in ("_meta", "resultType")}

    @asynccontextmanager
    async def _client(self) -> AsyncGenerator[Client]:
        server = self.endpoint.server
        if not isinstance(server, str):
            async with Client(server, mode=_ERA, cache=None) as client:
                yield client
            return
        assert self._http is not None
        transport = streamable_http_client(f"{self.endpoint.base}{_ADMIN}", http_client=self._http)
        async with Client(transport, mode=_ERA, cache=None) as client:
            yield client


class _BadStatus(Exception):
    """An HTTP status that is not MCP's."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP status {status}")
        self.status = status


async def _check_status(response: httpx2.Response) -> None:
    is_json = response.headers.get("content-type", "").lower().startswith("application/json")
    if response.status_code >= 400 and not is_json:
        raise _BadStatus(response.status_code)


def _http(base: str | None, headers: Mapping[str, str]) -> httpx2.AsyncClient | None:
    if base is None:
        return None
    return httpx2.AsyncClient(
        headers=dict(headers),
        verify=_trusted(),
        # A proxy for all other addresses has nothing to say about this machine's own.
        trust_env=not _is_loopback(base),
        # How long an answer may take is up to each request.
        timeout=httpx2.Timeout(None, connect=CONNECT_WITHIN),
        event_hooks={"response": [_check_status]},
    )


def _is_loopback(base: str) -> bool:
    host = urlsplit(base).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


@cache
def _trusted() -> ssl.SSLContext:
    # Reading the certificates takes longer than all else in a client, so they are read once.
    return ssl.create_default_context()


def _failure(raised: Exception, within: float) -> AskFailed:
    """Tell what a failed request amounts to; what matters is inside of groups that task groups make."""
    error: BaseException = raised
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    match error:
        case TimeoutError():
            return NoReply(f"no answer within {within:.3g} s")
        case MCPError():
            return _refusal(error)
        case _BadStatus():
            return _unexpected(error.status)
        case httpx2.HTTPError():
            return NoReply(str(error) or type(error).__name__)
        case OSError():
            return NoReply(str(error) or type(error).__name__)
        case _:
            return Nonsense(type(error).__name__)


def _refusal(error: MCPError) -> AskFailed:
    given: Any = error.error.data
    facts = dict(cast("dict[str, Any]", given)) if isinstance(given, dict) else {}
    if isinstance(code := facts.pop("code", None), str):
        return Refused(error.error.message, code=code, facts=facts)
    if error.error.code in _LOST:
        return NoReply(error.error.message)
    if error.error.code in _GARBLED:
        return Nonsense(error.error.message[:200])
    return Refused(error.error.message[:200], code=f"jsonrpc{error.error.code}")


def _unexpected(status: int) -> AskFailed:
    if status in _TOKEN_REFUSED:
        return Refused("it does not take the token", code="token_refused")
    if status >= 500:
        return NoReply(f"HTTP status {status}")
    return Nonsense(f"HTTP status {status}")
