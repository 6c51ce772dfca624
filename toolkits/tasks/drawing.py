"""Drawing and comparing for drafts: what has no clear answer is given up, and another is drawn."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from toolkits.generator.dice import Dice

__all__ = ["Unclear", "choose", "first_of", "last_of", "several"]

T = TypeVar("T")


class Unclear(Exception):
    """A draft that the data set cannot fill, or that careful readers could answer differently."""


def choose(dice: Dice, items: Iterable[T]) -> T:
    """Give one of the items.

    Raises:
        Unclear: There is none.
    """
    return several(dice, items, 1)[0]


def several(dice: Dice, items: Iterable[T], count: int) -> list[T]:
    """Give `count` of the items, different ones, in random order.

    Raises:
        Unclear: There are fewer.
    """
    found = list(items)
    if len(found) < count:
        raise Unclear
    return dice.sample(found, count)


def first_of(items: Sequence[T], key: Callable[[T], Any]) -> T:
    """Give the one item that comes before all others.

    Raises:
        Unclear: There is none, or two come first.
    """
    ordered = sorted(items, key=key)
    if not ordered or (len(ordered) > 1 and key(ordered[0]) == key(ordered[1])):
        raise Unclear
    return ordered[0]


def last_of(items: Sequence[T], key: Callable[[T], Any]) -> T:
    """Give the one item that comes after all others.

    Raises:
        Unclear: There is none, or two come last.
    """
    ordered = sorted(items, key=key)
    if not ordered or (len(ordered) > 1 and key(ordered[-1]) == key(ordered[-2])):
        raise Unclear
    return ordered[-1]
