"""Plain analytics: the visits are grouped anew in every call."""

from pathlib import Path
from typing import Any

import pandas as pd

__all__ = ["Analytics"]


class Analytics:
    """The visits of one session, read from their file, and its plots."""

    def __init__(self, folder: Path) -> None:
        self.visits = pd.read_csv(folder / "analytics_data.csv", dtype=str)
        self.visits["user_engaged"] = self.visits["user_engaged"] == "True"
        self.plots = pd.DataFrame(columns=["file_path"])

    def get_visitor_information_by_id(self, visitor_id: str) -> Any:
        """List every visit of one visitor."""
        found = self.visits[self.visits["visitor_id"] == visitor_id]
        if found.empty:
            return "Visitor not found."
        return found.to_dict(orient="records")

    def create_plot(self, time_min: str, time_max: str, value_to_plot: str, plot_type: str) -> Any:
        """Note a plot, and answer its path."""
        path = f"plots/{time_min}_{time_max}_{value_to_plot}_{plot_type}.png"
        self.plots.loc[len(self.plots)] = [path]
        return path

    def total_visits_count(self, time_min: str = "", time_max: str = "") -> Any:
        """Count all visits of each day."""
        return self._between(time_min, time_max).groupby("date_of_visit").size().to_dict()

    def engaged_users_count(self, time_min: str = "", time_max: str = "") -> Any:
        """Count the visits by engaged users of each day."""
        return self._between(time_min, time_max).groupby("date_of_visit")["user_engaged"].sum().to_dict()

    def traffic_source_count(self, time_min: str = "", time_max: str = "", traffic_source: str = "") -> Any:
        """Count the visits from one source of each day."""
        visits = self._between(time_min, time_max)
        if not traffic_source:
            return visits.groupby("date_of_visit").size().to_dict()
        return (visits["traffic_source"] == traffic_source).groupby(visits["date_of_visit"]).sum().to_dict()

    def get_average_session_duration(self, time_min: str = "", time_max: str = "") -> Any:
        """Average the length of a session of each day."""
        visits = self._between(time_min, time_max)
        seconds = visits["session_duration_seconds"].astype(float)
        return seconds.groupby(visits["date_of_visit"]).mean().to_dict()

    def _between(self, time_min: str, time_max: str) -> pd.DataFrame:
        visits = self.visits
        if time_min:
            visits = visits[visits["date_of_visit"] >= time_min]
        if time_max:
            visits = visits[visits["date_of_visit"] <= time_max]
        return visits
