"""A data set: the tables that every session starts from, read from a folder of CSV files.

Two layouts are read: all files in one folder, or `processed/` with the tables and `raw/` with the directory.
Cells are text as they stand in the file; an empty one is NaN. What does not fit is refused, with the file,
the line and the column; nothing is repaired.
"""

import csv
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import time
from io import StringIO
from pathlib import Path
from typing import Any, Final

from toolkits.cells import LONGEST_TEXT, NAN, Cell, read_moment
from toolkits.table import Base, Row, TableSpec
from toolkits.toolkit import Facts
from toolkits.workplace import Catalogue, Dataset

__all__ = ["BUNDLED", "DataError", "Dataset", "load_dataset"]

BUNDLED: Final = Path(__file__).parent / "data"
"""The folder of the data set that comes with the package."""

LARGEST_FILE: Final = 256 * 1024 * 1024
MOST_ROWS: Final = 1_000_000
LONGEST_ID: Final = 15
LONGEST_NUMBER: Final = 40  # keeps every sum and mean of a column finite
FACTS_FILE: Final = "dataset.toml"
FORMAT: Final = 1


class DataError(ValueError):
    """A data set that cannot be read: which file, which line and column, and why."""

    def __init__(self, file: Path, why: str, *, line: int | None = None, column: str | None = None) -> None:
        where = [str(file)]
        where += [f"line {line}"] if line is not None else []
        where += [f"column {column}"] if column is not None else []
        super().__init__(f"{', '.join(where)}: {why}")
        self.file, self.line, self.column, self.why = file, line, column, why


def load_dataset(folder: Path, catalogue: Catalogue) -> Dataset:
    """Read the tables of a catalogue's toolkits, and the facts, from a folder.

    Raises:
        DataError: A file is missing, too large, not UTF-8, or a line of it does not fit its table.
    """
    if not folder.is_dir():
        raise DataError(folder, "no such folder; give the folder that holds the CSV files")
    nested = (folder / "processed").is_dir()
    bases: dict[str, Base] = {}
    for spec in catalogue.specs(catalogue.names):
        inside = ("processed" if spec.titled else "raw") if nested else ""
        rows = _read_table(folder / inside / spec.file, spec) if spec.file else []
        bases[spec.name] = Base(spec, rows)
    return Dataset(catalogue, _read_facts(folder / FACTS_FILE), bases)


def _read_table(file: Path, spec: TableSpec) -> list[Row]:
    rows: list[Row] = []
    seen: dict[str, int] = {}
    for line, cells in _records(file, spec):
        if len(cells) != len(spec.columns):
            raise DataError(file, f"expected {len(spec.columns)} cells, got {len(cells)}", line=line)
        row = Row(tuple(_cell(file, line, spec, *pair) for pair in zip(spec.columns, cells, strict=True)))
        _check_key(file, line, spec, row, seen)
        rows.append(row)
        if len(rows) > MOST_ROWS:
            raise DataError(file, f"more than {MOST_ROWS} rows", line=line)
    return rows


def _records(file: Path, spec: TableSpec) -> Iterator[tuple[int, list[str]]]:
    """Give the line number and cells of every record behind the title; blank lines are skipped."""
    reader = csv.reader(StringIO(_text(file), newline=""), strict=True)
    titled = False
    while True:
        line = reader.line_num + 1
        try:
            cells = _next(reader)
        except csv.Error as error:
            raise DataError(file, f"not readable as CSV: {error}", line=line) from error
        if cells is None:
            break
        if not cells:
            continue
        if not titled:
            titled = True
            if _is_title(file, line, spec, cells):
                continue
        yield line, cells
    if spec.titled and not titled:
        raise DataError(file, f"empty; the first line must be {','.join(spec.columns)}", line=1)


