"""One bearer token in front of an ASGI application."""

from hmac import compare_digest
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Guarded"]


class Guarded:
    """Lets only requests through that show the token; compared in constant time."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app: Final = app
        self._expected: Final = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: 401 without the token."""
        given = Headers(scope=scope).getlist("authorization")
        # Of two it would be for chance to say which counts.
        scheme, _, shown = (given[0] if len(given) == 1 else "").partition(" ")
        # The header is read as latin-1, so every character is a byte again.
        matches = compare_digest(shown.strip().encode("latin-1"), self._expected)
        if scheme.lower() != "bearer" or not matches:
            refusal = Response(
                "A controller has to show its token: Authorization: Bearer <token>.",
                status_code=401,
                headers={"WWW-Authenticate": "Bearer"},
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)
