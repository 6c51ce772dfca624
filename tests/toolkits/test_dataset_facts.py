"""What `dataset.toml` says beside the tables: clock, working hours, owner."""

import shutil
from pathlib import Path

import pytest

from toolkits.dataset import BUNDLED, DataError, load_dataset
from toolkits.toolkit import Facts
from wa_mcp.catalogue import CATALOGUE


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled tables, without their facts."""
    folder = tmp_path_factory.mktemp("tables")
    for file in BUNDLED.glob("*.csv"):
        shutil.copy(file, folder)
    return folder


@pytest.fixture
def folder(tables: Path, tmp_path: Path) -> Path:
    for file in tables.iterdir():
        (tmp_path / file.name).symlink_to(file)
    return tmp_path


def facts(folder: Path) -> Facts:
    return load_dataset(folder, CATALOGUE).facts


def test_without_the_file_the_clock_and_the_hours_are_the_usual_ones_and_nobody_owns_it(folder: Path) -> None:
    assert facts(folder) == Facts("2023-11-30 23:59:00", "09:00", "18:00", "", "")


def test_what_the_file_says_counts_and_the_rest_stays_as_usual(folder: Path) -> None:
    file = folder / "dataset.toml"
    file.write_text("format = 1\n")
    assert facts(folder) == Facts()
    file.write_text(
        '\ufeffformat = 1\nnow = "2024-02-29 00:00:00"\n[owner]\nname = "Zoë"\n[working_hours]\nend = "23:59"'
    )
    assert facts(folder) == Facts("2024-02-29 00:00:00", "09:00", "23:59", "Zoë", "")


def test_now_is_when_mails_are_sent(folder: Path) -> None:
    (folder / "dataset.toml").write_text('format = 1\nnow = "2024-02-29 00:00:00"\n')
    office = load_dataset(folder, CATALOGUE).workplace(CATALOGUE.names)
    office, _ = office.call("email_send_email", {"recipient": "a@b.c", "subject": "s", "body": "b"})
    assert office.tables["email.emails"].rows[-1].cells[4] == "2024-02-29 00:00:00"


HOURS = "expected working_hours to start and end as HH:MM, the start first"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("format = ", "not readable as TOML: "),
        ("format = 1\nformat = 1", "not readable as TOML: "),
        ("", "expected format = 1, got None"),
        ("format = 2", "expected format = 1, got 2"),
        ('format = "1"', "expected format = 1, got '1'"),
        ("format = true", "expected format = 1, got True"),
        ("format = 1.0", "expected format = 1, got 1.0"),
        ("format = 1\ncolour = 3", "unknown setting 'colour'; known are format, now, working_hours, owner"),
        ('format = 1\n[owner]\nnme = "x"', "unknown setting 'nme'; known are name, email"),
        ('format = 1\n[working_hours]\nfrom = "x"', "unknown setting 'from'; known are start, end"),
        ("format = 1\nowner = 3", "expected [owner] to be a table"),
        ("format = 1\n[[working_hours]]", "expected [working_hours] to be a table"),
        ("format = 1\n[owner]\nname = 3", "expected name to be text in quotes, got 3"),
        ("format = 1\nnow = 2023-11-30 09:00:00", "expected now to be text in quotes, got datetime"),
        ('format = 1\nnow = "2023-11-30"', "expected now as YYYY-MM-DD HH:MM:SS, got '2023-11-30'"),
        ('format = 1\nnow = "2023-11-30T09:00:00"', "expected now as YYYY-MM-DD HH:MM:SS"),
        ('format = 1\nnow = "2023-11-31 09:00:00"', "expected now as YYYY-MM-DD HH:MM:SS"),
        ('format = 1\nnow = ""', "expected now as YYYY-MM-DD HH:MM:SS, got ''"),
        ('format = 1\n[working_hours]\nstart = "9:00"', HOURS),
        ('format = 1\n[working_hours]\nend = "24:00"', HOURS),
        ('format = 1\n[working_hours]\nend = "17:00:00"', HOURS),
        ('format = 1\n[working_hours]\nstart = "18:00"', HOURS),
        ('format = 1\n[working_hours]\nstart = "soon"', HOURS),
    ],
)
def test_a_broken_file_is_refused(folder: Path, content: str, why: str) -> None:
    file = folder / "dataset.toml"
    file.write_text(content)
    with pytest.raises(DataError) as caught:
        facts(folder)
    assert caught.value.file == file
    assert why in caught.value.why


@pytest.mark.parametrize("content", ["format = " + "1" * 5000, "format = " + "[" * 50_000])
def test_a_file_that_is_too_large_or_too_deep_to_read_is_refused(folder: Path, content: str) -> None:
    (folder / "dataset.toml").write_text(content)
    with pytest.raises(DataError, match="not readable as TOML"):
        load_dataset(folder, CATALOGUE)


def test_a_file_that_is_not_utf_8_or_no_file_is_refused(folder: Path) -> None:
    file = folder / "dataset.toml"
    file.write_bytes(b"format = 1\n# \xff\n")
    with pytest.raises(DataError, match=r"line 2: not UTF-8"):
        facts(folder)
    file.unlink()
    file.mkdir()
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        facts(folder)
