"""The calls that ground truths are made of."""

from collections.abc import Sequence
from datetime import date, datetime

from toolkits.tasks.kinds import Call

__all__ = [
    "add_event", "add_lead", "add_task", "delete_customer", "delete_event", "delete_mail", "forward",
    "move_task", "plot", "reassign_task", "reply", "send", "set_customer", "set_event",
]  # fmt: skip


def plot(first: date, last: date, metric: str, how: str) -> Call:
    """Plot a metric."""
    days = {"time_min": first.isoformat(), "time_max": last.isoformat()}
    return Call("analytics_create_plot", {**days, "value_to_plot": metric, "plot_type": how})


def add_event(name: str, address: str, start: datetime, minutes: int) -> Call:
    """Put an event into the calendar."""
    return Call(
        "calendar_create_event",
        {
            "event_name": name,
            "participant_email": address,
            "event_start": start.isoformat(" "),
            "duration": str(minutes),
        },
    )


def delete_event(event_id: str) -> Call:
    """Take an event out of the calendar."""
    return Call("calendar_delete_event", {"event_id": event_id})


def set_event(event_id: str, field: str, value: str) -> Call:
    """Change an event."""
    return Call("calendar_update_event", {"event_id": event_id, "field": field, "new_value": value})


def send(address: str, subject: str, body: str) -> Call:
    """Send a mail."""
    return Call("email_send_email", {"recipient": address, "subject": subject, "body": body})


def reply(email_id: str, body: str) -> Call:
    """Reply to a mail."""
    return Call("email_reply_email", {"email_id": email_id, "body": body})


def forward(email_ids: Sequence[str], address: str) -> list[Call]:
    """Forward mails, one after the other."""
    return [
        Call("email_forward_email", {"email_id": email_id, "recipient": address}) for email_id in email_ids
    ]


def delete_mail(email_id: str) -> Call:
    """Delete a mail."""
    return Call("email_delete_email", {"email_id": email_id})


def set_customer(customer_id: str, field: str, value: str) -> Call:
    """Change a customer."""
    return Call(
        "customer_relationship_manager_update_customer",
        {"customer_id": customer_id, "field": field, "new_value": value},
    )


def delete_customer(customer_id: str) -> Call:
    """Delete a customer."""
    return Call("customer_relationship_manager_delete_customer", {"customer_id": customer_id})


def add_lead(name: str, address: str, product: str) -> Call:
    """Add a customer who is a lead."""
    return Call(
        "customer_relationship_manager_add_customer",
        {
            "customer_name": name,
            "assigned_to_email": address,
            "status": "Lead",
            "product_interest": product,
        },
    )


def add_task(name: str, address: str, column: str, due: date, board: str) -> Call:
    """Put a task on the project board."""
    return Call(
        "project_management_create_task",
        {
            "task_name": name,
            "assigned_to_email": address,
            "list_name": column,
            "due_date": due.isoformat(),
            "board": board,
        },
    )


def move_task(task_id: str, column: str) -> Call:
    """Move a task to another list."""
    return _set_task(task_id, "list_name", column)


def reassign_task(task_id: str, address: str) -> Call:
    """Give a task to somebody else."""
    return _set_task(task_id, "assigned_to_email", address)


def _set_task(task_id: str, field: str, value: str) -> Call:
    return Call("project_management_update_task", {"task_id": task_id, "field": field, "new_value": value})
