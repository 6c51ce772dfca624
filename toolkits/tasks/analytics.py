"""Tasks about the web site: charts, and charts that hang on a figure."""

from datetime import date, timedelta
from typing import Final

from toolkits.generator.dice import Dice
from toolkits.tasks.calls import plot
from toolkits.tasks.conditions import beyond, ever, grown, total
from toolkits.tasks.drawing import Unclear, choose, last_of, several
from toolkits.tasks.kinds import Call, Draft, Kind, Mix
from toolkits.tasks.office import Office
from toolkits.tasks.reading import Reading
from toolkits.tasks.said import METRICS, SOURCES, WEEKDAYS, said_day, said_weekday

__all__ = ["KINDS", "draw_day", "draw_limit"]

_CHARTS: Final = {"line": "line chart", "bar": "bar chart", "scatter": "scatter plot"}
_EARLIEST: Final = 80
_PERCENT: Final = (5, 10, 15, 20, 25, 30, 40, 50)


def draw_day(office: Office, dice: Dice, nearest: int = 3, farthest: int = _EARLIEST) -> date:
    """Draw a day with visits, between so many days ago."""
    farthest = min(farthest, (office.today - office.first_visit_day()).days)
    return office.today - timedelta(days=choose(dice, range(nearest, farthest + 1)))


def draw_limit(office: Office, dice: Dice, metric: str, first: date) -> tuple[str, int]:
    """Draw `above` or `below` and a limit near the highest or the lowest value since a day."""
    days = range((office.today - first).days + 1)
    values = [office.value(metric, first + timedelta(days=offset)) for offset in days]
    side = dice.pick(("above", "below"))
    edge = int(max(values)) if side == "above" else int(min(values))
    limit = edge + dice.between(-3, 3)
    if limit < 1:
        raise Unclear
    return side, limit


def _chart_since(office: Office, dice: Dice) -> Draft:
    metric, how, day = dice.pick(list(METRICS)), dice.pick(list(_CHARTS)), draw_day(office, dice)
    slots = {"metric": METRICS[metric], "chart": _CHARTS[how], "day": said_day(day, office.today)}
    return Draft(slots, lambda _: [plot(day, office.today, metric, how)])


def _histogram_of_day(office: Office, dice: Dice) -> Draft:
    metric, day = dice.pick(list(METRICS)), draw_day(office, dice)
    slots = {"metric": METRICS[metric], "day": said_weekday(day, office.today)}
    return Draft(slots, lambda _: [plot(day, day, metric, "histogram")])


def _two_histograms(office: Office, dice: Dice) -> Draft:
    one, other = several(dice, METRICS, 2)
    first = draw_day(office, dice, nearest=20)
    last = first + timedelta(days=dice.between(4, 16))
    slots = {
        "metric_one": METRICS[one],
        "metric_two": METRICS[other],
        "first": said_day(first, office.today),
        "last": said_day(last, office.today),
    }
    return Draft(slots, lambda _: [plot(first, last, metric, "histogram") for metric in (one, other)])


def _two_bars(office: Office, dice: Dice) -> Draft:
    one, other = several(dice, METRICS, 2)
    day = draw_day(office, dice)
    slots = {"metric_one": METRICS[one], "metric_two": METRICS[other], "day": said_day(day, office.today)}
    return Draft(slots, lambda _: [plot(day, office.today, metric, "bar") for metric in (one, other)])


def _line_if_limit_since(office: Office, dice: Dice) -> Draft:
    day = draw_day(office, dice)
    return _line_if_limit(office, dice, day, {"day": said_day(day, office.today)})


def _line_if_limit_in_weeks(office: Office, dice: Dice) -> Draft:
    weeks = dice.between(2, 10)
    day = office.today - timedelta(weeks=weeks)
    return _line_if_limit(office, dice, day, {"weeks": str(weeks)})


def _line_if_limit(office: Office, dice: Dice, first: date, slots: dict[str, str]) -> Draft:
    metric = dice.pick(list(METRICS))
    side, limit = draw_limit(office, dice, metric, first)
    unit = " seconds" if metric == "session_duration_seconds" else ""

    def solve(reading: Reading) -> list[Call]:
        passed = ever(office, reading, metric, first, limit, side)
        return [plot(first, office.today, metric, "line")] if passed else []

    return Draft({**slots, "metric": METRICS[metric], "side": side, "limit": f"{limit}{unit}"}, solve)


