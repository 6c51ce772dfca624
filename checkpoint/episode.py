"""Which life of which rollout a session belongs to."""

from typing import Any, Final, NamedTuple, TypedDict, TypeGuard, cast

MOST_ATTEMPTS: Final = 2**53
"""The highest attempt: the largest number that every JSON reader keeps exactly."""


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


def is_attempt(value: object) -> TypeGuard[int]:
    """Whether a value is an attempt that can be written down and read back."""
    # type() rather than isinstance: True is an int, and no attempt.
    return type(value) is int and 0 <= value <= MOST_ATTEMPTS


def read_episode(value: object) -> Episode:
    """The episode that `as_json` wrote down.

    Raises:
        ValueError: it is anything else.
    """
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        rollout_id, attempt = fields.get("rolloutId"), fields.get("attempt")
        if isinstance(rollout_id, str) and is_attempt(attempt) and len(fields) == 2:
            return Episode(rollout_id, attempt)
    raise ValueError("an episode is {rolloutId, attempt} with an attempt from 0 to 2^53")


def shortened(session_id: str) -> str:
    """As much of a session id as may be said aloud: it is a credential, and may be no Unicode."""
    return f"{session_id[:6].encode('ascii', 'backslashreplace').decode()}..."
