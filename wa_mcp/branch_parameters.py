"""The parameters of fork, diff, history and rewind."""

from typing import Annotated

from pydantic import Field

from wa_mcp.branching import MOST_BRANCHES
from wa_mcp.parameters import MOST_LISTED, Cursor, EpisodeParam, Params, SessionId

__all__ = ["DiffParams", "ForkParams", "HistoryParams", "RewindParams"]

Revision = Annotated[int, Field(ge=0, le=2**53)]
Limit = Annotated[int | None, Field(ge=1, le=MOST_LISTED, description="Entries a page.")]


class ForkParams(Params):
    """A session to fork, and how often."""

    session_id: SessionId
    count: Annotated[
        int | None, Field(ge=1, le=MOST_BRANCHES, description="So many forks, with ids made here.")
    ] = None
    session_ids: Annotated[
        list[str] | None,
        Field(min_length=1, max_length=MOST_BRANCHES, description="Or these; with them it can be repeated."),
    ] = None
    at_revision: Annotated[
        Revision | None, Field(description="The state to start from; as it is now if not given.")
    ] = None
    episodes: Annotated[
        list[EpisodeParam] | None, Field(description="One for each; made from the ids if not given.")
    ] = None


class DiffParams(Params):
    """Two states of a session, or two sessions, to compare."""

    session_id: SessionId
    from_revision: Annotated[
        Revision | None, Field(description="The first state; as it was seeded if not given.")
    ] = None
    to_revision: Annotated[
        Revision | None, Field(description="The second state; as it is now if not given.")
    ] = None
    other_session_id: Annotated[
        str | None,
        Field(description="Instead of revisions: compare with this session, both as they are now."),
    ] = None
    cursor: Cursor = None
    limit: Limit = None


class HistoryParams(Params):
    """A session whose history to show."""

    session_id: SessionId
    cursor: Cursor = None
    limit: Limit = None


class RewindParams(Params):
    """A session to take back, and how far."""

    session_id: SessionId
    revision: Annotated[int, Field(ge=0, le=2**53, description="The revision to go back to; 0 is as seeded.")]
