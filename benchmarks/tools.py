"""How long each of the 27 tools takes in process, without anything of MCP around it."""

from collections.abc import Callable
from statistics import median

import pandas as pd

from benchmarks.baseline import PlainWorkplace
from benchmarks.calls import CALLS, CHANGED_TABLE
from benchmarks.findings import Finding, Target, found, single
from benchmarks.harness import Effort, Pairs, Side, compare, often_enough, quiet
from benchmarks.offices import prepared_dataset
from toolkits.workplace import Workplace
from wa_mcp.catalogue import CATALOGUE

__all__ = ["tools"]

ROUNDS = 15


async def tools(effort: Effort) -> list[Finding]:
    """Call every tool, each time in a fresh workplace."""
    workplace = prepared_dataset().workplace(CATALOGUE.names)
    with quiet():
        pairs = {name: _pairs(workplace, name, effort) for name in CALLS}
    least = min(pairs, key=lambda name: pairs[name].better)
    slowest = max(pairs, key=lambda name: median(pairs[name].ours))
    return [
        found("tools", "27 tools in process: the one that gains least", pairs[least],
              target=Target(better=1), note=least),
        single("tools", "27 tools in process: the median tool",
               median(median(each.ours) for each in pairs.values()), at_most=300e-6),
        single("tools", "27 tools in process: the slowest", median(pairs[slowest].ours), note=slowest),
        *(found("tools", name, each, detail=True) for name, each in pairs.items()),
    ]  # fmt: skip


def _pairs(workplace: Workplace, name: str, effort: Effort) -> Pairs:
    arguments, plain = CALLS[name], PlainWorkplace()

    def ours() -> object:
        return workplace.call(name, arguments)

    def theirs() -> object:
        return plain.call(name, arguments)

    changes = CATALOGUE.tools[name].changes
    before = _restorer(plain, CHANGED_TABLE[CATALOGUE.tools[name].toolkit]) if changes else None
    if before is not None:
        before()
    times = often_enough(theirs, most=effort.size(10)) if before is None else effort.size(5)
    return compare(Side(theirs, before, times), Side(ours, times=often_enough(ours)), effort.rounds(ROUNDS))


def _restorer(plain: PlainWorkplace, table: str) -> Callable[[], None]:
    """Give what puts a table of the plain workplace back to how it was read."""
    frame: pd.DataFrame = plain.table(table)
    whole = frame.copy()
    return lambda: plain.put(table, whole.copy())
