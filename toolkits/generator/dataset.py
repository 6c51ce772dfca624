"""Puts the tables together and writes them as files."""

import csv
import io
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from toolkits.generator.analytics import Visit, make_visits
from toolkits.generator.calendar import Event, make_events
from toolkits.generator.clock import NOW, WORKING_HOURS
from toolkits.generator.customers import Customer, make_customers
from toolkits.generator.dice import Dice
from toolkits.generator.mail import Mail, make_mails
from toolkits.generator.people import Person, make_people
from toolkits.generator.projects import Task, make_tasks

# The seed of the data set that comes with the package.
BUNDLED_SEED: Final = 20231130

_FACTS_FILE: Final = "dataset.toml"


class DatasetExistsError(FileExistsError):
    """The folder already holds files that a data set would overwrite.

    Attributes:
        directory: The folder.
        names: The files in the way, sorted.
    """

    def __init__(self, directory: Path, names: Iterable[str]) -> None:
        """Say which files of `directory` are in the way."""
        self.directory, self.names = directory, tuple(sorted(names))
        super().__init__(
            f"{directory} already holds {', '.join(self.names)}; choose another folder or remove them first"
        )


@dataclass(frozen=True)
class GeneratedTable:
    """A table as it stands in its file: the names of the columns, and one text per cell."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class GeneratedDataset:
    """A data set: six tables by file name, and the text of `dataset.toml`."""

    tables: Mapping[str, GeneratedTable]
    facts: str


def generate(seed: int) -> GeneratedDataset:
    """Make the data set of `seed`: always the same for a seed, a different office for another."""
    dice = Dice(seed)
    people = make_people(dice)
    events = make_events(dice, people)
    tasks = make_tasks(dice, people)
    mails = make_mails(dice, people, events, tasks)
    customers = make_customers(dice, people)
    tables = {
        "analytics_data.csv": _visits_table(make_visits(dice)),
        "calendar_events.csv": _events_table(dice, events),
        "customer_relationship_manager_data.csv": _customers_table(dice, customers),
        "email_addresses.csv": GeneratedTable(
            ("email_address",), tuple((person.email,) for person in people.directory)
        ),
        "emails.csv": _mails_table(dice, mails),
        "project_tasks.csv": _tasks_table(dice, tasks),
    }
    return GeneratedDataset(MappingProxyType(tables), _facts(people.owner))


def write_dataset(generated: GeneratedDataset, directory: Path) -> None:
    """Write the files of a data set into `directory`, which is made if it does not exist.

    Raises:
        DatasetExistsError: A file of one of these names is there already; nothing was written.
        OSError: The folder or a file cannot be written.
    """
    texts = {name: _csv_text(table) for name, table in generated.tables.items()}
    # Last, since it is what makes the folder a data set.
    texts[_FACTS_FILE] = generated.facts
    directory.mkdir(parents=True, exist_ok=True)
    present = [name for name in texts if (directory / name).exists()]
    if present:
        raise DatasetExistsError(directory, present)
    for name, text in texts.items():
        write_whole(directory / name, text)


def write_whole(path: Path, text: str) -> None:
    """Write under a temporary name first: a file that has its name is complete.

    Raises:
        OSError: It cannot be written.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _csv_text(table: GeneratedTable) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows(table.rows)
    return buffer.getvalue()


def _facts(owner: Person) -> str:
    start, end = WORKING_HOURS
    return (
        f'format = 1\nnow = "{NOW}"\n\n'
        f'[working_hours]\nstart = "{start}"\nend = "{end}"\n\n'
        f'[owner]\nname = "{owner.first} {owner.last}"\nemail = "{owner.email}"\n'
    )


def _table(columns: str, rows: Iterable[tuple[object, ...]]) -> GeneratedTable:
    """Make a table of text out of values, under the column names in `columns` (a comma between them)."""
    return GeneratedTable(tuple(columns.split(",")), tuple(tuple(map(str, row)) for row in rows))


def _visits_table(visits: list[Visit]) -> GeneratedTable:
    return _table(
        "date_of_visit,visitor_id,page_views,session_duration_seconds,traffic_source,user_engaged",
        (
            (visit.day, visit.visitor, visit.views, visit.seconds, visit.source, visit.engaged)
            for visit in visits
        ),
    )


def _events_table(dice: Dice, events: list[Event]) -> GeneratedTable:
    return _table(
        "event_id,event_name,participant_email,event_start,duration",
        (
            (number, event.name, event.person.email, event.start, event.minutes)
            for number, event in zip(dice.ids(len(events)), events, strict=True)
        ),
    )


def _mails_table(dice: Dice, mails: list[Mail]) -> GeneratedTable:
    return _table(
        "email_id,inbox/outbox,sender/recipient,subject,sent_datetime,body",
        (
            (number, "inbox", mail.sender.email, mail.subject, mail.sent, mail.body)
            for number, mail in zip(dice.ids(len(mails)), mails, strict=True)
        ),
    )


def _tasks_table(dice: Dice, tasks: list[Task]) -> GeneratedTable:
    return _table(
        "task_id,task_name,assigned_to_email,list_name,due_date,board",
        (
            (number, task.name, task.person.email, task.column, task.due, task.board)
            for number, task in zip(dice.ids(len(tasks)), tasks, strict=True)
        ),
    )


def _customers_table(dice: Dice, customers: list[Customer]) -> GeneratedTable:
    return _table(
        "customer_id,assigned_to_email,customer_name,customer_email,customer_phone,last_contact_date,"
        "product_interest,status,follow_up_by,notes",
        (
            (
                number,
                c.owner.email,
                c.name,
                c.email,
                c.phone,
                c.contact,
                c.product,
                c.status,
                c.follow_up,
                c.notes,
            )
            for number, c in zip(dice.ids(len(customers)), customers, strict=True)
        ),
    )
