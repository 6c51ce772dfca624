"""What a request comes to, worked out anew from the files of a data set: nothing here is the generator's."""

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import NamedTuple

from tests.toolkits.task_phrases import METRICS, Slots, day, filled, moment

Record = dict[str, str]
Calls = list[tuple[str, dict[str, str]]]

TODAY = date(2023, 11, 30)


class View(NamedTuple):
    """One way to take a request: when today's clock stands, and what happens at the edges."""

    now: datetime
    inclusive: bool
    strict: bool

    def above(self, value: Fraction, limit: Fraction) -> bool:
        return value > limit if self.strict else value >= limit

    def recent(self, at: date, days: int) -> bool:
        first = TODAY - timedelta(days=days)
        if datetime.combine(at, time()) >= self.now:
            return False
        return at >= first if self.inclusive else at > first


VIEWS = [
    View(datetime.combine(TODAY, clock), inclusive, strict)
    for clock, inclusive, strict in product((time(), time(23, 59)), (True, False), (True, False))
]


@dataclass
class Files:
    """The tables as they stand in the files."""

    events: list[Record]
    mails: list[Record]
    tasks: list[Record]
    customers: list[Record]
    visits: dict[str, list[Record]]  # by day
    people: list[str]
    values: dict[tuple[str, date], Fraction] = field(default_factory=dict[tuple[str, date], Fraction])

    def address(self, first: str) -> str:
        (found,) = (address for address in self.people if first.lower() in address)
        return found


def read_files(folder: Path) -> Files:
    tables = folder / "processed" if (folder / "processed").is_dir() else folder
    raw = folder / "raw" if (folder / "raw").is_dir() else folder
    by_day: dict[str, list[Record]] = {}
    for visit in _records(tables / "analytics_data.csv"):
        by_day.setdefault(visit["date_of_visit"], []).append(visit)
    return Files(
        sorted(_records(tables / "calendar_events.csv"), key=lambda row: row["event_start"]),
        sorted(_records(tables / "emails.csv"), key=lambda row: row["sent_datetime"]),
        _records(tables / "project_tasks.csv"),
        _records(tables / "customer_relationship_manager_data.csv"),
        by_day,
        [line for line in (raw / "email_addresses.csv").read_text().split() if "@" in line],
    )


def _records(file: Path) -> list[Record]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


class Case:
    """One request, taken one way."""

    def __init__(self, files: Files, view: View, slots: Slots) -> None:
        self.files, self.view, self.slots = files, view, slots

    def __getitem__(self, name: str) -> str:
        return self.slots[name]

    @property
    def person(self) -> str:
        return self.files.address(self["person"])

    @property
    def to(self) -> str:
        return self.files.address(self["to"])

    @property
    def days(self) -> int:
        return int(self["days"])

    # What was, and what is.

    def events(self, **wanted: str) -> list[Record]:
        return [row for row in self.files.events if wanted.items() <= row.items()]

    def ahead(self, **wanted: str) -> list[Record]:
        return [row for row in self.events(**wanted) if self._is_ahead(row["event_start"])]

    def _is_ahead(self, start: str) -> bool:
        now = str(self.view.now)
        return start >= now if self.view.inclusive else start > now

    def of_day(self, said: str, **wanted: str) -> list[Record]:
        return [row for row in self.events(**wanted) if row["event_start"][:10] == day(said).isoformat()]

    def met(self) -> bool:
        events = self.events(participant_email=self.person)
        past = [row for row in events if not self._is_ahead(row["event_start"])]
        return any(self.view.recent(date.fromisoformat(row["event_start"][:10]), self.days) for row in past)

    def mails(self, **wanted: str) -> list[Record]:
        wanted["inbox/outbox"] = "inbox"
        return [row for row in self.files.mails if wanted.items() <= row.items()]

    @property
    def latest(self) -> list[Record]:
        """The latest mail from the person, alone in a list."""
        return edge(self.from_person(), "sent_datetime", last=True)

    def from_person(self) -> list[Record]:
        return self.mails(**{"sender/recipient": self.person})

    def recent(self, mails: list[Record], days: int) -> list[Record]:
        return [row for row in mails if self.view.recent(date.fromisoformat(row["sent_datetime"][:10]), days)]

    def customers(self, *stages: str) -> list[Record]:
        return [
            row
            for row in self.files.customers
            if row["assigned_to_email"] == self.person
            and row["status"] in stages
            and row["product_interest"] == self.slots.get("product", row["product_interest"])
        ]

    def tasks(self, **wanted: str) -> list[Record]:
        return [row for row in self.files.tasks if wanted.items() <= row.items()]

    def overdue(self, first: str) -> list[Record]:
        rows = self.tasks(assigned_to_email=self.files.address(first))
        late = TODAY if self.view.inclusive else TODAY - timedelta(days=1)
        return [
            row for row in rows if row["list_name"] != "Completed" and row["due_date"] <= late.isoformat()
        ]

    def by_overdue(self) -> list[str]:
        """The named people, from the fewest overdue tasks to the most; no ties at the ends."""
        people = self["people"].replace(" and ", ", ").split(", ")
        counts = {name: len(self.overdue(name)) for name in people}
        return [self.files.address(name) for name in sorted(people, key=lambda name: counts[name])]

    def value(self, said: str, at: date) -> Fraction:
        known = self.files.values
        if (said, at) not in known:
            known[said, at] = _value(METRICS[said], self.files.visits[at.isoformat()])
        return known[said, at]

    def values(self, said: str, first: date) -> list[Fraction]:
        days = [first + timedelta(days=offset) for offset in range((TODAY - first).days + 1)]
        return [self.value(said, at) for at in days if self.view.recent(at, (TODAY - first).days)]

    def ever(self, first: date) -> bool:
        limit = Fraction(self["limit"].removesuffix(" seconds"))
        values = self.values(self["metric"], first)
        if self["side"] == "above":
            return any(self.view.above(value, limit) for value in values)
        return any(self.view.above(-value, -limit) for value in values)

    def grown(self, said: str, at: date) -> Fraction:
        return self.value(said, TODAY) / self.value(said, at) - 1

    def beyond(self, at: date) -> bool:
        return self.view.above(self.grown(self["metric"], at), Fraction(self["percent"]) / 100)

    def leads(self) -> bool:
        totals = [
            sum(self.values(self[name], day(self["day"])), Fraction())
            for name in ("metric_one", "metric_two")
        ]
        return self.view.above(totals[0], totals[1])

    @property
    def weeks_ago(self) -> date:
        return TODAY - timedelta(weeks=int(self["weeks"]))

    # What is to be done.

    def event(self, address: str) -> Calls:
        part = filled(self["event"], '"{name}" on {weekday}, {day} at {clock} for {minutes} minutes')
        start = moment(f"{part['weekday']}, {part['day']}", part["clock"])
        return [create_event(part["name"], address, start, part["minutes"])]

    def mail(self, address: str, slot: str = "mail") -> Calls:
        part = filled(self[slot], 'a mail with the subject "{subject}" and the text "{body}"')
        return [send(address, part["subject"], part["body"])]

    def task(self, address: str, slot: str = "task") -> Calls:
        part = filled(self[slot], '"{task}" on the {board} board, in the list {list}, due on {day}')
        return [create_task(part, address)]

    def plots(self, first: date, last: date, how: str, *said: str) -> Calls:
        return [plot(first, last, METRICS[metric], how) for metric in said]


