"""Loading a data set: what is read as it stands, and what is refused with its file, line and column."""

import csv
from pathlib import Path

import pytest

from tests.toolkits.desk import SPECS
from toolkits.cells import NAN, Cell
from toolkits.dataset import DataError, Dataset, load_dataset
from wa_mcp.catalogue import CATALOGUE

FILES = {spec.file: spec for spec in SPECS.values() if spec.file}
EMAILS, VISITS, TASKS, PEOPLE = "emails.csv", "analytics_data.csv", "project_tasks.csv", "email_addresses.csv"
MAIL_TITLE = "email_id,inbox/outbox,sender/recipient,subject,sent_datetime,body\n"
VISIT_TITLE = "date_of_visit,visitor_id,page_views,session_duration_seconds,traffic_source,user_engaged\n"
TASK_TITLE = "task_id,task_name,assigned_to_email,list_name,due_date,board\n"
TOO_LONG = "a cell of more than 100000 characters"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A flat data set whose tables are all empty."""
    for name, spec in FILES.items():
        text = f"{','.join(spec.columns)}\n" if spec.titled else ""
        (tmp_path / name).write_text(text)
    return tmp_path


def load(folder: Path) -> Dataset:
    return load_dataset(folder, CATALOGUE)


def rows(folder: Path, table: str) -> list[tuple[Cell, ...]]:
    return [row.cells for row in load(folder).bases[table].rows]


def refused(folder: Path) -> DataError:
    with pytest.raises(DataError) as caught:
        load(folder)
    return caught.value


def nest(folder: Path) -> None:
    for name, spec in FILES.items():
        inside = folder / ("processed" if spec.titled else "raw")
        inside.mkdir(exist_ok=True)
        (folder / name).rename(inside / name)


def test_both_layouts_hold_the_same_tables(folder: Path) -> None:
    (folder / TASKS).write_text(f"{TASK_TITLE}00000001,n,a@b.c,Backlog,d,Design\n")
    (folder / PEOPLE).write_text("a@b.c\n")
    (folder / "dataset.toml").write_text('format = 1\nnow = "2024-01-02 03:04:05"\n')
    flat = load(folder)
    nest(folder)
    nested = load(folder)
    assert {name: base.digest for name, base in flat.bases.items()} == {
        name: base.digest for name, base in nested.bases.items()
    }
    assert flat.facts == nested.facts
    assert set(flat.bases) == set(SPECS)


@pytest.mark.parametrize(
    "text", ["a@b.c\nd@e.f\n", "email_address\na@b.c\nd@e.f", "\n\nemail_address\r\n\na@b.c\nd@e.f"]
)
def test_the_directory_is_read_with_and_without_a_title(folder: Path, text: str) -> None:
    (folder / PEOPLE).write_text(text)
    assert rows(folder, "company_directory.addresses") == [("a@b.c",), ("d@e.f",)]


def test_texts_stay_as_they_stand_and_only_empty_cells_are_nan(folder: Path) -> None:
    (folder / TASKS).write_text(
        f"{TASK_TITLE}00000189,NA,null,None,nan,007\n"
        '1," x ","a,b","say ""hi""",2023-1-5,\n2,"",N/A,NaN,-1.50,1e5\n'
    )
    assert rows(folder, "project_management.tasks") == [
        ("00000189", "NA", "null", "None", "nan", "007"),
        ("1", " x ", "a,b", 'say "hi"', "2023-1-5", NAN),
        ("2", NAN, "N/A", "NaN", "-1.50", "1e5"),
    ]


def test_byte_order_marks_line_ends_blank_lines_and_breaks_within_cells_are_read(folder: Path) -> None:
    text = f'{TASK_TITLE}\n1,"two\r\nlines",a\u2028b,c\u0085d,é😀,x\n\n\n2,n,a,l,d,b'
    expected = [("1", "two\r\nlines", "a\u2028b", "c\u0085d", "é😀", "x"), ("2", "n", "a", "l", "d", "b")]
    (folder / TASKS).write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert rows(folder, "project_management.tasks") == expected
    (folder / TASKS).write_bytes(text.replace("\r\n", "\n").replace("\n", "\r\n").encode())
    assert rows(folder, "project_management.tasks") == expected


