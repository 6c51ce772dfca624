"""The days that the generated tables live in."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Final

NOW: Final = "2023-11-30 23:59:00"
TODAY: Final = date(2023, 11, 30)
TOMORROW: Final = date(2023, 12, 1)
WORKING_HOURS: Final = ("09:00", "18:00")

# A calendar day is a row of half hours counted from 09:00; the last start is 15:30.
SLOT_MINUTES: Final = 30
LAST_START_SLOT: Final = 13

_SATURDAY: Final = 5


def days(first: date, last: date) -> Iterator[date]:
    """Yield every day from `first` to `last`, both included."""
    for offset in range((last - first).days + 1):
        yield first + timedelta(days=offset)


def working_days(first: date, last: date) -> list[date]:
    """List the days Monday to Friday from `first` to `last`, both included."""
    return [day for day in days(first, last) if day.weekday() < _SATURDAY]


def slot_time(day: date, slot: int) -> datetime:
    """Give the moment at which half hour number `slot` of `day` starts (0 is 09:00)."""
    return datetime.combine(day, time(9)) + timedelta(minutes=SLOT_MINUTES * slot)
