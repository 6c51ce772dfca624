"""Web analytics: visits by day, and plots of them."""

import pytest

from tests.toolkits.desk import Desk, bundled_desk, desk
from toolkits.dataset import Dataset

VISITS, PLOTS = "analytics.visits", "analytics.plots"
ROWS = (
    ("2023-11-02", "0007", "5", "10", "direct", "True"),
    ("2023-10-31", "0002", "1", "4", "social media", "False"),
    ("2023-11-02", "0007", "03", "15", "search engine", "False"),
    ("2023-11-02", "0003", "2", "", "direct", "true"),
    ("2023-11-01", "0002", "2", "7.5", "", "True"),
    ("2023-12-01", "0009", "9", "", "referral", "False"),
)
VALUES = (
    "total_visits", "session_duration_seconds", "user_engaged",
    "visits_direct", "visits_referral", "visits_search_engine", "visits_social_media",
)  # fmt: skip
BAD_VALUE = (
    "Value to plot must be one of 'total_visits', 'session_duration_seconds', 'user_engaged', "
    "'visits_direct', 'visits_referral', 'visits_search_engine', 'visits_social_media'"
)
BAD_TYPE = "Plot type must be one of 'bar', 'line', 'scatter', or 'histogram'"


@pytest.fixture
def analytics() -> Desk:
    return desk({VISITS: ROWS})


def test_all_visits_of_a_visitor_come_as_stored(analytics: Desk) -> None:
    assert analytics.reads("analytics_get_visitor_information_by_id", visitor_id="0007") == [
        {
            "date_of_visit": "2023-11-02",
            "visitor_id": "0007",
            "page_views": "5",
            "session_duration_seconds": "10",
            "traffic_source": "direct",
            "user_engaged": True,
        },
        {
            "date_of_visit": "2023-11-02",
            "visitor_id": "0007",
            "page_views": "03",
            "session_duration_seconds": "15",
            "traffic_source": "search engine",
            "user_engaged": False,
        },
    ]
    (visit,) = analytics.reads("analytics_get_visitor_information_by_id", visitor_id="0003")
    assert (visit["session_duration_seconds"], visit["user_engaged"]) == (None, False)


@pytest.mark.parametrize(
    ("visitor_id", "answer"),
    [("", "Visitor ID not provided."), ("7", "Visitor not found."), ("0007 ", "Visitor not found.")],
)
def test_a_visitor_must_be_named_and_known(analytics: Desk, visitor_id: str, answer: str) -> None:
    assert analytics.refused("analytics_get_visitor_information_by_id", visitor_id=visitor_id) == answer


def test_visits_are_counted_by_day_with_days_ascending(analytics: Desk) -> None:
    counts = analytics.reads("analytics_total_visits_count")
    assert list(counts.items()) == [
        ("2023-10-31", 1), ("2023-11-01", 1), ("2023-11-02", 3), ("2023-12-01", 1),
    ]  # fmt: skip


def test_engaged_visits_are_counted_with_zero_for_a_day_without_any(analytics: Desk) -> None:
    counts = analytics.reads("analytics_engaged_users_count")
    assert list(counts.items()) == [
        ("2023-10-31", 0), ("2023-11-01", 1), ("2023-11-02", 1), ("2023-12-01", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "counts"),
    [
        ("direct", [0, 0, 2, 0]),
        ("social media", [1, 0, 0, 0]),
        ("Direct", [0, 0, 0, 0]),
        ("direct ", [0, 0, 0, 0]),
        ("nan", [0, 0, 0, 0]),
        ("", [1, 1, 3, 1]),
        (None, [1, 1, 3, 1]),
    ],
)
def test_visits_of_one_source_are_counted_exactly_and_an_unknown_one_gives_zeros(
    analytics: Desk, source: str | None, counts: list[int]
) -> None:
    got = analytics.reads("analytics_traffic_source_count", traffic_source=source)
    assert list(got.values()) == counts
    assert list(got) == ["2023-10-31", "2023-11-01", "2023-11-02", "2023-12-01"]


