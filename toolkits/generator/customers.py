"""The customer list that five colleagues look after."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeVar

from toolkits.generator.clock import TODAY, days
from toolkits.generator.dice import Dice
from toolkits.generator.people import People, Person
from toolkits.generator.words_customers import (
    ASCII_LETTERS,
    COMPANY_STEMS,
    COMPANY_TRADES,
    FAMILY_NAMES,
    GIVEN_NAMES,
    REMARKS,
)

T = TypeVar("T")

_COUNT = 200
_EACH = (31, 50)
_STATUSES = {"Won": 45, "Lost": 43, "Lead": 42, "Proposal": 37, "Qualified": 33}
_PRODUCTS = {"Services": 51, "Training": 45, "Software": 39, "Hardware": 35, "Consulting": 30}
_WITHOUT_PHONE = 100
_WITHOUT_NOTES = 44
_FIRST_CONTACT = date(2023, 10, 1)
_FOLLOW_UP_DAYS = (7, 30)
# Everybody has this many proposals from the first two weeks.
_OLD_PROPOSALS = 2
_LONG_AGO_DAYS = 14


@dataclass(frozen=True)
class Customer:
    """A customer; an empty `phone` or `notes` becomes an empty cell."""

    owner: Person
    name: str
    email: str
    phone: str
    contact: date
    product: str
    status: str
    follow_up: date
    notes: str


def make_customers(dice: Dice, people: People) -> list[Customer]:
    """Make 200 customers with different names, sorted by last contact, newest first."""
    amounts = dice.spread(_COUNT, len(people.sales), *_EACH)
    owners = [person for person, amount in zip(people.sales, amounts, strict=True) for _ in range(amount)]
    statuses, products = _evenly(dice, _STATUSES), _dealt(dice, _PRODUCTS)
    phones, noted = _phones(dice), _dealt(dice, {True: _COUNT - _WITHOUT_NOTES, False: _WITHOUT_NOTES})
    contacts = _contacts(dice, owners, statuses)
    shortest, longest = _FOLLOW_UP_DAYS
    waits = dice.shuffled(shortest + place % (longest - shortest + 1) for place in range(_COUNT))
    customers = [
        Customer(
            owner=owners[place],
            name=f"{given} {family}",
            email=_email(dice, given, family),
            phone=phones[place],
            contact=contacts[place],
            product=products[place],
            status=statuses[place],
            follow_up=contacts[place] + timedelta(days=waits[place]),
            notes=_notes(dice, contacts[place]) if noted[place] else "",
        )
        for place, (given, family) in enumerate(_names(dice))
    ]
    return sorted(dice.shuffled(customers), key=lambda customer: customer.contact, reverse=True)


def _contacts(dice: Dice, owners: list[Person], statuses: list[str]) -> list[date]:
    """Give every customer a day of contact, such that everybody has some proposals of long ago."""
    all_days = list(days(_FIRST_CONTACT, TODAY))
    contacts = [dice.pick(all_days) for _ in owners]
    others = [place for place, status in enumerate(statuses) if status != "Proposal"]
    contacts[others[0]], contacts[others[1]] = all_days[0], all_days[-1]
    for owner in dict.fromkeys(owners):
        proposals = [
            place for place, who in enumerate(owners) if who == owner and statuses[place] == "Proposal"
        ]
        for place in proposals[:_OLD_PROPOSALS]:
            contacts[place] = dice.pick(all_days[:_LONG_AGO_DAYS])
    return contacts


def _evenly(dice: Dice, counts: dict[T, int]) -> list[T]:
    """Mix values so that every stretch of the result has about its share of each."""
    placed = [
        ((step * 1000 + dice.below(1000)) / count, value)
        for value, count in counts.items()
        for step in range(count)
    ]
    return [value for _, value in sorted(placed, key=lambda pair: pair[0])]


def _dealt(dice: Dice, counts: dict[T, int]) -> list[T]:
    return dice.shuffled(value for value, count in counts.items() for _ in range(count))


def _names(dice: Dice) -> list[tuple[str, str]]:
    return dice.sample(((given, family) for given in GIVEN_NAMES for family in FAMILY_NAMES), _COUNT)


def _email(dice: Dice, given: str, family: str) -> str:
    local = f"{given}.{family}".translate(ASCII_LETTERS).lower()
    return f"{local}@{dice.pick(COMPANY_STEMS)}{dice.pick(COMPANY_TRADES)}.example"


def _phones(dice: Dice) -> list[str]:
    """Give a different number to half of the customers; 555-01xx is set aside for fiction."""
    numbers = [f"{dice.between(201, 989)}-555-01{line:02d}" for line in range(_COUNT - _WITHOUT_PHONE)]
    return dice.shuffled(numbers + [""] * _WITHOUT_PHONE)


def _notes(dice: Dice, contact: date) -> str:
    """Write one to three dated remarks, oldest first, the last of them on the day of the contact."""
    earlier = sorted(dice.sample(range(1, 30), dice.between(0, 2)), reverse=True)
    dates = [contact - timedelta(days=offset) for offset in [*earlier, 0]]
    remarks = dice.sample(REMARKS, len(dates))
    return " ".join(f"{day}: {remark}" for day, remark in zip(dates, remarks, strict=True))
