"""When meetings take place and how long they last, day by day."""

from dataclasses import dataclass
from datetime import date, datetime

from toolkits.generator.clock import LAST_START_SLOT, SLOT_MINUTES, TODAY, TOMORROW, slot_time, working_days
from toolkits.generator.dice import Dice

_FIRST = date(2023, 8, 1)
_LAST = date(2023, 12, 21)
# How many meetings last one half hour, two, three, four: 28, 27, 25 and 20 % of 300.
_LENGTHS = {1: 84, 2: 81, 3: 75, 4: 60}
_PAST_MEETINGS = 248
_TODAY_MEETINGS = 4
_TOMORROW_MEETINGS = 6
_AHEAD_MEETINGS = 52
_LAST_DAY_MEETINGS = 2
_RECENT_DAYS = 4
_RECENT_MEETINGS = 3
# A day is full when its meetings take this many half hours: any order of them then starts by 15:30.
_DAY_LIMIT = 14


@dataclass(frozen=True)
class Slot:
    """Room for a meeting of `minutes` minutes."""

    start: datetime
    minutes: int


def make_slots(dice: Dice) -> list[Slot]:
    """Make 300 slots in order of time: 1 to 5 on every working day, 6 on the day after now."""
    counts = _meetings_by_day(dice)
    pool = dice.shuffled(length for length, count in _LENGTHS.items() for _ in range(count))
    tomorrow = _tomorrow(dice, pool)
    # Busy days first, while short meetings are left to make room with.
    lengths: dict[date, list[int]] = {}
    for day in sorted(counts, key=lambda day: (-counts[day], day)):
        lengths[day] = _lengths(pool, counts[day])
    slots = [slot for day in lengths for slot in _lay_out(dice, day, dice.shuffled(lengths[day]))]
    return sorted([*slots, *tomorrow], key=lambda slot: slot.start)


def _meetings_by_day(dice: Dice) -> dict[date, int]:
    """Count the meetings of every day except the one after now."""
    past = [day for day in working_days(_FIRST, TODAY) if day != TODAY]
    ahead = [day for day in working_days(TOMORROW, _LAST) if day != TOMORROW]
    recent, early = past[-_RECENT_DAYS:], past[:-_RECENT_DAYS]
    counts = dict.fromkeys(recent, _RECENT_MEETINGS)
    counts[TODAY] = _TODAY_MEETINGS
    early_total = _PAST_MEETINGS - _TODAY_MEETINGS - _RECENT_DAYS * _RECENT_MEETINGS
    counts.update(zip(early, dice.level(early_total, len(early), 1, 5), strict=True))
    counts[ahead[-1]] = _LAST_DAY_MEETINGS
    ahead_total = _AHEAD_MEETINGS - _TOMORROW_MEETINGS - _LAST_DAY_MEETINGS
    counts.update(zip(ahead[:-1], dice.level(ahead_total, len(ahead) - 1, 1, 5), strict=True))
    return counts


def _lengths(pool: list[int], count: int) -> list[int]:
    """Take `count` lengths out of `pool`, changing long ones for the shortest until they fit a day."""
    taken = [pool.pop() for _ in range(count)]
    while sum(taken) > _DAY_LIMIT:
        longest, shortest = max(taken), min(pool)
        taken[taken.index(longest)] = shortest
        pool[pool.index(shortest)] = longest
    return taken


def _lay_out(dice: Dice, day: date, lengths: list[int]) -> list[Slot]:
    """Place the meetings of a day in this order, with free half hours between them at random."""
    slack = LAST_START_SLOT - sum(lengths[:-1])
    # As many cuts as meetings divide the free time: before each meeting, and after the last start.
    waits = sorted(dice.below(slack + 1) for _ in lengths)
    starts = [wait + sum(lengths[:place]) for place, wait in enumerate(waits)]
    return _slots(day, starts, lengths)


def _tomorrow(dice: Dice, pool: list[int]) -> list[Slot]:
    """Fill the day after now, out of `pool`: busy from 09:00, one free half hour, then two more meetings.

    The gap is exactly a half hour, with a meeting right before and right after it, so there is one answer
    to the question for the first free half hour. The last meeting runs from 15:30 to 17:30.
    """
    morning = dice.shuffled([1, 2, 2, dice.between(1, 3)])
    noon = dice.between(1, 2)
    lengths = [*morning, noon, 4]
    for length in lengths:
        pool.remove(length)
    starts = [sum(morning[:place]) for place in range(len(morning))]
    return _slots(TOMORROW, [*starts, sum(morning) + 1, LAST_START_SLOT], lengths)


def _slots(day: date, starts: list[int], lengths: list[int]) -> list[Slot]:
    return [
        Slot(slot_time(day, start), length * SLOT_MINUTES)
        for start, length in zip(starts, lengths, strict=True)
    ]
