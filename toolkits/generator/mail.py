"""The owner's mailbox: two months of mail from the colleagues about their tasks and meetings."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from toolkits.generator.calendar import Event
from toolkits.generator.clock import TODAY, days
from toolkits.generator.dice import Dice
from toolkits.generator.mail_topics import Topic, make_drafts
from toolkits.generator.people import People, Person
from toolkits.generator.projects import Task
from toolkits.generator.words_mail import (
    ASIDES,
    CLOSINGS,
    EVENT_LINES_AFTER,
    EVENT_LINES_BEFORE,
    GREETINGS_AFTERNOON,
    GREETINGS_MORNING,
    TASK_LINES,
)

_FIRST_DAY = date(2023, 10, 1)
_FIRST_HOUR, _HOURS, _NOON = 9, 7, 12
_DAY_LIMIT = 15
_SILENT = 3
_REPEATS = 14
# Spans with days between them that stay empty, so that "in the last week" or "for two weeks" has the same
# answer however the days are counted.
_ANY_DAY = (_FIRST_DAY, TODAY)
_LAST_WEEK = (date(2023, 11, 25), TODAY)
_LATELY = (date(2023, 11, 21), TODAY)
_BEFORE_LAST_WEEK = (_FIRST_DAY, date(2023, 11, 19))
_BEFORE_SILENCE = (_FIRST_DAY, date(2023, 11, 14))
_ASIDE_ONE_IN = 4
# A line break stands in the file as these two characters.
_BREAK = "\\n"

_Draft = tuple[Person, Topic]
_Span = tuple[date, date]


@dataclass(frozen=True)
class Mail:
    """A mail to the owner."""

    sender: Person
    subject: str
    sent: datetime
    body: str


def make_mails(dice: Dice, people: People, events: list[Event], tasks: list[Task]) -> list[Mail]:
    """Make 500 mails, sorted by time, never two with one subject on a day."""
    writer = _Writer(dice, people.owner.first, events, tasks)
    drafts = dice.shuffled(make_drafts(dice, people, events, tasks))
    dated = _dated(dice, _spans(dice, drafts))
    times = _times(dice, Counter(day for day, _ in dated))
    mails: list[Mail] = []
    for day, (person, topic) in dated:
        sent = times[day].pop()
        mails.append(Mail(person, topic.subject, sent, writer.body(person, topic, sent)))
    return sorted(mails, key=lambda mail: mail.sent)


def _spans(dice: Dice, drafts: list[_Draft]) -> Iterator[tuple[_Draft, _Span]]:
    """Yield every draft with the days it may be sent on, the narrowest first."""
    silent = _silent(dice, drafts)
    repeats = _repeats(drafts, silent)
    waiting = list(drafts)

    def take(chosen: Iterable[_Draft], span: _Span) -> Iterator[tuple[_Draft, _Span]]:
        for draft in chosen:
            waiting.remove(draft)
            yield draft, span

    plain = [draft for draft in waiting if draft not in repeats and draft[0] not in silent]
    for draft, day in zip(plain, _ANY_DAY, strict=False):
        yield from take([draft], (day, day))
    yield from take([*repeats, *repeats], _LAST_WEEK)
    yield from take([draft for draft in waiting if draft in repeats], _BEFORE_LAST_WEEK)
    yield from take([draft for draft in waiting if draft[0] in silent], _BEFORE_SILENCE)
    yield from take(_voices(waiting), _LATELY)
    yield from take(list(waiting), _ANY_DAY)


def _silent(dice: Dice, drafts: list[_Draft]) -> list[Person]:
    """Choose three people, among those who write least, who have not written for two weeks."""
    amounts = Counter(person for person, _ in drafts)
    quiet = sorted(amounts, key=lambda person: (amounts[person], person.email))[: 3 * _SILENT]
    return dice.sample(quiet, _SILENT)


def _repeats(drafts: list[_Draft], silent: list[Person]) -> list[_Draft]:
    """Choose pairs of sender and subject, each subject once, that come twice within the last week."""
    amounts = Counter(drafts)
    by_subject = {
        topic: (person, topic)
        for (person, topic), amount in amounts.items()
        if amount > 1 and person not in silent
    }
    return list(by_subject.values())[:_REPEATS]


def _voices(drafts: list[_Draft]) -> list[_Draft]:
    """Choose one draft of every sender, with as many different topics as possible."""
    uses: Counter[Topic] = Counter()
    chosen: list[_Draft] = []
    for sender in dict.fromkeys(person for person, _ in drafts):
        draft = min((draft for draft in drafts if draft[0] == sender), key=lambda draft: uses[draft[1]])
        uses[draft[1]] += 1
        chosen.append(draft)
    return chosen


def _dated(dice: Dice, drafts: Iterable[tuple[_Draft, _Span]]) -> list[tuple[date, _Draft]]:
    """Give each draft a day that lacks its subject.

    There always is such a day: in the widest spans there are more days than full days and mails of one
    subject together, and the narrow spans come first, to empty days.
    """
    load: Counter[date] = Counter()
    taken: set[tuple[date, Topic]] = set()
    dated: list[tuple[date, _Draft]] = []
    for draft, span in drafts:
        topic = draft[1]
        free = [day for day in days(*span) if load[day] < _DAY_LIMIT and (day, topic) not in taken]
        day = dice.pick(free)
        load[day] += 1
        taken.add((day, topic))
        dated.append((day, draft))
    return dated


def _times(dice: Dice, load: Counter[date]) -> dict[date, list[datetime]]:
    """Draw different moments from 09:00:00 to 15:59:59 for the mails of every day."""
    result: dict[date, list[datetime]] = {}
    for day, amount in load.items():
        start = datetime.combine(day, time(_FIRST_HOUR))
        seconds = dice.sample(range(_HOURS * 3600), amount)
        result[day] = [start + timedelta(seconds=second) for second in seconds]
    return result


class _Writer:
    """Writes bodies that fit the sender's task or the sender's meetings."""

    def __init__(self, dice: Dice, owner: str, events: list[Event], tasks: list[Task]) -> None:
        self._dice = dice
        self._owner = owner
        self._columns = {(task.person, task.name): task.column for task in tasks}
        # Events are sorted by start, so what stays here is the last meeting of that name.
        self._last_start = {(event.person, event.name): event.start for event in events}

    def body(self, person: Person, topic: Topic, sent: datetime) -> str:
        """Write greeting, one or two paragraphs, closing and signature."""
        greeting = self._dice.pick(GREETINGS_MORNING if sent.hour < _NOON else GREETINGS_AFTERNOON)
        paragraphs = [greeting.format(owner=self._owner), self._message(person, topic, sent)]
        if not self._dice.below(_ASIDE_ONE_IN):
            paragraphs.append(self._dice.pick(ASIDES))
        paragraphs.append(self._dice.pick(CLOSINGS) + _BREAK + person.first)
        return (_BREAK * 2).join(paragraphs)

    def _message(self, person: Person, topic: Topic, sent: datetime) -> str:
        if topic.is_task:
            lines = TASK_LINES[self._columns[person, topic.name]]
        elif sent < self._last_start[person, topic.name]:
            lines = EVENT_LINES_BEFORE
        else:
            lines = EVENT_LINES_AFTER
        return self._dice.pick(lines).format(name=topic.name)
