"""Figures about the mailbox."""

from collections import Counter
from datetime import datetime, timedelta

from toolkits.figure_columns import Row, listing, rising, share, shares, span, uses, yes

_SATURDAY = 5
_WEEK, _TWO_WEEKS = timedelta(days=7), timedelta(days=14)


def mail_figures(
    mails: list[Row], events: list[Row], tasks: list[Row], people: list[str], now: datetime
) -> dict[str, str]:
    """Describe the mails, what they are about, and who of `people` has not written lately."""
    times = [row.text("sent_datetime") for row in mails]
    sent = [moment for row in mails if (moment := row.moment("sent_datetime")) is not None]
    subjects = [row.text("subject") for row in mails]
    by_day = Counter((row.text("subject"), row.text("sent_datetime")[:10]) for row in mails)
    week = Counter((row.text("sender/recipient"), row.text("subject")) for row in _since(mails, now, _WEEK))
    heard = {row.text("sender/recipient").lower() for row in _since(mails, now, _TWO_WEEKS)}
    return {
        "sorted by time": yes(rising(times)),
        "days": span(moment.date() for moment in sent),
        "hours": span(moment.hour for moment in sent),
        "on Saturday or Sunday": str(sum(moment.weekday() >= _SATURDAY for moment in sent)),
        "times used twice": str(len(times) - len(set(times))),
        "box": shares([row.text("inbox/outbox") for row in mails]),
        "senders": uses(row.text("sender/recipient") for row in mails),
        "subjects": uses(subjects),
        "about tasks": _about(subjects, {row.text("task_name") for row in tasks}),
        "about events": _about(subjects, {row.text("event_name") for row in events}),
        "subject again on one day": str(sum(count - 1 for count in by_day.values())),
        "bodies with real line breaks": str(sum("\n" in row.text("body") for row in mails)),
        "bodies with \\n": str(sum("\\n" in row.text("body") for row in mails)),
        "signed by the sender": share(sum(map(_signed, mails)), len(mails)),
        "sender and subject again within a week": str(sum(count > 1 for count in week.values())),
        "people silent for two weeks": listing(who for who in people if who.lower() not in heard),
    }


def _since(mails: list[Row], now: datetime, ago: timedelta) -> list[Row]:
    """List the mails of the time from `ago` before `now` to `now`."""
    return [
        row
        for row in mails
        if (moment := row.moment("sent_datetime")) is not None and timedelta(0) <= now - moment <= ago
    ]


def _about(subjects: list[str], names: set[str]) -> str:
    """Count mails and subjects that carry one of `names`."""
    present = [name for name in names if name]
    about = {subject for subject in set(subjects) if any(name in subject for name in present)}
    mails = sum(subject in about for subject in subjects)
    return f"{mails} mails ({share(mails, len(subjects))}), {len(about)} subjects"


def _signed(mail: Row) -> bool:
    first = mail.text("sender/recipient").partition("@")[0].partition(".")[0].lower()
    return bool(first) and mail.text("body").rstrip().lower().endswith(first)
