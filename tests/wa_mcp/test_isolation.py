"""Many sessions at once: each is as if it were alone, and a fresh one costs next to nothing."""

import gc
import random
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from toolkits.dataset import Dataset
from wa_mcp import Runtime
from wa_mcp.session import Session

Call = tuple[str, dict[str, Any]]

SESSIONS = 500
CHANGES = 10


def scripted(dataset: Dataset, seed: int) -> list[Call]:
    """Make ten calls that change something, in any toolkit that can, among reads and mistakes."""
    dice = random.Random(seed)
    changes = [change for change in _changes(dataset, dice) for _ in range(2)]
    calls = dice.sample(changes, CHANGES)
    calls.insert(dice.randrange(CHANGES), ("email_search_emails", {"query": "plan"}))
    calls.insert(dice.randrange(CHANGES), ("email_delete_email", {"email_id": "no such mail"}))
    return calls


def _changes(dataset: Dataset, dice: random.Random) -> Iterator[Call]:
    def some(table: str, column: str) -> Any:
        return dice.choice(dataset.bases[table].table.column(column))

    said, day = f"word {dice.random()}", f"2023-12-{dice.randrange(10, 30)}"
    yield "email_send_email", {"recipient": "ada@example.com", "subject": said, "body": said}
    yield "email_reply_email", {"email_id": some("email.emails", "email_id"), "body": said}
    yield (
        "calendar_create_event",
        {
            "event_name": said,
            "participant_email": "ada@example.com",
            "event_start": f"{day} 10:00:00",
            "duration": "30",
        },
    )
    event = some("calendar.events", "event_id")
    yield "calendar_update_event", {"event_id": event, "field": "event_name", "new_value": said}
    plot = {"value_to_plot": "total_visits", "plot_type": "bar"}
    yield "analytics_create_plot", {"time_min": day, "time_max": day, **plot}
    task = some("project_management.tasks", "task_id")
    yield "project_management_update_task", {"task_id": task, "field": "task_name", "new_value": said}
    customer = some("customer_relationship_manager.customers", "customer_id")
    change = {"customer_id": customer, "field": "notes", "new_value": said}
    yield "customer_relationship_manager_update_customer", change


def state(session: Session) -> dict[str, Any]:
    tables = session.workplace.tables
    return {name: (table.changes, [row.cells for row in table.rows]) for name, table in tables.items()}


@pytest.mark.timeout(60)
def test_500_sessions_worked_in_turns_are_each_as_if_alone(runtime: Runtime) -> None:
    scripts = [scripted(runtime.dataset, seed) for seed in range(SESSIONS)]
    sessions = [runtime.sessions.seed() for _ in scripts]
    answers: list[list[Any]] = [[] for _ in scripts]
    turns = [number for number, script in enumerate(scripts) for _ in script]
    random.Random(1).shuffle(turns)
    left = [iter(script) for script in scripts]
    for number in turns:
        answers[number].append(sessions[number].call(*next(left[number])))
    for session, script, given in zip(sessions, scripts, answers, strict=True):
        alone = runtime.sessions.seed()
        assert [alone.call(*call) for call in script] == given
        assert state(session) == state(alone)
        assert session.revision == CHANGES
        runtime.sessions.close(alone.id)


def test_what_sessions_change_is_not_in_the_bases(runtime: Runtime) -> None:
    before = state(runtime.sessions.seed())
    for seed in range(20):
        session = runtime.sessions.seed()
        for call in scripted(runtime.dataset, seed):
            session.call(*call)
    assert state(runtime.sessions.seed()) == before


def test_fresh_sessions_share_their_bases(runtime: Runtime) -> None:
    for session in [runtime.sessions.seed() for _ in range(1000)]:
        for name, table in session.workplace.tables.items():
            assert table is runtime.dataset.bases[name].table


def test_a_fresh_session_takes_less_than_10_kilobytes(runtime: Runtime) -> None:
    runtime.sessions.seed()
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(1000):
            runtime.sessions.seed()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (after - before) / 1000 < 10_000
