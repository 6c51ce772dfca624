"""Run the benchmarks and print their table: `python -m benchmarks`."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio

from benchmarks.findings import Finding
from benchmarks.harness import Effort
from benchmarks.machine import machine, versions
from benchmarks.programs import PROGRAMS
from benchmarks.table import table

__all__ = ["main", "report"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print what was measured, and on what."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"one of {', '.join(PROGRAMS)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured to a file, too")
    parser.add_argument(
        "--quick", action="store_true", help="only see that all runs; the figures mean little"
    )
    parser.add_argument("--details", action="store_true", help="show every tool in the table")
    asked = parser.parse_args(arguments)
    if strange := sorted(set(asked.programs) - set(PROGRAMS)):
        parser.error(f"no such program: {strange[0]}; there are {', '.join(PROGRAMS)}")
    measured = report(asked.programs or list(PROGRAMS), Effort(quick=asked.quick))
    if asked.json is not None:
        asked.json.write_text(json.dumps(measured, indent=1) + "\n")
    print(table(measured, details=asked.details))


def report(names: Sequence[str], effort: Effort) -> dict[str, Any]:
    """Run programs, one after the other, and give all that there is to say of it, ready for JSON."""
    findings: list[Finding] = []
    for name in names:
        begun = perf_counter()
        findings += anyio.run(PROGRAMS[name], effort)
        print(f"{name}: {perf_counter() - begun:.0f} s", file=sys.stderr)
    return {
        "machine": machine(),
        "versions": versions(),
        "quick": effort.quick,
        "findings": [finding.as_json() for finding in findings],
    }


if __name__ == "__main__":
    main()
