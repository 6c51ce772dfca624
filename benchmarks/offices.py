"""Offices to measure on: many sessions with changes of all kinds."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.calls import Call
from toolkits.dataset import BUNDLED, load_dataset
from toolkits.workplace import Dataset
from wa_mcp import Runtime, Settings
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.session import Session

__all__ = ["CHANGES", "fill", "office", "seed_changed", "ten_changes"]

CHANGES: Final = 10
"""Calls that change something, in each session."""

_KINDS: Final[Sequence[Callable[[str], Call]]] = (
    lambda row: ("email_reply_email", {"email_id": row, "body": f"Thank you for {row}."}),
    lambda row: ("email_delete_email", {"email_id": row}),
    lambda row: ("calendar_update_event", {"event_id": row, "field": "event_name", "new_value": "Moved"}),
    lambda row: ("calendar_delete_event", {"event_id": row}),
    lambda row: (
        "project_management_update_task",
        {"task_id": row, "field": "list_name", "new_value": "In Review"},
    ),
    lambda row: (
        "customer_relationship_manager_update_customer",
        {"customer_id": row, "field": "status", "new_value": "Won"},
    ),
)


def prepared_dataset() -> Dataset:
    """Load the bundled data, as a server does when it starts."""
    dataset = load_dataset(BUNDLED, CATALOGUE)
    dataset.prepare()
    return dataset


def ten_changes(dataset: Dataset, number: int) -> list[Call]:
    """Give the calls that change something in the session of this number: all of them succeed."""
    workplace, dice, calls = dataset.workplace(CATALOGUE.names), Random(number), list[Call]()
    while len(calls) < CHANGES:
        call = _drawn(dice)
        workplace, outcome = workplace.call(*call)
        calls += [call] if outcome.changed else []
    return calls


def fill(runtime: Runtime, sessions: int) -> None:
    """Seed so many sessions, and do the changes of `ten_changes` in each."""
    for number in range(sessions):
        seed_changed(runtime, number)


def seed_changed(runtime: Runtime, number: int) -> Session:
    """Seed a session, and do the changes of `ten_changes` in it."""
    session, dice = runtime.sessions.seed(), Random(number)
    while session.revision < CHANGES:
        session.call(*_drawn(dice))
    return session


def office(root: Path, sessions: int) -> Runtime:
    """Make a runtime with so many sessions, each with ten calls that changed something."""
    runtime = Runtime(Settings(checkpoint_root=root))
    fill(runtime, sessions)
    return runtime


def _drawn(dice: Random) -> Call:
    return dice.choice(_KINDS)(f"{dice.randrange(200):08}")
