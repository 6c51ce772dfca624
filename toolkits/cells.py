"""What a cell of a table may hold, and how times in cells are read.

A cell is text, `NAN` (empty in the file), `None` (a tool stored nothing) or, in a boolean column, a bool.
`NAN` and `None` are different values of state, and both are `null` on the wire.
"""

from datetime import datetime
from typing import Final, TypeGuard

__all__ = [
    "EARLIEST",
    "LONGEST_TEXT",
    "NAN",
    "Cell",
    "has_surrogate",
    "is_id",
    "is_missing",
    "is_nan",
    "is_storable",
    "lowered",
    "read_moment",
    "stored_bytes",
    "wire",
]

Cell = str | bool | float | None

NAN: Final = float("nan")

LONGEST_TEXT: Final = 100_000
"""Characters that one text may have, as an argument or in a cell."""

EARLIEST: Final = datetime(1, 1, 1)  # noqa: DTZ001 - the times of a data set have no zone
"""Where a row without a time stands when rows are put in order of time."""

_LONGEST_ID: Final = 16
_LONGEST_TIME: Final = len("2023-11-30 23:59:00.000000")
_DIGITS_TO_ZERO: Final = str.maketrans("123456789", "0" * 9)
_DATE: Final = "0000-00-00"
_CLOCKS: Final = ("00:00", "00:00:00", *(f"00:00:00.{'0' * digits}" for digits in range(1, 7)))
_SHAPES: Final = frozenset({_DATE, *(f"{_DATE}{between}{clock}" for between in " T" for clock in _CLOCKS)})


def is_nan(cell: Cell) -> TypeGuard[float]:
    """Say whether the cell is empty in the file it came from."""
    return isinstance(cell, float)


def is_missing(cell: Cell) -> bool:
    """Say whether the cell holds nothing, be it NaN or None."""
    return cell is None or isinstance(cell, float)


def wire(cell: Cell) -> str | bool | None:
    """Turn a cell into what JSON shows: itself, or None where it holds nothing."""
    return cell if isinstance(cell, str | bool) else None


def is_storable(value: object, longest: int = LONGEST_TEXT) -> TypeGuard[str]:
    """Say whether a value is text that a cell may hold: not too long, and Unicode."""
    if not isinstance(value, str) or len(value) > longest:
        return False
    return value.isascii() or not has_surrogate(value)


def is_id(cell: object) -> TypeGuard[str]:
    """Say whether a cell is an id as the tools make and read them: a few ASCII digits."""
    return isinstance(cell, str) and 0 < len(cell) <= _LONGEST_ID and cell.isascii() and cell.isdigit()


def has_surrogate(text: str) -> bool:
    """Say whether a text holds half a character, and so is no Unicode and cannot be sent or stored."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def lowered(text: str) -> str:
    """Lower the case for a comparison, so that any part of a text is a part of the lowered text too.

    A capital sigma alone has two lower-case forms, one at the end of a word; here it has one.
    """
    return text.lower().replace("\u03c2", "\u03c3")


def stored_bytes(cell: Cell) -> int:
    """Count the UTF-8 bytes that the cell adds to what a session stores."""
    if not isinstance(cell, str):
        return 0
    return len(cell) if cell.isascii() else len(cell.encode())


def read_moment(text: Cell) -> datetime | None:
    """Read `YYYY-MM-DD`, or that plus a space or `T` and `HH:MM[:SS[.ffffff]]`; a bare date is midnight.

    Returns None for anything else: other forms, zones, impossible dates, cells that are not text.
    """
    if not isinstance(text, str) or len(text) > _LONGEST_TIME:
        return None
    # The shape is compared first because `fromisoformat` reads more forms than we accept.
    if text.translate(_DIGITS_TO_ZERO) not in _SHAPES or text[11:13] == "24":
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