def test_only_the_text_true_is_true(folder: Path) -> None:
    lines = "".join(
        f"d,{at},1,1,s,{text}\n" for at, text in enumerate(["True", "true", "TRUE", "1", "", "False"])
    )
    (folder / VISITS).write_text(VISIT_TITLE + lines)
    assert [row[5] for row in rows(folder, "analytics.visits")] == [True, False, False, False, False, False]


def test_numbers_may_be_long_or_missing_and_visitors_may_come_twice(folder: Path) -> None:
    (folder / VISITS).write_text(f"{VISIT_TITLE}d,1,007,-1.5,s,True\nd,1,,{'9' * 40},s,True\n")
    assert [row[1:4] for row in rows(folder, "analytics.visits")] == [
        ("1", "007", "-1.5"), ("1", NAN, "9" * 40),
    ]  # fmt: skip


def test_an_error_is_a_value_error_that_carries_its_facts(folder: Path) -> None:
    (folder / TASKS).write_text(f"{TASK_TITLE}1,a,b,c,d,e\n1,a,b,c,d,e\n")
    error = refused(folder)
    assert isinstance(error, ValueError)
    assert (error.file, error.line, error.column) == (folder / TASKS, 3, "task_id")
    assert str(error) == f"{folder / TASKS}, line 3, column task_id: {error.why}"
    assert error.why == "the id 1 stands on line 2 already"


