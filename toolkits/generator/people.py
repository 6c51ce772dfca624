"""The owner of the workplace and the twenty people of its directory."""

from dataclasses import dataclass

from toolkits.generator.dice import Dice
from toolkits.generator.words_people import FIRST_NAMES, SURNAMES, WORKPLACES
from toolkits.generator.words_projects import TASK_NAMES

_DIRECTORY_SIZE = 20
_SALES_SIZE = 5
_TEAM_SIZE = 5


@dataclass(frozen=True)
class Person:
    """Somebody with an address `first.last@company.example`."""

    first: str
    last: str
    email: str


@dataclass(frozen=True)
class People:
    """Everybody who works here.

    Attributes:
        owner: The person the workplace belongs to; not in the directory.
        directory: The twenty colleagues, in directory order.
        teams: The five colleagues that work on each board, by board name.
        sales: The five colleagues that look after customers; they have no tasks.
    """

    owner: Person
    directory: tuple[Person, ...]
    teams: dict[str, tuple[Person, ...]]
    sales: tuple[Person, ...]


def make_people(dice: Dice) -> People:
    """Draw the owner and twenty colleagues with unique first names and exactly one shared surname."""
    company = dice.pick(WORKPLACES)
    firsts = dice.sample(FIRST_NAMES, _DIRECTORY_SIZE + 1)
    # One surname fewer than colleagues: the first of them is given out twice.
    owner_last, *lasts = dice.sample(SURNAMES, _DIRECTORY_SIZE)
    owner = _person(firsts[0], owner_last, company)
    colleagues = [
        _person(first, last, company) for first, last in zip(firsts[1:], [*lasts, lasts[0]], strict=True)
    ]
    roles = dice.shuffled(colleagues)
    teams = {
        board: tuple(roles[_SALES_SIZE + place * _TEAM_SIZE :][:_TEAM_SIZE])
        for place, board in enumerate(TASK_NAMES)
    }
    return People(owner, tuple(dice.shuffled(colleagues)), teams, tuple(roles[:_SALES_SIZE]))


def _person(first: str, last: str, company: str) -> Person:
    return Person(first, last, f"{first}.{last}@{company}.example".lower())
