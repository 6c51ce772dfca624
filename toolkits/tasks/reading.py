"""The ways in which a careful reader may take a request; a task is kept only when all come to the same."""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from itertools import product
from typing import NamedTuple

__all__ = ["Reading", "readings"]


class Reading(NamedTuple):
    """One way to take a request.

    Attributes:
        now: Today at 00:00 or at 23:59.
        inclusive: Whether a cut-off day or moment itself counts.
        strict: Whether a limit that is met exactly is not yet passed.
    """

    now: datetime
    inclusive: bool
    strict: bool

    @property
    def today(self) -> date:
        """The day of `now`."""
        return self.now.date()

    def ahead(self, moment: datetime) -> bool:
        """Say whether a moment is still to come."""
        return moment >= self.now if self.inclusive else moment > self.now

    def before(self, moment: datetime, limit: datetime) -> bool:
        """Say whether a moment lies before a cut-off."""
        return moment <= limit if self.inclusive else moment < limit

    def after(self, moment: datetime, limit: datetime) -> bool:
        """Say whether a moment lies after a cut-off."""
        return moment >= limit if self.inclusive else moment > limit

    def since(self, day: date, first: date) -> bool:
        """Say whether a day lies between a cut-off and now; at 00:00 today does not count yet."""
        begun = day >= first if self.inclusive else day > first
        return begun and datetime.combine(day, time()) < self.now

    def lately(self, day: date, days: int) -> bool:
        """Say whether a day is one of the last `days` days."""
        return self.since(day, self.today - timedelta(days=days))

    def past_due(self, day: date) -> bool:
        """Say whether a due date has passed; whether it has on the day itself is a matter of reading."""
        return day <= self.today if self.inclusive else day < self.today

    def above(self, value: Fraction, limit: Fraction) -> bool:
        """Say whether a value is above a limit."""
        return value > limit if self.strict else value >= limit

    def below(self, value: Fraction, limit: Fraction) -> bool:
        """Say whether a value is below a limit."""
        return value < limit if self.strict else value <= limit


def readings(today: date) -> Sequence[Reading]:
    """List every way to take a request that is made today."""
    moments = (datetime.combine(today, time()), datetime.combine(today, time(23, 59)))
    return [Reading(*how) for how in product(moments, (True, False), (True, False))]
