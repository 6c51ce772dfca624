"""Data sets of any size: the bundled rows over and over, each with an id of its own."""

import csv
import shutil
from pathlib import Path
from typing import Final

from toolkits.dataset import BUNDLED
from wa_mcp import Runtime, Settings

__all__ = ["large_runtime", "write_large"]

_KEYS: Final = {
    "emails.csv": "email_id",
    "calendar_events.csv": "event_id",
    "project_tasks.csv": "task_id",
    "customer_relationship_manager_data.csv": "customer_id",
    "analytics_data.csv": "visitor_id",
    "email_addresses.csv": "email_address",
}


def large_runtime(folder: Path, rows: int) -> Runtime:
    """Make a runtime whose tables have so many rows each, as a server does when it starts."""
    write_large(folder, rows)
    runtime = Runtime(Settings(data=folder))
    runtime.dataset.prepare()
    return runtime


def write_large(folder: Path, rows: int) -> None:
    """Write a data set whose tables have so many rows each, unless it is there."""
    if folder.exists():
        return
    folder.mkdir()
    shutil.copy(BUNDLED / "dataset.toml", folder)
    for name, key in _KEYS.items():
        with (BUNDLED / name).open(encoding="utf-8", newline="") as file:
            bundled = list(csv.DictReader(file))
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(bundled[0]))
            writer.writeheader()
            for number in range(rows):
                again, place = divmod(number, len(bundled))
                row = bundled[place]
                writer.writerow(row if not again else {**row, key: _new(key, row[key], number, again)})


def _new(key: str, old: str, number: int, again: int) -> str:
    if key == "email_address":
        return f"{again}.{old}"
    return f"{again}{old}" if key == "visitor_id" else f"{number:08}"
