"""How days, times and amounts are said in a request: am and pm written out, no day left to guess."""

from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Final

__all__ = ["METRICS", "SOURCES", "WEEKDAYS", "listed", "said_clock", "said_day", "said_weekday"]

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip

METRICS: Final = {
    "total_visits": "the total number of visits",
    "session_duration_seconds": "the average session duration",
    "user_engaged": "the number of engaged users",
    "visits_direct": "the number of direct visits",
    "visits_referral": "the number of visits from referrals",
    "visits_search_engine": "the number of visits from search engines",
    "visits_social_media": "the number of visits from social media",
}
"""What can be plotted, and how it is said."""

SOURCES: Final = {
    "visits_direct": "direct",
    "visits_referral": "referral",
    "visits_search_engine": "search engine",
    "visits_social_media": "social media",
}
"""The metrics that count one source, and its name in the visits."""

_NOON: Final = 12


def said_day(day: date, today: date) -> str:
    """Say a day, with its year where that is not today's."""
    said = f"{_MONTHS[day.month - 1]} {day.day}"
    return said if day.year == today.year else f"{said}, {day.year}"


def said_weekday(day: date, today: date) -> str:
    """Say a day with its weekday."""
    return f"{WEEKDAYS[day.weekday()]}, {said_day(day, today)}"


def said_clock(moment: datetime | time) -> str:
    """Say a time of day, such as 9:30 am."""
    hour = moment.hour % _NOON or _NOON
    return f"{hour}:{moment.minute:02d} {'am' if moment.hour < _NOON else 'pm'}"


def listed(items: Sequence[str], between: str = "and") -> str:
    """Say several things: `a, b and c`."""
    return f" {between} ".join(part for part in (", ".join(items[:-1]), items[-1]) if part)
