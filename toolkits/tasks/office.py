"""A data set read for questions: its people, events, mails, duties, customers and daily figures."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from functools import cached_property
from typing import Final

from toolkits.cells import Cell, lowered, read_moment
from toolkits.tasks.drawing import Unclear
from toolkits.tasks.records import (
    Customer,
    Duty,
    Event,
    Mail,
    Person,
    clear_names,
    day_in,
    minutes_in,
    text_in,
)
from toolkits.tasks.said import SOURCES
from toolkits.workplace import Workplace

__all__ = ["Office"]

HALF_HOUR: Final = timedelta(minutes=30)


class Office:
    """What a workplace holds.

    Attributes:
        place: The workplace, with the tables of all toolkits.
        facts: The clock, the working hours and the owner.
        today: The day of its clock.
    """

    def __init__(self, place: Workplace) -> None:
        self.place: Final = place
        self.facts: Final = place.dataset.facts
        now = read_moment(self.facts.now)
        if now is None:
            raise ValueError(f"now is {self.facts.now!r}; expected YYYY-MM-DD HH:MM:SS")
        self.today: Final = now.date()

    @property
    def tomorrow(self) -> date:
        """The day after today."""
        return self.today + timedelta(days=1)

    def hours(self, day: date) -> tuple[datetime, datetime]:
        """Give the start and the end of a day's working hours."""
        start, end = map(time.fromisoformat, (self.facts.day_starts, self.facts.day_ends))
        return datetime.combine(day, start), datetime.combine(day, end)

    @cached_property
    def people(self) -> Sequence[Person]:
        """Everybody in the directory whom a first name picks out, but for the owner."""
        addresses = [str(row[0]) for row in self._rows("company_directory.addresses")]
        owner = lowered(self.facts.owner_email)
        found = [Person(address, address.partition(".")[0].capitalize()) for address in addresses]
        return [
            person
            for person in found
            if person.first.isalpha()
            and person.address != owner
            and person.address == person.address.lower()
            and sum(lowered(person.first) in lowered(address) for address in addresses) == 1
        ]

    @cached_property
    def events(self) -> Sequence[Event]:
        """All events, in order of time."""
        rows = self._rows("calendar.events")
        events = [
            Event(text_in(id), text_in(name), text_in(person).lower(), start, minutes_in(minutes))
            for id, name, person, begun, minutes in rows
            if (start := read_moment(begun)) is not None
        ]
        return sorted(events, key=lambda event: event.start)

    @cached_property
    def mails(self) -> Sequence[Mail]:
        """All mails that came in, in order of time."""
        mails = [
            Mail(text_in(id), text_in(sender).lower(), text_in(subject), sent)
            for id, box, sender, subject, at, _body in self._rows("email.emails")
            if box == "inbox" and (sent := read_moment(at)) is not None
        ]
        return sorted(mails, key=lambda mail: mail.sent)

    @cached_property
    def duties(self) -> Sequence[Duty]:
        """All tasks of the project board, in table order."""
        return [
            Duty(
                text_in(id),
                text_in(name),
                text_in(person).lower(),
                text_in(column),
                day_in(due),
                text_in(board),
            )
            for id, name, person, column, due, board in self._rows("project_management.tasks")
        ]

    @cached_property
    def customers(self) -> Sequence[Customer]:
        """All customers, in table order."""
        return [
            Customer(
                text_in(row[0]),
                text_in(row[1]).lower(),
                text_in(row[2]),
                day_in(row[5]),
                text_in(row[6]),
                text_in(row[7]),
            )
            for row in self._rows("customer_relationship_manager.customers")
        ]

    @cached_property
    def _visits(self) -> Mapping[date, Sequence[tuple[Cell, ...]]]:
        by_day: dict[date, list[tuple[Cell, ...]]] = {}
        for row in self._rows("analytics.visits"):
            day = day_in(row[0])
            if day is None or day.isoformat() != row[0]:
                return {}  # days are compared as text, so others than plain ones have no clear order
            by_day.setdefault(day, []).append(row)
        return by_day

    def first_visit_day(self) -> date:
        """Give the first day with visits.

        Raises:
            Unclear: There is no such day, or the last one is not today.
        """
        if not self._visits or max(self._visits) != self.today:
            raise Unclear
        return min(self._visits)

    def value(self, metric: str, day: date) -> Fraction:
        """Give the value of a metric on a day.

        Raises:
            Unclear: The day has no visits, or they have no length.
        """
        if (metric, day) not in self._values:
            self._values[metric, day] = _measured(metric, self._visits.get(day, ()))
        if (value := self._values[metric, day]) is None:
            raise Unclear
        return value

    @cached_property
    def _values(self) -> dict[tuple[str, date], Fraction | None]:
        return {}

    def people_with(self, items: Sequence[Event | Duty | Customer]) -> list[Person]:
        """List the people who have one of these events, duties or customers."""
        have = {item.person for item in items}
        return [person for person in self.people if person.address in have]

    @cached_property
    def clear_events(self) -> Sequence[str]:
        """The names of events that a search for them does not mix up."""
        return clear_names([event.name for event in self.events])

    @cached_property
    def clear_customers(self) -> Sequence[Customer]:
        """The customers whose name a search finds alone."""
        names = [customer.name for customer in self.customers]
        clear = {name for name in clear_names(names) if names.count(name) == 1}
        return [customer for customer in self.customers if customer.name in clear]

    def is_free(self, start: datetime, end: datetime, *, but: str = "") -> bool:
        """Say whether a time surely lies in working hours and meets no event, except one that may be named.

        On a day with an event whose length cannot be read, no time is sure.
        """
        opens, closes = self.hours(start.date())
        if not opens <= start < end <= closes:
            return False
        others = [event for event in self.events_on(start.date()) if event.id != but]
        if not all(event.minutes for event in others):
            return False
        return not any(event.start < end and start < event.end for event in others)

    def events_on(self, day: date) -> Sequence[Event]:
        """List the events that start on a day, in order of time."""
        return self._events_by_day.get(day, ())

    @cached_property
    def _events_by_day(self) -> Mapping[date, Sequence[Event]]:
        by_day: dict[date, list[Event]] = {}
        for event in self.events:
            by_day.setdefault(event.start.date(), []).append(event)
        return by_day

    def free_starts(self, day: date, minutes: int) -> list[datetime]:
        """List the half hours of a day at which an event of this length fits, first to last."""
        opens, closes = self.hours(day)
        length = timedelta(minutes=minutes)
        steps = (closes - opens) // HALF_HOUR
        starts = [opens + HALF_HOUR * step for step in range(steps)]
        return [start for start in starts if self.is_free(start, start + length)]

    def first_free(self, day: date, minutes: int) -> datetime:
        """Give the first time of a day at which an event of this length fits.

        Raises:
            Unclear: There is none, or it is not on the half hour.
        """
        opens, _ = self.hours(day)
        ends = [event.end for event in self.events_on(day) if event.end >= opens]
        length = timedelta(minutes=minutes)
        fitting = [start for start in sorted({opens, *ends}) if self.is_free(start, start + length)]
        if not fitting or fitting[0].minute % 30 or fitting[0].second:
            raise Unclear
        return fitting[0]

    def _rows(self, table: str) -> list[tuple[Cell, ...]]:
        return [row.cells for row in self.place.tables[table].rows]


def _measured(metric: str, visits: Sequence[tuple[Cell, ...]]) -> Fraction | None:
    """Give the value of a metric over the visits of one day; None where they have none."""
    if not visits:
        return None
    if metric == "session_duration_seconds":
        lengths = [Fraction(row[3]) for row in visits if isinstance(row[3], str)]
        return sum(lengths, Fraction()) / len(lengths) if lengths else None
    if metric == "user_engaged":
        return Fraction(sum(row[5] is True for row in visits))
    source = SOURCES.get(metric)
    return Fraction(sum(source in (None, row[4]) for row in visits))
