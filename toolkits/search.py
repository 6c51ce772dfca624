"""A search: the rows of a table, fewer with every filter, in the order in which they are shown.

Rows that a table shares with its base are found on the base's shelf; those of its own are few, and looked at
one by one.
"""

from collections.abc import Callable
from datetime import datetime
from itertools import islice
from typing import Any, Final

from toolkits.cells import Cell, lowered
from toolkits.rows import Row
from toolkits.shelf import Shelf, ranks_in
from toolkits.table import Table

__all__ = ["Search", "page_of"]


class Search:
    """The rows of a table that fulfil every filter asked for so far."""

    def __init__(self, table: Table) -> None:
        self.table: Final = table
        self._view: Final = table.derive(_View)
        self._shared = self._view.shared
        self._own = list(self._view.own)

    def __len__(self) -> int:
        """Count the rows."""
        return self._shared.bit_count() + len(self._own)

    def rows(self, start: int = 0, stop: int | None = None) -> list[Row]:
        """List the rows, or some of them, in the order in which they are shown."""
        shelf, own = self._view.shelf.rows, self._view.own
        if not self._own:
            return [shelf[rank] for rank in islice(ranks_in(self._shared), start, stop)]
        ranks = sorted((*islice(ranks_in(self._shared), stop), *self._own))[start:stop]
        return [own[rank] if rank in own else shelf[int(rank)] for rank in ranks]

    def records(self, start: int = 0, stop: int | None = None) -> list[dict[str, Any]]:
        """Show the rows, or some of them, as objects of column names and cells."""
        return Row.records(self.rows(start, stop), self.table.spec.columns)

    def containing(self, part: str, *columns: str) -> None:
        """Keep the rows that have a text in any of these columns, whatever its case."""
        wanted, shelf = lowered(part), self._view.shelf
        places = [self.table.spec.position[column] for column in columns]
        found = 0
        for place in places:
            found |= shelf.cells(place).containing(wanted)
        self._keep(
            found,
            lambda row: any((text := row.lower[place]) is not None and wanted in text for place in places),
        )

    def being(self, text: str, column: str) -> None:
        """Keep the rows whose cell in a column is a text, whatever its case."""
        wanted, shelf, place = lowered(text), self._view.shelf, self.table.spec.position[column]
        self._keep(shelf.cells(place).being(wanted), lambda row: row.lower[place] == wanted)

    def with_word(self, word: str) -> None:
        """Keep the rows that have a word, lowered and without white space, in the columns for words."""
        shelf = self._view.shelf
        found = shelf.words.containing(word, among=self._shared)
        self._keep(found, lambda row: word in row.text(shelf.word_columns))

    def within(self, column: str, lowest: str, highest: str) -> None:
        """Keep the rows whose cell lies within two inclusive bounds, as text; an empty one bounds none."""
        shelf, place = self._view.shelf, self.table.spec.position[column]
        self._keep(
            shelf.within(place, lowest, highest),
            lambda row: _lies_within(row.cells[place], lowest, highest),
        )

    def between(self, earliest: datetime | None, latest: datetime | None) -> None:
        """Keep the rows whose time lies within two inclusive bounds; None bounds nothing."""
        shelf, place = self._view.shelf, self.table.spec.position[self.table.spec.latest_first]
        self._keep(
            shelf.between(earliest, latest),
            lambda row: _lies_between(row.moment(place), earliest, latest),
        )

    def _keep(self, found: int, holds: Callable[[Row], bool]) -> None:
        """Keep what a filter leaves.

        Args:
            found: The shelf's rows for which it holds.
            holds: Says whether it holds for a row.
        """
        self._shared &= found
        self._own = [rank for rank in self._own if holds(self._view.own[rank])]


def page_of(search: Search, items: str, page: int, page_size: int) -> dict[str, Any]:
    """Show one page as `{items: [...], "pagination": {...}}`; `page` is clamped to what there is."""
    total = len(search)
    pages = -(-total // page_size)
    page = min(max(page, 1), pages)
    start = (page - 1) * page_size
    return {
        items: search.records(start, start + page_size),
        "pagination": {
            f"total_{items}": total,
            "page": page,
            "page_size": page_size,
            "total_pages": pages,
        },
    }


class _View:
    """What a table has of its base's shelf, and its own rows between.

    Attributes:
        shelf: The shelf.
        shared: The set of the shelf's rows that the table has.
        own: The table's own rows by rank: a number between those of the two rows that each stands between.
    """

    def __init__(self, table: Table) -> None:
        overlay = table.overlay
        self.shelf: Final = table.base.table.derive(Shelf)
        gone = sum(1 << self.shelf.rank[place] for place in overlay.gone)
        self.shared: Final = self.shelf.every ^ gone
        own = [(table.rows[position], overlay.places[position]) for position in overlay.own]
        own.sort(key=lambda pair: self.shelf.time(pair[0]), reverse=True)
        self.own: Final = {
            self.shelf.before(row, place) - 1 + number / (len(own) + 1): row
            for number, (row, place) in enumerate(own, 1)
        }


def _lies_within(cell: Cell, lowest: str, highest: str) -> bool:
    return isinstance(cell, str) and lowest <= cell and (not highest or cell <= highest)


def _lies_between(time: datetime | None, earliest: datetime | None, latest: datetime | None) -> bool:
    if time is None:
        return False
    return (earliest is None or time >= earliest) and (latest is None or time <= latest)
