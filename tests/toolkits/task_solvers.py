"""For every kind of task: what the filled-in request comes to."""

from collections import Counter
from datetime import datetime, time, timedelta

from tests.toolkits.task_oracle import (
    SOURCES,
    TODAY,
    Calls,
    Case,
    Record,
    Solver,
    create_event,
    create_task,
    deleted,
    edge,
    forwarded,
    plot,
    replied,
    send,
    updated,
)
from tests.toolkits.task_phrases import CHARTS, METRICS, WEEKDAYS, day, moment

__all__ = ["SOLVERS"]


def _two(c: Case, how: str) -> Calls:
    return c.plots(day(c["day"]), TODAY, how, c["metric_one"], c["metric_two"])


def _recent_weekday(c: Case) -> Calls:
    before = [TODAY - timedelta(days=back) for back in range(1, 8)]
    (at,) = (one for one in before if WEEKDAYS[one.weekday()] == c["day"])
    return c.plots(at, TODAY, "line", c["metric"]) if c.beyond(at) else []


def _week_before(c: Case) -> Calls:
    at = day(c["day"])
    before = at - timedelta(days=7)
    sign = 1 if c["side"] == "higher" else -1
    holds = c.view.above(sign * c.value(c["metric"], at), sign * c.value(c["metric"], before))
    return c.plots(before, at, CHARTS[c["chart"]], c["metric"]) if holds else []


def _grew_more(c: Case) -> Calls:
    growths = [c.grown(c[name], day(c["day"])) for name in ("metric_one", "metric_two")]
    return _two(c, "line") if c.view.above(growths[0], growths[1]) else []


def _busiest(c: Case) -> Calls:
    totals = {said: sum(c.values(said, day(c["day"]))) for said in SOURCES}
    (best, most), (_, second) = Counter(totals).most_common(2)
    assert most > second
    return c.plots(day(c["day"]), TODAY, "line", best)


def _edge(c: Case) -> list[Record]:
    return edge(c.of_day(c["day"]), "event_start", last=c["which"] == "last")


def _push_back(c: Case) -> Calls:
    first = edge(c.of_day(c["day"], participant_email=c.person), "event_start")
    start = datetime.fromisoformat(first[0]["event_start"]) + timedelta(minutes=int(c["minutes"]))
    return updated(first, "event", "event_start", str(start))


def _catch_up(c: Case) -> Calls:
    if c.met():
        return []
    at = datetime.combine(TODAY + timedelta(days=1), time(9))
    taken = [
        (start, start + timedelta(minutes=int(row["duration"])))
        for row in c.files.events
        for start in [datetime.fromisoformat(row["event_start"])]
        if start.date() == at.date()
    ]
    while any(start < at + timedelta(minutes=30) and at < end for start, end in taken):
        at += timedelta(minutes=1)
    return [create_event(c["name"], c.person, at, "30")]


def _part_of_day(c: Case) -> Calls:
    limit = str(moment(c["day"], c["clock"]))
    rows = c.of_day(c["day"])
    if c["side"] == "before":
        beyond = [row for row in rows if row["event_start"] < limit]
    else:
        beyond = [row for row in rows if row["event_start"] > limit]
    assert not any(row["event_start"] == limit for row in rows)
    return deleted(beyond, "event")


def _on_subject(c: Case) -> list[Record]:
    return c.mails(subject=c["subject"])


def _latest_on(c: Case) -> list[Record]:
    return edge(_on_subject(c), "sent_datetime", last=True)


def _customer(c: Case) -> list[Record]:
    (found,) = (row for row in c.files.customers if row["customer_name"] == c["customer"])
    return [found]


def _add_lead(c: Case) -> Calls:
    given = {"customer_name": c["name"], "assigned_to_email": c.person, "status": "Lead"}
    return [("customer_relationship_manager_add_customer", {**given, "product_interest": c["product"]})]


def _old_proposals(c: Case) -> Calls:
    rows = c.customers("Proposal")
    last = {row["customer_id"]: datetime.fromisoformat(row["last_contact_date"]).date() for row in rows}
    days = 7 * int(c["weeks"])
    old = [row for row in rows if not c.view.recent(last[row["customer_id"]], days)]
    return updated(old, "customer", "status", "Lost")


def _in(c: Case, column: str) -> list[Record]:
    return c.tasks(assigned_to_email=c.person, list_name=column)


