"""What a model is told before a request: the date, the time, the working hours, and what is agreed."""

from typing import Final

from toolkits.cells import read_moment
from toolkits.tasks.office import Office
from toolkits.tasks.said import METRICS, WEEKDAYS, said_clock

__all__ = ["briefing"]

_AGREED: Final = """\
- Work with the tools alone, and do not ask back. Change what the request asks for and nothing else. If what it \
depends on does not hold, or there is nothing to be done, change nothing.
- Where a request asks for several things, do them in the order in which it names them.
- People are called by their first names; the company directory has their addresses. A person's customers, \
tasks and events are those with the person's address.
- Text in quotation marks is meant to the letter, without the marks.
- Days and weeks are counted back from today: "the last 7 days" begin 7 days ago. A mail's "latest" and an \
event's "next" go by date and time; mails are those in the inbox.
- An event counts as met once it has begun, and is ahead until then; so a person was met when an event with them \
began. Events are put in the calendar as YYYY-MM-DD HH:MM:SS, their length in minutes; they lie within working \
hours, and one may begin the minute another ends.
- A task is overdue when its due date has passed and it is not in Completed. Due dates are written YYYY-MM-DD.
- A customer's stage is the status; the customer is with the person it is assigned to.
- A chart "since" a day goes from that day to today, one "of the last 3 weeks" from the day 21 days ago to \
today; a growth compares the value of the one day with the value of the other. \
"""


def briefing(office: Office) -> str:
    """Write the system message of every task of a data set."""
    now = read_moment(office.facts.now)
    clock = "" if now is None else said_clock(now)
    start, end = map(said_clock, office.hours(office.today))
    weekday = WEEKDAYS[office.today.weekday()]
    whose = ""
    if office.facts.owner_name:
        mail = f" ({office.facts.owner_email})" if office.facts.owner_email else ""
        whose = f" You work for {office.facts.owner_name}{mail}."
    values = ", ".join(f"{said} ({metric})" for metric, said in METRICS.items())
    return (
        f"It is {weekday}, {office.today.isoformat()}, {clock}. "
        f"Working hours are {start} to {end}.{whose}\n\n"
        f"What is agreed:\n{_AGREED}The values that can be plotted: {values}."
    )
