"""What a model is told before a request: the date, the time, the working hours, and what is agreed."""

from typing import Final

from toolkits.cells import read_moment
from toolkits.tasks.office import Office
from toolkits.tasks.said import METRICS, WEEKDAYS, said_clock

__all__ = ["briefing"]

_AGREED: Final = (
    "Work with the tools alone, and do not ask back. Change what the request asks for and nothing else. "
    "If what it depends on does not hold, or there is nothing to be done, change nothing.",
    "Where a request asks for several things, do them in the order in which it names them.",
    "People are called by their first names; the company directory has their addresses. A person's "
    "customers, tasks and events are those with the person's address.",
    "Text in quotation marks is meant to the letter, without the marks. What is new gets only what the "
    "request says of it.",
    'Days and weeks are counted back from today: "the last 7 days" begin 7 days ago. A mail that is the '
    "latest and an event that is the next are so by date and time. Mails from somebody are those in the "
    "inbox.",
    "An event is ahead until it begins, and its participant has been met from then on. Starts are "
    "written YYYY-MM-DD HH:MM:SS, lengths in minutes. New events lie within working hours, and may begin "
    "the minute another one ends.",
    "A task is overdue when its due date has passed and it is not in the list Completed. Due dates are "
    "written YYYY-MM-DD.",
    "A customer's stage is the status; a customer is with the person to whom it is assigned.",
    'A chart "since" a day goes from that day to today, and one of the last 3 weeks from the day 21 days '
    "ago to today. Growth compares the values of two single days.",
)


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
    agreed = "\n".join(f"- {rule}" for rule in (*_AGREED, f"What can be plotted: {values}."))
    return (
        f"It is {weekday}, {office.today.isoformat()}, {clock}. "
        f"Working hours are {start} to {end}.{whose}\n\n"
        f"What is agreed:\n{agreed}"
    )
