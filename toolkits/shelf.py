"""What finds rows of a base without looking at each: texts by what is in them, times and cells in order.

A base never changes and all sessions share it, so whatever is made here is made once. A set of rows is an
integer: bit n stands for the row of rank n, so that sets are made smaller, and counted, in one step.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from itertools import accumulate, chain, compress, count
from typing import Final

from toolkits.cells import EARLIEST
from toolkits.rows import Row
from toolkits.table import Table

__all__ = ["Shelf", "Texts", "ranks_in"]

MOST_KNOWN: Final = 1000
"""Parts of texts whose rows are remembered: agents at the same tasks ask for the same."""

LONGEST_KNOWN: Final = 100

FEW: Final = 50
"""Rows that are sooner looked at one by one than a part looked up that nobody has asked for."""

_A_JUMP: Final = 10
"""Going on to the next place of a part costs about as much as looking into so many texts."""

_FLAGS: Final = bytes.maketrans(b"01", b"\0\1")
_DIGITS: Final = bytes.maketrans(b"\0\1", b"01")


def ranks_in(rows: int) -> Iterator[int]:
    """List the ranks in a set of rows, ascending."""
    return compress(count(), bin(rows)[:1:-1].encode().translate(_FLAGS))


def _each(rows: int) -> Iterator[int]:
    """Take a set of few rows apart into sets of one."""
    while rows:
        yield rows & -rows
        rows &= rows - 1


def _set_of(ranks: Iterable[int], size: int) -> int:
    flags = bytearray(size)
    for rank in ranks:
        flags[rank] = True
    return _flagged(flags)


def _flagged(flags: bytes | bytearray) -> int:
    """Make the set of the rows that have a flag, by rank."""
    return int(flags[::-1].translate(_DIGITS), 2) if flags else 0


class Texts:
    """One text of each row, None where a row has none, and what is in them.

    Args:
        whole: The rows' texts, by rank.
        split: What makes the pieces of a text, one of which a part of it must lie in.
    """

    def __init__(self, whole: Sequence[str | None], split: Callable[[str], Iterable[str]]) -> None:
        self._whole: Final = [text or "" for text in whole]
        ranks: dict[str, list[int]] = {}
        for rank, text in enumerate(whole):
            for piece in dict.fromkeys(() if text is None else split(text)):
                ranks.setdefault(piece, []).append(rank)
        self._ranks: Final = {piece: tuple(found) for piece, found in ranks.items()}
        self._pieces: Final = tuple(ranks)
        self._joined: Final = "\n".join(ranks)
        self._starts: Final = tuple(accumulate((len(piece) + 1 for piece in ranks), initial=0))
        self._known: Final[dict[str, int]] = {}

    @property
    def known(self) -> tuple[str, ...]:
        """The parts whose rows are remembered, oldest first."""
        return tuple(self._known)

    def being(self, text: str) -> int:
        """Find the rows that have this piece, whole."""
        return _set_of(self._ranks.get(text, ()), len(self._whole))

    def containing(self, part: str, among: int | None = None) -> int:
        """Find the rows whose text contains the part, which must not be empty.

        Args:
            part: The part.
            among: The rows that it matters for, None for all; of any other, it is not said.
        """
        found = self._known.get(part)
        if found is None:
            if among is not None and among.bit_count() <= FEW:
                return sum(row for row in _each(among) if part in self._whole[row.bit_length() - 1])
            found = self._containing(part)
            if len(part) <= LONGEST_KNOWN:
                if len(self._known) >= MOST_KNOWN:
                    del self._known[next(iter(self._known))]
                self._known[part] = found
        return found

    def _containing(self, part: str) -> int:
        # With a line break in it, it might be found across two pieces.
        if "\n" in part or self._joined.count(part) * _A_JUMP > len(self._whole):
            return _flagged(bytes([part in text for text in self._whole]))
        return _set_of(chain.from_iterable(self._jumps(part)), len(self._whole))

    def _jumps(self, part: str) -> Iterator[Sequence[int]]:
        """Find the pieces that contain the part, and give the ranks of the rows that have each."""
        at = self._joined.find(part)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            yield self._ranks[self._pieces[number]]
            at = self._joined.find(part, self._starts[number + 1])


class Shelf:
    """The rows of a base in the order in which searches show them: as they stand, or the latest first.

    Args:
        table: The base's table without any change.

    Attributes:
        rows: The rows in that order; the number of a row in it is its rank.
        every: The set of all of them.
        rank: The rank of each row, by its place in the base.
        word_columns: Where the columns for words stand.
    """

    def __init__(self, table: Table) -> None:
        spec = table.spec
        self._by_time: Final = spec.position[spec.latest_first] if spec.latest_first else None
        times = [self.time(row) for row in table.rows]
        # A reversed sort keeps ties in table order too.
        self._places: Final = sorted(range(len(times)), key=times.__getitem__, reverse=True)
        self._times: Final = sorted(times)
        self.rows: Final = tuple(table.rows[place] for place in self._places)
        self.every: Final = (1 << len(self.rows)) - 1
        self.rank: Final = sorted(range(len(times)), key=self._places.__getitem__)
        timed = (rank for rank, row in enumerate(self.rows) if self._moment(row) is not None)
        self._timed: Final = _set_of(timed, len(self.rows))
        self._spec: Final = spec
        self.word_columns: Final = tuple(map(spec.position.__getitem__, spec.words))
        self._cells: Final[dict[int, Texts]] = {}
        self._ordered: Final[dict[int, tuple[list[str], list[int]]]] = {}

    def prepare(self) -> None:
        """Make now what the first search of each kind would make."""
        spec = self._spec
        for column in spec.looked_through:
            self.cells(spec.position[column])
        for column in spec.bounded:
            self._in_order(spec.position[column])
        if spec.words:
            _ = self.words
        for row in self.rows if spec.looked_through or spec.words else ():
            row.record(spec.columns)

    def cells(self, column: int) -> Texts:
        """Give what finds rows by their text in a column."""
        if column not in self._cells:
            self._cells[column] = Texts([row.lower[column] for row in self.rows], lambda text: (text,))
        return self._cells[column]

    @cached_property
    def words(self) -> Texts:
        """What finds rows by a word in the columns for words."""
        return Texts([row.text(self.word_columns) for row in self.rows], str.split)

    def within(self, column: int, lowest: str, highest: str) -> int:
        """Find the rows whose text lies within two inclusive bounds; an empty bound bounds nothing."""
        texts, ranks = self._in_order(column)
        last = bisect_right(texts, highest) if highest else len(texts)
        return _set_of(ranks[bisect_left(texts, lowest) : last], len(self.rows))

    def between(self, earliest: datetime | None, latest: datetime | None) -> int:
        """Find the rows whose time lies within two inclusive bounds; None bounds nothing."""
        first = 0 if latest is None else len(self.rows) - bisect_right(self._times, latest)
        last = len(self.rows) if earliest is None else len(self.rows) - bisect_left(self._times, earliest)
        return self._timed & (1 << last) - (1 << first) if first < last else 0

    def before(self, row: Row, place: int) -> int:
        """Count the rows that stand before one that is not on the shelf.

        Args:
            row: The row.
            place: The place in the base of the row that stands before it in its table.
        """
        time = self.time(row)
        first = len(self.rows) - bisect_right(self._times, time)
        last = len(self.rows) - bisect_left(self._times, time)
        return bisect_right(self._places, place, first, last)

    def _in_order(self, column: int) -> tuple[list[str], list[int]]:
        """List the texts of a column in order, and with them the ranks of their rows."""
        if column not in self._ordered:
            cells = [row.cells[column] for row in self.rows]
            pairs = sorted((cell, rank) for rank, cell in enumerate(cells) if isinstance(cell, str))
            self._ordered[column] = ([cell for cell, _ in pairs], [rank for _, rank in pairs])
        return self._ordered[column]

    def time(self, row: Row) -> datetime:
        """Give the time that a row stands by; the same for all where rows stand as in their table."""
        moment = self._moment(row)
        return EARLIEST if moment is None else moment

    def _moment(self, row: Row) -> datetime | None:
        return None if self._by_time is None else row.moment(self._by_time)
