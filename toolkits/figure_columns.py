"""Reads columns of any table, however odd, and puts what they hold into a few words."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import pandas as pd

# How many values a figure lists at most.
_SHOWN = 8


class _Comparable(Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


Ordered = TypeVar("Ordered", bound=_Comparable)


@dataclass(frozen=True)
class Row:
    """One row: what each column holds, `None` where a cell is empty or the column is missing."""

    cells: dict[str, str | None]

    def text(self, column: str) -> str:
        """Give the text of a cell, `""` for an empty one."""
        return self.cells.get(column) or ""

    def moment(self, column: str) -> datetime | None:
        """Give the date or time in a cell, `None` if it holds something else."""
        return moment(self.text(column))

    def number(self, column: str) -> int | None:
        """Give the whole number in a cell, `None` if it holds something else."""
        try:
            return int(self.text(column))
        except ValueError:
            return None


def rows(frame: pd.DataFrame | None) -> list[Row]:
    """List the rows of a table; a missing table has none."""
    if frame is None:
        return []
    # By position: names of columns may repeat, and then the last of them counts.
    columns = {str(name): frame.iloc[:, place].tolist() for place, name in enumerate(frame.columns)}
    return [
        Row({name: _text(values[place]) for name, values in columns.items()}) for place in range(len(frame))
    ]


def _text(cell: object) -> str | None:
    if isinstance(cell, str):
        return cell
    return str(cell) if isinstance(cell, bool | int) else None


def moment(text: str) -> datetime | None:
    """Read an ISO date or time without regard to zones, `None` if it is not one."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None


def end(start: datetime, minutes: int) -> datetime | None:
    """Give the moment `minutes` after `start`, `None` if no calendar reaches that far."""
    try:
        return start + timedelta(minutes=minutes)
    except OverflowError:
        return None


def span(values: Iterable[Ordered | None]) -> str:
    """Say from where to where texts, numbers or days reach; `None` among them is left out."""
    ordered = sorted(value for value in values if value is not None)
    return f"{ordered[0]} to {ordered[-1]}" if ordered else "-"


def uses(values: Iterable[Hashable]) -> str:
    """Say how many different values there are and how often the rarest and the most frequent occur."""
    counts = Counter(values)
    return f"{len(counts)}, {span(counts.values())} times each" if counts else "0"


def shares(values: Sequence[str]) -> str:
    """List the most frequent values with their counts and percentages."""
    counts = Counter(values).most_common()
    listed = [
        f"{value or '(empty)'} {count} ({share(count, len(values))})" for value, count in counts[:_SHOWN]
    ]
    return ", ".join(listed + _more(len(counts))) or "-"


def listing(values: Iterable[str]) -> str:
    """Count values and name them."""
    present = list(values)
    return f"{len(present)}: {', '.join(present[:_SHOWN] + _more(len(present)))}" if present else "0"


def share(part: int, whole: int) -> str:
    """Give a percentage."""
    return f"{100 * part / whole:.0f} %" if whole else "-"


def mean(values: Iterable[int]) -> str:
    """Give the mean to one decimal."""
    numbers = list(values)
    try:
        return f"{math.fsum(numbers) / len(numbers):.1f}" if numbers else "-"
    except OverflowError:
        return "-"


def rising(values: Sequence[str]) -> bool:
    """Say whether no text comes before the one ahead of it."""
    return all(before <= after for before, after in pairwise(values))


def yes(condition: bool) -> str:
    """Give `yes` or `no`."""
    return "yes" if condition else "no"


def _more(count: int) -> list[str]:
    return [f"and {count - _SHOWN} more"] if count > _SHOWN else []
