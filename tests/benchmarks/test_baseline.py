"""The baseline does what we do: a comparison with something that does less would be none."""

import math
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.baseline import PlainWorkplace, plain_score
from benchmarks.calls import (
    CALLS,
    CHANGED_TABLE,
    Call,
    calendar_searches,
    changes_of,
    customer_searches,
    mail_searches,
)
from benchmarks.offices import ten_changes
from toolkits.workplace import Dataset, Workplace
from wa_mcp.catalogue import CATALOGUE

SEARCHES = 12


@pytest.fixture(scope="module")
def fresh(dataset: Dataset) -> Workplace:
    return dataset.workplace(CATALOGUE.names)


def without_nan(value: Any) -> Any:
    """Show a missing cell as None: the baseline answers NaN, which is no JSON."""
    if isinstance(value, dict):
        return {str(key): without_nan(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [without_nan(item) for item in cast("list[Any]", value)]
    return None if isinstance(value, float) and math.isnan(value) else value


def cells(plain: PlainWorkplace, table: str) -> list[list[Any]]:
    return [[without_nan(cell) for cell in row] for row in plain.table(table).to_numpy().tolist()]


def assert_same_tables(plain: PlainWorkplace, ours: Workplace) -> None:
    for name, table in ours.tables.items():
        assert cells(plain, name) == [[without_nan(cell) for cell in row.cells] for row in table.rows]
        assert list(plain.table(name).index) == list(table.labels)


def assert_same_work(ours: Workplace, calls: list[Call]) -> None:
    plain = PlainWorkplace()
    for name, arguments in calls:
        ours, outcome = ours.call(name, arguments)
        assert not outcome.is_error, outcome.value
        assert without_nan(plain.call(name, arguments)) == outcome.value
    assert_same_tables(plain, ours)


@pytest.mark.parametrize("name", CALLS)
def test_a_measured_call_succeeds_and_does_the_same_on_both_sides(fresh: Workplace, name: str) -> None:
    assert_same_work(fresh, [(name, CALLS[name])])


def test_every_tool_is_measured() -> None:
    assert set(CALLS) == set(CATALOGUE.tools)


@pytest.mark.parametrize("table", sorted(set(CHANGED_TABLE.values())))
def test_every_table_that_tools_change_is_restored_between_calls(fresh: Workplace, table: str) -> None:
    after, outcome = fresh, None
    for name, arguments in CALLS.items():
        after, outcome = fresh.call(name, arguments)
        if after.tables[table] is not fresh.tables[table]:
            assert CHANGED_TABLE[CATALOGUE.tools[name].toolkit] == table
            assert outcome.changed == (table,)


@pytest.mark.parametrize("kind", ["one word", "eight words", "calendar", "customers"])
@pytest.mark.parametrize("changed", [False, True])
def test_searches_find_the_same_in_the_same_tables(dataset: Dataset, kind: str, changed: bool) -> None:
    toolkit, searches = {
        "one word": ("email", mail_searches(dataset, 1)),
        "eight words": ("email", mail_searches(dataset, 8)),
        "calendar": ("calendar", calendar_searches(dataset)),
        "customers": ("customers", customer_searches(dataset)),
    }[kind]
    changes = changes_of(toolkit, 1) if changed else []
    assert_same_work(dataset.workplace(CATALOGUE.names), [*changes, *islice(searches, SEARCHES)])


@pytest.mark.parametrize("kind", ["one word", "eight words", "calendar", "customers"])
def test_no_two_measured_searches_ask_for_the_same(dataset: Dataset, kind: str) -> None:
    searches = {
        "one word": mail_searches(dataset, 1),
        "eight words": mail_searches(dataset, 8),
        "calendar": calendar_searches(dataset),
        "customers": customer_searches(dataset),
    }[kind]
    assert len({str(search) for search in searches}) == len(searches) >= 150


@pytest.mark.parametrize("toolkit", ["email", "calendar", "customers"])
def test_ten_changes_of_one_table_leave_the_same_on_both_sides(fresh: Workplace, toolkit: str) -> None:
    calls = changes_of(toolkit, 3)
    assert len(calls) == 10
    assert_same_work(fresh, calls)


def test_ten_changes_of_a_session_leave_the_same_on_both_sides(dataset: Dataset) -> None:
    for number in range(3):
        assert_same_work(dataset.workplace(CATALOGUE.names), ten_changes(dataset, number))


def test_a_plain_checkpoint_brings_every_table_back(dataset: Dataset, tmp_path: Path) -> None:
    plain = PlainWorkplace()
    for call in ten_changes(dataset, 1):
        plain.call(*call)
    plain.save(tmp_path / "session.json")
    back = PlainWorkplace.load(tmp_path / "session.json")
    for name in dataset.workplace(CATALOGUE.names).tables:
        assert cells(back, name) == cells(plain, name)
        assert list(back.table(name).index) == list(plain.table(name).index)


def test_a_plain_score_tells_a_run_that_did_the_same_from_one_that_did_not(dataset: Dataset) -> None:
    truth, other = ten_changes(dataset, 1), ten_changes(dataset, 2)
    assert plain_score(truth, truth)
    assert not plain_score(truth, other)
    assert not plain_score(truth, truth[:-1])
