"""What finds rows quickly finds the same rows, in the same order, as looking at every row does."""
# ruff: noqa: DTZ001, RUF001 - times in cells have no zone; letters with more than two cases are tested

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.toolkits.desk import bundled_desk, desk
from toolkits import shelf
from toolkits.cells import EARLIEST, NAN, Cell
from toolkits.dataset import Dataset
from toolkits.search import Search
from toolkits.shelf import MOST_KNOWN, Shelf, Texts
from toolkits.table import Base, Row, Table, TableSpec

COLUMNS = ("id", "what", "time", "who")
SPECS = {
    order: TableSpec(
        "things.things", "", COLUMNS, key="id", latest_first=order,
        looked_through=("what", "who"), bounded=("what",), words=("what", "who"),
    )
    for order in ("time", "")
}  # fmt: skip

missing = st.sampled_from([None, NAN])
texts = st.text(alphabet="abAΣσ\n .", max_size=6)
parts = st.text(alphabet="abσ\n .", min_size=1, max_size=3)
times = st.sampled_from(["2023-11-01", "2023-11-01 09:00", "2023-11-02T10:00:00", "0001-01-01", "soon", ""])
cells = st.tuples(st.sampled_from("12345"), texts | missing, times | missing, texts | missing)
choices = st.lists(st.integers(0, 30), max_size=3)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), cells),
        st.tuples(st.just("drop"), choices),
        st.tuples(st.just("set"), choices, st.just("what"), texts | missing),
        st.tuples(st.just("set"), choices, st.just("time"), times | missing),
    ),
    max_size=10,
)
bounds = st.none() | st.sampled_from([datetime(1, 1, 1), datetime(2023, 11, 1), datetime(2023, 11, 1, 9)])


def changed(table: Table, changes: Sequence[tuple[Any, ...]]) -> Table:
    for revision, (kind, *how) in enumerate(changes, 1):
        positions = (
            tuple(sorted({at % len(table) for at in how[0]})) if kind != "append" and len(table) else ()
        )
        if kind == "append":
            table = table.append(revision, how[0])
        elif kind == "drop":
            table = table.drop(revision, positions)
        else:
            table = table.set(revision, positions, how[1], how[2])
    return table


def shown(table: Table, rows: Sequence[Row]) -> list[Row]:
    """Put rows in the order in which a search shows them."""
    if not table.spec.latest_first:
        return list(rows)
    return sorted(rows, key=lambda row: row.moment(2) or EARLIEST, reverse=True)


@given(
    st.sampled_from(["time", ""]),
    st.lists(cells, max_size=8),
    steps,
    parts,
    parts,
    texts,
    texts,
    bounds,
    bounds,
)
@example(
    "time",
    [("1", "a", "0001-01-01", "b")],
    [("append", ("2", "a", None, "b"))],
    "a",
    "b",
    "",
    "",
    None,
    EARLIEST,
)
def test_a_search_of_any_changed_table_finds_what_looking_at_every_row_finds(
    order: str,
    rows: list[tuple[Cell, ...]],
    changes: list[tuple[Any, ...]],
    part: str,
    word: str,
    lowest: str,
    highest: str,
    earliest: datetime | None,
    latest: datetime | None,
) -> None:
    table = changed(Base(SPECS[order], map(Row, rows)).table, changes)
    afresh = Base(SPECS[order], [Row(row.cells) for row in table.rows]).table
    for searched in (table, afresh):
        search, kept = Search(searched), shown(searched, searched.rows)
        assert search.rows() == kept
        search.containing(part, "what", "who")
        kept = [row for row in kept if any(part in (row.lower[at] or "") for at in (1, 3))]
        assert search.rows() == kept
        for number, piece in enumerate(word.split()):
            with patch.object(shelf, "FEW", number % 2 * shelf.FEW):  # looked up, and row by row
                search.with_word(piece)
            kept = [row for row in kept if piece in row.text((1, 3))]
        assert search.rows() == kept
        if order and (earliest or latest):
            search.between(earliest, latest)
            kept = [
                row
                for row in kept
                if (time := row.moment(2)) is not None
                and (earliest is None or time >= earliest)
                and (latest is None or time <= latest)
            ]
            assert search.rows() == kept
        if lowest or highest:
            search.within("what", lowest, highest)
            kept = [
                row
                for row in kept
                if isinstance(cell := row.cells[1], str)
                and lowest <= cell
                and (not highest or cell <= highest)
            ]
        assert search.rows() == kept
        assert len(search) == len(kept)
        assert [search.rows(at, at + 2) for at in range(0, 9, 2)] == [
            kept[at : at + 2] for at in range(0, 9, 2)
        ]
        exact = Search(searched)
        exact.being(part, "what")
        assert exact.rows() == [row for row in shown(searched, searched.rows) if row.lower[1] == part]


