"""The ids of sessions that have ended: they are refused, and never given to anybody else."""

from collections import OrderedDict
from typing import Final

from checkpoint import Episode, EpisodeJson, Retired, read_episode
from checkpoint.errors import StaleAttempt
from wa_mcp.errors import SessionError

__all__ = ["MOST_SPENT", "Spent"]

MOST_SPENT: Final = 100_000
"""Closed session ids that the server keeps refusing."""


class Spent(OrderedDict[str, EpisodeJson | None]):
    """Spent ids, oldest first, each with the episode if it was retired."""

    def add(self, session_id: str, episode: Episode | None = None) -> None:
        """Refuse an id from now on; the episode is that of a retired one."""
        self[session_id] = None if episode is None else episode.as_json()
        if len(self) > MOST_SPENT:
            self.popitem(last=False)

    def refuse(self, session_id: str, marks: Retired) -> None:
        """Refuse an id that is spent.

        Args:
            session_id: The id.
            marks: Which attempts are retired now.

        Raises:
            StaleAttempt: It was retired, and still is.
            SessionError: `session_spent`.
        """
        retired = self[session_id]
        if retired is not None and marks.covers(episode := read_episode(retired)):
            raise StaleAttempt(episode)
        raise SessionError("session_spent", "This session has ended. Ask the controller for a new one.")
