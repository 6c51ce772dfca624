"""Verifies: a session is scored, and with that it ends.

A verify holds up a checkpoint, and is refused or waits while one is open, because it cannot be done twice.
A caller that loses the answer may ask again all the same: the first result is kept, see `wa_mcp.verified`.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Any, Final, TypeVar

import anyio
import anyio.to_thread
import orjson
from anyio.lowlevel import RunVar

from checkpoint import VERIFY, Gate, OnCheckpoint
from wa_mcp.errors import SessionError, failure, invalid_params
from wa_mcp.scoring import Counts, Prepared, Score, prepare
from wa_mcp.session import Session
from wa_mcp.session_state import SessionState
from wa_mcp.sessions import Sessions
from wa_mcp.verified import Kept

__all__ = ["Verifier"]

T = TypeVar("T")

MOST_THREADS: Final = 2
"""Scores that are worked out at once: they share the interpreter with the event loop."""

_threads: Final[RunVar[anyio.CapacityLimiter]] = RunVar("wa_mcp.verifying")

logger = logging.getLogger(__name__)


async def nobody_to_check() -> None:
    """Look after no client: who calls from Python is there."""


class _Ending:
    """A verify that has ended its session, and has no result yet."""

    def __init__(self, asked: str) -> None:
        self.asked: Final = asked
        self.over: Final = anyio.Event()


class Verifier:
    """Scores the sessions of a registry.

    Args:
        sessions: The registry.
        gate: What verifies are admitted by.
    """

    def __init__(self, sessions: Sessions, gate: Gate) -> None:
        self._sessions: Final = sessions
        self._gate: Final = gate
        self._ending: Final[dict[str, _Ending]] = {}

    async def verify(
        self,
        session_id: str,
        ground_truth: Any,
        calls: Any = None,
        *,
        profile: str = "gym",
        keep: bool = False,
        check_client: Callable[[], Awaitable[None]] = nobody_to_check,
    ) -> Mapping[str, Any]:
        """Score a session and end it; the same again answers the first result.

        Parameters and ground truth are looked at first, and what is wrong with them leaves the session live.
        From then on the session has ended, however this ends, and whether its caller waits for it or not.

        Args:
            session_id: Whose tables, or whose data for `calls`.
            ground_truth: As `scoring.score`.
            calls: As `scoring.score`; None scores the live tables.
            profile: `gym` or `workbench`.
            keep: Leave the session live, and do not keep the result: the tables may change.
            check_client: Raises if who asked has gone; called after waiting for a checkpoint to end.

        Returns:
            What `Score.as_json` gives. Shared: not to be written into.

        Raises:
            CodedError: `invalid_params`, a parameter or the ground truth.
            SessionError: `session_unknown`; `session_spent`: it ended otherwise, or something else was asked.
            CheckpointError: `AdmissionClosed` while a checkpoint is open; `StaleAttempt`.
            MCPError: The score could not be made; its session has ended all the same.
        """

        def asked() -> str:
            return "" if keep else _digest(ground_truth, calls, profile)

        if not self._has_ended(session_id):
            while not self._gate.is_open:
                await self._gate.until_open(self._on_checkpoint(session_id))
                await check_client()
        # Much may have changed while it waited. No await from here until the call is in.
        if self._has_ended(session_id):
            return await self._first_result(session_id, await _in_thread(asked))
        session = self._sessions.shown(session_id)
        call = self._gate.enter(session.episode, VERIFY)
        try:
            digest, prepared = await _in_thread(
                lambda: (asked(), _prepared(session.state, ground_truth, calls, profile))
            )
            # No await from here until the session is out: what is scored is its last state.
            if self._has_ended(session_id):
                return await self._first_result(session_id, digest)
            self._check_same(session)
            if keep:
                return (await _in_thread(lambda: _scored(prepared, session.state))).as_json()
            return await self._end(session, digest, prepared)
        finally:
            self._gate.leave(call)

    async def _end(self, session: Session, asked: str, prepared: Prepared) -> Mapping[str, Any]:
        state, ending = session.state, _Ending(asked)
        self._sessions.close(session.id)
        self._ending[session.id] = ending
        try:
            kept = await _to_the_end(lambda: Kept.of(asked, _scored(prepared, state).as_json()))
            self._sessions.verified.keep(session.id, kept)
        except Exception as error:
            logger.exception("the verify of %r failed", session)
            raise failure("The verify failed; its session has ended.") from error
        finally:
            del self._ending[session.id]
            ending.over.set()
        return kept.result

    def _has_ended(self, session_id: str) -> bool:
        """Say whether a verify has ended this session."""
        known = session_id in self._ending or session_id in self._sessions.verified
        return known and not self._sessions.live([session_id])

    async def _first_result(self, session_id: str, asked: str) -> Mapping[str, Any]:
        ending = self._ending.get(session_id)
        if ending is not None and ending.asked == asked:
            await ending.over.wait()
        result = self._sessions.verified.get(session_id, asked)
        if result is None:
            self._sessions.shown(session_id)
            raise SessionError("session_spent", "This session has ended.")
        return result

    def _check_same(self, session: Session) -> None:
        """Refuse to end another session than the one whose ground truth was looked at.

        Raises:
            SessionError: It has ended meanwhile, or another has its id.
        """
        if self._sessions.shown(session.id) is not session:
            raise SessionError("session_conflict", "Another session has come in this one's place.")

    def _on_checkpoint(self, session_id: str) -> OnCheckpoint | None:
        for session in self._sessions.live([session_id]):
            return session.state.on_checkpoint
        return None


def _prepared(state: SessionState, ground_truth: Any, calls: Any, profile: str) -> Prepared:
    fresh = state.workplace.dataset.workplace(state.toolkits)
    return prepare(fresh, ground_truth, calls, profile=profile, tools=state.tools)


def _scored(prepared: Prepared, state: SessionState) -> Score:
    return prepared.score(state.workplace, Counts(state.calls, state.errors, state.reads))


def _digest(ground_truth: Any, calls: Any, profile: str) -> str:
    """Digest what is asked, whatever it is made of.

    Raises:
        CodedError: `invalid_params`: it is nested too deeply to be anything.
    """
    asked = [ground_truth, calls, profile]
    try:
        text = orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # numbers and texts that no JSON writer but Python's knows
        try:
            text = json.dumps(asked, default=repr, skipkeys=True).encode()
        except (RecursionError, ValueError):
            raise invalid_params("groundTruth or calls: nested too deeply.") from None
    return sha256(text).hexdigest()


async def _in_thread(work: Callable[[], T]) -> T:
    """Do work off the event loop, beside few others."""
    limiter = _threads.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(MOST_THREADS)
        _threads.set(limiter)
    return await anyio.to_thread.run_sync(work, limiter=limiter)


async def _to_the_end(work: Callable[[], T]) -> T:
    """Do work off the event loop, also for a caller that goes: it finds the result when it asks again."""
    done: list[T] = []
    with anyio.CancelScope(shield=True):
        done.append(await _in_thread(work))
    return done[0]
