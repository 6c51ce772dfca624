"""Chance that gives the same answers for a seed on every supported Python."""

from collections.abc import Iterable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Random choices derived from `Random.random` alone.

    That method is the only one whose sequence Python promises to keep for a seed; `shuffle`, `sample` and
    the rest may change from version to version, and with them a data set that is compared byte for byte.
    """

    def __init__(self, seed: int) -> None:
        """Start the sequence of `seed` (any integer)."""
        self._random = Random(seed)

    def below(self, limit: int) -> int:
        """Give an integer from 0 to `limit` - 1; `limit` is at least 1."""
        return int(self._random.random() * limit)

    def between(self, low: int, high: int) -> int:
        """Give an integer from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def pick(self, items: Sequence[T]) -> T:
        """Give one of `items`, which must not be empty."""
        return items[self.below(len(items))]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """Give a new list of the same items in random order."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def sample(self, items: Iterable[T], count: int) -> list[T]:
        """Give `count` different positions' items in random order; `items` holds at least that many."""
        result = list(items)
        for place in range(count):
            other = self.between(place, len(result) - 1)
            result[place], result[other] = result[other], result[place]
        return result[:count]

    def level(self, total: int, count: int, low: int, high: int) -> list[int]:
        """Give `count` integers from `low` to `high` that sum to `total`, scattered around their mean.

        Starts even and moves single units between random places, so the sum holds at every step.
        """
        share, extra = divmod(total, count)
        values = [share + 1] * extra + [share] * (count - extra)
        for _ in range(count * (high - low) ** 2 // 8):
            giver, taker = self.below(count), self.below(count)
            if giver != taker and values[giver] > low and values[taker] < high:
                values[giver] -= 1
                values[taker] += 1
        return self.shuffled(values)

    def spread(self, total: int, count: int, low: int, high: int) -> list[int]:
        """Like `level`, but exactly one value is `low` and exactly one is `high`."""
        inner = self.level(total - low - high, count - 2, low + 1, high - 1)
        return self.shuffled([*inner, low, high])

    def ids(self, count: int) -> list[str]:
        """Give the 8-digit ids 0 to `count` - 1, each once, in random order."""
        return [f"{number:08d}" for number in self.shuffled(range(count))]
