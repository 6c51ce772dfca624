"""Run as a program: commits over and over, in a process that is killed one call later each time."""

import os
import sys
from pathlib import Path

from checkpoint import Episode, Granted, Origin, StateExport, Store
from tests.checkpoint.disk import Disk, killed

PROJECT = Path(__file__).parents[2]
ORIGIN = Origin("office", "main", "exported")
FACTS: dict[str, object] = {"retired": {}, "server": []}


def snapshot() -> StateExport:
    states: list[dict[str, object]] = [
        {
            "sessionId": f"session-{number}",
            "episode": Episode(f"r{number}", 0).as_json(),
            "base": "b1",
            "notes": [],
        }
        for number in range(3)
    ]
    return StateExport(states, {"b1": {"paper": ["white", None, "yellow"]}})


def write(root: Path, directory: str) -> None:
    store = Store(root, ORIGIN)
    store.write(store.place(directory), "c1", snapshot(), FACTS, Granted())


def main(root: Path, *, halfway: bool) -> None:
    number = 0
    while True:
        child = os.fork()
        if not child:
            Disk(number, killed(halfway=halfway)).put_in()
            write(root, f"step-{number}")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            break
        number += 1
    sys.stdout.write(str(number))


if __name__ == "__main__":
    main(Path(sys.argv[1]), halfway=sys.argv[2] == "halfway")
