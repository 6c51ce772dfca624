"""Tasks in several domains that hang on facts: figures of the site, who comes first, who wrote a mail."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from toolkits.generator.dice import Dice
from toolkits.tasks.analytics import draw_day, draw_limit
from toolkits.tasks.calendar import coming
from toolkits.tasks.calls import forward, plot
from toolkits.tasks.conditions import beyond, ever, total
from toolkits.tasks.drawing import Unclear, choose, first_of, several
from toolkits.tasks.email import latest_from, writers
from toolkits.tasks.kinds import Call, Draft, Kind, Mix
from toolkits.tasks.office import Office
from toolkits.tasks.parts import Part, an_event, mail, new_task
from toolkits.tasks.projects import assignees
from toolkits.tasks.reading import Reading
from toolkits.tasks.records import Event, Mail, Person, quotable
from toolkits.tasks.said import METRICS, SOURCES, said_day, said_weekday

__all__ = ["KINDS"]

_PERCENT: Final = (5, 10, 20, 30, 50)


def _mail_if_limit(office: Office, dice: Dice) -> Draft:
    return _if_limit(office, dice, choose(dice, office.people), mail(dice, "figures"))


def _task_if_limit(office: Office, dice: Dice) -> Draft:
    return _if_limit(office, dice, choose(dice, assignees(office)), new_task(office, dice))


def _if_limit(office: Office, dice: Dice, person: Person, part: Part) -> Draft:
    metric, weeks = dice.pick(list(METRICS)), dice.between(2, 10)
    first = office.today - timedelta(weeks=weeks)
    side, limit = draw_limit(office, dice, metric, first)
    unit = " seconds" if metric == "session_duration_seconds" else ""

    def solve(reading: Reading) -> list[Call]:
        passed = ever(office, reading, metric, first, limit, side)
        return [part.for_(person.address)] if passed else []

    slots = {"person": person.first, "part": part.said, "metric": METRICS[metric], "weeks": str(weeks)}
    return Draft({**slots, "side": side, "limit": f"{limit}{unit}"}, solve)


def _line_and_mail_if_beyond(office: Office, dice: Dice) -> Draft:
    metric, percent, day = dice.pick(list(METRICS)), dice.pick(_PERCENT), draw_day(office, dice)
    person, letter = choose(dice, office.people), mail(dice, "figures")

    def solve(reading: Reading) -> list[Call]:
        if not beyond(office, reading, metric, day, percent):
            return []
        return [plot(day, office.today, metric, "line"), letter.for_(person.address)]

    slots = {"metric": METRICS[metric], "percent": str(percent), "day": said_day(day, office.today)}
    return Draft({**slots, "person": person.first, "mail": letter.said}, solve)


def _line_or_task_by_growth(office: Office, dice: Dice) -> Draft:
    metric, percent, day = dice.pick(list(METRICS)), dice.pick(_PERCENT), draw_day(office, dice)
    person, task = choose(dice, assignees(office)), new_task(office, dice)

    def solve(reading: Reading) -> list[Call]:
        if beyond(office, reading, metric, day, percent):
            return [plot(day, office.today, metric, "line")]
        return [task.for_(person.address)]

    slots = {"metric": METRICS[metric], "percent": str(percent), "day": said_day(day, office.today)}
    return Draft({**slots, "person": person.first, "task": task.said}, solve)


def _event_if_beyond(office: Office, dice: Dice) -> Draft:
    metric, percent, day = dice.pick(list(METRICS)), dice.pick(_PERCENT), draw_day(office, dice)
    person, event = choose(dice, office.people), an_event(office, dice)

    def solve(reading: Reading) -> list[Call]:
        return [event.for_(person.address)] if beyond(office, reading, metric, day, percent) else []

    slots = {"metric": METRICS[metric], "percent": str(percent), "day": said_weekday(day, office.today)}
    return Draft({**slots, "person": person.first, "event": event.said}, solve)


def _bar_and_task_if_source_leads(office: Office, dice: Dice) -> Draft:
    one, other = several(dice, SOURCES, 2)
    day, person, task = draw_day(office, dice), choose(dice, assignees(office)), new_task(office, dice)

    def solve(reading: Reading) -> list[Call]:
        if not reading.above(total(office, reading, one, day), total(office, reading, other, day)):
            return []
        return [plot(day, office.today, one, "bar"), task.for_(person.address)]

    slots = {"metric_one": METRICS[one], "metric_two": METRICS[other], "day": said_day(day, office.today)}
    return Draft({**slots, "person": person.first, "task": task.said}, solve)


def _first_event(office: Office, dice: Dice) -> Event:
    day = choose(dice, [event.start.date() for event in coming(office)])
    first = first_of(office.events_on(day), lambda event: event.start)
    if "@" not in first.person or "." not in first.person:
        raise Unclear
    return first


def _mail_first_attendee(office: Office, dice: Dice) -> Draft:
    event, letter = _first_event(office, dice), mail(dice, "host")
    slots = {"day": said_weekday(event.start.date(), office.today), "mail": letter.said}
    return Draft(slots, lambda _: [letter.for_(event.person)])


def _forward_to_first_attendee(office: Office, dice: Dice) -> Draft:
    event, person = _first_event(office, dice), choose(dice, writers(office))
    latest = latest_from(office, person)
    if person.address == event.person:
        raise Unclear
    slots = {"day": said_weekday(event.start.date(), office.today), "person": person.first}
    return Draft(slots, lambda _: forward([latest.id], event.person))


def _dated_mail(office: Office, dice: Dice, among: Sequence[Person]) -> tuple[dict[str, str], Mail]:
    addresses = {person.address for person in among}
    mail_ = choose(dice, [one for one in office.mails if one.sender in addresses and quotable(one.subject)])
    day = mail_.sent.date()
    subjects = [one.subject.lower() for one in office.mails if one.sent.date() == day]
    if subjects.count(mail_.subject.lower()) > 1:
        raise Unclear
    return {"subject": mail_.subject, "day": said_day(day, office.today)}, mail_


def _event_with_sender(office: Office, dice: Dice) -> Draft:
    slots, about = _dated_mail(office, dice, office.people)
    event = an_event(office, dice)
    return Draft({**slots, "event": event.said}, lambda _: [event.for_(about.sender)])


def _task_for_sender(office: Office, dice: Dice) -> Draft:
    slots, about = _dated_mail(office, dice, assignees(office))
    task = new_task(office, dice)
    return Draft({**slots, "task": task.said}, lambda _: [task.for_(about.sender)])


KINDS: Final = (
    Kind("mail_if_limit", Mix(none=6, one=4), _mail_if_limit, (
        "If {metric} was {side} {limit} on any day of the last {weeks} weeks, send {person} {part}",
        "Go through the last {weeks} weeks day by day. Was {metric} {side} {limit} at least once? Then "
        "{person} should get {part}",
        "Should {metric} have been {side} {limit} on one day or more in the last {weeks} weeks, write "
        "{person} {part}",
    )),
    Kind("task_if_limit", Mix(none=6, one=4), _task_if_limit, (
        "If {metric} was {side} {limit} on any day of the last {weeks} weeks, create a task for {person}: "
        "{part}.",
        "Go through the last {weeks} weeks day by day. Was {metric} {side} {limit} at least once? Then "
        "{person} gets a new task: {part}.",
        "Should {metric} have been {side} {limit} on one day or more in the last {weeks} weeks, {person} "
        "has something to do: {part}. Put it on the project board in that case.",
    )),
    Kind("line_and_mail_if_beyond", Mix(none=6, two=4), _line_and_mail_if_beyond, (
        "If {metric} is more than {percent} % higher today than on {day}, draw a line chart of it since "
        "that day and send {person} {mail}",
        "Compare today with {day}. Has {metric} risen by more than {percent} %? Then plot it as a line "
        "since that day, and write {person} {mail}",
        "Only if {metric} of today is over {percent} % above its value on {day}, make a line chart of it "
        "since then and let {person} have {mail}",
    )),
    Kind("line_or_task_by_growth", Mix(one=10), _line_or_task_by_growth, (
        "If {metric} grew by more than {percent} % from {day} to today, draw a line chart of it since that "
        "day. Otherwise create a task for {person}: {task}.",
        "Compare today with {day}. Is {metric} more than {percent} % higher? Then plot it as a line since "
        "that day. If not, {person} gets the new task {task}.",
        "A rise of over {percent} % in {metric} from {day} to today calls for a line chart of it since "
        "then; anything less calls for a new task for {person}: {task}.",
    )),
    Kind("event_if_beyond", Mix(none=6, one=4), _event_if_beyond, (
        "If {metric} is more than {percent} % higher today than it was on {day}, schedule {event} with "
        "{person}.",
        "Compare today with {day}. Should {metric} have risen by more than {percent} %, put {event} with "
        "{person} into my calendar.",
        "Has {metric} gone up by over {percent} % from {day} to today? Only then create the event {event} "
        "with {person}.",
    )),
    Kind("bar_and_task_if_source_leads", Mix(none=6, two=4), _bar_and_task_if_source_leads, (
        "If {metric_one}, added up since {day}, is larger than {metric_two}, make a bar chart of the former "
        "since then and create a task for {person}: {task}.",
        "Add up the days since {day}. Is {metric_one} greater than {metric_two}? Then {person} gets a new "
        "task, {task}, and I get a bar chart since that day of the greater of the two.",
        "Only if {metric_one} comes to more than {metric_two} in total since {day}: draw a bar chart of the "
        "first of them since then, and give {person} a new task: {task}.",
    )),
    Kind("mail_first_attendee", Mix(one=10), _mail_first_attendee, (
        "Send whoever I meet first on {day} {mail}",
        "Look up the first event of {day}. Its participant should get {mail}",
        "With whom is my first event on {day}? Write to that person: {mail}",
    )),
    Kind("forward_to_first_attendee", Mix(one=10), _forward_to_first_attendee, (
        "Forward {person}'s latest mail to whoever I meet first on {day}.",
        "The participant of my first event on {day} should see the most recent mail from {person}. Forward "
        "it.",
        "With whom is my first event on {day}? Pass the last mail that {person} sent me on to them.",
    )),
    Kind("event_with_sender", Mix(one=10), _event_with_sender, (
        'Schedule {event} with the person who sent me the mail "{subject}" on {day}.',
        'On {day} a mail with the subject "{subject}" came in. Put {event} with its sender into my calendar.',
        'Find out who wrote me "{subject}" on {day}, and create an event with them: {event}.',
    )),
    Kind("task_for_sender", Mix(one=10), _task_for_sender, (
        'Create a task for the person who sent me the mail "{subject}" on {day}: {task}.',
        'On {day} a mail with the subject "{subject}" came in. Its sender gets a new task: {task}.',
        'Find out who wrote me "{subject}" on {day}, and put a task for them on the project board: {task}.',
    )),
)  # fmt: skip
"""The ten kinds that hang on facts."""
