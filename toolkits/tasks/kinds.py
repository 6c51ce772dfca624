"""What a task is, and what makes a kind of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from toolkits.generator.dice import Dice
from toolkits.tasks.office import Office
from toolkits.tasks.reading import Reading

__all__ = ["MOST_CALLS", "Call", "Draft", "Kind", "Mix", "Task", "size_of"]

MOST_CALLS: Final = 12
"""Changes that a task may ask for."""


class Call(NamedTuple):
    """One call of a ground truth."""

    name: str
    arguments: Mapping[str, str]


class Mix(NamedTuple):
    """How many tasks in ten are to end with no change, one, two, and more."""

    none: int = 0
    one: int = 0
    two: int = 0
    more: int = 0


@dataclass(frozen=True)
class Draft:
    """A request as drawn, before anybody knows whether it has one answer.

    Attributes:
        slots: What the phrasings leave open.
        solve: The calls that fulfil it, for one way of reading it; raises `Unclear` where there are none.
    """

    slots: Mapping[str, str]
    solve: Callable[[Reading], Sequence[Call]]


@dataclass(frozen=True)
class Kind:
    """A kind of task.

    Attributes:
        name: Its name, once in its category.
        mix: How many changes its tasks should come to.
        draw: Draws a draft; raises `Unclear` where the data set does not have what it takes.
        phrasings: Three ways to ask for it.
    """

    name: str
    mix: Mix
    draw: Callable[[Office, Dice], Draft]
    phrasings: tuple[str, str, str]


@dataclass(frozen=True)
class Task:
    """A task for a model, and what it should come to.

    Attributes:
        id: `<category>/<kind>/<number>`.
        category: The domain, or `several`.
        kind: The name of its kind.
        prompt: The request.
        system: The date, the time, the working hours and what is agreed between the two.
        ground_truth: The calls that fulfil it.
        order_sensitive: Whether the calls must come in this order, since two add rows to one table.
    """

    id: str
    category: str
    kind: str
    prompt: str
    system: str
    ground_truth: tuple[Call, ...]
    order_sensitive: bool


def size_of(calls: Sequence[object]) -> int:
    """Give the place in a `Mix` that a number of calls counts to."""
    return min(len(calls), len(Mix()) - 1)
