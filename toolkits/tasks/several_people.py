"""Tasks in several domains that hang on people: whether they were met, wrote, or are late."""

from collections.abc import Callable
from typing import Final

from toolkits.generator.dice import Dice
from toolkits.tasks.calendar import coming
from toolkits.tasks.calls import delete_event
from toolkits.tasks.conditions import met, next_event, overdue, wrote
from toolkits.tasks.customers import PRODUCTS, customers_of, hand_over
from toolkits.tasks.drawing import choose, first_of, last_of, several
from toolkits.tasks.kinds import Call, Draft, Kind, Mix
from toolkits.tasks.office import Office
from toolkits.tasks.parts import an_event, mail
from toolkits.tasks.projects import assignees
from toolkits.tasks.reading import Reading
from toolkits.tasks.records import Person
from toolkits.tasks.said import listed

__all__ = ["KINDS"]

Condition = Callable[[Office, Reading, str, int], bool]

_DAYS: Final = (7, 8, 9, 10, 12, 14, 16, 18, 20, 21)


def _mail_if_unmet(office: Office, dice: Dice) -> Draft:
    person, days, letter = choose(dice, office.people), dice.pick(_DAYS), mail(dice, "met")

    def solve(reading: Reading) -> list[Call]:
        return [] if met(office, reading, person.address, days) else [letter.for_(person.address)]

    return Draft({"person": person.first, "days": str(days), "mail": letter.said}, solve)


def _event_if_silent(office: Office, dice: Dice) -> Draft:
    person, days, event = choose(dice, office.people), dice.pick(_DAYS), an_event(office, dice)

    def solve(reading: Reading) -> list[Call]:
        return [] if wrote(office, reading, person.address, days) else [event.for_(person.address)]

    return Draft({"person": person.first, "days": str(days), "event": event.said}, solve)


def _event_or_mail_if_unmet(office: Office, dice: Dice) -> Draft:
    person, days = choose(dice, office.people), dice.pick(_DAYS)
    event, letter = an_event(office, dice), mail(dice)

    def solve(reading: Reading) -> list[Call]:
        part = letter if met(office, reading, person.address, days) else event
        return [part.for_(person.address)]

    slots = {"person": person.first, "days": str(days), "event": event.said, "mail": letter.said}
    return Draft(slots, solve)


def _mail_if_overdue(office: Office, dice: Dice) -> Draft:
    person, letter = choose(dice, assignees(office)), mail(dice)

    def solve(reading: Reading) -> list[Call]:
        return [letter.for_(person.address)] if overdue(office, reading, person.address) else []

    return Draft({"person": person.first, "mail": letter.said}, solve)


def _event_or_mail_by_overdue(office: Office, dice: Dice) -> Draft:
    person, event, letter = choose(dice, assignees(office)), an_event(office, dice), mail(dice, "thanks")

    def solve(reading: Reading) -> list[Call]:
        part = event if overdue(office, reading, person.address) else letter
        return [part.for_(person.address)]

    return Draft({"person": person.first, "event": event.said, "mail": letter.said}, solve)


def _cancel_or_mail_by_overdue(office: Office, dice: Dice) -> Draft:
    ahead = coming(office)
    meeting = {event.person for event in ahead}
    person = choose(dice, [person for person in assignees(office) if person.address in meeting])
    letter = mail(dice, "overdue")

    def solve(reading: Reading) -> list[Call]:
        if overdue(office, reading, person.address):
            return [letter.for_(person.address)]
        events = [event for event in office.events if event.person == person.address]
        return [delete_event(next_event(events, reading).id)]

    return Draft({"person": person.first, "mail": letter.said}, solve)


def _mail_fewest_overdue(office: Office, dice: Dice) -> Draft:
    people, letter = several(dice, assignees(office), 3), mail(dice)

    def solve(reading: Reading) -> list[Call]:
        fewest = first_of(people, lambda person: len(overdue(office, reading, person.address)))
        return [letter.for_(fewest.address)]

    return Draft({"people": _named(people), "mail": letter.said}, solve)


def _event_with_most_overdue(office: Office, dice: Dice) -> Draft:
    people, event = several(dice, assignees(office), 3), an_event(office, dice)

    def solve(reading: Reading) -> list[Call]:
        most = last_of(people, lambda person: len(overdue(office, reading, person.address)))
        return [event.for_(most.address)]

    return Draft({"people": _named(people), "event": event.said}, solve)


def _named(people: list[Person]) -> str:
    return listed([person.first for person in people])


def _customers_if_unmet(office: Office, dice: Dice) -> Draft:
    return _customers_if(office, dice, met, {True: "have met", False: "have not met"})


def _customers_if_silent(office: Office, dice: Dice) -> Draft:
    return _customers_if(office, dice, wrote, {True: "has written", False: "has not written"})


def _customers_if(office: Office, dice: Dice, condition: Condition, said: dict[bool, str]) -> Draft:
    person, to = several(dice, office.people_with(office.customers), 2)
    days, product = dice.pick(_DAYS), dice.pick(PRODUCTS)
    stage, wanted = dice.pick(("Lead", "Proposal", "Qualified")), dice.pick((True, False))

    def solve(reading: Reading) -> list[Call]:
        if condition(office, reading, person.address, days) is not wanted:
            return []
        return hand_over(customers_of(office, person, stage, product=product), to)

    slots = {"person": person.first, "to": to.first, "days": str(days), "stage": stage, "product": product}
    return Draft({**slots, "condition": said[wanted]}, solve)


