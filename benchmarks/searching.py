"""How long a search takes, in a table as it came and in one that the session has changed.

Every search asks for something else, so an answer that was kept from the search before is of no use; and a
changed table was changed just before the search, so what is kept with a table is of no use either.
"""

from collections.abc import Iterator, Sequence
from itertools import count, cycle

from benchmarks.baseline import PlainWorkplace
from benchmarks.calls import Call, calendar_searches, changes_of, customer_searches, mail_searches
from benchmarks.findings import Finding, Target, found
from benchmarks.harness import Effort, Pairs, Side, compare
from benchmarks.offices import prepared_dataset
from toolkits.workplace import Dataset, Workplace
from wa_mcp.catalogue import CATALOGUE

__all__ = ["searching"]

ROUNDS = 15
SEARCHES = 8
"""Searches in a sample; each sample of a side has the same as the other's."""


async def searching(effort: Effort) -> list[Finding]:
    """Search mail, calendar and customers."""
    dataset = prepared_dataset()
    kinds = (
        ("email", "mail search, one word", mail_searches(dataset, 1), 100, 50),
        ("email", "mail search, eight words", mail_searches(dataset, 8), 25, 20),
        ("calendar", "calendar search", calendar_searches(dataset), 10, 8),
        ("customers", "customer search", customer_searches(dataset), 10, 8),
    )
    findings: list[Finding] = []
    for _, what, calls, better, _ in kinds:
        pairs = _untouched(dataset, calls, effort)
        findings.append(found("searching", f"{what}, untouched table", pairs, target=Target(better=better)))
    for toolkit, what, calls, _, better in kinds:
        pairs = _changed(dataset, toolkit, calls, effort)
        findings.append(found("searching", f"{what}, changed table", pairs, target=Target(better=better)))
    return findings


def _untouched(dataset: Dataset, calls: Sequence[Call], effort: Effort) -> Pairs:
    plain, workplace = PlainWorkplace(), dataset.workplace(CATALOGUE.names)
    theirs, own = cycle(calls), cycle(calls)
    return compare(
        Side(lambda: plain.call(*next(theirs)), times=effort.size(SEARCHES)),
        Side(lambda: workplace.call(*next(own)), times=effort.size(SEARCHES)),
        effort.rounds(ROUNDS),
    )


def _changed(dataset: Dataset, toolkit: str, calls: Sequence[Call], effort: Effort) -> Pairs:
    plain = PlainWorkplace()
    for call in changes_of(toolkit, 0):
        plain.call(*call)
    office = Changing(dataset, toolkit)
    theirs, own = cycle(calls), cycle(calls)
    return compare(
        Side(lambda: plain.call(*next(theirs)), times=effort.size(SEARCHES)),
        Side(lambda: office.workplace.call(*next(own)), office.change, times=effort.size(SEARCHES)),
        effort.rounds(ROUNDS),
    )


class Changing:
    """A workplace that is changed in another way each time.

    Attributes:
        workplace: With ten changes of the toolkit's table.
    """

    def __init__(self, dataset: Dataset, toolkit: str) -> None:
        self._fresh = dataset.workplace(CATALOGUE.names)
        self._toolkit = toolkit
        self._numbers: Iterator[int] = count(1)
        self.workplace: Workplace = self._fresh

    def change(self) -> None:
        """Start from a fresh workplace, and do the next ten changes in it."""
        self.workplace = self._fresh
        for call in changes_of(self._toolkit, next(self._numbers)):
            self.workplace, _ = self.workplace.call(*call)