def _next(reader: Iterator[list[str]]) -> list[str] | None:
    # The csv module would refuse a long cell without naming its column. Its limit is the whole process's.
    limit = csv.field_size_limit(LARGEST_FILE)
    try:
        return next(reader, None)
    finally:
        csv.field_size_limit(limit)


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise DataError(file, f"larger than {LARGEST_FILE} bytes")
        content = file.read_bytes()
    except OSError as error:
        raise DataError(file, f"cannot be read: {error.strerror}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The error counts from behind a byte order mark, so the lines are counted in what it read.
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DataError(file, "not UTF-8", line=line) from error


def _is_title(file: Path, line: int, spec: TableSpec, cells: list[str]) -> bool:
    if tuple(cells) == spec.columns:
        return True
    if not spec.titled:
        return False
    for expected, got in zip(spec.columns, cells, strict=False):
        if expected != got:
            why = f"expected the column {expected!r} here, got {got[:40]!r}"
            raise DataError(file, why, line=line, column=got[:40])
    why = f"expected {len(spec.columns)} columns ({', '.join(spec.columns)}), got {len(cells)}"
    raise DataError(file, why, line=line)


def _cell(file: Path, line: int, spec: TableSpec, column: str, text: str) -> Cell:
    if len(text) > LONGEST_TEXT:
        raise DataError(file, f"a cell of more than {LONGEST_TEXT} characters", line=line, column=column)
    if column in spec.boolean:
        return text == "True"
    if not text:
        return NAN
    if column in spec.times and read_moment(text) is None:
        why = f"expected a time as YYYY-MM-DD HH:MM:SS, got {text[:40]!r}"
        raise DataError(file, why, line=line, column=column)
    if column in spec.numbers and not _is_number(text):
        raise DataError(file, f"expected a number, got {text[:40]!r}", line=line, column=column)
    return text


def _is_number(text: str) -> bool:
    whole, _, part = text.removeprefix("-").partition(".")
    digits = whole.isdigit() and (not part or part.isdigit())
    return len(text) <= LONGEST_NUMBER and text.isascii() and digits


def _check_key(file: Path, line: int, spec: TableSpec, row: Row, seen: dict[str, int]) -> None:
    if not spec.key:
        return
    key = row.cells[spec.position[spec.key]]
    if not isinstance(key, str):
        raise DataError(file, "an id is missing", line=line, column=spec.key)
    if not (key.isascii() and key.isdigit() and len(key) <= LONGEST_ID):
        why = f"expected an id of 1 to {LONGEST_ID} digits, got {key[:40]!r}"
        raise DataError(file, why, line=line, column=spec.key)
    if spec.unique and seen.setdefault(key, line) != line:
        raise DataError(file, f"the id {key} stands on line {seen[key]} already", line=line, column=spec.key)


def _read_facts(file: Path) -> Facts:
    if not file.exists():
        return Facts()
    try:
        content = tomllib.loads(_text(file))
    except (ValueError, RecursionError) as error:  # what is wrong TOML, or too large or too deep for it
        raise DataError(file, f"not readable as TOML: {error}") from error
    _check_known(file, content, ("format", "now", "working_hours", "owner"))
    if repr(content.get("format")) != repr(FORMAT):  # neither true nor 1.0
        raise DataError(file, f"expected format = {FORMAT}, got {content.get('format')!r}")
    hours = _section(file, content, "working_hours", ("start", "end"))
    owner = _section(file, content, "owner", ("name", "email"))
    facts = Facts(
        now=_string(file, content, "now", Facts.now),
        day_starts=_string(file, hours, "start", Facts.day_starts),
        day_ends=_string(file, hours, "end", Facts.day_ends),
        owner_name=_string(file, owner, "name", ""),
        owner_email=_string(file, owner, "email", ""),
    )
    _check_facts(file, facts)
    return facts


def _check_known(file: Path, content: Mapping[str, Any], known: Sequence[str]) -> None:
    if strange := sorted(set(content) - set(known)):
        raise DataError(file, f"unknown setting {strange[0]!r}; known are {', '.join(known)}")


def _section(file: Path, content: Mapping[str, Any], name: str, known: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(content.get(name, {}), dict):
        raise DataError(file, f"expected [{name}] to be a table")
    section: Mapping[str, Any] = content.get(name, {})
    _check_known(file, section, known)
    return section


def _string(file: Path, content: Mapping[str, Any], name: str, default: str) -> str:
    value = content.get(name, default)
    if not isinstance(value, str):
        raise DataError(file, f"expected {name} to be text in quotes, got {value!r}")
    return value


def _check_facts(file: Path, facts: Facts) -> None:
    if len(facts.now) != len(Facts.now) or facts.now[10] != " " or read_moment(facts.now) is None:
        raise DataError(file, f"expected now as YYYY-MM-DD HH:MM:SS, got {facts.now!r}")
    if not _clock(facts.day_starts) or not _clock(facts.day_ends) or facts.day_starts >= facts.day_ends:
        raise DataError(file, "expected working_hours to start and end as HH:MM, the start first")


def _clock(text: str) -> bool:
    try:
        return time.fromisoformat(text).strftime("%H:%M") == text
    except ValueError:
        return False
