"""What a controller can do with sessions: seed, close, list, show, give out and take in."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import anyio.to_thread

from wa_mcp.errors import SessionError, invalid_params
from wa_mcp.exports import next_page
from wa_mcp.operations import CheckClient, operation, operation_that_waits
from wa_mcp.paging import numbers_of
from wa_mcp.parameters import (
    CloseParams,
    ExportParams,
    ImportParams,
    ListParams,
    SeedParam,
    SeedParams,
    TablesParams,
)
from wa_mcp.runtime import Runtime
from wa_mcp.seeding import Seed, read_seed
from wa_mcp.session import OnCheckpoint, Session
from wa_mcp.slices import in_slices

__all__: list[str] = []

LISTED: Final = 1000
"""Sessions on a page when no limit is given."""


@operation_that_waits("sessions/seed", "Seed sessions")
async def seed(runtime: Runtime, params: SeedParams, check_client: CheckClient) -> Mapping[str, Any]:
    """Give a private workplace to an agent, or to each of a list; the same seed again answers the same."""
    if params.sessions is None:
        wanted = [_seed(runtime, params)]
    elif len(params.model_fields_set) > 1:
        raise invalid_params("sessions: give the list alone, and the rest in its entries.")
    else:
        wanted = [_seed(runtime, entry) async for entry in in_slices(params.sessions)]
    gate = runtime.control.gate
    while not gate.is_open:
        await gate.until_open(_on_checkpoint(wanted))
        await check_client()
    # No await between the gate and this: the sessions are there, all of them or none, before it can close.
    sessions = runtime.sessions.seed_all(wanted)
    seeded = [_seeded(runtime, session) async for session in in_slices(sessions)]
    return seeded[0] if params.sessions is None else {"sessions": seeded}


@operation("sessions/close", "Close a session")
async def close(runtime: Runtime, params: CloseParams) -> Mapping[str, Any]:
    """End a session, or each of a list, and drop its state; its id stays spent. Allowed always, and again."""
    if (params.session_id is None) == (params.sessions is None):
        raise invalid_params("sessionId, sessions: give one of the two.")
    if params.session_id is not None:
        return {"outcome": runtime.sessions.close(params.session_id)}
    ids = [it.session_id for it in params.sessions or []]
    return {"sessions": [_closed(runtime, session_id) async for session_id in in_slices(ids)]}


@operation("sessions/list", "List sessions", reads=True)
async def list_sessions(runtime: Runtime, params: ListParams) -> Mapping[str, Any]:
    """List the live sessions in the order in which they came, a page at a time."""
    (after,) = (0,) if params.cursor is None else numbers_of(params.cursor, 1)
    limit = params.limit or LISTED
    found = [session for session in runtime.sessions.list() if session.number > after][: limit + 1]
    page: dict[str, Any] = {"sessions": [_listed(session) for session in found[:limit]]}
    if len(found) > limit:
        page["nextCursor"] = str(found[limit - 1].number)
    return page


@operation("sessions/tables", "Show a session's tables", reads=True)
async def tables(runtime: Runtime, params: TablesParams) -> Mapping[str, Any]:
    """Show every table of a session whole: row labels, and columns with dtype, values and places of NaN."""
    workplace = runtime.sessions.shown(params.session_id).workplace
    whole = await anyio.to_thread.run_sync(
        lambda: {name: table.whole() for name, table in workplace.tables.items()}
    )
    return {"revision": workplace.revision, "tables": whole}


@operation("sessions/export", "Export sessions", reads=True)
async def export(runtime: Runtime, params: ExportParams) -> Mapping[str, Any]:
    """Give sessions out inline, as a checkpoint would write them, a page at a time, all of one moment."""
    return await next_page(runtime, params.session_ids, params.cursor)


@operation("sessions/import", "Import sessions")
async def import_sessions(runtime: Runtime, params: ImportParams) -> Mapping[str, Any]:
    """Take sessions in that an export gave out, all of them or none."""
    imported = await runtime.control.import_sessions(
        params.states, params.bases, params.facts, attempt_step=params.attempt_step
    )
    runtime.on_restored()
    return imported


def _on_checkpoint(wanted: Sequence[Seed]) -> OnCheckpoint | None:
    """Say what a seed does while a checkpoint is open: what the first that says anything says."""
    return next((seed.on_checkpoint for seed in wanted if seed.on_checkpoint is not None), None)


def _seed(runtime: Runtime, wanted: SeedParam) -> Seed:
    return read_seed(
        runtime.dataset.catalogue,
        wanted.session_id,
        None if wanted.episode is None else wanted.episode.episode(),
        wanted.toolkits,
        wanted.tools,
        wanted.require_attempt or False,
        wanted.on_checkpoint,
    )


def _seeded(runtime: Runtime, session: Session) -> dict[str, Any]:
    url = runtime.base_url + session.path
    return {
        "sessionId": session.id,
        "path": session.path,
        "url": url,
        "episode": session.episode.as_json(),
        "toolkits": list(session.state.toolkits),
        "tools": None if session.state.tools is None else list(session.state.tools),
        "clientConfig": {"mcpServers": {"workplace": {"type": "http", "url": url}}},
    }


def _closed(runtime: Runtime, session_id: str) -> dict[str, str]:
    try:
        return {"sessionId": session_id, "outcome": runtime.sessions.close(session_id)}
    except SessionError:
        return {"sessionId": session_id, "outcome": "unknown"}


def _listed(session: Session) -> dict[str, Any]:
    state = session.state
    listed = {
        "sessionId": state.session_id,
        "episode": state.episode.as_json(),
        "revision": session.revision,
        "toolkits": list(state.toolkits),
        "seededAt": _moment(state.seeded_at),
        "lastCallAt": None if state.last_call_at is None else _moment(state.last_call_at),
        "calls": state.calls,
    }
    if state.origin is None:
        return listed
    origin = {"sessionId": state.origin.session_id, "revision": state.origin.revision}
    return {**listed, "forkedFrom": origin}


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
