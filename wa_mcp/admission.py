"""Whose call it is, and when it may be done: session, attempt and gate, in that order each time anew."""

from typing import Any, Final, cast

from mcp.server.context import ServerRequestContext

from checkpoint import Call
from wa_mcp.errors import CodedError, SessionError, invalid_params
from wa_mcp.runtime import Runtime
from wa_mcp.seeding import MOST_ATTEMPTS
from wa_mcp.session import OnCheckpoint, Session

__all__ = ["META", "Context", "admitted", "call_id_of", "check_client", "session_named"]

META: Final = "dev.wa-mcp/"
"""What the names of our own `_meta` entries start with."""

Context = ServerRequestContext[Any, Any]


async def admitted(
    runtime: Runtime, context: Context, bound: str | None, operation: str
) -> tuple[Session, Call]:
    """Find the session of a call and admit the call, now or when the checkpoint is over.

    There is no await between the last look and the admission; give the call to `gate.leave` when it is done.

    Args:
        runtime: Where the sessions are.
        context: The request.
        bound: The one session that the server is bound to, None if each request names its own.
        operation: What the call does.

    Raises:
        SessionError: No session, an unknown or ended one, two that disagree; another attempt than its own.
        CheckpointError: `AdmissionClosed` while a checkpoint is open; `StaleAttempt` for a retired attempt.
        CodedError: The client went while the call waited; nobody is there to read this.
    """
    named, attempts = _session_required(context, bound), _attempts(context)
    gate = runtime.control.gate
    while not gate.is_open:
        # While a restore reads, its sessions are not there yet: the gate comes before the session.
        await gate.until_open(_on_checkpoint(runtime, named))
        await check_client(context)
    session = runtime.sessions.find(named, attempts)
    return session, gate.enter(session.episode, operation)


def _on_checkpoint(runtime: Runtime, session_id: str) -> OnCheckpoint | None:
    """Say what a call of this session does while a checkpoint is open; None is the server's default."""
    for session in runtime.sessions.live([session_id]):
        return session.state.on_checkpoint
    return None


async def check_client(context: Context) -> None:
    """Give a call up that has waited for nobody.

    Raises:
        CodedError: The client went while its call waited; nobody is there to read this.
    """
    if context.request is not None and await context.request.is_disconnected():
        raise CodedError("admission_closed", "The client went while its call waited.")


def call_id_of(context: Context) -> str | None:
    """Give the call id of a request, unchecked; None if it has none."""
    return cast("str | None", (context.meta or {}).get(META + "callId"))


def _session_required(context: Context, bound: str | None) -> str:
    named = session_named(context, bound)
    if named is None:
        raise SessionError(
            "session_required",
            "A tool call needs a session: use the URL /sessions/<id>/mcp that the controller handed out, "
            "the header WA-Session, or _meta['dev.wa-mcp/session'].",
        )
    return named


def session_named(context: Context, bound: str | None) -> str | None:
    """Find which session a request names, in any of the ways it can."""
    ways: list[Any] = [bound, (context.meta or {}).get(META + "session")]
    if context.request is not None:
        ways.append(context.request.path_params.get("session_id"))
        ways += context.request.headers.getlist("WA-Session")
    named: str | None = None
    for way in ways:
        if way is None or way == named:
            continue
        if not isinstance(way, str):
            raise invalid_params("_meta['dev.wa-mcp/session'] must be a text.")
        if named is not None:
            raise SessionError("session_conflict", "This request names two different sessions.")
        named = way
    return named


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