def _cancel_all_if_overdue(office: Office, dice: Dice) -> Draft:
    person, letter = choose(dice, assignees(office)), mail(dice, "cancelled")

    def solve(reading: Reading) -> list[Call]:
        if not overdue(office, reading, person.address):
            return []
        events = [event for event in office.events if event.person == person.address]
        cancelled = [delete_event(event.id) for event in events if reading.ahead(event.start)]
        return [*cancelled, letter.for_(person.address)]

    return Draft({"person": person.first, "mail": letter.said}, solve)


KINDS: Final = (
    Kind("mail_if_unmet", Mix(none=6, one=4), _mail_if_unmet, (
        "If I have not met {person} in the last {days} days, send {person} {mail}",
        "Check whether there was an event with {person} in the last {days} days. If there was none, "
        "{person} should get {mail}",
        "Have I met {person} in the last {days} days? Only if not, write {person} {mail}",
    )),
    Kind("event_if_silent", Mix(none=6, one=4), _event_if_silent, (
        "If {person} has not sent me a mail in the last {days} days, schedule {event} with {person}.",
        "No mail from {person} in the last {days} days? Then put {event} with {person} into my calendar.",
        "Look for mails that {person} sent in the last {days} days. If you find none at all, create an "
        "event with {person}: {event}.",
    )),
    Kind("event_or_mail_if_unmet", Mix(one=10), _event_or_mail_if_unmet, (
        "If I have not met {person} in the last {days} days, schedule {event} with {person}. Otherwise send "
        "{person} {mail}",
        "Was there an event with {person} in the last {days} days? If there was not, put {event} with "
        "{person} into my calendar; if there was, send {person} {mail}",
        "Depending on whether {person} and I have met in the last {days} days: if we have not, create the "
        "event {event} with {person}; if we have, write {person} {mail}",
    )),
    Kind("mail_if_overdue", Mix(none=6, one=4), _mail_if_overdue, (
        "If {person} has an overdue task, send {person} {mail}",
        "Is any of {person}'s tasks overdue? Then {person} should get {mail}",
        "Only in case {person} has one overdue task or more, write {person} {mail}",
    )),
    Kind("event_or_mail_by_overdue", Mix(one=10), _event_or_mail_by_overdue, (
        "If any task of {person}'s is overdue, schedule {event} with {person}. If none is, send {person} "
        "{mail}",
        "Look at {person}'s tasks. Are there overdue ones? Then put {event} with {person} into my calendar. "
        "Are there none? Then send {person} {mail}",
        "With overdue tasks, {person} needs to see me: create the event {event} with {person}. Without any, "
        "{person} gets {mail}",
    )),
    Kind("cancel_or_mail_by_overdue", Mix(one=10), _cancel_or_mail_by_overdue, (
        "If {person} has no overdue task, cancel my next event with {person}. Otherwise send {person} {mail}",
        "My next event with {person} is only needed while tasks of {person}'s are overdue. If none is, "
        "delete the event; if one or more are, keep it and send {person} {mail}",
        "Are tasks of {person}'s overdue? If yes, write {person} {mail} If no, take the next event with "
        "{person} out of my calendar.",
    )),
    Kind("mail_fewest_overdue", Mix(one=10), _mail_fewest_overdue, (
        "Who of {people} has the fewest overdue tasks? Send that person {mail}",
        "Compare the overdue tasks of {people}. Whoever has the fewest gets {mail}",
        "Count how many tasks of {people} are overdue, and write to the one with the lowest count: {mail}",
    )),
    Kind("event_with_most_overdue", Mix(one=10), _event_with_most_overdue, (
        "Who of {people} has the most overdue tasks? Schedule {event} with that person.",
        "Compare the overdue tasks of {people}. Put {event} into my calendar with whoever has the most.",
        "Count how many tasks of {people} are overdue. The one with the highest count meets me: {event}.",
    )),
    Kind("customers_if_unmet", Mix(none=3, one=1, two=2, more=4), _customers_if_unmet, (
        "If I {condition} {person} in the last {days} days, reassign {person}'s customers in the stage "
        "{stage} with an interest in {product} to {to}.",
        "Provided that I {condition} {person} in the last {days} days, {to} takes over all of {person}'s "
        "{product} customers in the stage {stage}.",
        "Look at my calendar first. In case I {condition} {person} in the last {days} days, give {to} those "
        "of {person}'s customers that have the status {stage} and are interested in {product}.",
    )),
    Kind("customers_if_silent", Mix(none=3, one=1, two=2, more=4), _customers_if_silent, (
        "If {person} {condition} to me in the last {days} days, reassign {person}'s customers in the stage "
        "{stage} with an interest in {product} to {to}.",
        "Provided that {person} {condition} me a mail in the last {days} days, {to} takes over all of "
        "{person}'s {product} customers in the stage {stage}.",
        "Look at my mails first. In case {person} {condition} in the last {days} days, give {to} those of "
        "{person}'s customers that have the status {stage} and are interested in {product}.",
    )),
    Kind("cancel_all_if_overdue", Mix(none=2, two=2, more=6), _cancel_all_if_overdue, (
        "If {person} has an overdue task, cancel all events ahead with {person} and send {person} {mail}",
        "Is any task of {person}'s overdue? Then delete whatever I have ahead with {person}, and write "
        "{person} {mail}",
        "As long as {person} has overdue tasks we do not meet: should there be any, take every coming event "
        "with {person} out of my calendar and let {person} know with {mail}",
    )),
)  # fmt: skip
"""The eleven kinds that hang on people."""
