"""Tables are values: a change makes a new one, shares what it can, and leaves the old one as it was."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.toolkits.desk import SPECS, bundled_desk, desk
from toolkits.cells import NAN, Cell, is_nan
from toolkits.dataset import Dataset
from toolkits.table import Append, Base, Drop, Row, Set, Table, TableSpec

SPEC = TableSpec("things.things", "", ("id", "what", "flag"), key="id", boolean=frozenset({"flag"}))

texts = st.sampled_from(["", "NA", "00000189", "ä", "x"])
missing = st.sampled_from([None, NAN])
cells = st.tuples(st.sampled_from("12345"), texts | missing, st.booleans())
labels = st.none() | st.integers(0, 9)
choices = st.lists(st.integers(0, 30), max_size=3)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), cells, labels),
        st.tuples(st.just("drop"), choices),
        st.tuples(st.just("set"), choices, st.just("id"), st.sampled_from("12345")),
        st.tuples(st.just("set"), choices, st.just("what"), texts | missing),
        st.tuples(st.just("set"), choices, st.just("flag"), st.booleans()),
    ),
    max_size=12,
)


class Model:
    """The same table, naively: lists that are written into."""

    def __init__(self, rows: Sequence[tuple[Cell, ...]]) -> None:
        self.rows = [list(row) for row in rows]
        self.labels = list(range(len(rows)))

    def append(self, row: tuple[Cell, ...], label: int | None) -> None:
        self.rows.append(list(row))
        self.labels.append(0 if label is None else label)
        if label is None:
            self.labels = list(range(len(self.rows)))

    def drop(self, positions: Sequence[int]) -> None:
        self.rows = [row for position, row in enumerate(self.rows) if position not in positions]
        self.labels = [label for position, label in enumerate(self.labels) if position not in positions]

    def set(self, positions: Sequence[int], column: str, value: Cell) -> None:
        for position in positions:
            self.rows[position][SPEC.columns.index(column)] = value


def told_apart(cell: object) -> object:
    """Turn a cell into something whose equality knows NaN from None."""
    return ("nan",) if isinstance(cell, float) and cell != cell else cell


def snapshot(table: Table) -> tuple[Any, ...]:
    """Copy all that a table shows, with every missing cell told apart."""
    frame = table.frame
    return (
        [row.cells for row in table.rows],
        list(table.labels),
        list(frame.index),
        [[told_apart(cell) for cell in frame[column].to_list()] for column in frame.columns],
        [str(dtype) for dtype in frame.dtypes],
        json.dumps(table.whole(), allow_nan=False),
        table.changes,
        table.stored,
    )


def agrees_with(table: Table, model: Model) -> None:
    assert [[told_apart(cell) for cell in row.cells] for row in table.rows] == [
        [told_apart(cell) for cell in row] for row in model.rows
    ]
    assert list(table.labels) == model.labels == list(table.frame.index)
    assert len(table) == len(model.rows)
    for at, name in enumerate(SPEC.columns):
        expected = [told_apart(row[at]) for row in model.rows]
        assert [told_apart(cell) for cell in table.frame[name].to_list()] == expected
    assert [str(dtype) for dtype in table.frame.dtypes] == ["object", "object", "bool"]
    for key in "12345":
        assert table.find(key) == tuple(at for at, row in enumerate(model.rows) if row[0] == key)


@given(st.lists(cells, max_size=6), steps)
def test_any_changes_amount_to_what_a_naive_model_amounts_to(
    rows: list[tuple[Cell, ...]], changes: list[tuple[Any, ...]]
) -> None:
    table, model = Base(SPEC, map(Row, rows)).table, Model(rows)
    agrees_with(table, model)
    for revision, (kind, *how) in enumerate(changes, 1):
        before, old = snapshot(table), table
        if kind == "append":
            table = table.append(revision, how[0], label=how[1])
            model.append(how[0], how[1])
            touched = 0
        else:
            positions = tuple(sorted({at % len(table) for at in how[0]})) if len(table) else ()
            touched = len(positions)
            if kind == "drop":
                table = table.drop(revision, positions)
                model.drop(positions)
            else:
                table = table.set(revision, positions, how[1], how[2])
                model.set(positions, how[1], how[2])
        agrees_with(table, model)
        assert snapshot(old) == before
        kept = {id(row) for row in old.rows} & {id(row) for row in table.rows}
        assert len(kept) == len(old.rows) - touched
        assert table.changes[:-1] == old.changes
        assert table.changes[-1].revision == revision


def test_a_change_is_remembered_with_all_that_it_takes_to_do_it_again() -> None:
    table = Base(SPEC, [Row(("1", "a", True)), Row(("2", NAN, False))]).table
    table = table.append(4, ("3", None, True), label=7).drop(5, (0,)).set(6, (0, 1), "what", "é")
    assert table.changes == (
        Append(4, ("3", None, True), 7),
        Drop(5, (0,)),
        Set(6, (0, 1), 1, "é"),
    )
    assert list(table.labels) == [1, 7]
    assert table.stored == len("3") + len("é".encode())
    assert repr(table) == "<Table things.things: 2 rows, 3 changes>"


def test_the_whole_form_keeps_nan_none_and_texts_apart() -> None:
    table = Base(SPEC, [Row(("1", NAN, True)), Row(("2", None, False)), Row(("3", "NaN", True))]).table
    assert table.whole() == {
        "index": [0, 1, 2],
        "columns": [
            {"name": "id", "dtype": "object", "values": ["1", "2", "3"], "nan": []},
            {"name": "what", "dtype": "object", "values": [None, None, "NaN"], "nan": [0]},
            {"name": "flag", "dtype": "bool", "values": [True, False, True], "nan": []},
        ],
    }
    assert table.frame["what"][1] is None
    assert is_nan(table.frame["what"][0])


def test_the_encoded_form_is_canonical_and_the_digest_names_table_and_content() -> None:
    base, same = (Base(SPEC, [Row(("1", "ä", True))]) for _ in range(2))
    expected = json.dumps(base.table.whole(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert base.encoded == expected.encode()
    assert base.digest == same.digest
    others = (
        Base(SPEC, [Row(("1", "a", True))]),
        Base(SPEC, [Row(("1", "ä", True))], labels=[1]),
        Base(TableSpec("other.things", "", SPEC.columns, boolean=SPEC.boolean), [Row(("1", "ä", True))]),
    )
    assert len({base.digest, *(other.digest for other in others)}) == 4


def test_none_and_nan_differ_in_the_digest() -> None:
    assert Base(SPEC, [Row(("1", None, True))]).digest != Base(SPEC, [Row(("1", NAN, True))]).digest


def test_labels_that_a_base_brings_are_kept_until_a_relabelling() -> None:
    table = Base(SPEC, [Row(("1", "a", True)), Row(("2", "b", True))], labels=[5, 5]).table
    assert list(table.frame.index) == [5, 5]
    assert list(table.append(1, ("3", "c", True), label=0).labels) == [5, 5, 0]
    assert list(table.drop(1, (0,)).labels) == [5]
    assert list(table.append(1, ("3", "c", True)).labels) == [0, 1, 2]


def test_what_is_derived_is_computed_once_and_shared_by_all_workplaces(dataset: Dataset) -> None:
    counted: list[Table] = []

    def count(table: Table) -> int:
        counted.append(table)
        return len(table)

    first, second = bundled_desk(dataset), bundled_desk(dataset)
    assert first.table("email.emails").derive(count) == second.table("email.emails").derive(count) == 500
    assert counted == [first.table("email.emails")]
    for name in SPECS:
        assert first.table(name) is second.table(name)
        assert first.table(name).frame is second.table(name).frame
        assert first.table(name).labels is second.table(name).labels
        base = first.table(name).base
        assert base.encoded is base.encoded
        assert base.digest is base.digest
    sent = {"recipient": "a@b.c", "subject": "s", "body": "b"}
    first.changes("email_send_email", **sent)
    assert first.table("email.emails").base is second.table("email.emails").base
    assert first.table("email.emails").rows[:500] == second.table("email.emails").rows


def test_an_empty_table_has_a_frame_of_the_same_dtypes() -> None:
    frame = desk().table("analytics.visits").frame
    assert [str(dtype) for dtype in frame.dtypes] == ["object"] * 5 + ["bool"]
    assert len(frame) == 0


@pytest.mark.parametrize("name", SPECS)
def test_the_bundled_frames_hold_text_as_objects(dataset: Dataset, name: str) -> None:
    table = dataset.bases[name].table
    assert isinstance(table.frame, pd.DataFrame)
    assert list(table.frame.columns) == list(table.spec.columns)
    assert table.frame.index.dtype == np.dtype("int64")
    for column in table.spec.columns:
        assert str(table.frame[column].dtype) == ("bool" if column == "user_engaged" else "object")
        assert [told_apart(cell) for cell in table.frame[column]] == list(
            map(told_apart, table.column(column))
        )


def test_who_writes_into_a_row_that_he_was_shown_writes_into_his_own_alone() -> None:
    rows, columns = [Row(("1", None)), Row(("2", "b"))], ("id", "text")
    expected = [{"id": "1", "text": None}, {"id": "2", "text": "b"}]
    for _ in range(3):  # the first time they are made, then they are kept
        shown = Row.records(rows, columns)
        assert shown == expected
        for record in shown:
            record.clear()
