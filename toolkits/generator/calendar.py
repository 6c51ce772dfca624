"""Meetings of the owner, one at a time, from August to shortly before Christmas."""

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from toolkits.generator.calendar_days import Slot, make_slots
from toolkits.generator.clock import TODAY, TOMORROW
from toolkits.generator.dice import Dice
from toolkits.generator.people import People, Person
from toolkits.generator.words_events import EVENT_NAMES

_NAME_COUNT = 48
_NAME_USES = (1, 11)
_MEETINGS_EACH = (8, 24)
_NOTHING_AHEAD = 2
_NOT_MET_LATELY = 4
_MET_LATELY = 8
# Weeks apart, so that "met in the last N days" has the same answer however the days are counted.
_LONG_AGO = (date.min, date(2023, 11, 8))
_JUST_NOW = (date(2023, 11, 24), TODAY - timedelta(days=1))
_BEFORE_TODAY = (date.min, TODAY - timedelta(days=1))
_AHEAD = (TOMORROW, date.max)


@dataclass(frozen=True)
class Event:
    """A meeting of the owner with one colleague; `minutes` is its length."""

    name: str
    person: Person
    start: datetime
    minutes: int


def make_events(dice: Dice, people: People) -> list[Event]:
    """Make 300 meetings, sorted by start, that never overlap."""
    slots = make_slots(dice)
    names = _names(dice, slots)
    persons = _persons(dice, slots, people)
    return [
        Event(name, person, slot.start, slot.minutes)
        for name, person, slot in zip(names, persons, slots, strict=True)
    ]


def _names(dice: Dice, slots: list[Slot]) -> list[str]:
    """Give every slot a name, none twice on a day."""
    chosen = dice.sample(EVENT_NAMES, _NAME_COUNT)
    uses = dice.spread(len(slots), _NAME_COUNT, *_NAME_USES)
    names = dice.shuffled(name for name, count in zip(chosen, uses, strict=True) for _ in range(count))
    day_of = [slot.start.date() for slot in slots]
    taken = Counter(zip(day_of, names, strict=True))
    for place, day in enumerate(day_of):
        if taken[day, names[place]] == 1:
            continue
        for other in dice.shuffled(range(len(slots))):
            if not taken[day, names[other]] and not taken[day_of[other], names[place]]:
                taken.subtract([(day, names[place]), (day_of[other], names[other])])
                names[place], names[other] = names[other], names[place]
                taken.update([(day, names[place]), (day_of[other], names[other])])
                break
    return names


def _persons(dice: Dice, slots: list[Slot], people: People) -> list[Person]:
    """Give every slot a colleague, such that some were met lately, some not, and two have nothing ahead."""
    everybody = dice.shuffled(people.directory)
    quotas = dice.spread(len(slots), len(everybody), *_MEETINGS_EACH)
    left = dict(zip(everybody, quotas, strict=True))
    idle = everybody[:_NOTHING_AHEAD]
    distant = everybody[_NOTHING_AHEAD : _NOTHING_AHEAD + _NOT_MET_LATELY]
    others = everybody[_NOTHING_AHEAD + _NOT_MET_LATELY :]
    free = dice.shuffled(range(len(slots)))
    result: dict[int, Person] = {}

    def give(person: Person, count: int, span: tuple[date, date]) -> None:
        fitting = [place for place in free if span[0] <= slots[place].start.date() <= span[1]]
        for place in fitting[:count]:
            free.remove(place)
            result[place] = person
        left[person] -= count

    for person in [*distant, *others]:
        give(person, 1, _AHEAD)
    for person in others[:_MET_LATELY]:
        give(person, 1, _JUST_NOW)
    for person in idle:
        give(person, left[person], _BEFORE_TODAY)
    for person in distant:
        give(person, left[person], _LONG_AGO)
    rest = [person for person in others for _ in range(left[person])]
    result.update(zip(free, rest, strict=True))
    return [result[place] for place in range(len(slots))]
