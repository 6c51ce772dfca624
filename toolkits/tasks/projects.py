"""Tasks about the project board: what moves on, what is new, and who does it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from toolkits.generator.dice import Dice
from toolkits.tasks.calls import add_task, move_task, reassign_task
from toolkits.tasks.conditions import LISTS, overdue
from toolkits.tasks.drawing import Unclear, choose, first_of, several
from toolkits.tasks.kinds import Call, Draft, Kind, Mix
from toolkits.tasks.office import Office
from toolkits.tasks.reading import Reading
from toolkits.tasks.records import Duty, Person, clear_names
from toolkits.tasks.said import listed, said_day
from toolkits.tasks.words import TASK_NAMES

__all__ = ["BOARDS", "KINDS", "assignees", "duties_of"]

BOARDS: Final = ("Back end", "Front end", "Design")
_OPEN: Final = ("Backlog", "In Progress", "In Review")


def assignees(office: Office) -> list[Person]:
    """List the people who have tasks."""
    return office.people_with(office.duties)


def duties_of(office: Office, person: Person, column: str = "") -> list[Duty]:
    """List somebody's tasks, in one list or in all."""
    own = [duty for duty in office.duties if duty.person == person.address]
    return [duty for duty in own if column in ("", duty.column)]


def _move(duties: Sequence[Duty], column: str) -> list[Call]:
    return [move_task(duty.id, column) for duty in duties if duty.column != column]


def _reassign(duties: Sequence[Duty], person: Person) -> list[Call]:
    return [reassign_task(duty.id, person.address) for duty in duties]


def _move_one(office: Office, dice: Dice) -> Draft:
    person = choose(dice, assignees(office))
    names = [duty.name for duty in duties_of(office, person)]
    name = choose(dice, clear_names(names))
    (duty, *others) = [duty for duty in duties_of(office, person) if duty.name == name]
    if others:
        raise Unclear
    column = dice.pick([column for column in LISTS if column != duty.column])
    slots = {"person": person.first, "task": name, "list": column}
    return Draft(slots, lambda _: _move([duty], column))


def _move_list(office: Office, dice: Dice) -> Draft:
    person, (start, end) = choose(dice, assignees(office)), dice.sample(LISTS, 2)
    slots = {"person": person.first, "from": start, "to": end}
    return Draft(slots, lambda _: _move(duties_of(office, person, start), end))


def _move_due(office: Office, dice: Dice) -> Draft:
    person, column = choose(dice, assignees(office)), dice.pick(LISTS)
    day = choose(dice, [duty.due for duty in office.duties if duty.due is not None])
    start = dice.pick([other for other in _OPEN if other != column])

    def solve(_: Reading) -> list[Call]:
        due = [duty for duty in duties_of(office, person, start) if duty.due == day]
        return _move(due, column)

    slots = {"person": person.first, "day": said_day(day, office.today), "from": start, "to": column}
    return Draft(slots, solve)


def _create(office: Office, dice: Dice) -> Draft:
    person, name = choose(dice, assignees(office)), dice.pick(TASK_NAMES)
    if name in [duty.name for duty in office.duties]:
        raise Unclear
    due = office.today + timedelta(days=dice.between(1, 20))
    column, board = dice.pick(_OPEN), dice.pick(BOARDS)
    slots = {
        "person": person.first,
        "task": name,
        "day": said_day(due, office.today),
        "list": column,
        "board": board,
    }
    return Draft(slots, lambda _: [add_task(name, person.address, column, due, board)])


def _start_overdue(office: Office, dice: Dice) -> Draft:
    people = several(dice, assignees(office), dice.between(1, 2))

    def solve(reading: Reading) -> list[Call]:
        late = [duty for person in people for duty in overdue(office, reading, person.address)]
        return _move(late, "In Progress")

    return Draft({"people": listed([person.first for person in people])}, solve)


def _reassign_list(office: Office, dice: Dice) -> Draft:
    (person, to), column = several(dice, assignees(office), 2), dice.pick(LISTS)
    slots = {"person": person.first, "to": to.first, "list": column}
    return Draft(slots, lambda _: _reassign(duties_of(office, person, column), to))


def _reassign_overdue(office: Office, dice: Dice) -> Draft:
    person, to = several(dice, assignees(office), 2)

    def solve(reading: Reading) -> list[Call]:
        return _reassign(overdue(office, reading, person.address), to)

    return Draft({"person": person.first, "to": to.first}, solve)


def _reassign_earliest(office: Office, dice: Dice) -> Draft:
    person, to = several(dice, assignees(office), 2)
    open_duties = [duty for duty in duties_of(office, person) if duty.column != "Completed"]
    if any(duty.due is None for duty in open_duties):
        raise Unclear
    earliest = first_of(open_duties, lambda duty: duty.due)
    return Draft({"person": person.first, "to": to.first}, lambda _: _reassign([earliest], to))


KINDS: Final = (
    Kind("move_one", Mix(one=10), _move_one, (
        "Move {person}'s task \"{task}\" to the list {list}.",
        "{person}'s \"{task}\" belongs in the list {list} now. Please update the project board.",
        'On the project board, put the task "{task}" that {person} works on into {list}.',
    )),
    Kind("move_list", Mix(none=1, one=4, two=3, more=2), _move_list, (
        "Move all of {person}'s tasks that are in the list {from} to {to}.",
        "Everything that {person} has in the list {from} goes to the list {to}.",
        "Take {person}'s tasks out of the list {from}, should there be any, and put them into {to}.",
    )),
    Kind("move_due", Mix(none=1, one=5, two=3, more=1), _move_due, (
        "Move those of {person}'s tasks in the list {from} that are due on {day} to {to}.",
        "Whatever {person} has in the list {from} with the due date {day} goes to the list {to}.",
        "Go through {person}'s tasks in the list {from}: the ones due on {day} should be in {to}.",
    )),
    Kind("create", Mix(one=10), _create, (
        'Create a task "{task}" for {person} on the {board} board, in the list {list}, due on {day}.',
        '{person} has something new to do: "{task}", due on {day}. Put it into the list {list} of the '
        '{board} board.',
        "Add \"{task}\" to {list} on the {board} board. It is {person}'s task and due on {day}.",
    )),
    Kind("start_overdue", Mix(none=3, one=4, two=2, more=1), _start_overdue, (
        "Move all overdue tasks of {people} to the list In Progress.",
        "Are any tasks of {people} overdue? Put every such task into the list In Progress.",
        "The list In Progress is the place for everything of {people} that is overdue. Move it there.",
    )),
    Kind("reassign_list", Mix(none=2, one=4, two=2, more=2), _reassign_list, (
        "Reassign all of {person}'s tasks that are in the list {list} to {to}.",
        "{to} takes over what {person} has in the list {list}.",
        "Hand {person}'s tasks in the list {list}, if there are any, over to {to}.",
    )),
    Kind("reassign_overdue", Mix(none=3, one=4, two=2, more=1), _reassign_overdue, (
        "Reassign {person}'s overdue tasks to {to}.",
        "{to} helps {person} out: every task of {person}'s that is overdue goes to {to}.",
        "Should {person} have overdue tasks, give all of them to {to}.",
    )),
    Kind("reassign_earliest", Mix(one=10), _reassign_earliest, (
        "Of {person}'s tasks that are not in Completed, give the one that is due first to {to}.",
        "Which task of {person}'s that is not yet in Completed has the earliest due date? Reassign it to "
        "{to}.",
        "{to} takes one task off {person}: the one with the earliest due date among those not in Completed.",
    )),
)  # fmt: skip
"""The eight kinds."""