def _line_if_beyond_day(office: Office, dice: Dice) -> Draft:
    day = draw_day(office, dice)
    return _line_if_beyond(office, dice, day, said_day(day, office.today))


def _line_if_beyond_weekday(office: Office, dice: Dice) -> Draft:
    day = draw_day(office, dice, nearest=1, farthest=6)
    return _line_if_beyond(office, dice, day, WEEKDAYS[day.weekday()])


def _line_if_beyond(office: Office, dice: Dice, day: date, said: str) -> Draft:
    metric, percent = dice.pick(list(METRICS)), dice.pick(_PERCENT)

    def solve(reading: Reading) -> list[Call]:
        passed = beyond(office, reading, metric, day, percent)
        return [plot(day, office.today, metric, "line")] if passed else []

    return Draft({"metric": METRICS[metric], "percent": str(percent), "day": said}, solve)


def _weekday_against_week_before(office: Office, dice: Dice) -> Draft:
    metric, how = dice.pick(list(METRICS)), dice.pick(list(_CHARTS))
    day = draw_day(office, dice, nearest=1, farthest=40)
    before = day - timedelta(weeks=1)
    side = dice.pick(("higher", "lower"))

    def solve(reading: Reading) -> list[Call]:
        compare = reading.above if side == "higher" else reading.below
        passed = compare(office.value(metric, day), office.value(metric, before))
        return [plot(before, day, metric, how)] if passed else []

    slots = {"metric": METRICS[metric], "side": side, "chart": _CHARTS[how]}
    return Draft({**slots, "day": said_weekday(day, office.today)}, solve)


def _both_if_one_grew_more(office: Office, dice: Dice) -> Draft:
    one, other = several(dice, METRICS, 2)
    day = draw_day(office, dice)

    def solve(reading: Reading) -> list[Call]:
        growth, against = grown(office, one, day), grown(office, other, day)
        more = reading.above(growth, against)
        if more and growth <= 0:
            raise Unclear  # whether what shrank less grew more is a matter of taste
        return [plot(day, office.today, metric, "line") for metric in (one, other)] if more else []

    return Draft(
        {"metric_one": METRICS[one], "metric_two": METRICS[other], "day": said_day(day, office.today)}, solve
    )


def _line_of_busiest_source(office: Office, dice: Dice) -> Draft:
    day = draw_day(office, dice)

    def solve(reading: Reading) -> list[Call]:
        busiest = last_of(list(SOURCES), lambda source: total(office, reading, source, day))
        return [plot(day, office.today, busiest, "line")]

    return Draft({"day": said_day(day, office.today)}, solve)


def _both_sources_if_one_leads(office: Office, dice: Dice) -> Draft:
    one, other = several(dice, SOURCES, 2)
    day = draw_day(office, dice)

    def solve(reading: Reading) -> list[Call]:
        leads = reading.above(total(office, reading, one, day), total(office, reading, other, day))
        return [plot(day, office.today, source, "bar") for source in (one, other)] if leads else []

    return Draft(
        {"metric_one": METRICS[one], "metric_two": METRICS[other], "day": said_day(day, office.today)}, solve
    )


