"""Lists in pages: so many entries, and no more bytes than can be sent without holding up all other calls."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

import orjson

from wa_mcp.errors import CodedError, invalid_params

__all__ = ["LARGEST_LOAD", "bad_cursor", "first_of", "numbers_of"]

LARGEST_LOAD: Final = 2 * 1024 * 1024
"""Bytes of JSON on a page; a single entry that is larger is alone on its page."""

MOST_DIGITS: Final = 15
"""Digits of a number in a cursor: of a place, of a revision, or of a mark."""

T = TypeVar("T", bound=tuple[Any, ...] | Mapping[str, Any])


def first_of(entries: Iterable[T], limit: int) -> tuple[list[T], bool]:
    """Take the first entries that fit on a page, and say whether more are left.

    Args:
        entries: What there is to show, ready for JSON.
        limit: Entries on a page.
    """
    page: list[T] = []
    size = 0
    for entry in islice(entries, limit + 1):
        size += len(orjson.dumps(entry, default=tuple))
        if len(page) == limit or (page and size > LARGEST_LOAD):
            return page, True
        page.append(entry)
    return page, False


def numbers_of(cursor: str, count: int) -> Sequence[int]:
    """Read the numbers of a cursor, as many as there have to be, with dots between them.

    Raises:
        CodedError: `invalid_params`, it is not one that a page had.
    """
    parts = cursor.split(".") if len(cursor) <= 100 else []
    if len(parts) != count or not all(
        part.isascii() and part.isdigit() and len(part) <= MOST_DIGITS for part in parts
    ):
        raise bad_cursor()
    return [int(part) for part in parts]


def bad_cursor() -> CodedError:
    """Make the error for a cursor that no page had."""
    return invalid_params("cursor: give the nextCursor of the page before.")