def test_sessions_are_averaged_as_floats_over_the_visits_that_have_a_length(analytics: Desk) -> None:
    means = analytics.reads("analytics_get_average_session_duration")
    assert list(means.items()) == [("2023-10-31", 4.0), ("2023-11-01", 7.5), ("2023-11-02", 12.5)]
    assert all(type(mean) is float for mean in means.values())


COUNTERS = (
    "analytics_total_visits_count",
    "analytics_engaged_users_count",
    "analytics_traffic_source_count",
    "analytics_get_average_session_duration",
)


@pytest.mark.parametrize("tool", COUNTERS)
@pytest.mark.parametrize(
    ("time_min", "time_max", "days"),
    [
        ("2023-11-01", "2023-11-02", ["2023-11-01", "2023-11-02"]),
        ("2023-11-02", "2023-11-02", ["2023-11-02"]),
        ("2023-11-02", "2023-11-01", []),
        ("2023-11-03", "2023-11-30", []),
        ("", "2023-10-31 23:59:59", ["2023-10-31"]),
        ("2023-11-01 00:00:00", "2023-11-02", ["2023-11-02"]),
        ("2023-1", "2023-11-01", ["2023-10-31", "2023-11-01"]),
        ("zzz", None, []),
        (None, "0", []),
    ],
)
def test_bounds_compare_as_text_and_are_inclusive(
    analytics: Desk, tool: str, time_min: str | None, time_max: str | None, days: list[str]
) -> None:
    assert list(analytics.reads(tool, time_min=time_min, time_max=time_max)) == days


@pytest.mark.parametrize("tool", COUNTERS)
def test_no_visits_give_an_empty_object(tool: str) -> None:
    assert desk().reads(tool) == {}


def test_the_bundled_visits_count_up_to_the_whole(dataset: Dataset) -> None:
    office = bundled_desk(dataset)
    rows = office.rows(VISITS)
    total = office.reads("analytics_total_visits_count")
    assert sum(total.values()) == len(rows) == 1000
    assert sum(office.reads("analytics_engaged_users_count").values()) == sum(row[5] is True for row in rows)
    for source in {str(row[4]) for row in rows}:
        counts = office.reads("analytics_traffic_source_count", traffic_source=source)
        assert list(counts) == list(total)
        assert counts == {day: sum(row[0] == day and row[4] == source for row in rows) for day in total}


def test_a_plot_adds_one_row_under_the_next_label_and_answers_its_path(analytics: Desk) -> None:
    for count, value in enumerate(VALUES):
        given = {"time_min": "2023/11", "time_max": " x ", "value_to_plot": value, "plot_type": "bar"}
        path = analytics.changes("analytics_create_plot", **given)
        assert path == f"plots/2023/11_ x _{value}_bar.png"
        assert analytics.rows(PLOTS)[count:] == [(path,)]
        assert analytics.labels(PLOTS) == list(range(count + 1))


@pytest.mark.parametrize("plot_type", ["bar", "line", "scatter", "histogram"])
def test_the_same_plot_twice_makes_two_rows(analytics: Desk, plot_type: str) -> None:
    given = {"time_min": "a", "time_max": "b", "value_to_plot": "total_visits", "plot_type": plot_type}
    assert analytics.changes("analytics_create_plot", **given) == f"plots/a_b_total_visits_{plot_type}.png"
    analytics.changes("analytics_create_plot", **given)
    assert analytics.labels(PLOTS) == [0, 1]
    assert analytics.column(PLOTS, "file_path") == [f"plots/a_b_total_visits_{plot_type}.png"] * 2


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        (("", "", "", ""), "Start date not provided."),
        (("a", "", "", ""), "End date not provided."),
        (("a", "b", "", ""), BAD_VALUE),
        (("a", "b", "Total_visits", "pie"), BAD_VALUE),
        (("a", "b", "total_visits", ""), BAD_TYPE),
        (("a", "b", "total_visits", "Bar"), BAD_TYPE),
    ],
)
def test_a_plot_checks_its_values_in_this_order(
    analytics: Desk, values: tuple[str, str, str, str], answer: str
) -> None:
    names = ("time_min", "time_max", "value_to_plot", "plot_type")
    given = dict(zip(names, values, strict=True))
    assert analytics.refused("analytics_create_plot", **given) == answer
