"""Figures about tasks, customers and visits."""

from collections import Counter
from datetime import datetime

from toolkits.figure_columns import Row, listing, mean, rising, shares, span, uses, yes

_DONE = "Completed"
_STARTED = "In Progress"
_ENGAGED_SECONDS = 10
_USUAL_VIEWS = 10


def task_figures(tasks: list[Row], now: datetime) -> dict[str, str]:
    """Describe the tasks; one is overdue when it is not completed and was due before the day of `now`."""
    due = [row.text("due_date") for row in tasks]
    today = f"{now:%Y-%m-%d}"
    owners = Counter(row.text("assigned_to_email") for row in tasks)
    overdue = Counter(
        row.text("assigned_to_email")
        for row in tasks
        if row.text("list_name") != _DONE and "" < row.text("due_date") < today
    )
    started = {row.text("assigned_to_email") for row in tasks if row.text("list_name") == _STARTED}
    pairs = Counter((row.text("task_name"), row.text("assigned_to_email")) for row in tasks)
    return {
        "sorted by due date": yes(rising(due)),
        "due": span(text for text in due if text),
        "boards": shares([row.text("board") for row in tasks]),
        "lists": shares([row.text("list_name") for row in tasks]),
        "assignees": uses(row.text("assigned_to_email") for row in tasks),
        "fewest tasks": _fewest(owners),
        "names": uses(row.text("task_name") for row in tasks),
        "name again for one person": str(len(tasks) - len(pairs)),
        "overdue": f"{overdue.total()}, over {len(overdue)} people",
        "people with nothing overdue": str(len(owners.keys() - overdue.keys())),
        "people without In Progress": str(len(owners.keys() - started)),
    }


def customer_figures(customers: list[Row], tasks: list[Row]) -> dict[str, str]:
    """Describe the customers, and whether those who look after them have `tasks` as well."""
    contact = [row.text("last_contact_date") for row in customers]
    names = [row.text("customer_name") for row in customers]
    waits = [days for row in customers if (days := _days_to_follow_up(row)) is not None]
    owners = dict.fromkeys(row.text("assigned_to_email") for row in customers)
    busy = {row.text("assigned_to_email") for row in tasks}
    return {
        "newest contact first": yes(rising(contact[::-1])),
        "names used twice": str(len(names) - len(set(names))),
        "assignees": uses(row.text("assigned_to_email") for row in customers),
        "assignees with tasks": listing(owner for owner in owners if owner in busy),
        "statuses": shares([row.text("status") for row in customers]),
        "products": shares([row.text("product_interest") for row in customers]),
        "last contact": span(text for text in contact if text),
        "days to follow-up": span(waits),
    }


def visit_figures(visits: list[Row]) -> dict[str, str]:
    """Describe the visits; engaged means more than 10 seconds and more than one page."""
    days = Counter(row.text("date_of_visit") for row in visits)
    pairs = {(row.text("date_of_visit"), row.text("visitor_id")) for row in visits}
    views = [count for row in visits if (count := row.number("page_views")) is not None]
    seconds = [count for row in visits if (count := row.number("session_duration_seconds")) is not None]
    engaged = sum(row.text("user_engaged") == "True" for row in visits)
    return {
        "days": f"{len(days)}, {span(day for day in days if day)}",
        "visits a day": span(days.values()),
        "visitors": str(len({row.text("visitor_id") for row in visits})),
        "visitor again on one day": str(len(visits) - len(pairs)),
        "sources": shares([row.text("traffic_source") for row in visits]),
        "page views": f"{span(views)}, {sum(count <= _USUAL_VIEWS for count in views)} up to {_USUAL_VIEWS}",
        "seconds": f"{span(seconds)}, mean {mean(seconds)}",
        "engaged": str(engaged),
        "engaged against the rule": str(sum(_against_the_rule(row) for row in visits)),
    }


def _fewest(owners: Counter[str]) -> str:
    low = min(owners.values(), default=0)
    return listing(owner for owner, count in owners.items() if count == low)


def _days_to_follow_up(customer: Row) -> int | None:
    contact, follow_up = customer.moment("last_contact_date"), customer.moment("follow_up_by")
    return None if contact is None or follow_up is None else (follow_up - contact).days


def _against_the_rule(visit: Row) -> bool:
    seconds, views = visit.number("session_duration_seconds"), visit.number("page_views")
    if seconds is None or views is None:
        return False
    return (visit.text("user_engaged") == "True") != (seconds > _ENGAGED_SECONDS and views > 1)
