"""Web analytics: visits by day, and plots of them."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import Annotated, Any, Final, NamedTuple

import pandas as pd

from toolkits.table import Table
from toolkits.tool import Arg, Change, ToolError, tool
from toolkits.toolkit import TableField, Toolkit, one_of

__all__ = ["PLOT_ENDINGS", "Analytics"]

FirstDay = Annotated[str, Arg("First day to include, YYYY-MM-DD.")]
LastDay = Annotated[str, Arg("Last day to include, YYYY-MM-DD.")]

_VALUES: Final = (
    "total_visits", "session_duration_seconds", "user_engaged",
    "visits_direct", "visits_referral", "visits_search_engine", "visits_social_media",
)  # fmt: skip
_PLOTS: Final = ("bar", "line", "scatter", "histogram")

PLOT_ENDINGS: Final = frozenset(f"{value}_{plot}.png" for value in _VALUES for plot in _PLOTS)
"""How a plot's path ends: `plots/<first day>_<last day>_<ending>`."""


class Analytics(Toolkit):
    """Visits to the web site, which only are read, and the plots made of them."""

    name = "analytics"
    visits = TableField(
        "date_of_visit", "visitor_id", "page_views",
        "session_duration_seconds", "traffic_source", "user_engaged",
        file="analytics_data.csv", key="visitor_id", unique=False, boolean=frozenset({"user_engaged"}),
        numbers=frozenset({"page_views", "session_duration_seconds"}), scored=False,
    )  # fmt: skip
    plots = TableField("file_path")

    @classmethod
    def prepare(cls, tables: Mapping[str, Table]) -> None:
        """Make now, of tables without any change, what the first calls would have to make of them."""
        super().prepare(tables)
        tables[cls.visits.spec.name].derive(_daily)

    @tool(title="Get visitor information")
    def get_visitor_information_by_id(
        self, visitor_id: Annotated[str, Arg("Id of the visitor, 4 digits.")]
    ) -> list[dict[str, Any]]:
        """List every visit of one visitor."""
        if not visitor_id:
            raise ToolError("Visitor ID not provided.")
        positions = self.visits.find(visitor_id)
        if not positions:
            raise ToolError("Visitor not found.")
        return [self.visits.record(self.visits.rows[position]) for position in positions]

    @tool(title="Create plot")
    def create_plot(
        self,
        time_min: FirstDay,
        time_max: LastDay,
        value_to_plot: Annotated[str, Arg(f"What to plot: {', '.join(_VALUES)}.")],
        plot_type: Annotated[str, Arg("How to plot it: bar, line, scatter or histogram.")],
    ) -> Change:
        """Plot a metric over a range of days and answer the path of the picture."""
        if not time_min:
            raise ToolError("Start date not provided.")
        if not time_max:
            raise ToolError("End date not provided.")
        values = ", ".join(f"'{value}'" for value in _VALUES)
        one_of(value_to_plot, _VALUES, f"Value to plot must be one of {values}")
        one_of(plot_type, _PLOTS, "Plot type must be one of 'bar', 'line', 'scatter', or 'histogram'")
        path = f"plots/{time_min}_{time_max}_{value_to_plot}_{plot_type}.png"
        return self.plots.append(self.revision, (path,), label=len(self.plots)), path

    @tool(title="Count visits")
    def total_visits_count(self, time_min: FirstDay = "", time_max: LastDay = "") -> dict[str, int]:
        """Count all visits of each day that had any."""
        daily = self.visits.derive(_daily)
        return _between(daily.days, daily.visits, time_min, time_max)

    @tool(title="Count engaged users")
    def engaged_users_count(self, time_min: FirstDay = "", time_max: LastDay = "") -> dict[str, int]:
        """Count the visits by engaged users of each day that had visits."""
        daily = self.visits.derive(_daily)
        return _between(daily.days, daily.engaged, time_min, time_max)

    @tool(title="Count visits by source")
    def traffic_source_count(
        self,
        time_min: FirstDay = "",
        time_max: LastDay = "",
        traffic_source: Annotated[
            str, Arg("direct, referral, search engine or social media; all visits if not given.")
        ] = "",
    ) -> dict[str, int]:
        """Count the visits from one traffic source of each day that had visits."""
        daily = self.visits.derive(_daily)
        counts = daily.visits
        if traffic_source:
            counts = daily.sources.get(traffic_source) or [0] * len(daily.days)
        return _between(daily.days, counts, time_min, time_max)

    @tool(title="Average session duration")
    def get_average_session_duration(
        self, time_min: FirstDay = "", time_max: LastDay = ""
    ) -> dict[str, float]:
        """Average the length of a session, in seconds, of each day that had visits."""
        daily = self.visits.derive(_daily)
        means = _between(daily.days, daily.seconds, time_min, time_max)
        return {day: mean for day, mean in means.items() if mean is not None}


class _Daily(NamedTuple):
    """Figures of each day with visits: lists of equal length, days ascending as text."""

    days: list[str]
    visits: list[int]
    engaged: list[int]
    seconds: list[float | None]  # None for a day whose visits have no length
    sources: dict[str, list[int]]


def _daily(visits: Table) -> _Daily:
    frame = visits.frame
    by_day = frame.groupby("date_of_visit", sort=True)
    days = [str(day) for day in by_day.groups]
    seconds = pd.to_numeric(frame["session_duration_seconds"], errors="coerce").astype("float64")
    means = seconds.groupby(frame["date_of_visit"]).mean().reindex(days)
    by_source = frame.groupby("traffic_source")["date_of_visit"]
    return _Daily(
        days=days,
        visits=[int(count) for count in by_day.size()],
        engaged=[int(count) for count in by_day["user_engaged"].sum()],
        seconds=[None if mean != mean else float(mean) for mean in means],
        sources={
            str(source): [int(count) for count in dates.value_counts().reindex(days, fill_value=0)]
            for source, dates in by_source
        },
    )


def _between(days: list[str], values: list[Any], time_min: str, time_max: str) -> dict[str, Any]:
    first = bisect_left(days, time_min)
    last = bisect_right(days, time_max) if time_max else len(days)
    return dict(zip(days[first:last], values[first:last], strict=True))
