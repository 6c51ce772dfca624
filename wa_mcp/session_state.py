"""What a session is at one moment: a value, from which a call, a rewind or a fork makes another."""

from collections.abc import Mapping, Sequence
from time import time
from typing import Any, Final, NamedTuple
from zlib import crc32

from checkpoint import Episode, OnCheckpoint
from toolkits.rewinding import workplace_at
from toolkits.workplace import Outcome, Workplace
from wa_mcp.entries import NOTHING, Entry, frozen_entry, nameless_entry
from wa_mcp.errors import invalid_params

__all__ = [
    "MOST_REMEMBERED",
    "Origin",
    "SessionState",
    "check_revision",
    "given_of",
    "mark_of",
    "nameless",
    "remembered_in",
    "state_after",
    "state_at",
]

MOST_REMEMBERED: Final = 256
"""Changing calls that a session remembers by their call ids."""


class Origin(NamedTuple):
    """What a session was forked from.

    Attributes:
        session_id: The other session, as it was called then.
        revision: The revision that was forked.
    """

    session_id: str
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
        remembered: Call ids of the last calls that changed something, and the revision of each, oldest first.
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
    remembered: Mapping[str, int] = {}
    history: Sequence[Entry] = ()
    origin: Origin | None = None


# Every call makes a state; by place it takes half as long as by name.
_CALLED: Final = SessionState._fields.index("last_call_at")
_WORKPLACE: Final = SessionState._fields.index("workplace")


def state_after(
    state: SessionState,
    name: str,
    arguments: Mapping[str, Any] | None,
    call_id: str | None,
    workplace: Workplace,
    outcome: Outcome,
) -> SessionState:
    """Give the session after a call."""
    now = round(time(), 3)
    errors = state.errors + outcome.is_error
    if not outcome.changed:
        reads = state.reads + (not outcome.is_error)
        return SessionState._make(
            (*state[:_CALLED], now, state.calls + 1, errors, reads, *state[_CALLED + 4 :])
        )
    given, attempt, output = given_of(arguments), state.episode.attempt, None
    remembered = state.remembered
    if call_id is not None:
        output = outcome.value
        remembered = _with_newest(remembered, call_id, workplace.revision)
    done = Entry(name, given, outcome.changed, now, attempt, errors, state.reads, call_id, output)
    (changed,) = outcome.changed
    frozen = frozen_entry(done, workplace.tables[changed], state.history[-1] if state.history else NOTHING)
    history = (*state.history, Entry(*done[:-1], frozen))
    counts = (state.calls + 1, state.errors, state.reads)
    return SessionState._make(
        (*state[:_WORKPLACE], workplace, state.seeded_at, now, *counts, remembered, history, state.origin)
    )


def state_at(state: SessionState, revision: int) -> SessionState:
    """Give a session as it was after so many changes, counts included; what came after them is not in it.

    Raises:
        CodedError: `invalid_params`, it has not come to that revision; `oldestRevision` says what there is.
    """
    check_revision(state, revision)
    if revision == state.workplace.revision:
        return state
    history = state.history[:revision]
    errors, reads = (history[-1].errors, history[-1].reads) if history else (0, 0)
    return state._replace(
        workplace=workplace_at(state.workplace, revision),
        calls=errors + reads + revision,
        errors=errors,
        reads=reads,
        remembered=remembered_in([entry.call_id for entry in history]),
        history=history,
    )


def check_revision(state: SessionState, revision: int) -> None:
    """Refuse a revision that a session has not come to.

    Raises:
        CodedError: `invalid_params`; `oldestRevision` and `latestRevision` say what there is.
    """
    latest = state.workplace.revision
    if not 0 <= revision <= latest:
        raise invalid_params(
            f"There is no revision {revision}: this session has 0 to {latest}.",
            oldestRevision=0,
            latestRevision=latest,
        )


def remembered_in(call_ids: Sequence[str | None]) -> dict[str, int]:
    """List the last call ids of a history, oldest first, each with its revision.

    Args:
        call_ids: The call id of each call, None where it carried none; nothing at all if none did.
    """
    found: dict[str, int] = {}
    if not call_ids:
        return found
    for revision in range(len(call_ids), 0, -1):
        call_id = call_ids[revision - 1]
        if call_id is not None:
            found.setdefault(call_id, revision)
            if len(found) == MOST_REMEMBERED:
                break
    return dict(reversed(found.items()))


def nameless(history: Sequence[Entry]) -> Sequence[Entry]:
    """Give a history without call ids: another session may use them for calls of its own."""
    if all(entry.call_id is None for entry in history):
        return history
    return tuple(map(nameless_entry, history))


def mark_of(state: SessionState, revision: int) -> int:
    """Make a number that is another one once the session was rewound and came to the revision in another way.

    Raises:
        CodedError: `invalid_params`, it has not come to that revision.
    """
    check_revision(state, revision)
    return crc32(state.history[revision - 1].frozen) if revision else 0


def given_of(arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Give the arguments of a call that count: one that is null counts as not given."""
    return {key: value for key, value in (arguments or {}).items() if value is not None}


def _with_newest(remembered: Mapping[str, int], call_id: str, revision: int) -> dict[str, int]:
    kept = {**remembered, call_id: revision}
    if len(kept) > MOST_REMEMBERED:
        del kept[next(iter(kept))]
    return kept
