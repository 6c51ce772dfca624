"""The calendar: look up, search, create, delete and change events."""

from datetime import datetime
from typing import Annotated, Any, Final

from toolkits.cells import read_moment, wire
from toolkits.search import Search, page_of
from toolkits.tool import Arg, Change, ToolError, tool
from toolkits.toolkit import Page, PageSize, TableField, Toolkit, check_effort, next_id

__all__ = ["Calendar"]

EventId = Annotated[str, Arg("Id of the event, 8 digits.")]

_CHANGEABLE: Final = ("event_name", "participant_email", "event_start", "duration")
_DIGITS: Final = frozenset("0123456789")


class Calendar(Toolkit):
    """The calendar: one row an event."""

    name = "calendar"
    events = TableField(
        "event_id", "event_name", "participant_email", "event_start", "duration",
        file="calendar_events.csv", key="event_id", times=frozenset({"event_start"}),
        latest_first="event_start", looked_through=("event_name", "participant_email"),
    )  # fmt: skip

    @tool(title="Get event information")
    def get_event_information_by_id(
        self,
        event_id: EventId,
        field: Annotated[
            str, Arg("Column to read: event_id, event_name, participant_email, event_start or duration.")
        ],
    ) -> dict[str, Any]:
        """Read one field of one calendar event."""
        if not event_id:
            raise ToolError("Event ID not provided.")
        if not field:
            raise ToolError("Field not provided.")
        _check_id(event_id)
        _check_field(field, self.events.spec.columns)
        row = self.events.rows[self._all(event_id)[0]]
        return {field: wire(row.cells[self.events.spec.position[field]])}

    @tool(title="Search events")
    def search_events(
        self,
        query: Annotated[str, Arg("Text to find in event_name or participant_email, in any case.")] = "",
        time_min: Annotated[str, Arg("Earliest start to include, YYYY-MM-DD HH:MM:SS.")] = "",
        time_max: Annotated[str, Arg("Latest start to include, YYYY-MM-DD HH:MM:SS.")] = "",
        page: Page = 1,
        page_size: PageSize = 5,
    ) -> dict[str, Any] | str:
        """Search the calendar by text and by start time; latest start first."""
        earliest, latest = _bound("time_min", time_min), _bound("time_max", time_max)
        check_effort(self.events, (query,))
        found = Search(self.events)
        if query:
            found.containing(query, "event_name", "participant_email")
        if earliest or latest:
            found.between(earliest, latest)
        return page_of(found, "events", page, page_size) if found else "No events found."

    @tool(title="Create event")
    def create_event(
        self,
        event_name: Annotated[str, Arg("Name of the event.")],
        participant_email: Annotated[str, Arg("Address of the one participant.")],
        event_start: Annotated[str, Arg("Start, YYYY-MM-DD HH:MM:SS.")],
        duration: Annotated[str, Arg("Length in whole minutes, as text, such as 30.")],
    ) -> Change:
        """Create a calendar event and answer its id."""
        given = (
            ("Event name", event_name),
            ("Participant email", participant_email),
            ("Event start", event_start),
            ("Event duration", duration),
        )
        for what, value in given:
            if not value:
                raise ToolError(f"{what} not provided.")
        _check_value("event_start", event_start)
        _check_value("duration", duration)
        new_id = next_id(self.events)
        cells = (new_id, event_name, participant_email.lower(), event_start, duration)
        return self.events.append(self.revision, cells, label=0), new_id

    @tool(title="Delete event", destructive=True)
    def delete_event(self, event_id: EventId) -> Change:
        """Delete one calendar event."""
        if not event_id:
            raise ToolError("Event ID not provided.")
        _check_id(event_id)
        return self.events.drop(self.revision, self._all(event_id)), "Event deleted successfully."

    @tool(title="Update event", destructive=True, idempotent=True)
    def update_event(
        self,
        event_id: EventId,
        field: Annotated[str, Arg("Column to set: event_name, participant_email, event_start or duration.")],
        new_value: Annotated[str, Arg("New value: a start as YYYY-MM-DD HH:MM:SS, a duration in minutes.")],
    ) -> Change:
        """Change one field of one calendar event."""
        if not event_id or not field or not new_value:
            raise ToolError("Event ID, field, or new value not provided.")
        _check_id(event_id)
        _check_field(field, _CHANGEABLE)
        _check_value(field, new_value)
        value = new_value.lower() if field == "participant_email" else new_value
        table = self.events.set(self.revision, self._all(event_id), field, value)
        return table, "Event updated successfully."

    def _all(self, event_id: str) -> tuple[int, ...]:
        positions = self.events.find(event_id)
        if not positions:
            raise ToolError("Event not found.")
        return positions


def _check_id(event_id: str) -> None:
    if len(event_id) != 8 or not _DIGITS.issuperset(event_id):
        raise ToolError("Invalid event ID format. Expected 8-digit ID.")


def _check_field(field: str, allowed: tuple[str, ...]) -> None:
    if field not in allowed:
        raise ToolError(f"Invalid field. Available fields are: {', '.join(allowed)}")


def _check_value(field: str, value: str) -> None:
    if field == "event_start" and read_moment(value) is None:
        raise ToolError("Invalid event_start format. Expected YYYY-MM-DD HH:MM:SS.")
    if field == "duration" and _minutes(value) <= 0:
        raise ToolError("Duration must be a positive number of minutes.")


def _minutes(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ToolError("Invalid duration format. Expected a number of minutes.") from None


def _bound(argument: str, text: str) -> datetime | None:
    if not text:
        return None
    moment = read_moment(text)
    if moment is None:
        raise ToolError(f"Invalid {argument} format. Expected YYYY-MM-DD HH:MM:SS.")
    return moment
