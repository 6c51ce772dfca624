"""Plain calendar: masks over the columns, times read anew in every search."""

from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.plain.paging import paged

__all__ = ["Calendar"]


class Calendar:
    """The calendar of one session, read from its file."""

    def __init__(self, folder: Path) -> None:
        self.events = pd.read_csv(folder / "calendar_events.csv", dtype=str)

    def get_event_information_by_id(self, event_id: str, field: str) -> Any:
        """Read one field of one event."""
        found = self.events[self.events["event_id"] == event_id]
        if found.empty:
            return "Event not found."
        if field not in found.columns:
            return "Field not found."
        return {field: found.iloc[0][field]}

    def search_events(
        self, query: str = "", time_min: str = "", time_max: str = "", page: int = 1, page_size: int = 5
    ) -> Any:
        """Find events by text and time, latest first."""
        events = self.events
        found = events[
            events["event_name"].str.contains(query, case=False, na=False, regex=False)
            | events["participant_email"].str.contains(query, case=False, na=False, regex=False)
        ]
        if time_min:
            found = found[pd.to_datetime(found["event_start"]) >= pd.Timestamp(time_min)]
        if time_max:
            found = found[pd.to_datetime(found["event_start"]) <= pd.Timestamp(time_max)]
        if found.empty:
            return "No events found."
        found = found.sort_values("event_start", ascending=False, kind="stable")
        return paged(found, "events", page, page_size)

    def create_event(self, event_name: str, participant_email: str, event_start: str, duration: str) -> Any:
        """Put an event into the calendar."""
        if not (event_name and participant_email and event_start and duration):
            return "Event details not provided."
        event_id = str(int(self.events["event_id"].max()) + 1).zfill(8)
        event = {
            "event_id": event_id,
            "event_name": event_name,
            "participant_email": participant_email.lower(),
            "event_start": event_start,
            "duration": duration,
        }
        self.events = pd.concat([self.events, pd.DataFrame([event])])
        return event_id

    def delete_event(self, event_id: str) -> Any:
        """Delete one event."""
        if event_id not in self.events["event_id"].values:
            return "Event not found."
        self.events = self.events[self.events["event_id"] != event_id].copy()
        return "Event deleted successfully."

    def update_event(self, event_id: str, field: str, new_value: str) -> Any:
        """Change one field of one event."""
        if event_id not in self.events["event_id"].values:
            return "Event not found."
        if field == "participant_email":
            new_value = new_value.lower()
        self.events.loc[self.events["event_id"] == event_id, field] = new_value
        return "Event updated successfully."