@pytest.mark.parametrize(
    ("file", "content", "line", "column", "why"),
    [
        (EMAILS, "", 1, None, "empty; the first line must be email_id,"),
        (EMAILS, "\n\n", 1, None, "empty; the first line must be email_id,"),
        (EMAILS, MAIL_TITLE.replace("subject", "Subject"), 1, "Subject", "expected the column 'subject'"),
        (EMAILS, "\n" + MAIL_TITLE.replace("subject", "topic"), 2, "topic", "got 'topic'"),
        (EMAILS, MAIL_TITLE.replace(",body", ""), 1, None, "expected 6 columns (email_id, "),
        (EMAILS, MAIL_TITLE.replace("body", "body,more"), 1, None, "expected 6 columns (email_id, "),
        (EMAILS, MAIL_TITLE.replace(",", ";"), 1, "email_id;inbox/outbox;sender/recipient;s", "column"),
        (EMAILS, MAIL_TITLE + "1,inbox,a@b.c,s,2023-11-01\n", 2, None, "expected 6 cells, got 5"),
        (EMAILS, MAIL_TITLE + "\n1,inbox,a@b.c,s,2023-11-01,b,more\n", 3, None, "expected 6 cells, got 7"),
        (EMAILS, MAIL_TITLE + ",inbox,a@b.c,s,2023-11-01,b\n", 2, "email_id", "an id is missing"),
        (EMAILS, MAIL_TITLE + "1a,i,a@b.c,s,2023-11-01,b\n", 2, "email_id", "1 to 15 digits, got '1a'"),
        (EMAILS, MAIL_TITLE + "٣,i,a@b.c,s,2023-11-01,b\n", 2, "email_id", "1 to 15 digits, got '٣'"),
        (EMAILS, MAIL_TITLE + "-1,i,a@b.c,s,2023-11-01,b\n", 2, "email_id", "1 to 15 digits, got '-1'"),
        (EMAILS, MAIL_TITLE + f"{10**15},i,a,s,2023-11-01,b\n", 2, "email_id", "1 to 15 digits"),
        (EMAILS, MAIL_TITLE + "1,i,a,s,1 Nov 2023,b\n", 2, "sent_datetime", "HH:MM:SS, got '1 Nov 2023'"),
        (EMAILS, MAIL_TITLE + "1,i,a,s,2023-11-01T09:00:00Z,b\n", 2, "sent_datetime", "expected a time"),
        (EMAILS, MAIL_TITLE + '1,i,a,s,,"a\nb"\n2,i,a,s,soon,b\n', 4, "sent_datetime", "got 'soon'"),
        (EMAILS, MAIL_TITLE + f"1,i,a,s,,{'x' * 100_001}\n", 2, "body", TOO_LONG),
        (EMAILS, MAIL_TITLE + f"1,i,a,{'é' * 500_000},,b\n", 2, "subject", TOO_LONG),
        (EMAILS, MAIL_TITLE + '1,i,a,s,,b\n2,i,a,s,,"b\n', 3, None, "not readable as CSV: "),
        (EMAILS, MAIL_TITLE + '1,i,a,s,,"b"x\n', 2, None, "not readable as CSV: "),
        (VISITS, VISIT_TITLE + "d,1,two,1,s,True\n", 2, "page_views", "expected a number, got 'two'"),
        (VISITS, VISIT_TITLE + "d,1,1,1e5,s,True\n", 2, "session_duration_seconds", "got '1e5'"),
        (VISITS, VISIT_TITLE + "d,1,1,nan,s,True\n", 2, "session_duration_seconds", "got 'nan'"),
        (VISITS, VISIT_TITLE + "d,1,1,inf,s,True\n", 2, "session_duration_seconds", "got 'inf'"),
        (VISITS, VISIT_TITLE + "d,1,1,٣,s,True\n", 2, "session_duration_seconds", "got '٣'"),
        (VISITS, VISIT_TITLE + f"d,1,1,{'9' * 41},s,True\n", 2, "session_duration_seconds", "a number, got"),
        (VISITS, VISIT_TITLE + "d,1,1,1,s,True\nd,,1,1,s,True\n", 3, "visitor_id", "an id is missing"),
        (PEOPLE, "a@b.c\nd@e.f,g@h.i\n", 2, None, "expected 1 cells, got 2"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_file_line_and_column(
    folder: Path, file: str, content: str, line: int, column: str | None, why: str
) -> None:
    (folder / file).write_text(content, newline="")
    error = refused(folder)
    assert (error.file, error.line, error.column) == (folder / file, line, column)
    assert why in error.why
    assert str(error).startswith(str(folder / file))
    assert len(str(error)) < 400


def test_a_long_cell_leaves_the_csv_module_s_own_limit_alone(folder: Path) -> None:
    limit = csv.field_size_limit()
    (folder / EMAILS).write_text(MAIL_TITLE + f"1,i,a,s,,{'x' * (limit + 1)}\n")
    assert refused(folder).column == "body"
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("body", [b"\xff", b"caf\xe9,x", b"\xed\xa0\x80"])
def test_bytes_that_are_not_utf_8_are_refused_with_their_line(folder: Path, mark: bytes, body: bytes) -> None:
    (folder / TASKS).write_bytes(mark + TASK_TITLE.encode() + b"1,a,b,c,d,e\n" + body + b"\n")
    error = refused(folder)
    assert (error.file, error.line, error.why) == (folder / TASKS, 3, "not UTF-8")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_or_unreadable_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert str(refused(folder)) == f"{folder / name}: cannot be read: No such file or directory"
    (folder / name).mkdir()
    assert str(refused(folder)) == f"{folder / name}: cannot be read: Is a directory"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    error = refused(tmp_path / "nope")
    assert str(error) == f"{tmp_path / 'nope'}: no such folder; give the folder that holds the CSV files"


def test_files_too_large_and_tables_too_long_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolkits.dataset.MOST_ROWS", 2)
    (folder / PEOPLE).write_text("a\nb\n")
    assert len(rows(folder, "company_directory.addresses")) == 2
    (folder / PEOPLE).write_text("a\nb\nc\n")
    assert str(refused(folder)) == f"{folder / PEOPLE}, line 3: more than 2 rows"
    monkeypatch.setattr("toolkits.dataset.LARGEST_FILE", 5)
    assert "larger than 5 bytes" in str(refused(folder))
