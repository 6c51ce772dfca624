"""How long the slowest tool holds the event loop on tables of 5,000 rows, whatever was done with them."""

import tempfile
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

from benchmarks.calls import BROAD, CALLS, Call, touching
from benchmarks.findings import Finding, single
from benchmarks.harness import Effort, quiet
from benchmarks.large import large_runtime
from toolkits.workplace import Workplace
from wa_mcp.catalogue import CATALOGUE

__all__ = ["large_tables", "slowest"]

ROWS: Final = 5_000
SAMPLES: Final = 7
WITHIN: Final = 0.005

_NUMBERS: Final = count(1)


async def large_tables(effort: Effort) -> list[Finding]:
    """Call every tool on large tables as they came, just changed, and just loaded; and find all there is."""
    rows, samples = ROWS // effort.shrinks_by, effort.rounds(SAMPLES)
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "data"
        runtime = large_runtime(folder, rows)
        whole = runtime.dataset.workplace(CATALOGUE.names)
        with quiet():
            states = {
                "untouched": _sampled(lambda: whole, CALLS.items(), samples),
                "just changed": _sampled(lambda: _touched(whole), CALLS.items(), samples),
                "finding every row": _sampled(lambda: whole, BROAD, samples),
            }
        states["first call ever"] = [(call, [_first(folder, rows, call)]) for call in CALLS.items()]
    return [finding for state, timed in states.items() for finding in _findings(rows, state, timed)]


def slowest(workplace: Workplace, samples: int) -> tuple[float, str]:
    """Give the seconds that the slowest tool takes, and its name."""
    return max(
        (median(taken), call[0]) for call, taken in _sampled(lambda: workplace, CALLS.items(), samples)
    )


def _sampled(
    workplace: Callable[[], Workplace], calls: Iterable[Call], samples: int
) -> list[tuple[Call, list[float]]]:
    for call in (asked := list(calls)):
        _seconds(workplace(), call)
    return [(call, [_seconds(workplace(), call) for _ in range(samples)]) for call in asked]


def _first(folder: Path, rows: int, call: Call) -> float:
    """Do a call in a server that has just started, and give the seconds it takes."""
    runtime = large_runtime(folder, rows)
    with quiet():
        return _seconds(runtime.dataset.workplace(CATALOGUE.names), call)


def _seconds(workplace: Workplace, call: Call) -> float:
    begun = perf_counter()
    _, outcome = workplace.call(*call)
    took = perf_counter() - begun
    if outcome.is_error:
        raise RuntimeError(f"{call[0]}: {outcome.value}")
    return took


def _touched(workplace: Workplace) -> Workplace:
    for call in touching(next(_NUMBERS)):
        workplace, _ = workplace.call(*call)
    return workplace


def _findings(rows: int, state: str, timed: list[tuple[Call, list[float]]]) -> list[Finding]:
    ranked = sorted(((median(taken), call) for call, taken in timed), key=lambda each: -each[0])
    took, call = ranked[0]
    over = sum(seconds > WITHIN for seconds, _ in ranked)
    note = f"{_shown(call)}; {over} of {len(ranked)} calls take more than 5 ms"
    what = f"slowest tool on tables of {rows:,} rows, {state}"
    return [
        single("large_tables", what, took, at_most=WITHIN, note=note),
        *(
            single("large_tables", f"{_shown(call)} on {rows:,} rows, {state}", seconds, detail=True)
            for seconds, call in ranked
        ),
    ]


def _shown(call: Call) -> str:
    name, arguments = call
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
