import csv
import os
from pathlib import Path

import pytest

from toolkits.generator import (
    BUNDLED_SEED,
    DatasetExistsError,
    GeneratedDataset,
    generate,
    write_dataset,
)
from toolkits.generator.words_customers import COMPANY_STEMS, COMPANY_TRADES, FAMILY_NAMES, GIVEN_NAMES
from toolkits.generator.words_events import EVENT_NAMES
from toolkits.generator.words_people import FIRST_NAMES, SURNAMES, WORKPLACES
from toolkits.generator.words_projects import TASK_NAMES

BUNDLED = Path(__file__).parents[2] / "toolkits" / "data"
FILES = [
    "analytics_data.csv",
    "calendar_events.csv",
    "customer_relationship_manager_data.csv",
    "dataset.toml",
    "email_addresses.csv",
    "emails.csv",
    "project_tasks.csv",
]


def column(dataset: GeneratedDataset, file: str, name: str) -> list[str]:
    table = dataset.tables[file]
    return [row[table.header.index(name)] for row in table.rows]


def test_the_bundled_files_are_what_the_bundled_seed_gives(tmp_path: Path) -> None:
    write_dataset(generate(BUNDLED_SEED), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES
    assert [name for name in FILES if (tmp_path / name).read_bytes() != (BUNDLED / name).read_bytes()] == []


def test_a_seed_always_gives_the_same_data_set_and_another_seed_another() -> None:
    assert generate(7) == generate(7)
    assert generate(7) != generate(8)


def test_files_are_utf_8_with_line_feeds_and_one_header_line_each() -> None:
    for name in FILES:
        raw = (BUNDLED / name).read_bytes()
        assert b"\r" not in raw
        assert raw.endswith(b"\n")
        raw.decode("utf-8")
    with (BUNDLED / "email_addresses.csv").open(encoding="utf-8") as file:
        assert file.readline() == "email_address\n"


def test_what_is_read_back_from_the_files_is_what_was_generated(tmp_path: Path) -> None:
    dataset = generate(3)
    write_dataset(dataset, tmp_path / "new" / "folder")
    for name, table in dataset.tables.items():
        with (tmp_path / "new" / "folder" / name).open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert tuple(header) == table.header
        assert [tuple(row) for row in rows] == list(table.rows)


@pytest.mark.parametrize("name", ["emails.csv", "dataset.toml"])
def test_a_folder_that_holds_a_file_of_these_names_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(DatasetExistsError, match=f"already holds {name}; choose another folder") as caught:
        write_dataset(generate(1), tmp_path)
    assert caught.value.names == (name,)
    assert [(path.name, path.read_text("utf-8")) for path in tmp_path.iterdir()] == [(name, "mine")]


def test_a_write_that_fails_leaves_no_partial_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        write_dataset(generate(1), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_no_name_a_search_may_be_for_is_part_of_another() -> None:
    tasks = [name for names in TASK_NAMES.values() for name in names]
    for names in (EVENT_NAMES, tasks, FIRST_NAMES, WORKPLACES, GIVEN_NAMES, FAMILY_NAMES):
        assert len(set(names)) == len(names)
        inside = [
            (short, long)
            for short in names
            for long in names
            if short != long and short.lower() in long.lower()
        ]
        assert inside == []


def test_no_first_name_is_part_of_any_other_word_the_generator_knows() -> None:
    words = " ".join(
        path.read_text("utf-8").lower()
        for path in Path(__file__).parents[2].glob("toolkits/generator/words_*.py")
        if path.name != "words_people.py"
    )
    words += " ".join([*SURNAMES, *WORKPLACES]).lower()
    assert [first for first in FIRST_NAMES if first.lower() in words] == []


def test_every_name_that_becomes_an_address_can_be_one() -> None:
    for word in (*FIRST_NAMES, *SURNAMES, *WORKPLACES, *COMPANY_STEMS, *COMPANY_TRADES):
        assert word.isascii()
        assert word.isalpha()


@pytest.mark.parametrize("seed", [BUNDLED_SEED, 1, 2, 3])
def test_nothing_is_taken_from_the_reference_data(seed: int) -> None:
    folder = os.environ.get("WORKPLACE_REFERENCE")
    if not folder:
        pytest.skip("WORKPLACE_REFERENCE is not set")
    theirs = _reference_words(Path(folder) / "csv_data")
    assert len(theirs) > 500
    assert _words(generate(seed)) & theirs == set()


def _words(dataset: GeneratedDataset) -> set[str]:
    """Collect, lower-case: names, subjects, addresses, and the parts of persons' names and companies."""
    found: set[str] = set()
    for file, name in (
        ("calendar_events.csv", "event_name"),
        ("customer_relationship_manager_data.csv", "customer_name"),
        ("customer_relationship_manager_data.csv", "customer_email"),
        ("email_addresses.csv", "email_address"),
        ("emails.csv", "subject"),
        ("emails.csv", "body"),
        ("project_tasks.csv", "task_name"),
    ):
        for cell in column(dataset, file, name):
            found |= _cell_words(name, cell.lower())
    for cell in column(dataset, "customer_relationship_manager_data.csv", "notes"):
        found |= {part.strip() for part in cell.lower().split(".")}
    return found - {""}


def _cell_words(name: str, cell: str) -> set[str]:
    if name.endswith(("email", "address")):
        local, _, domain = cell.partition("@")
        return {cell, *local.split("."), domain.partition(".")[0]}
    if name == "customer_name":
        return {cell, *cell.split()}
    if name == "body":
        return {line for line in cell.split("\\n") if line and " " in line}
    return {cell}


def _reference_words(folder: Path) -> set[str]:
    found: set[str] = set()
    columns = {"event_name", "customer_name", "customer_email", "subject", "body", "task_name"}
    for path in sorted(folder.rglob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        if path.name == "email_addresses.csv":
            found |= {word for row in rows for cell in row for word in _cell_words("address", cell.lower())}
            continue
        for name, *cells in zip(*rows, strict=True):
            if name in columns:
                found |= {word for cell in cells for word in _cell_words(name, cell.lower())}
            if name == "notes":
                found |= {
                    part.partition(":")[2].strip() for cell in cells for part in cell.lower().split(".")
                }
    return found - {""}
