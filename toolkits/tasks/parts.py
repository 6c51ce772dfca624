"""What tasks in several domains are put together from: an event, a mail or a task that may come to be."""

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from toolkits.generator.dice import Dice
from toolkits.tasks.calendar import draw_slot
from toolkits.tasks.calls import add_event, add_task, send
from toolkits.tasks.drawing import Unclear
from toolkits.tasks.kinds import Call
from toolkits.tasks.office import Office
from toolkits.tasks.projects import BOARDS
from toolkits.tasks.said import said_clock, said_day, said_weekday
from toolkits.tasks.words import BODIES, EVENT_NAMES, MAILS, TASK_NAMES

__all__ = ["Part", "an_event", "mail", "new_task"]


class Part(NamedTuple):
    """Something that a request may ask for.

    Attributes:
        said: How it is said, but for whom it is.
        for_: The call that does it, for the person with an address.
    """

    said: str
    for_: Callable[[str], Call]


def an_event(office: Office, dice: Dice) -> Part:
    """Draw an event: `"Name" on a day at a time for so many minutes`."""
    name, minutes = dice.pick(EVENT_NAMES), dice.pick((30, 60))
    start = draw_slot(office, dice, minutes)
    day = said_weekday(start.date(), office.today)
    said = f'"{name}" on {day} at {said_clock(start)} for {minutes} minutes'

    def put(address: str) -> Call:
        return add_event(name, address, start, minutes)

    return Part(said, put)


def mail(dice: Dice, occasion: str = "") -> Part:
    """Draw a mail: `a mail with the subject "Subject" and the text "Body"`."""
    subject, body = BODIES[occasion] if occasion else dice.pick(MAILS)
    said = f'a mail with the subject "{subject}" and the text "{body}"'

    def sent(address: str) -> Call:
        return send(address, subject, body)

    return Part(said, sent)


def new_task(office: Office, dice: Dice) -> Part:
    """Draw a task: `"Name" on a board, in Backlog, due on a day`."""
    name, board = dice.pick(TASK_NAMES), dice.pick(BOARDS)
    if name in [duty.name for duty in office.duties]:
        raise Unclear
    due = office.today + timedelta(days=dice.between(3, 20))
    said = f'"{name}" on the {board} board, in the list Backlog, due on {said_day(due, office.today)}'

    def created(address: str) -> Call:
        return add_task(name, address, "Backlog", due, board)

    return Part(said, created)
