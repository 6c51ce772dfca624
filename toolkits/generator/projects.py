"""Tasks on three boards: who does what by when, and who is late."""

from dataclasses import dataclass
from datetime import date

from toolkits.generator.clock import TODAY, TOMORROW, days
from toolkits.generator.dice import Dice
from toolkits.generator.people import People, Person
from toolkits.generator.words_projects import TASK_NAMES

# Tasks of the five people of a board, 100 together; 16 is the unique fewest of all, 23 the most.
_TEAM_WITH_THE_FEWEST = ((16, 19, 21, 21, 23), (16, 20, 20, 21, 23), (16, 18, 21, 22, 23))
_OTHER_TEAMS = ((17, 20, 20, 21, 22), (18, 19, 20, 21, 22), (17, 19, 21, 21, 22), (18, 20, 20, 20, 22))
# How many names of a board are used 2, 3, 4 and 5 times, 100 uses together: 26, 26 and 25 names.
_NAME_USES = ((4, 4, 10, 8), (4, 4, 10, 8), (2, 4, 11, 8))
# People of a board without anything overdue: one on two boards, so that "the fewest" is one person there.
_PUNCTUAL = (4, 1, 1)
_OVERDUE = 29
_LATE_PEOPLE = 9

_FIRST_DUE = date(2023, 11, 27)
_LAST_DUE = date(2023, 12, 13)


@dataclass(frozen=True)
class Task:
    """A task of one person; `column` is the list it stands in, `board` the board of that list."""

    name: str
    person: Person
    column: str
    due: date
    board: str


def make_tasks(dice: Dice, people: People) -> list[Task]:
    """Make 300 tasks, sorted by due date, no name twice for a person."""
    names = _names_by_person(dice, people)
    plan = _plan(dice, _overdue_by_person(dice, people), {who: len(mine) for who, mine in names.items()})
    columns = _open_columns(dice)
    tasks: list[Task] = []
    for board, team in people.teams.items():
        for person in team:
            duties = _due_dates(dice, plan[person])
            for name, (kind, due) in zip(dice.shuffled(names[person]), duties, strict=True):
                column = "Completed" if kind.startswith("done") else columns[kind == "late"].pop()
                tasks.append(Task(name, person, column, due, board))
    return sorted(dice.shuffled(tasks), key=lambda task: task.due)


def _names_by_person(dice: Dice, people: People) -> dict[Person, list[str]]:
    """Give each person of a board different task names of that board."""
    result: dict[Person, list[str]] = {}
    sizes = dice.shuffled(
        [dice.pick(_TEAM_WITH_THE_FEWEST), dice.pick(_OTHER_TEAMS), dice.pick(_OTHER_TEAMS)]
    )
    for team, team_sizes, uses, board in zip(
        people.teams.values(), sizes, dice.shuffled(_NAME_USES), TASK_NAMES, strict=True
    ):
        chosen = dice.sample(TASK_NAMES[board], sum(uses))
        uses_each = [times for times, amount in enumerate(uses, 2) for _ in range(amount)]
        left = dict(zip(chosen, uses_each, strict=True))
        # Taking the names with the most uses left, the largest share first, always comes out even.
        for person, size in zip(dice.shuffled(team), sorted(team_sizes, reverse=True), strict=True):
            result[person] = sorted(dice.shuffled(left), key=lambda name: -left[name])[:size]
            for name in result[person]:
                left[name] -= 1
    return result


def _overdue_by_person(dice: Dice, people: People) -> dict[Person, int]:
    """Count the overdue tasks of everybody: six people have none, the most is one person's."""
    amounts = dice.spread(_OVERDUE, _LATE_PEOPLE, 1, 6)
    result: dict[Person, int] = {}
    for team, punctual in zip(people.teams.values(), dice.shuffled(_PUNCTUAL), strict=True):
        for place, person in enumerate(dice.shuffled(team)):
            result[person] = 0 if place < punctual else amounts.pop()
    return result


def _plan(dice: Dice, late: dict[Person, int], sizes: dict[Person, int]) -> dict[Person, list[str]]:
    """Say for each person's tasks whether each is late, due today, ahead, or done (and when due).

    What is open and due today belongs to two people who are late anyway: for everybody else it makes no
    difference whether today's tasks count as overdue. Everybody has something ahead.
    """
    plan = {person: ["late"] * count + ["ahead"] for person, count in late.items()}
    for person in dice.sample((person for person, count in late.items() if count), 2):
        plan[person] += ["today", "today"]
    rest = dice.shuffled(
        ["done before"] * 27 + ["done today"] * 12 + ["done ahead"] * 12 + ["ahead"] * (216 - len(plan))
    )
    for person, kinds in plan.items():
        kinds.extend(rest.pop() for _ in range(sizes[person] - len(kinds)))
    return plan


def _open_columns(dice: Dice) -> dict[bool, list[str]]:
    """Deal the lists of the tasks that are not completed; the key says whether the task is late."""
    return {
        True: dice.shuffled(["Backlog"] * 20 + ["In Review"] * 6 + ["In Progress"] * 3),
        False: dice.shuffled(["Backlog"] * 172 + ["In Review"] * 39 + ["In Progress"] * 9),
    }


def _due_dates(dice: Dice, kinds: list[str]) -> list[tuple[str, date]]:
    """Date a person's tasks so that one open task is due before all others of that person.

    Returns:
        A pair of kind and due date for every kind, in the same order.
    """
    early = list(days(_FIRST_DUE, TODAY))[:-1]
    ahead = list(days(TOMORROW, _LAST_DUE))
    ranges = {"today": [TODAY], "done today": [TODAY], "done ahead": ahead[3:], "done before": early}
    if "late" in kinds:
        ranges |= {"late": early[1:], "done before": early[1:], "ahead": ahead}
        first = kinds.index("late")
        duties = [(kind, dice.pick(ranges[kind])) for kind in kinds]
        duties[first] = ("late", early[0])
        duties[kinds.index("ahead")] = ("ahead", _LAST_DUE)
    else:
        ranges["ahead"] = ahead[3:]
        duties = [(kind, dice.pick(ranges[kind])) for kind in kinds]
        duties[kinds.index("ahead")] = ("ahead", dice.pick(ahead[:3]))
    return duties
