"""What the tables hold, row by row, and how their cells are read."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from toolkits.cells import Cell, lowered, read_moment

__all__ = [
    "Customer", "Duty", "Event", "Mail", "Person",
    "clear_names", "day_in", "minutes_in", "quotable", "text_in",
]  # fmt: skip


@dataclass(frozen=True)
class Person:
    """Somebody in the directory; `first` is in no other address there."""

    address: str
    first: str


@dataclass(frozen=True)
class Event:
    """A calendar event; `minutes` is its length, 0 where that cannot be read."""

    id: str
    name: str
    person: str
    start: datetime
    minutes: int

    @property
    def end(self) -> datetime:
        """When it is over."""
        return self.start + timedelta(minutes=self.minutes)


@dataclass(frozen=True)
class Mail:
    """A mail that came in."""

    id: str
    sender: str
    subject: str
    sent: datetime


@dataclass(frozen=True)
class Duty:
    """A task of the project board."""

    id: str
    name: str
    person: str
    column: str
    due: date | None
    board: str


@dataclass(frozen=True)
class Customer:
    """A customer of the list."""

    id: str
    person: str
    name: str
    contact: date | None
    product: str
    status: str


def clear_names(names: Iterable[str]) -> list[str]:
    """List the different names that are in no other of them, whatever the case: a search finds them alone."""
    every = list(dict.fromkeys(names))
    low = [lowered(name) for name in every]
    return [name for name in every if quotable(name) and sum(lowered(name) in other for other in low) == 1]


def quotable(text: str) -> bool:
    """Say whether a text can stand in quotation marks, so that nobody doubts where it begins and ends."""
    return text == text.strip() != "" and '"' not in text and text.isprintable()


def text_in(cell: Cell) -> str:
    """Give the text of a cell; none where it holds nothing."""
    return cell if isinstance(cell, str) else ""


def day_in(cell: Cell) -> date | None:
    """Give the day in a cell, whatever its time of day; None where it cannot be read."""
    moment = read_moment(cell)
    return None if moment is None else moment.date()


def minutes_in(cell: Cell) -> int:
    """Give the whole number of minutes in a cell; 0 where it cannot be read."""
    text = text_in(cell)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0
