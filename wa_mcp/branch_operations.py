"""What a controller can do with a session's past: fork it, compare it, tell it, and go back to it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

import anyio.to_thread

from wa_mcp.branch_parameters import DiffParams, ForkParams, HistoryParams, RewindParams
from wa_mcp.branching import fork, read_branches
from wa_mcp.diffs import RELABELLED, Difference, diff
from wa_mcp.entries import Entry
from wa_mcp.errors import invalid_params
from wa_mcp.operations import CheckClient, operation, operation_that_waits
from wa_mcp.paging import bad_cursor, first_of, numbers_of
from wa_mcp.runtime import Runtime
from wa_mcp.session import Session
from wa_mcp.session_state import SessionState, check_revision, mark_of, state_at
from wa_mcp.slices import in_slices

__all__: list[str] = []

LISTED: Final = 1000
"""Entries on a page, at most."""


@operation_that_waits("sessions/fork", "Fork a session")
async def fork_session(runtime: Runtime, params: ForkParams, check_client: CheckClient) -> Mapping[str, Any]:
    """Make sessions that start where a session stands, or stood; it stays as it is. All of them or none."""
    episodes = None if params.episodes is None else [it.episode() for it in params.episodes]
    wanted = read_branches(params.count, params.session_ids, episodes)
    branches = [branch async for branch in in_slices(wanted)]
    await _admitted(runtime, params.session_id, check_client)
    # No await between the gate and this: the sessions are there, all of them or none, before it can close.
    forks = fork(runtime.sessions, params.session_id, branches, at_revision=params.at_revision)
    return {"sessions": [_forked(runtime, session) async for session in in_slices(forks)]}


@operation_that_waits("sessions/rewind", "Rewind a session")
async def rewind(runtime: Runtime, params: RewindParams, check_client: CheckClient) -> Mapping[str, Any]:
    """Take a session back to a revision; its history and remembered call ids past it are gone."""
    await _admitted(runtime, params.session_id, check_client)
    session = runtime.sessions.shown(params.session_id)
    session.rewind(params.revision)
    return {"revision": session.revision}


@operation("sessions/history", "Show a session's history", reads=True)
async def history(runtime: Runtime, params: HistoryParams) -> Mapping[str, Any]:
    """Tell the calls that changed something, oldest first, a page at a time."""
    state = runtime.sessions.shown(params.session_id).state
    after = 0
    if params.cursor is not None:
        after, mark = numbers_of(params.cursor, 2)
        _check_mark(state, after, mark)
    told = (_told(revision, entry) for revision, entry in enumerate(state.history[after:], after + 1))
    page, more = await anyio.to_thread.run_sync(first_of, told, min(params.limit or LISTED, LISTED))
    answer: dict[str, Any] = {"history": page}
    if more:
        last: int = page[-1]["revision"]
        answer["nextCursor"] = f"{last}.{mark_of(state, last)}"
    return answer


@operation("sessions/diff", "Compare states of sessions", reads=True)
async def compare(runtime: Runtime, params: DiffParams) -> Mapping[str, Any]:
    """Tell in which rows two states of a session, or two sessions, differ, and which calls made it so."""
    wanted, start = _compared(runtime, params)

    def page() -> tuple[list[Difference], bool]:
        before, after = (state_at(*it) for it in wanted)
        return first_of(islice(diff(before, after), start, None), min(params.limit or LISTED, LISTED))

    found, more = await anyio.to_thread.run_sync(page)
    if start and not found:
        raise bad_cursor()
    tables: dict[str, dict[str, Any]] = {}
    for table, kind, facts in found:
        shown = tables.setdefault(table, {"added": [], "removed": [], "changed": []})
        if kind == RELABELLED:
            shown[kind] = facts
        else:
            shown[kind].append(facts)
    if not more:
        return {"tables": tables}
    pinned = ".".join(f"{revision}.{mark_of(state, revision)}" for state, revision in wanted)
    return {"tables": tables, "nextCursor": f"{pinned}.{start + len(found)}"}


_Wanted = tuple[SessionState, int]
"""A session, and the revision that is wanted of it."""


def _compared(runtime: Runtime, params: DiffParams) -> tuple[list[_Wanted], int]:
    """Find the two states, and where the page starts; a cursor says which revisions the first page had."""
    state = runtime.sessions.shown(params.session_id).state
    other, first, last = state, params.from_revision or 0, params.to_revision
    if params.other_session_id is not None:
        if params.from_revision is not None or params.to_revision is not None:
            raise invalid_params("otherSessionId: give it without fromRevision and toRevision.")
        other, first = runtime.sessions.shown(params.other_session_id).state, None
    start = 0
    if params.cursor is not None:
        was_first, first_mark, was_last, last_mark, start = numbers_of(params.cursor, 5)
        if first not in (None, was_first) or last not in (None, was_last):
            raise bad_cursor()
        _check_mark(state, was_first, first_mark)
        _check_mark(other, was_last, last_mark)
        first, last = was_first, was_last
    wanted = [
        (state, state.workplace.revision if first is None else first),
        (other, other.workplace.revision if last is None else last),
    ]
    for it in wanted:
        check_revision(*it)
    return wanted, start


def _check_mark(state: SessionState, revision: int, mark: int) -> None:
    """Refuse a cursor of a past that the session no longer has."""
    if mark_of(state, revision) != mark:
        raise invalid_params("cursor: the session was rewound since the page before; start anew.")


async def _admitted(runtime: Runtime, session_id: str, check_client: CheckClient) -> None:
    """Wait until no checkpoint is open, or refuse; what the session says of its calls holds here too.

    Raises:
        CheckpointError: `AdmissionClosed`.
        CodedError: The client went while it waited.
    """
    gate = runtime.control.gate
    while not gate.is_open:
        named = runtime.sessions.live([session_id])
        await gate.until_open(named[0].state.on_checkpoint if named else None)
        await check_client()


def _forked(runtime: Runtime, session: Session) -> dict[str, Any]:
    return {
        "sessionId": session.id,
        "path": session.path,
        "url": runtime.base_url + session.path,
        "episode": session.episode.as_json(),
    }


def _told(revision: int, entry: Entry) -> dict[str, Any]:
    return {
        "revision": revision,
        "tool": entry.tool,
        "arguments": entry.arguments,
        "tables": list(entry.tables),
        "when": datetime.fromtimestamp(entry.at, UTC).isoformat(timespec="milliseconds"),
        "attempt": entry.attempt,
    }
