"""Run as a program: commits to 50 folders another process commits to as well, and prints those it won."""

import sys
from pathlib import Path

from checkpoint import Granted, Store
from checkpoint.errors import InvalidCheckpointState
from tests.checkpoint.killed_writer import FACTS, ORIGIN, snapshot


def main(root: Path, name: str) -> None:
    store = Store(root, ORIGIN)
    for number in range(50):
        try:
            store.write(store.place(f"step-{number}"), f"checkpoint-{name}", snapshot(), FACTS, Granted())
        except InvalidCheckpointState:
            continue
        sys.stdout.write(f"step-{number}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
