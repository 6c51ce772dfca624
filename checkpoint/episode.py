"""Which life of which rollout a session belongs to."""

from typing import Any, NamedTuple, TypedDict, cast


class EpisodeJson(TypedDict):
    """An episode as it is written down."""

    rolloutId: str
    attempt: int


class Episode(NamedTuple):
    """One attempt at one rollout.

    Attributes:
        rollout_id: the rollout, the same over all its attempts.
        attempt: 0 for the first life; grows with every restore.
    """

    rollout_id: str
    attempt: int

    def as_json(self) -> EpisodeJson:
        """`{"rolloutId", "attempt"}`."""
        return {"rolloutId": self.rollout_id, "attempt": self.attempt}

    def later(self, step: int) -> "Episode":
        """The same rollout, `step` attempts further on."""
        return Episode(self.rollout_id, self.attempt + step)


def read_episode(value: object) -> Episode:
    """The episode that `as_json` wrote down.

    Raises:
        ValueError: it is anything else.
    """
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        rollout_id, attempt = fields.get("rolloutId"), fields.get("attempt")
        # type() rather than isinstance: True is an int, and no attempt.
        if isinstance(rollout_id, str) and type(attempt) is int and attempt >= 0 and len(fields) == 2:
            return Episode(rollout_id, attempt)
    raise ValueError("an episode is {rolloutId, attempt} with an attempt from 0 up")


def shortened(session_id: str) -> str:
    """As much of a session id as may be said aloud: it is a credential."""
    return f"{session_id[:6]}..."
