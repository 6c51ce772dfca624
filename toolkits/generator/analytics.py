"""Visits to the web site over three months, with a campaign on social media at the end."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from math import log

from toolkits.generator.clock import TODAY, days
from toolkits.generator.dice import Dice

_COUNT = 1000
_FIRST_DAY = date(2023, 9, 1)
_DAY_RANGE = (3, 21)
_VISITOR_IDS = 10_000
_VISITORS = 946
_SOURCES = {"direct": 515, "social media": 275, "search engine": 110, "referral": 100}
# From this day on the campaign brings in more people than come by themselves; of 100 visits each source has:
_CAMPAIGN = date(2023, 11, 18)
_CAMPAIGN_SHARES = {"direct": 28, "social media": 52, "search engine": 6, "referral": 14}
# The last day is an ordinary one, so that other days lie above it as well as below, by every measure.
_LAST_DAY = {"direct": 4, "social media": 5, "search engine": 1, "referral": 1}

_MEAN_SECONDS, _MOST_SECONDS = 19.3, 154
_MEAN_VIEWS, _MOST_VIEWS = 5.3, 41
_ENGAGED_SECONDS = 10


@dataclass(frozen=True)
class Visit:
    """One visit; a visitor comes at most once a day."""

    day: date
    visitor: str
    views: int
    seconds: int
    source: str

    @property
    def engaged(self) -> bool:
        """Whether the visitor stayed longer than ten seconds and saw more than one page."""
        return self.seconds > _ENGAGED_SECONDS and self.views > 1


def make_visits(dice: Dice) -> list[Visit]:
    """Make 1000 visits in no order."""
    visit_days = _visit_days(dice)
    sources = _sources(dice, visit_days)
    visitors = _visitors(dice, visit_days)
    seconds, views = _measures(dice, visit_days.count(TODAY))
    return dice.shuffled(map(Visit, visit_days, visitors, views, seconds, sources))


def _visit_days(dice: Dice) -> list[date]:
    """Give the day of every visit, in order."""
    today = sum(_LAST_DAY.values())
    earlier = list(days(_FIRST_DAY, TODAY))[:-1]
    amounts = dice.spread(_COUNT - today, len(earlier), *_DAY_RANGE)
    visit_days = [day for day, amount in zip(earlier, amounts, strict=True) for _ in range(amount)]
    return visit_days + [TODAY] * today


def _sources(dice: Dice, visit_days: list[date]) -> list[str]:
    """Give every visit a source: the totals are fixed, the campaign days have their own shares."""
    campaign_size = sum(_CAMPAIGN <= day < TODAY for day in visit_days)
    campaign = {source: campaign_size * share // 100 for source, share in _CAMPAIGN_SHARES.items()}
    campaign["direct"] += campaign_size - sum(campaign.values())
    early = {source: total - campaign[source] - _LAST_DAY[source] for source, total in _SOURCES.items()}
    return [source for part in (early, campaign, _LAST_DAY) for source in dice.shuffled(_repeated(part))]


def _repeated(counts: dict[str, int]) -> Iterable[str]:
    return (value for value, count in counts.items() for _ in range(count))


def _visitors(dice: Dice, visit_days: list[date]) -> list[str]:
    """Give every visit a 4-digit visitor; some come back, on another day."""
    fresh = dice.sample(range(_VISITOR_IDS), _VISITORS)
    places = dice.shuffled(range(len(visit_days)))
    known = dict(zip(places, fresh, strict=False))
    loyal = iter(dice.shuffled(known))
    for place in places[_VISITORS:]:
        before = next(other for other in loyal if visit_days[other] != visit_days[place])
        known[place] = known[before]
    return [f"{known[place]:04d}" for place in range(len(visit_days))]


def _measures(dice: Dice, today: int) -> tuple[list[int], list[int]]:
    """Give seconds and page views of every visit; the last `today` of them make an average day."""
    seconds = _decaying(_MEAN_SECONDS, _MOST_SECONDS)
    views = [1 + value for value in _decaying(_MEAN_VIEWS - 0.5, _MOST_VIEWS - 1)]
    # Every n-th of the sorted values has about the mean of all of them.
    step = _COUNT // today
    usual = range(step // 2, step * today, step)
    last_seconds = [seconds[place] for place in usual]
    last_views = [views[place] for place in usual]
    for place in reversed(usual):
        del seconds[place], views[place]
    return (
        dice.shuffled(seconds) + dice.shuffled(last_seconds),
        dice.shuffled(views) + last_views[1:] + last_views[:1],
    )


def _decaying(mean: float, most: int) -> list[int]:
    """Give the quantiles of an exponential distribution, rounded, sorted; the last is `most`."""
    values = [round(-mean * log(1 - (place + 0.5) / _COUNT)) for place in range(_COUNT)]
    return [*values[:-1], most]