def _value(metric: str, rows: list[Record]) -> Fraction:
    if metric == "session_duration_seconds":
        return Fraction(sum(int(row["session_duration_seconds"]) for row in rows), len(rows))
    if metric == "user_engaged":
        return Fraction(sum(row["user_engaged"] == "True" for row in rows))
    source = metric.removeprefix("visits_").replace("_", " ")
    return Fraction(sum(metric == "total_visits" or row["traffic_source"] == source for row in rows))


def plot(first: date, last: date, metric: str, how: str) -> tuple[str, dict[str, str]]:
    span = {"time_min": first.isoformat(), "time_max": last.isoformat()}
    return "analytics_create_plot", {**span, "value_to_plot": metric, "plot_type": how}


def create_event(name: str, address: str, start: datetime, minutes: str) -> tuple[str, dict[str, str]]:
    at = start.strftime("%Y-%m-%d %H:%M:%S")
    given = {"event_name": name, "participant_email": address, "event_start": at, "duration": minutes}
    return "calendar_create_event", given


def send(address: str, subject: str, body: str) -> tuple[str, dict[str, str]]:
    return "email_send_email", {"recipient": address, "subject": subject, "body": body}


def create_task(part: Slots, address: str) -> tuple[str, dict[str, str]]:
    given = {"task_name": part["task"], "assigned_to_email": address, "list_name": part["list"]}
    return "project_management_create_task", {
        **given, "due_date": day(part["day"]).isoformat(), "board": part["board"],
    }  # fmt: skip


def edge(rows: list[Record], time: str, *, last: bool = False) -> list[Record]:
    """Give the first row or the last one, alone in a list; no other may share its time."""
    found = rows[-1] if last else rows[0]
    assert [row[time] for row in rows].count(found[time]) == 1
    return [found]


def deleted(rows: list[Record], what: str) -> Calls:
    key = {"event": "calendar", "email": "email", "customer": "customer_relationship_manager"}[what]
    return [(f"{key}_delete_{what}", {f"{what}_id": row[f"{what}_id"]}) for row in rows]


def updated(rows: list[Record], what: str, field: str, value: str) -> Calls:
    key = {
        "event": "calendar", "task": "project_management", "customer": "customer_relationship_manager",
    }[what]  # fmt: skip
    return [
        (f"{key}_update_{what}", {f"{what}_id": row[f"{what}_id"], "field": field, "new_value": value})
        for row in rows
    ]


def forwarded(rows: list[Record], *addresses: str) -> Calls:
    return [
        ("email_forward_email", {"email_id": row["email_id"], "recipient": address})
        for address in addresses
        for row in rows
    ]


def replied(row: Record, body: str) -> Calls:
    return [("email_reply_email", {"email_id": row["email_id"], "body": body})]


Solver = Callable[[Case], Calls]
SOURCES = [said for said in METRICS if "visits from" in said or "direct" in said]