def _start_overdue(c: Case) -> Calls:
    late = [row for name in c["people"].split(" and ") for row in c.overdue(name)]
    waiting = [row for row in late if row["list_name"] != "In Progress"]
    return updated(waiting, "task", "list_name", "In Progress")


def _earliest(c: Case) -> Calls:
    rows = [row for row in c.tasks(assigned_to_email=c.person) if row["list_name"] != "Completed"]
    first, second = sorted(rows, key=lambda row: row["due_date"])[:2]
    assert first["due_date"] < second["due_date"]
    return updated([first], "task", "assigned_to_email", c.to)


def _handed_over(c: Case, *, holds: bool, negated: bool) -> Calls:
    rows = c.customers(c["stage"]) if holds is not negated else []
    return updated(rows, "customer", "assigned_to_email", c.to)


def _cancel_all(c: Case) -> Calls:
    if not c.overdue(c["person"]):
        return []
    return deleted(c.ahead(participant_email=c.person), "event") + c.mail(c.person)


def _cancel_or_mail(c: Case) -> Calls:
    if c.overdue(c["person"]):
        return c.mail(c.person)
    return deleted(edge(c.ahead(participant_email=c.person), "event_start"), "event")


def _beyond(c: Case, yes: Calls, no: Calls | None = None) -> Calls:
    return yes if c.beyond(day(c["day"])) else no or []


def _line(c: Case) -> Calls:
    return c.plots(day(c["day"]), TODAY, "line", c["metric"])


def _first_attendee(c: Case) -> str:
    return edge(c.of_day(c["day"]), "event_start")[0]["participant_email"]


def _sender(c: Case) -> str:
    (row,) = (row for row in _on_subject(c) if row["sent_datetime"][:10] == day(c["day"]).isoformat())
    return row["sender/recipient"]