@given(st.lists(cells, max_size=8), steps)
def test_ids_of_any_changed_table_are_found_where_they_stand(
    rows: list[tuple[Cell, ...]], changes: list[tuple[Any, ...]]
) -> None:
    table = changed(Base(SPECS[""], map(Row, rows)).table, changes)
    ids = [str(row.cells[0]) for row in table.rows]
    assert table.highest_id == max(ids, default=None)
    for key in "12345":
        assert table.find(key) == tuple(at for at, found in enumerate(ids) if found == key)


@given(st.lists(texts | st.none(), max_size=40), parts)
@example(["ab", "ba"], "b\nb")
def test_a_part_is_found_in_the_texts_that_contain_it(some: list[str | None], part: str) -> None:
    whole = [*some, *(f"{number}" for number in range(500))]  # in few of the texts, so each is not looked at
    found = Texts(whole, lambda text: (text,))
    expected = sum(1 << rank for rank, text in enumerate(whole) if text is not None and part in text)
    assert found.containing(part) == found.containing(part) == expected


def test_a_part_that_stands_in_most_texts_is_found_as_one_that_stands_in_few() -> None:
    whole = [f"mail {number} of ours" for number in range(500)]
    words = Texts(whole, str.split)
    for part in ("ours", "mail", "49", "7", "499", "x"):
        assert words.containing(part) == sum(1 << rank for rank, text in enumerate(whole) if part in text)


@given(st.lists(texts | st.none(), max_size=60), parts, st.integers(0, 2**60 - 1))
def test_a_part_is_found_among_some_rows_as_it_is_among_all(
    some: list[str | None], part: str, among: int
) -> None:
    among &= (1 << len(some)) - 1
    found, afresh = (Texts(some, lambda text: (text,)) for _ in range(2))
    assert found.containing(part, among) & among == afresh.containing(part) & among
    assert found.known == ((part,) if among.bit_count() > shelf.FEW and len(part) <= 100 else ())


def test_only_so_many_parts_are_remembered_and_none_that_is_long() -> None:
    found = Texts(["a" * 200], lambda text: (text,))
    for number in range(MOST_KNOWN + 10):
        assert found.containing(f"b{number}") == 0
    assert found.containing("a" * 150) == 1
    assert found.known == tuple(f"b{number}" for number in range(10, MOST_KNOWN + 10))


def test_who_gets_a_record_may_write_into_it(dataset: Dataset) -> None:
    office = bundled_desk(dataset)
    first = office.reads("email_search_emails")
    first["emails"][0]["subject"] = "mine"
    assert office.reads("email_search_emails")["emails"][0]["subject"] != "mine"


def test_a_prepared_data_set_has_made_what_the_first_search_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    office = desk({"email.emails": [["0", "inbox", "a@b.c", "s", "2023-11-01", "word"]]})
    office.workplace.dataset.prepare()
    monkeypatch.setattr(Texts, "__init__", None)
    monkeypatch.setattr(Shelf, "__init__", None)
    assert office.reads("email_search_emails", query="word")["pagination"]["total_emails"] == 1
    assert office.reads("project_management_search_tasks", board="x") == []
    assert office.reads("customer_relationship_manager_search_customers", status="x") == "No customers found."
    assert office.reads("calendar_search_events", query="x") == "No events found."
    assert office.reads("company_directory_find_email_address", name="x") == []
