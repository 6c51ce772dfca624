"""Times are read in the written forms only, and cells are told apart."""
# ruff: noqa: DTZ001, DTZ901, RUF001 - times in cells have no zone; foreign digits are what is tested

import re
from datetime import datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolkits.cells import NAN, is_missing, is_nan, read_moment, stored_bytes, wire

FORM = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?)?"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023-11-30", datetime(2023, 11, 30)),
        ("2023-11-30 09:05", datetime(2023, 11, 30, 9, 5)),
        ("2023-11-30T09:05", datetime(2023, 11, 30, 9, 5)),
        ("2023-11-30 23:59:59", datetime(2023, 11, 30, 23, 59, 59)),
        ("2023-11-30T23:59:59.5", datetime(2023, 11, 30, 23, 59, 59, 500_000)),
        ("2023-11-30 00:00:00.000001", datetime(2023, 11, 30, 0, 0, 0, 1)),
        ("2024-02-29", datetime(2024, 2, 29)),
        ("0001-01-01", datetime(1, 1, 1)),
        ("9999-12-31 23:59:59.999999", datetime.max),
    ],
)  # fmt: skip
def test_a_written_time_is_read(text: str, expected: datetime) -> None:
    assert read_moment(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "now", "today", "15:30", "20231201", "2023-12", "2023-1-5", "2023-W48-4", "2023-334",
        "23-12-01", "2023/12/01", "12-01-2023", "Dec 1 2023", "2023-12-01 9:00", "2023-12-01 09",
        "2023-12-01 0900", "2023-12-01T", "2023-12-01 ", " 2023-12-01", "2023-12-01\n",
        "2023-12-01  09:00",
        "2023-12-01t09:00", "2023-12-01_09:00", "2023-12-01 09:00Z", "2023-12-01 09:00:00Z",
        "2023-12-01 09:00:00+00:00", "2023-12-01 09:00:00-05", "2023-12-01 09:00:00.",
        "2023-12-01 09:00:00,5",
        "2023-12-01 09:00:00.1234567", "2023-12-01 24:00", "2023-12-01 24:00:00", "2023-12-01 09:60",
        "2023-12-01 09:00:60", "2023-02-29", "2023-11-31", "2023-13-01", "2023-00-01", "2023-01-00",
        "0000-01-01",
        "٢٠٢٣-١٢-٠١", "2023-12-01 09:00 AM", "2023‐12‐01", "+2023-12-01", "-2023-12-01", "1e10-12-01",
        "2023-12-01" * 1000,
    ],
)  # fmt: skip
def test_any_other_text_is_no_time(text: str) -> None:
    assert read_moment(text) is None


@pytest.mark.parametrize("cell", [None, NAN, True, False])
def test_a_cell_that_is_no_text_is_no_time(cell: float | bool | None) -> None:
    assert read_moment(cell) is None


@given(st.text(alphabet="0123456789-: T.Z+", max_size=27) | st.from_regex(FORM, fullmatch=True))
@example("2023-02-30 09:00")
def test_every_text_is_read_by_its_written_form_and_the_calendar(text: str) -> None:
    moment = read_moment(text)
    if moment is None:
        if FORM.fullmatch(text):
            with pytest.raises(ValueError, match=r"day|month|year"):
                datetime.fromisoformat(text)
        return
    assert FORM.fullmatch(text)
    assert moment.tzinfo is None
    year, month, day, *clock = map(int, re.findall(r"[0-9]+", text.partition(".")[0]))
    part = text.partition(".")[2].ljust(6, "0")
    hour, minute, second = (*clock, 0, 0, 0)[:3]
    assert moment == datetime(year, month, day, hour, minute, second) + timedelta(microseconds=int(part))


def test_nan_none_and_texts_are_told_apart() -> None:
    cells = (NAN, None, "", "nan", True)
    assert [is_nan(cell) for cell in cells] == [True, False, False, False, False]
    assert [is_missing(cell) for cell in cells] == [True, True, False, False, False]
    assert [wire(cell) for cell in cells] == [None, None, "", "nan", True]
    assert [stored_bytes(cell) for cell in (*cells, "é", "😀")] == [0, 0, 0, 3, 0, 2, 4]