SOLVERS: dict[str, Solver] = {
    "analytics/chart_since": lambda c: c.plots(day(c["day"]), TODAY, CHARTS[c["chart"]], c["metric"]),
    "analytics/histogram_of_day": lambda c: c.plots(day(c["day"]), day(c["day"]), "histogram", c["metric"]),
    "analytics/two_histograms": lambda c: c.plots(
        day(c["first"]), day(c["last"]), "histogram", c["metric_one"], c["metric_two"]
    ),
    "analytics/line_if_limit_since": lambda c: _line(c) if c.ever(day(c["day"])) else [],
    "analytics/line_if_limit_in_weeks": lambda c: (
        [plot(c.weeks_ago, TODAY, METRICS[c["metric"]], "line")] if c.ever(c.weeks_ago) else []
    ),
    "analytics/two_bars": lambda c: _two(c, "bar"),
    "analytics/line_if_beyond_day": lambda c: _beyond(c, _line(c)),
    "analytics/line_if_beyond_weekday": _recent_weekday,
    "analytics/weekday_against_week_before": _week_before,
    "analytics/both_if_one_grew_more": _grew_more,
    "analytics/line_of_busiest_source": _busiest,
    "analytics/both_sources_if_one_leads": lambda c: _two(c, "bar") if c.leads() else [],
    "calendar/delete_edge_of_day": lambda c: deleted(_edge(c), "event"),
    "calendar/rename_edge_of_day": lambda c: updated(_edge(c), "event", "event_name", c["name"]),
    "calendar/push_back": _push_back,
    "calendar/delete_next_by_name": lambda c: deleted(
        edge(c.ahead(event_name=c["name"]), "event_start"), "event"
    ),
    "calendar/rename_next_by_name": lambda c: updated(
        edge(c.ahead(event_name=c["name"]), "event_start"), "event", "event_name", c["new"]
    ),
    "calendar/delete_next_with": lambda c: deleted(
        edge(c.ahead(participant_email=c.person), "event_start"), "event"
    ),
    "calendar/catch_up_if_unmet": _catch_up,
    "calendar/delete_part_of_day": _part_of_day,
    "calendar/delete_all_with": lambda c: deleted(c.ahead(participant_email=c.person), "event"),
    "calendar/delete_all_by_name": lambda c: deleted(c.ahead(event_name=c["name"]), "event"),
    "calendar/create": lambda c: [
        create_event(c["name"], c.person, moment(c["day"], c["clock"]), c["minutes"])
    ],
    "email/delete_latest": lambda c: deleted(c.latest, "email"),
    "email/delete_lately": lambda c: deleted(c.recent(c.from_person(), c.days), "email"),
    "email/send": lambda c: [send(c.person, c["subject"], c["body"])],
    "email/reply_latest": lambda c: replied(c.latest[0], c["body"]),
    "email/reply_latest_on": lambda c: replied(_latest_on(c)[0], c["body"]),
    "email/forward_week_on": lambda c: forwarded(c.recent(_on_subject(c), 7), c.to),
    "email/forward_latest_on": lambda c: forwarded(_latest_on(c), c.to),
    "email/forward_latest_from": lambda c: forwarded(c.latest, c.to),
    "email/forward_to_two": lambda c: forwarded(c.latest, c.to, c.files.address(c["then"])),
    "customers/set_stage": lambda c: updated(_customer(c), "customer", "status", c["stage"]),
    "customers/delete": lambda c: deleted(_customer(c), "customer"),
    "customers/add_lead": _add_lead,
    "customers/reassign": lambda c: updated(_customer(c), "customer", "assigned_to_email", c.to),
    "customers/reassign_leads": lambda c: updated(c.customers("Lead"), "customer", "assigned_to_email", c.to),
    "customers/reassign_two_stages": lambda c: updated(
        c.customers(c["one"], c["other"]), "customer", "assigned_to_email", c.to
    ),
    "customers/delete_by_stage": lambda c: deleted(c.customers(c["stage"]), "customer"),
    "customers/old_proposals_lost": _old_proposals,
    "projects/move_one": lambda c: updated(
        c.tasks(assigned_to_email=c.person, task_name=c["task"]), "task", "list_name", c["list"]
    ),
    "projects/move_list": lambda c: updated(_in(c, c["from"]), "task", "list_name", c["to"]),
    "projects/move_due": lambda c: updated(
        [row for row in _in(c, c["from"]) if row["due_date"] == day(c["day"]).isoformat()],
        "task",
        "list_name",
        c["to"],
    ),
    "projects/create": lambda c: [create_task(c.slots, c.person)],
    "projects/start_overdue": _start_overdue,
    "projects/reassign_list": lambda c: updated(_in(c, c["list"]), "task", "assigned_to_email", c.to),
    "projects/reassign_overdue": lambda c: updated(c.overdue(c["person"]), "task", "assigned_to_email", c.to),
    "projects/reassign_earliest": _earliest,
    "several/mail_if_unmet": lambda c: [] if c.met() else c.mail(c.person),
    "several/event_if_silent": lambda c: [] if c.recent(c.from_person(), c.days) else c.event(c.person),
    "several/event_or_mail_if_unmet": lambda c: c.mail(c.person) if c.met() else c.event(c.person),
    "several/mail_if_overdue": lambda c: c.mail(c.person) if c.overdue(c["person"]) else [],
    "several/event_or_mail_by_overdue": lambda c: (
        c.event(c.person) if c.overdue(c["person"]) else c.mail(c.person)
    ),
    "several/cancel_or_mail_by_overdue": _cancel_or_mail,
    "several/mail_fewest_overdue": lambda c: c.mail(c.by_overdue()[0]),
    "several/event_with_most_overdue": lambda c: c.event(c.by_overdue()[-1]),
    "several/customers_if_unmet": lambda c: _handed_over(c, holds=c.met(), negated="not" in c["condition"]),
    "several/customers_if_silent": lambda c: _handed_over(
        c, holds=bool(c.recent(c.from_person(), c.days)), negated="not" in c["condition"]
    ),
    "several/cancel_all_if_overdue": _cancel_all,
    "several/mail_if_limit": lambda c: c.mail(c.person, "part") if c.ever(c.weeks_ago) else [],
    "several/task_if_limit": lambda c: c.task(c.person, "part") if c.ever(c.weeks_ago) else [],
    "several/line_and_mail_if_beyond": lambda c: _beyond(c, _line(c) + c.mail(c.person)),
    "several/line_or_task_by_growth": lambda c: _beyond(c, _line(c), c.task(c.person)),
    "several/event_if_beyond": lambda c: _beyond(c, c.event(c.person)),
    "several/bar_and_task_if_source_leads": lambda c: (
        c.plots(day(c["day"]), TODAY, "bar", c["metric_one"]) + c.task(c.person) if c.leads() else []
    ),
    "several/mail_first_attendee": lambda c: c.mail(_first_attendee(c)),
    "several/forward_to_first_attendee": lambda c: forwarded(c.latest, _first_attendee(c)),
    "several/event_with_sender": lambda c: c.event(_sender(c)),
    "several/task_for_sender": lambda c: c.task(_sender(c)),
}
