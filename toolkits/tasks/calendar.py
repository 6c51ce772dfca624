"""Tasks about the calendar: what to move, to cancel, to rename and to put in."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Final

from toolkits.generator.dice import Dice
from toolkits.tasks.calls import add_event, delete_event, set_event
from toolkits.tasks.conditions import met, next_event
from toolkits.tasks.drawing import Unclear, choose, first_of, last_of
from toolkits.tasks.kinds import Call, Draft, Kind, Mix
from toolkits.tasks.office import Office
from toolkits.tasks.reading import Reading
from toolkits.tasks.records import Event, Person
from toolkits.tasks.said import said_clock, said_weekday
from toolkits.tasks.words import EVENT_NAMES

__all__ = ["KINDS", "coming", "draw_slot"]

_DAYS_UNMET: Final = (7, 10, 12, 14, 18, 21)
_LENGTHS: Final = (30, 60, 90)


def coming(office: Office) -> list[Event]:
    """List the events that are ahead even when today is over."""
    return [event for event in office.events if event.start.date() > office.today]


def draw_slot(office: Office, dice: Dice, minutes: int, day: date | None = None) -> datetime:
    """Draw a time that is free, on a day or on one of the coming working days."""
    if day is None:
        ahead = [office.today + timedelta(days=offset) for offset in range(1, 22)]
        day = choose(dice, [day for day in ahead if day.weekday() < 5])
    return choose(dice, office.free_starts(day, minutes))


def _day_with_events(office: Office, dice: Dice) -> tuple[date, list[Event]]:
    days = [event.start.date() for event in coming(office)]
    day = choose(dice, [day for day in dict.fromkeys(days) if days.count(day) > 1])
    return day, list(office.events_on(day))


def _edge_of_day(office: Office, dice: Dice) -> tuple[dict[str, str], Event]:
    day, events = _day_with_events(office, dice)
    which = dice.pick(("first", "last"))
    edge = {"first": first_of, "last": last_of}[which](events, lambda event: event.start)
    return {"day": said_weekday(day, office.today), "which": which}, edge


def _delete_edge_of_day(office: Office, dice: Dice) -> Draft:
    slots, edge = _edge_of_day(office, dice)
    return Draft(slots, lambda _: [delete_event(edge.id)])


def _rename_edge_of_day(office: Office, dice: Dice) -> Draft:
    slots, edge = _edge_of_day(office, dice)
    name = dice.pick(EVENT_NAMES)
    return Draft({**slots, "name": name}, lambda _: [set_event(edge.id, "event_name", name)])


def _push_back(office: Office, dice: Dice) -> Draft:
    event = choose(dice, coming(office))
    person = _person_of(office, event)
    minutes = dice.pick((30, 60, 90, 120))
    day = event.start.date()
    events = [one for one in office.events_on(day) if one.person == event.person]
    first = first_of(events, lambda one: one.start)
    moved = first.start + timedelta(minutes=minutes)
    slots = {"person": person.first, "day": said_weekday(day, office.today), "minutes": str(minutes)}
    return Draft(slots, lambda _: [set_event(first.id, "event_start", moved.isoformat(" "))])


def _person_of(office: Office, event: Event) -> Person:
    for person in office.people:
        if person.address == event.person:
            return person
    raise Unclear


def _ahead_by_name(office: Office, dice: Dice) -> tuple[str, list[Event]]:
    ahead = {event.name for event in coming(office)}
    name = choose(dice, [name for name in office.clear_events if name in ahead])
    return name, [event for event in office.events if event.name == name]


def _delete_next_by_name(office: Office, dice: Dice) -> Draft:
    name, events = _ahead_by_name(office, dice)
    return Draft({"name": name}, lambda reading: [delete_event(next_event(events, reading).id)])


def _rename_next_by_name(office: Office, dice: Dice) -> Draft:
    name, events = _ahead_by_name(office, dice)
    new = dice.pick(EVENT_NAMES)

    def solve(reading: Reading) -> list[Call]:
        return [set_event(next_event(events, reading).id, "event_name", new)]

    return Draft({"name": name, "new": new}, solve)


def _with(office: Office, person: Person) -> list[Event]:
    return [event for event in office.events if event.person == person.address]


def _delete_next_with(office: Office, dice: Dice) -> Draft:
    person = choose(dice, office.people_with(coming(office)))
    events = _with(office, person)
    return Draft({"person": person.first}, lambda reading: [delete_event(next_event(events, reading).id)])


def _catch_up_if_unmet(office: Office, dice: Dice) -> Draft:
    person, days, name = choose(dice, office.people), dice.pick(_DAYS_UNMET), dice.pick(EVENT_NAMES)
    start = office.first_free(office.tomorrow, 30)

    def solve(reading: Reading) -> list[Call]:
        if met(office, reading, person.address, days):
            return []
        return [add_event(name, person.address, start, 30)]

    return Draft({"person": person.first, "days": str(days), "name": name}, solve)


def _delete_part_of_day(office: Office, dice: Dice) -> Draft:
    day = choose(dice, [event.start.date() for event in coming(office)])
    opens, closes = office.hours(day)
    limits = range(1, (closes - opens) // timedelta(hours=1))
    limit = opens + timedelta(hours=choose(dice, limits))
    side = dice.pick(("before", "after"))

    def solve(reading: Reading) -> list[Call]:
        beyond = {"before": reading.before, "after": reading.after}[side]
        return [delete_event(event.id) for event in office.events_on(day) if beyond(event.start, limit)]

    slots = {"day": said_weekday(day, office.today), "side": side, "clock": said_clock(limit)}
    return Draft(slots, solve)


def _delete_all_with(office: Office, dice: Dice) -> Draft:
    person = choose(dice, office.people_with(office.events))
    return Draft({"person": person.first}, lambda reading: _delete_ahead(_with(office, person), reading))


def _delete_all_by_name(office: Office, dice: Dice) -> Draft:
    name, events = _ahead_by_name(office, dice)
    return Draft({"name": name}, lambda reading: _delete_ahead(events, reading))


def _delete_ahead(events: Sequence[Event], reading: Reading) -> list[Call]:
    return [delete_event(event.id) for event in events if reading.ahead(event.start)]


def _create(office: Office, dice: Dice) -> Draft:
    person, name, minutes = choose(dice, office.people), dice.pick(EVENT_NAMES), dice.pick(_LENGTHS)
    start = draw_slot(office, dice, minutes)
    slots = {
        "person": person.first,
        "name": name,
        "minutes": str(minutes),
        "day": said_weekday(start.date(), office.today),
        "clock": said_clock(start),
    }
    return Draft(slots, lambda _: [add_event(name, person.address, start, minutes)])


KINDS: Final = (
    Kind("delete_edge_of_day", Mix(one=10), _delete_edge_of_day, (
        "Cancel my {which} event on {day}.",
        "Something came up on {day}: take the {which} event of that day out of my calendar.",
        "Please delete the {which} thing in my calendar on {day}.",
    )),
    Kind("rename_edge_of_day", Mix(one=10), _rename_edge_of_day, (
        'Rename my {which} event on {day} to "{name}".',
        'The {which} event of {day} should be called "{name}" from now on.',
        'On {day} my {which} event has the wrong title. Change it to "{name}".',
    )),
    Kind("push_back", Mix(one=10), _push_back, (
        "Push back my first event with {person} on {day} by {minutes} minutes.",
        "I am running late on {day}: let the first event with {person} that day start {minutes} minutes "
        "later.",
        "Move the first event that I have with {person} on {day} to {minutes} minutes later the same day.",
    )),
    Kind("delete_next_by_name", Mix(one=10), _delete_next_by_name, (
        'Cancel the next "{name}".',
        'I cannot make it to the next event called "{name}". Delete it, please.',
        'Take the next "{name}" out of my calendar, and leave any later ones.',
    )),
    Kind("rename_next_by_name", Mix(one=10), _rename_next_by_name, (
        'Rename the next "{name}" to "{new}".',
        'The next event called "{name}" gets a new title: "{new}".',
        'Please call my next "{name}" "{new}" instead; any later ones keep their name.',
    )),
    Kind("delete_next_with", Mix(one=10), _delete_next_with, (
        "Cancel my next event with {person}.",
        "{person} cannot come next time. Delete the next event that we have together.",
        "Take the next event with {person} out of my calendar, and no other.",
    )),
    Kind("catch_up_if_unmet", Mix(none=5, one=5), _catch_up_if_unmet, (
        'If I have not met {person} in the last {days} days, put a 30-minute event called "{name}" with '
        '{person} into my first free slot tomorrow.',
        'Have {person} and I met in the last {days} days? If not, schedule "{name}" with {person} for '
        'tomorrow, 30 minutes, as early as my calendar allows.',
        "Should there have been no event with {person} in the last {days} days, book the earliest free half "
        "hour of tomorrow's working day with {person} and call it \"{name}\".",
    )),
    Kind("delete_part_of_day", Mix(none=1, one=4, two=3, more=2), _delete_part_of_day, (
        "Cancel everything that starts {side} {clock} on {day}.",
        "I am away for a part of {day}. Delete all events of that day that begin {side} {clock}.",
        "On {day} I keep nothing that starts {side} {clock}: take those events out of my calendar, if there "
        "are any.",
    )),
    Kind("delete_all_with", Mix(none=1, one=2, two=4, more=3), _delete_all_with, (
        "Cancel all events ahead with {person}.",
        "{person} is leaving the team. Delete every event with {person} that is still to come.",
        "Take whatever I have ahead with {person} out of my calendar.",
    )),
    Kind("delete_all_by_name", Mix(one=5, two=4, more=1), _delete_all_by_name, (
        'Cancel every "{name}" that is still ahead.',
        'We no longer need "{name}". Delete all events of that name that are yet to come.',
        'Take all future events called "{name}" out of my calendar.',
    )),
    Kind("create", Mix(one=10), _create, (
        'Put "{name}" with {person} into my calendar: {day}, {clock}, {minutes} minutes.',
        'I am meeting {person} on {day} at {clock} for {minutes} minutes. Schedule it as "{name}".',
        'Please create an event called "{name}" with {person}. It starts at {clock} on {day} and lasts '
        '{minutes} minutes.',
    )),
)  # fmt: skip
"""The eleven kinds."""
