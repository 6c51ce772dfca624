"""Forks: sessions that start where another one stands. They share its tables, so each takes a microsecond."""

from collections.abc import Iterator, Sequence
from time import monotonic, time
from typing import Final, NamedTuple

from checkpoint import Episode
from wa_mcp.errors import SessionError, invalid_params
from wa_mcp.seeding import (
    check_same_episode,
    check_session_id,
    default_episode,
    new_session_id,
    read_episode_of,
)
from wa_mcp.session import Session
from wa_mcp.session_state import Origin, SessionState, nameless, state_at
from wa_mcp.sessions import Sessions

__all__ = ["MOST_BRANCHES", "Branch", "fork", "read_branches"]

MOST_BRANCHES: Final = 10_000
"""Forks that are made at once."""


class Branch(NamedTuple):
    """A fork that somebody wants.

    Attributes:
        session_id: Its id.
        episode: Its rollout and attempt.
        is_given: Whether the episode was asked for, and not made from the id.
    """

    session_id: str
    episode: Episode
    is_given: bool


def read_branches(
    count: int | None,
    session_ids: Sequence[str] | None,
    episodes: Sequence[Episode | tuple[str, int]] | None,
) -> Iterator[Branch]:
    """Check which forks are wanted, and give one after the other.

    Args:
        count: So many, with ids made here.
        session_ids: Or these.
        episodes: One for each, in order; made from the ids when not given.

    Raises:
        CodedError: `invalid_params`; the message says which parameter, and what was expected.
    """
    if (count is None) == (session_ids is None):
        raise invalid_params("count, sessionIds: give one of the two.")
    wanted = count if session_ids is None else len(session_ids)
    if wanted is None or not 1 <= wanted <= MOST_BRANCHES:
        raise invalid_params(f"count, sessionIds: 1 to {MOST_BRANCHES} forks can be made at once.")
    if session_ids is not None and len(set(session_ids)) < len(session_ids):
        raise invalid_params("sessionIds: one is there twice.")
    if episodes is not None and len(episodes) != wanted:
        raise invalid_params(f"episodes: expected {wanted}, one for each fork, got {len(episodes)}.")
    return _branches(wanted, session_ids, episodes)


def _branches(
    wanted: int, session_ids: Sequence[str] | None, episodes: Sequence[Episode | tuple[str, int]] | None
) -> Iterator[Branch]:
    for place in range(wanted):
        session_id = new_session_id() if session_ids is None else session_ids[place]
        if session_ids is not None:
            check_session_id(session_id)
        if episodes is None:
            yield Branch(session_id, default_episode(session_id), is_given=False)
        else:
            yield Branch(session_id, read_episode_of(*episodes[place]), is_given=True)


def fork(
    sessions: Sessions, session_id: str, branches: Sequence[Branch], *, at_revision: int | None = None
) -> list[Session]:
    """Make sessions with the state of a live one, all of them or none; the same again answers the same.

    They have its tables, history, counts, toolkits and tools, but neither its call ids nor its episode.

    Args:
        sessions: The registry.
        session_id: The session that is forked; it stays as it is.
        branches: The forks, from `read_branches`.
        at_revision: The state to start from; as it is now when not given.

    Raises:
        SessionError: `session_unknown` or `session_spent`; `session_conflict`, an id has another session;
            `session_limit`.
        CodedError: `invalid_params`, there is no such revision.
        StaleAttempt: It, or an episode that is asked for, is retired.
    """
    for parent in sessions.live([session_id]):
        parent.touched = monotonic()  # who is forked is not idle
    if sessions.is_full(len(branches)):
        sessions.sweep()
    known = [sessions.known(branch.session_id) for branch in branches]
    there = [session for session in known if session is not None]
    if there:
        _check_same(there, branches, session_id, at_revision)
        return there
    state = sessions.shown(session_id).state
    if at_revision is not None:
        state = state_at(state, at_revision)
    for branch in branches:
        sessions.check_retired(branch.episode)
    fresh = _forks(sessions, state, branches)
    sessions.go_live(fresh)
    return list(fresh.values())


def _forks(sessions: Sessions, state: SessionState, branches: Sequence[Branch]) -> dict[str, Session]:
    origin = Origin(state.session_id, state.workplace.revision)
    alike = state._replace(
        seeded_at=time(), last_call_at=None, remembered={}, history=nameless(state.history), origin=origin
    )
    after_episode = alike[2:]
    return {
        branch.session_id: sessions.handle(SessionState(branch.session_id, branch.episode, *after_episode))
        for branch in branches
    }


def _check_same(
    there: Sequence[Session], branches: Sequence[Branch], parent: str, at_revision: int | None
) -> None:
    """Refuse to answer with live sessions that are not the forks that are asked for.

    Raises:
        SessionError: `session_conflict`.
    """
    if len(there) < len(branches):
        raise SessionError("session_conflict", "Some of these ids have sessions already, others have none.")
    for session, branch in zip(there, branches, strict=True):
        origin = session.state.origin
        if origin is None or origin.session_id != parent or at_revision not in (None, origin.revision):
            raise SessionError("session_conflict", "One of these ids has a session that is no such fork.")
        if branch.is_given:
            check_same_episode(branch.episode, session.episode)
