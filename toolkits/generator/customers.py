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
    owners = _dealt(
        dice, dict(zip(people.sales, dice.spread(_COUNT, len(people.sales), *_EACH), strict=True))
    )
    statuses, products = _dealt(dice, _STATUSES), _dealt(dice, _PRODUCTS)
    phones, noted = _phones(dice), _dealt(dice, {True: _COUNT - _WITHOUT_NOTES, False: _WITHOUT_NOTES})
    shortest, longest = _FOLLOW_UP_DAYS
    waits = dice.shuffled(shortest + place % (longest - shortest + 1) for place in range(_COUNT))
    contact_days = list(days(_FIRST_CONTACT, TODAY))
    customers: list[Customer] = []
    for place, (given, family) in enumerate(_names(dice)):
        contact = [_FIRST_CONTACT, TODAY][place] if place < 2 else dice.pick(contact_days)
        customers.append(
            Customer(
                owner=owners[place],
                name=f"{given} {family}",
                email=_email(dice, given, family),
                phone=phones[place],
                contact=contact,
                product=products[place],
                status=statuses[place],
                follow_up=contact + timedelta(days=waits[place]),
                notes=_notes(dice, contact) if noted[place] else "",
            )
        )
    return sorted(dice.shuffled(customers), key=lambda customer: customer.contact, reverse=True)


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
