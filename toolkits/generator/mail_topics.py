"""Who writes about what: senders and the tasks and meetings of theirs that their mails are about."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from toolkits.generator.calendar import Event
from toolkits.generator.dice import Dice
from toolkits.generator.people import People, Person
from toolkits.generator.projects import Task
from toolkits.generator.words_mail import EVENT_SUBJECTS, TASK_SUBJECTS

_COUNT = 500
_TASK_MAILS = 250
_EACH = (10, 44)
_TASK_TOPICS = (14, 13, 13)
_EVENT_TOPICS = 40
# Colleagues without tasks write about meetings only, so they write no more than this.
_SALES_LIMIT = 30
# A topic used this often is left to rest as long as its sender has others.
_MOST_USES = 16


@dataclass(frozen=True)
class Topic:
    """What a mail is about: a task or a meeting of the sender's, by its name there."""

    name: str
    is_task: bool
    subject: str


class _Choices:
    """The topics open to each sender, and the drafts made so far."""

    def __init__(
        self, dice: Dice, pools: dict[tuple[Person, bool], list[Topic]], left: dict[Person, int]
    ) -> None:
        self.drafts: list[tuple[Person, Topic]] = []
        self.left = left
        self._dice = dice
        self._pools = pools
        self._uses: Counter[Topic] = Counter()

    def cover(self) -> None:
        """Use every topic once, the ones that few people can write about first."""
        senders: dict[Topic, list[Person]] = {}
        for (person, _), topics in self._pools.items():
            for topic in topics:
                senders.setdefault(topic, []).append(person)
        for topic in sorted(senders, key=lambda topic: len(senders[topic])):
            self._add(max(senders[topic], key=lambda person: self.left[person]), topic)

    def fill(self, person: Person, *, is_task: bool) -> None:
        """Add a mail by `person` about one of their topics; they favour the ones they have first."""
        pool = self._pools[person, is_task] or self._pools[person, not is_task]
        place = min(self._dice.below(len(pool)) for _ in range(2))
        if self._uses[pool[place]] < _MOST_USES:
            self._add(person, pool[place])
        else:
            self._add(person, min(pool, key=lambda topic: self._uses[topic]))

    def _add(self, person: Person, topic: Topic) -> None:
        self.drafts.append((person, topic))
        self.left[person] -= 1
        self._uses[topic] += 1


def make_drafts(
    dice: Dice, people: People, events: list[Event], tasks: list[Task]
) -> list[tuple[Person, Topic]]:
    """Pair 500 times a sender and a topic of theirs; half of the mails, and of the topics, are tasks."""
    choices = _Choices(dice, _pools(dice, people, events, tasks), _mails_each(dice, people))
    choices.cover()
    for person in people.sales:
        for _ in range(choices.left[person]):
            choices.fill(person, is_task=False)
    rest = [person for person in people.directory for _ in range(choices.left[person])]
    missing = _TASK_MAILS - sum(topic.is_task for _, topic in choices.drafts)
    for place, person in enumerate(dice.shuffled(rest)):
        choices.fill(person, is_task=place < missing)
    return choices.drafts


def _mails_each(dice: Dice, people: People) -> dict[Person, int]:
    """Say how many mails each colleague has sent."""
    amounts = dice.spread(_COUNT, len(people.directory), *_EACH)
    modest = sorted(range(len(amounts)), key=lambda place: amounts[place] > _SALES_LIMIT)
    sales_places = modest[: len(people.sales)]
    rest = iter([amount for place, amount in enumerate(amounts) if place not in sales_places])
    result = {person: amounts[place] for person, place in zip(people.sales, sales_places, strict=True)}
    return {person: result[person] if person in result else next(rest) for person in people.directory}


def _pools(
    dice: Dice, people: People, events: list[Event], tasks: list[Task]
) -> dict[tuple[Person, bool], list[Topic]]:
    """List the topics of each person, for tasks (key `True`) and for meetings."""
    task_topics = [
        topic
        for board, count in zip(people.teams, _TASK_TOPICS, strict=True)
        for topic in _topics(dice, (task.name for task in tasks if task.board == board), count, is_task=True)
    ]
    event_topics = _topics(dice, (event.name for event in events), _EVENT_TOPICS, is_task=False)
    own_tasks = {(task.person, task.name) for task in tasks}
    own_events = {(event.person, event.name) for event in events}
    pools: dict[tuple[Person, bool], list[Topic]] = {}
    for person in people.directory:
        pools[person, True] = [
            topic for topic in dice.shuffled(task_topics) if (person, topic.name) in own_tasks
        ]
        pools[person, False] = [
            topic for topic in dice.shuffled(event_topics) if (person, topic.name) in own_events
        ]
    return pools


def _topics(dice: Dice, names: Iterable[str], count: int, *, is_task: bool) -> list[Topic]:
    """Make topics of the `count` names that occur most often, equals at random."""
    uses = Counter(names)
    chosen = sorted(dice.shuffled(sorted(uses)), key=lambda name: -uses[name])[:count]
    subjects = TASK_SUBJECTS if is_task else EVENT_SUBJECTS
    return [Topic(name, is_task, dice.pick(subjects).format(name=name)) for name in chosen]
