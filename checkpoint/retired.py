"""Marks of attempts that may not act any more."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from checkpoint.episode import Episode, is_attempt


class Retired:
    """The latest retired attempt of each rollout; it and all earlier ones are refused.

    Attributes:
        marks: rollout id to attempt. Read it; change it through the methods.
    """

    def __init__(self, marks: Mapping[str, int] | None = None) -> None:
        """Start with `marks`, or none."""
        self.marks: dict[str, int] = dict(marks or {})

    def retire(self, episode: Episode) -> None:
        """Refuse this attempt and earlier ones from now on."""
        self.marks[episode.rollout_id] = max(episode.attempt, self.marks.get(episode.rollout_id, -1))

    def covers(self, episode: Episode) -> bool:
        """Whether the attempt is retired."""
        return episode.attempt <= self.marks.get(episode.rollout_id, -1)

    def forget(self, rollout_ids: Iterable[str]) -> list[str]:
        """Drop the marks of these rollouts; returns those that had one, each once."""
        return [rollout_id for rollout_id in rollout_ids if self.marks.pop(rollout_id, None) is not None]

    def merged(self, incoming: Mapping[str, int]) -> "Retired":
        """These marks and `incoming`, the later attempt of each."""
        both = Retired(self.marks)
        for rollout_id, attempt in incoming.items():
            both.retire(Episode(rollout_id, attempt))
        return both


class MergedMarks:
    """Marks that came with a restore: an `Installation`."""

    def __init__(self, retired: Retired, incoming: Mapping[str, int]) -> None:
        """Get ready to merge `incoming` into `retired`."""
        self._retired, self._incoming = retired, incoming
        self._before: dict[str, int | None] = {}

    def install(self) -> None:
        """Merge, keeping the later attempt of each rollout."""
        marks = self._retired.marks
        self._before = {rollout_id: marks.get(rollout_id) for rollout_id in self._incoming}
        for rollout_id, attempt in self._incoming.items():
            self._retired.retire(Episode(rollout_id, attempt))

    def discard(self) -> None:
        """Put back what was there before."""
        # Nothing is retired or forgotten while a checkpoint is open, so what was there is what belongs there.
        for rollout_id, attempt in self._before.items():
            if attempt is None:
                self._retired.marks.pop(rollout_id, None)
            else:
                self._retired.marks[rollout_id] = attempt


def read_marks(values: Sequence[Any]) -> dict[str, int]:
    """Marks as several servers wrote them down, the later attempt of each rollout.

    Raises:
        ValueError: one of them is no mapping of rollout ids to attempts.
    """
    merged = Retired()
    for value in values:
        if not isinstance(value, dict):
            raise ValueError("retired marks are a mapping of rollout ids to attempts")
        for rollout_id, attempt in cast("dict[str, Any]", value).items():
            if not is_attempt(attempt):
                raise ValueError("a retired attempt is a whole number from 0 to 2^53")
            merged.retire(Episode(rollout_id, attempt))
    return merged.marks
