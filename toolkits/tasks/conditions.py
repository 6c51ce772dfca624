"""What requests hang on: when somebody was met, wrote, is late, and what the figures of the site did."""

from collections.abc import Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Final

from toolkits.tasks.drawing import Unclear, first_of
from toolkits.tasks.office import Office
from toolkits.tasks.reading import Reading
from toolkits.tasks.records import Customer, Duty, Event

__all__ = [
    "LISTS", "beyond", "contacted", "ever", "grown", "met", "next_event", "overdue", "total", "wrote",
]  # fmt: skip

LISTS: Final = ("Backlog", "In Progress", "In Review", "Completed")


def met(office: Office, reading: Reading, address: str, days: int) -> bool:
    """Say whether there was an event with somebody in the last days."""
    return any(reading.lately(event.start.date(), days) for event in office.events if event.person == address)


def wrote(office: Office, reading: Reading, address: str, days: int) -> bool:
    """Say whether somebody sent a mail in the last days."""
    return any(reading.lately(mail.sent.date(), days) for mail in office.mails if mail.sender == address)


def next_event(events: Sequence[Event], reading: Reading) -> Event:
    """Give the first of these events that is ahead.

    Raises:
        Unclear: There is none.
    """
    return first_of([event for event in events if reading.ahead(event.start)], lambda event: event.start)


def overdue(office: Office, reading: Reading, address: str) -> list[Duty]:
    """List somebody's overdue tasks: past their due date and not completed.

    Raises:
        Unclear: One of the tasks has no due date that can be read.
    """
    own = [duty for duty in office.duties if duty.person == address and duty.column != "Completed"]
    return [duty for duty in own if reading.past_due(_known(duty.due))]


def contacted(reading: Reading, customer: Customer, days: int) -> bool:
    """Say whether a customer was contacted in the last days.

    Raises:
        Unclear: The day of the last contact cannot be read.
    """
    return reading.lately(_known(customer.contact), days)


def ever(office: Office, reading: Reading, metric: str, first: date, limit: int, side: str) -> bool:
    """Say whether a metric was `above` or `below` a limit on any day since the first.

    Raises:
        Unclear: One of the days has no visits.
    """
    compare = {"above": reading.above, "below": reading.below}[side]
    return any(compare(value, Fraction(limit)) for value in _values(office, reading, metric, first))


def total(office: Office, reading: Reading, metric: str, first: date) -> Fraction:
    """Add up a metric over the days since the first.

    Raises:
        Unclear: One of the days has no visits.
    """
    return sum(_values(office, reading, metric, first), Fraction())


def beyond(office: Office, reading: Reading, metric: str, day: date, percent: int) -> bool:
    """Say whether today's value of a metric is more than `percent` percent above that of a day.

    Raises:
        Unclear: One of the days has no visits, or that day's value is 0.
    """
    return reading.above(grown(office, metric, day), Fraction(percent, 100))


def grown(office: Office, metric: str, day: date) -> Fraction:
    """Give the growth of a metric from a day to today, 1 being a growth by 100 percent.

    Raises:
        Unclear: One of the days has no visits, or the first value is 0.
    """
    before = office.value(metric, day)
    if not before:
        raise Unclear
    return office.value(metric, office.today) / before - 1


def _values(office: Office, reading: Reading, metric: str, first: date) -> list[Fraction]:
    span = (office.today - first).days + 1
    days = [first + timedelta(days=offset) for offset in range(span)]
    return [office.value(metric, day) for day in days if reading.since(day, first)]


def _known(day: date | None) -> date:
    if day is None:
        raise Unclear
    return day
