"""Offices to measure on: many sessions with changes of all kinds."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from wa_mcp import Runtime, Settings
from wa_mcp.session import Session

__all__ = ["change", "office"]

CHANGES: Final = 10

Change = Callable[[Session, str], object]

_KINDS: Final[tuple[Change, ...]] = (
    lambda session, row: session.call(
        "email_reply_email", {"email_id": row, "body": f"Thank you for {row}."}
    ),
    lambda session, row: session.call("email_delete_email", {"email_id": row}),
    lambda session, row: session.call(
        "calendar_update_event", {"event_id": row, "field": "event_name", "new_value": "Moved"}
    ),
    lambda session, row: session.call("calendar_delete_event", {"event_id": row}),
    lambda session, row: session.call(
        "project_management_update_task", {"task_id": row, "field": "list_name", "new_value": "In Review"}
    ),
    lambda session, row: session.call(
        "customer_relationship_manager_update_customer",
        {"customer_id": row, "field": "status", "new_value": "Won"},
    ),
)


def change(session: Session, dice: Random) -> None:
    """Change something in a session."""
    dice.choice(_KINDS)(session, f"{dice.randrange(200):08}")


def office(root: Path, sessions: int, changes: int = CHANGES) -> Runtime:
    """Make a runtime with so many sessions, each with so many calls that change something."""
    runtime, dice = Runtime(Settings(checkpoint_root=root)), Random(sessions)
    for _ in range(sessions):
        session = runtime.sessions.seed()
        while session.revision < changes:
            change(session, dice)
    return runtime
