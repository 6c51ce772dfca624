"""What a session is at one moment: a value, from which a call, a rewind or a fork makes another."""

from collections.abc import Mapping
from time import time
from typing import Any, Final, NamedTuple

from checkpoint import Episode, OnCheckpoint
from toolkits.rewinding import workplace_at
from toolkits.workplace import Outcome, Workplace
from wa_mcp.errors import invalid_params

__all__ = [
    "MOST_REMEMBERED",
    "Entry",
    "Origin",
    "Remembered",
    "SessionState",
    "given_of",
    "state_after",
    "state_at",
]

MOST_REMEMBERED: Final = 256
"""Changing calls that a session remembers by their call ids."""


class Entry(NamedTuple):
    """A call that changed something. The revision that it made is its place in the history, counted from 1.

    Attributes:
        tool: Name of the tool.
        arguments: What it was given. Shared: nobody may write into it.
        tables: Full names of the tables that it changed.
        at: When it was done, in seconds since 1970.
        attempt: The session's attempt then.
        calls: Tool calls of the session until then, this one included.
        errors: Those of them that failed.
        reads: Those of them that only read.
    """

    tool: str
    arguments: Mapping[str, Any]
    tables: tuple[str, ...]
    at: float
    attempt: int
    calls: int
    errors: int
    reads: int


class Origin(NamedTuple):
    """What a session was forked from.

    Attributes:
        session_id: The other session, as it was called then.
        revision: The revision that was forked.
    """

    session_id: str
    revision: int


class Remembered(NamedTuple):
    """What came of a changing call that carried a call id; what was asked, the history says."""

    outcome: Outcome
    revision: int


class SessionState(NamedTuple):
    """Everything that a session is; never written into, only replaced.

    Attributes:
        session_id: The agent's only credential.
        episode: The rollout and attempt it belongs to.
        toolkits: Names of its toolkits, in the catalogue's order.
        tools: The tools it may see, None for all of its toolkits.
        require_attempt: Whether calls must name an attempt.
        on_checkpoint: What its calls do while a checkpoint is open; None is the server's default.
        workplace: Its tables.
        seeded_at: When it was seeded, in seconds since 1970.
        last_call_at: When it was last called, in seconds since 1970, or None.
        calls: Tool calls so far, failed ones included.
        errors: Tool calls that failed.
        reads: Tool calls that only read.
        remembered: Changing calls by call id, oldest first.
        history: All calls that changed something, one for each revision, oldest first.
        origin: What it was forked from, None if it was seeded.
    """

    session_id: str
    episode: Episode
    toolkits: tuple[str, ...]
    tools: tuple[str, ...] | None
    require_attempt: bool
    on_checkpoint: OnCheckpoint | None
    workplace: Workplace
    seeded_at: float
    last_call_at: float | None = None
    calls: int = 0
    errors: int = 0
    reads: int = 0
    remembered: Mapping[str, Remembered] = {}
    history: tuple[Entry, ...] = ()
    origin: Origin | None = None


def state_after(
    state: SessionState,
    name: str,
    arguments: Mapping[str, Any] | None,
    call_id: str | None,
    workplace: Workplace,
    outcome: Outcome,
) -> SessionState:
    """Give the session after a call."""
    now = time()
    calls, errors = state.calls + 1, state.errors + outcome.is_error
    if not outcome.changed:
        reads = state.reads + (not outcome.is_error)
        return state._replace(last_call_at=now, calls=calls, errors=errors, reads=reads)
    done = Entry(
        name, given_of(arguments), outcome.changed, now, state.episode.attempt, calls, errors, state.reads
    )
    remembered = state.remembered
    if call_id is not None:
        remembered = _with_newest(remembered, call_id, Remembered(outcome, workplace.revision))
    return state._replace(
        workplace=workplace,
        last_call_at=now,
        calls=calls,
        remembered=remembered,
        history=(*state.history, done),
    )


def state_at(state: SessionState, revision: int) -> SessionState:
    """Give a session as it was after so many changes, counts included; what came after them is not in it.

    Raises:
        CodedError: `invalid_params`, it has not come to that revision; `oldestRevision` says what there is.
    """
    latest = state.workplace.revision
    if not 0 <= revision <= latest:
        raise invalid_params(
            f"There is no revision {revision}: this session has 0 to {latest}.",
            oldestRevision=0,
            latestRevision=latest,
        )
    if revision == latest:
        return state
    last = state.history[revision - 1] if revision else None
    return state._replace(
        workplace=workplace_at(state.workplace, revision),
        calls=0 if last is None else last.calls,
        errors=0 if last is None else last.errors,
        reads=0 if last is None else last.reads,
        remembered={
            call_id: known for call_id, known in state.remembered.items() if known.revision <= revision
        },
        history=state.history[:revision],
    )


def given_of(arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Give the arguments of a call that count: one that is null counts as not given."""
    return {key: value for key, value in (arguments or {}).items() if value is not None}


def _with_newest(
    remembered: Mapping[str, Remembered], call_id: str, known: Remembered
) -> dict[str, Remembered]:
    kept = {**remembered, call_id: known}
    if len(kept) > MOST_REMEMBERED:
        del kept[next(iter(kept))]
    return kept
