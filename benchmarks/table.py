"""Turn a file that `python -m benchmarks --json FILE` wrote into a Markdown table.

It is a program: `python -m benchmarks.table FILE`.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["figure", "table"]

Row = Mapping[str, Any]


def table(report: Mapping[str, Any], *, details: bool = False) -> str:
    """Make a Markdown document of a report: the table, and what it was measured on."""
    lines = ["| what | wa-mcp | against | ratio | target | met |", "|---|---|---|---|---|---|"]
    lines += [_line(row) for row in report["findings"] if details or not row["detail"]]
    notes = _notes([row for row in report["findings"] if details or not row["detail"]])
    machine, versions = report["machine"], report["versions"]
    on = f"{machine['processor']}, {machine['cores']} cores, {machine['platform']}"
    of = ", ".join(f"{name} {number}" for name, number in versions.items())
    return "\n".join([*lines, "", *notes, *([""] if notes else []), f"Measured on {on}; {of}."])


def _notes(rows: Sequence[Row]) -> list[str]:
    """List the notes, each once, behind the rows that it belongs to."""
    noted: dict[str, list[str]] = {}
    for row in rows:
        if row["note"]:
            noted.setdefault(row["note"], []).append(row["what"])
    return [f"- {'; '.join(whats)}: {note}" for note, whats in noted.items()]


def _line(row: Row) -> str:
    met = {None: "", True: "yes", False: "**no**"}[row["met"]]
    cells = (row["what"], figure(row["ours"], row["unit"]), _against(row), _ratio(row), _target(row), met)
    return f"| {' | '.join(cells)} |"


def _against(row: Row) -> str:
    return "" if row["baseline"] is None else f"{row['against']} {figure(row['baseline'], row['unit'])}"


def _ratio(row: Row) -> str:
    if row["ratio"] is None:
        return ""
    if row["is_share"]:
        return f"{row['ratio']:.2f} times"
    return f"{_rounded(row['ratio'])} times {_less(row)}"


def _target(row: Row) -> str:
    target = row["target"]
    if target is None:
        return ""
    parts = [
        "" if target["better"] is None else f"{target['better']:g} times {_less(row)}",
        "" if target["share"] is None else f"at most {target['share']:g} times",
        "" if target["at_most"] is None else f"at most {figure(target['at_most'], row['unit'])}",
    ]
    return ", ".join(part for part in parts if part)


def _less(row: Row) -> str:
    return "faster" if row["unit"] == "s" else "smaller"


def figure(amount: float, unit: str) -> str:
    """Show seconds or bytes in the unit that suits them, to three digits."""
    steps = ((1, "s"), (1e-3, "ms"), (1e-6, "us")) if unit == "s" else ((1e6, "MB"), (1e3, "KB"), (1, "B"))
    size, name = next((step for step in steps if amount >= step[0]), steps[-1])
    return f"{_rounded(amount / size)} {name}"


def _rounded(number: float) -> str:
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def main() -> None:
    """Print the table of a file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.table", description=main.__doc__)
    parser.add_argument("file", type=Path, help="what `python -m benchmarks --json FILE` wrote")
    parser.add_argument("--details", action="store_true", help="show every tool too")
    asked = parser.parse_args()
    print(table(json.loads(asked.file.read_text()), details=asked.details))


if __name__ == "__main__":
    main()