KINDS: Final = (
    Kind("chart_since", Mix(one=10), _chart_since, (
        "Draw me a {chart} of {metric} since {day}.",
        "I would like to see how {metric} developed since {day}: a {chart}, please.",
        "Could you make a {chart} that shows {metric} since {day}?",
    )),
    Kind("histogram_of_day", Mix(one=10), _histogram_of_day, (
        "Draw a histogram of {metric} for {day} alone.",
        "For my notes on {day} I need a histogram of that one day: {metric}.",
        "How was {metric} spread on {day}? Make a histogram of just that day.",
    )),
    Kind("two_histograms", Mix(two=10), _two_histograms, (
        "Make two histograms for {first} to {last}, both days included: first {metric_one}, then "
        "{metric_two}.",
        "I need histograms of {metric_one} and of {metric_two}, in this order, for the days from {first} to "
        "{last}, both included.",
        "From {first} through {last}: first a histogram of {metric_one}, then one of {metric_two}.",
    )),
    Kind("line_if_limit_since", Mix(none=5, one=5), _line_if_limit_since, (
        "If {metric} was {side} {limit} on any day since {day}, draw a line chart of it since then.",
        "Was {metric} ever {side} {limit} since {day}, on any single day? If so, give me a line chart of it "
        "since that day.",
        "I only need a line chart of {metric} since {day} if it was {side} {limit} at least once in that "
        "time.",
    )),
    Kind("line_if_limit_in_weeks", Mix(none=5, one=5), _line_if_limit_in_weeks, (
        "If {metric} was {side} {limit} on any day of the last {weeks} weeks, draw a line chart of it for "
        "those weeks.",
        "Look at the last {weeks} weeks: should {metric} have been {side} {limit} on a single day or more, "
        "make a line chart of it over that time.",
        "Did {metric} on any day of the last {weeks} weeks come out {side} {limit}? Then plot it as a line "
        "over these weeks.",
    )),
    Kind("two_bars", Mix(two=10), _two_bars, (
        "Make two bar charts since {day}: first {metric_one}, then {metric_two}.",
        "I want to compare {metric_one} with {metric_two} since {day}. One bar chart each, in this order.",
        "Since {day}: a bar chart of {metric_one}, and after that a bar chart of {metric_two}.",
    )),
    Kind("line_if_beyond_day", Mix(none=5, one=5), _line_if_beyond_day, (
        "If {metric} is more than {percent} % higher today than on {day}, draw a line chart of it since "
        "then.",
        "Compare today with {day}. Has {metric} gone up by more than {percent} %? Then I need a line chart "
        "of it since that day.",
        "Draw a line chart of {metric} since {day}, but only if today's value is over {percent} % above "
        "that day's.",
    )),
    Kind("line_if_beyond_weekday", Mix(none=5, one=5), _line_if_beyond_weekday, (
        "If {metric} is more than {percent} % higher today than on the most recent {day}, draw a line chart "
        "of it since that day.",
        "Take the last {day} before today. Should {metric} have risen by over {percent} % from that day to "
        "today, plot it as a line since then.",
        "Is today's {metric} more than {percent} % above the value of the most recent {day}? If yes, make a "
        "line chart from that {day} on.",
    )),
    Kind("weekday_against_week_before", Mix(none=5, one=5), _weekday_against_week_before, (
        "If {metric} was {side} on {day} than on the same weekday one week before, draw a {chart} of it "
        "from the earlier of the two days to the later.",
        "Compare {day} with the day exactly a week earlier. Only if {metric} was {side} on {day}, make a "
        "{chart} of it from that earlier day up to {day}.",
        "Was {metric} on {day} {side} than seven days before? If so, I need a {chart} of it for these eight "
        "days, both ends included.",
    )),
    Kind("both_if_one_grew_more", Mix(none=5, two=5), _both_if_one_grew_more, (
        "If {metric_one} grew by a larger percentage than {metric_two} from {day} to today, draw a line "
        "chart of each since then, {metric_one} first.",
        "Compare the percentage growth from {day} to today: should {metric_one} be ahead of {metric_two}, "
        "plot both as lines since {day}, in that order.",
        "Did {metric_one} grow more, in percent, than {metric_two} between {day} and today? Then I need "
        "line charts of both since {day}: first {metric_one}, second {metric_two}.",
    )),
    Kind("line_of_busiest_source", Mix(one=10), _line_of_busiest_source, (
        "Find the traffic source that brought the most visits since {day}, and draw a line chart of its "
        "visits since then.",
        "Which traffic source has been the busiest since {day}? Plot the visits from it as a line since "
        "that day.",
        "Make a line chart since {day} of the visits from whichever source sent us the most since that day.",
    )),
    Kind("both_sources_if_one_leads", Mix(none=5, two=5), _both_sources_if_one_leads, (
        "If {metric_one}, added up since {day}, is larger than {metric_two}, make a bar chart of each since "
        "then, in the order in which I named them.",
        "Add up the days since {day}: is {metric_one} greater than {metric_two}? Then draw bar charts of "
        "both since that day, in that order.",
        "I need bar charts since {day}, first of {metric_one}, then of {metric_two}, but only if the first "
        "adds up to more than the second over that time.",
    )),
)  # fmt: skip
"""The twelve kinds."""
