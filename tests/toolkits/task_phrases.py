"""Reads requests: from a prompt and the phrasings of its kind back to what was filled in."""

from collections.abc import Callable, Iterator
from datetime import date, datetime
from functools import cache
from string import Formatter

YEAR = 2023
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

METRICS = {
    "the total number of visits": "total_visits",
    "the average session duration": "session_duration_seconds",
    "the number of engaged users": "user_engaged",
    "the number of direct visits": "visits_direct",
    "the number of visits from referrals": "visits_referral",
    "the number of visits from search engines": "visits_search_engine",
    "the number of visits from social media": "visits_social_media",
}
CHARTS = {"line chart": "line", "bar chart": "bar", "scatter plot": "scatter"}
LISTS = ("Backlog", "In Progress", "In Review", "Completed")

Slots = dict[str, str]

# What a gap can hold at all; where a gap is not named here, any text.
_HOLDS: dict[str, Callable[[str], object]] = {
    "chart": CHARTS.get,
    "limit": lambda text: text.removesuffix(" seconds").isdigit(),
    "clock": lambda text: text[0].isdigit() and text.endswith((" am", " pm")),
    "list": LISTS.__contains__,
    "from": LISTS.__contains__,
    "day": lambda text: text in WEEKDAYS or (len(text.split()) < 4 and text.split()[-1].isdigit()),
    **dict.fromkeys(("metric", "metric_one", "metric_two"), METRICS.get),
    **dict.fromkeys(("minutes", "days", "weeks", "percent"), str.isdigit),
    **dict.fromkeys(
        ("person", "then", "stage", "product", "one", "other", "weekday", "side", "which"), str.isalpha
    ),
    **dict.fromkeys(("name", "new", "subject", "body"), lambda text: '" ' not in text),
}


def filled(text: str, *phrasings: str) -> Slots:
    """Give what stands in the gaps of the phrasing that a text has; there must be only one way to read it."""
    (slots,) = (slots for phrasing in phrasings for slots in _ways(_pieces(phrasing), text, {}))
    return slots


@cache
def _pieces(phrasing: str) -> list[tuple[str, str]]:
    return [(literal, name or "") for literal, name, *_ in Formatter().parse(phrasing)]


def _ways(pieces: list[tuple[str, str]], text: str, known: Slots) -> Iterator[Slots]:
    if not pieces:
        yield from () if text else (known,)
        return
    (literal, name), *rest = pieces
    if not text.startswith(literal):
        return
    text = text.removeprefix(literal)
    for value in _values(name, text, known, rest[0][0] if rest else ""):
        yield from _ways(rest, text.removeprefix(value), {**known, name: value})


def _values(name: str, text: str, known: Slots, after: str) -> Iterator[str]:
    """Give what may stand in a gap at the start of a text, before another piece of the phrasing."""
    if not name or name in known:
        value = known.get(name, "")
        yield from (value,) if text.startswith(value) else ()
        return
    holds = _HOLDS.get(name, bool)
    for end in range(1, len(text) + 1):
        if text.startswith(after, end) and holds(text[:end]):
            yield text[:end]


@cache
def day(said: str) -> date:
    """Read `December 4` or `Monday, December 4`, whose weekday must be right."""
    *weekday, plain = said.split(", ")
    found = datetime.strptime(f"{plain} {YEAR}", "%B %d %Y").date()  # noqa: DTZ007 - the data have no zone
    assert not weekday or weekday == [WEEKDAYS[found.weekday()]], said
    return found


def moment(said_day: str, clock: str) -> datetime:
    """Read a day, and a time such as `2:30 pm`."""
    assert clock.endswith((" am", " pm")), clock
    time = datetime.strptime(clock.upper(), "%I:%M %p").time()  # noqa: DTZ007 - as above
    return datetime.combine(day(said_day), time)
