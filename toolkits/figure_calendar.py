"""Figures about the calendar."""

from collections import Counter
from datetime import date, datetime, time, timedelta
from itertools import accumulate

from toolkits.figure_columns import Row, end, listing, rising, shares, span, uses, yes

_SATURDAY = 5
# The usual working hours; free time is looked for between them.
_DAY_START, _DAY_END = time(9), time(18)
_HALF_HOUR = timedelta(minutes=30)


def event_figures(events: list[Row], people: list[str], now: datetime) -> dict[str, str]:
    """Describe the events, and who of `people` is met after `now`."""
    starts = [start for row in events if (start := row.moment("event_start")) is not None]
    by_day = Counter(start.date() for start in starts)
    meetings = _meetings(events)
    ahead = [row for row in events if (start := row.moment("event_start")) is not None and start > now]
    met_ahead = {row.text("participant_email").lower() for row in ahead}
    return {
        "sorted by start": yes(rising([row.text("event_start") for row in events])),
        "days": span(start.date() for start in starts),
        "on Saturday or Sunday": str(sum(start.weekday() >= _SATURDAY for start in starts)),
        "start of day": span(start.time() for start in starts),
        "not on the half hour": str(sum((start.minute % 30, start.second) != (0, 0) for start in starts)),
        "latest end": span(finish.time() for _, finish in meetings).rpartition(" ")[2],
        "overlaps": str(_overlaps(meetings)),
        "minutes": shares([row.text("duration") for row in events]),
        "names": uses(row.text("event_name") for row in events),
        "participants": uses(row.text("participant_email") for row in events),
        "events a day": shares([str(count) for count in by_day.values()]),
        "on the day of now": str(by_day[now.date()]),
        "after now": str(len(ahead)),
        "people with nothing ahead": listing(who for who in people if who.lower() not in met_ahead),
        **_next_day(meetings, now),
    }


def _meetings(events: list[Row]) -> list[tuple[datetime, datetime]]:
    """List start and end of every event that has both, sorted."""
    found: list[tuple[datetime, datetime]] = []
    for row in events:
        start, minutes = row.moment("event_start"), row.number("duration")
        if start is None or minutes is None:
            continue
        finish = end(start, minutes)
        if finish is not None:
            found.append((start, finish))
    return sorted(found)


def _overlaps(meetings: list[tuple[datetime, datetime]]) -> int:
    """Count the events that start before all earlier ones are over."""
    latest = accumulate((finish for _, finish in meetings), max)
    return sum(start < busy_until for (start, _), busy_until in zip(meetings[1:], latest, strict=False))


def _next_day(meetings: list[tuple[datetime, datetime]], now: datetime) -> dict[str, str]:
    if now.date() == date.max:
        return {"events tomorrow": "0", "first free half hour tomorrow": "-"}
    day = now.date() + timedelta(days=1)
    return {
        "events tomorrow": str(sum(start.date() == day for start, _ in meetings)),
        "first free half hour tomorrow": _first_free(meetings, day),
    }


def _first_free(meetings: list[tuple[datetime, datetime]], day: date) -> str:
    free = datetime.combine(day, _DAY_START)
    closing = datetime.combine(day, _DAY_END)
    for start, finish in meetings:
        if start < free + _HALF_HOUR and finish > free:
            free = min(finish, closing)
    return f"{free:%H:%M}" if free + _HALF_HOUR <= closing else "none"
