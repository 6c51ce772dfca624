"""Makes a task set: draws drafts of every kind, and keeps those with one answer however they are read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from toolkits.generator.dice import Dice
from toolkits.tasks import analytics, calendar, customers, email, projects, several_facts, several_people
from toolkits.tasks.briefing import briefing
from toolkits.tasks.drawing import Unclear
from toolkits.tasks.kinds import MOST_CALLS, Call, Draft, Kind, Mix, Task, size_of
from toolkits.tasks.office import Office
from toolkits.tasks.reading import Reading, readings
from toolkits.tasks.rules import adds_twice, is_sound
from toolkits.workplace import Dataset

__all__ = ["KINDS", "generate_tasks", "shortfalls"]

KINDS: Final[Mapping[str, Sequence[Kind]]] = {
    "analytics": analytics.KINDS,
    "calendar": calendar.KINDS,
    "email": email.KINDS,
    "customers": customers.KINDS,
    "projects": projects.KINDS,
    "several": (*several_people.KINDS, *several_facts.KINDS),
}
"""The kinds by category."""

_DRAWS: Final = 150  # for each task that is wanted
_SPARE: Final = 3


@dataclass(frozen=True)
class _Answered:
    draft: Draft
    calls: tuple[Call, ...]

    @property
    def key(self) -> str:
        return repr([(call.name, *call.arguments.items()) for call in self.calls])


def generate_tasks(dataset: Dataset, seed: int, per_kind: int = 10) -> list[Task]:
    """Make the tasks of a data set: always the same for a data set and a seed.

    A kind of which the data set does not have enough clear cases comes with fewer tasks; `shortfalls` says
    which ones do.
    """
    office = Office(dataset.workplace(dataset.catalogue.names))
    system = briefing(office)
    return [
        task
        for category, kinds in KINDS.items()
        for kind in kinds
        for task in _tasks_of(office, system, category, kind, seed, per_kind)
    ]


def shortfalls(tasks: Sequence[Task], per_kind: int = 10) -> dict[str, int]:
    """Say which kinds have fewer tasks than were wanted, `<category>/<kind>`, and how many they have."""
    counts = {f"{category}/{kind.name}": 0 for category, kinds in KINDS.items() for kind in kinds}
    for task in tasks:
        counts[f"{task.category}/{task.kind}"] += 1
    return {name: count for name, count in counts.items() if count < per_kind}


def _tasks_of(
    office: Office, system: str, category: str, kind: Kind, seed: int, per_kind: int
) -> Iterator[Task]:
    # Every kind has dice of its own, so that a change to one leaves the tasks of all others as they are.
    digest = sha256(f"{seed}/{category}/{kind.name}".encode()).digest()
    dice = Dice(int.from_bytes(digest[:8], "big"))
    for number, answered in enumerate(_chosen(office, kind, dice, per_kind)):
        phrasing = kind.phrasings[number % len(kind.phrasings)]
        yield Task(
            id=f"{category}/{kind.name}/{number}",
            category=category,
            kind=kind.name,
            prompt=phrasing.format_map(answered.draft.slots),
            system=system,
            ground_truth=answered.calls,
            order_sensitive=adds_twice(office, answered.calls),
        )


def _chosen(office: Office, kind: Kind, dice: Dice, per_kind: int) -> list[_Answered]:
    """Choose answered drafts, as the kind's mix wants them, or else as they come."""
    open_places = _places(kind.mix, per_kind)
    kept: list[_Answered] = []
    spare: list[_Answered] = []
    answers: set[str] = set()
    for answered in _answered(office, kind, dice, _DRAWS * per_kind):
        size = size_of(answered.calls)
        if open_places[size] and (not size or answered.key not in answers):
            open_places[size] -= 1
            kept.append(answered)
            answers.add(answered.key)
        elif len(spare) < _SPARE * per_kind:
            spare.append(answered)
        if not any(open_places):
            break
    return kept + _filling(spare, answers, per_kind - len(kept))


def _filling(spare: list[_Answered], answers: set[str], count: int) -> list[_Answered]:
    """Choose up to `count` of what is spare: what has an answer of its own first."""
    own: list[_Answered] = []
    for answered in spare:
        if answered.key not in answers:
            answers.add(answered.key)
            own.append(answered)
    return (own + [answered for answered in spare if answered not in own])[:count]


def _places(mix: Mix, per_kind: int) -> list[int]:
    """Share out so many tasks as the mix says, the largest remainders first."""
    whole = sum(mix)
    places = [per_kind * part // whole for part in mix]
    remainders = [per_kind * part % whole for part in mix]
    for place in sorted(range(len(mix)), key=lambda place: -remainders[place])[: per_kind - sum(places)]:
        places[place] += 1
    return places


def _answered(office: Office, kind: Kind, dice: Dice, draws: int) -> Iterator[_Answered]:
    """Draw drafts, and give those that are new and have one answer that keeps the rules."""
    ways = readings(office.today)
    seen: set[tuple[str, ...]] = set()
    for _ in range(draws):
        try:
            draft = kind.draw(office, dice)
        except Unclear:
            continue
        if (key := tuple(draft.slots.values())) in seen:
            continue
        seen.add(key)
        calls = _agreed(draft, ways)
        if calls is not None and len(calls) <= MOST_CALLS and is_sound(office, calls):
            yield _Answered(draft, calls)


def _agreed(draft: Draft, ways: Sequence[Reading]) -> tuple[Call, ...] | None:
    """Give the one answer that all ways of reading a draft come to, if there is one."""
    try:
        answers = [tuple(draft.solve(reading)) for reading in ways]
    except Unclear:
        return None
    return answers[0] if all(answer == answers[0] for answer in answers) else None
