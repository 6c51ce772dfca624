"""Files that several controllers append lines to, and the lock that makes each line one controller's."""

import fcntl
import os
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import orjson

from checkpoint.errors import InvalidCheckpointState
from checkpoint.files import Folder, write_all

LOCKED_WITHIN: Final = 10.0
"""Seconds that a line waits for another controller's line."""
LOOK_AGAIN: Final = 0.01
LONGEST: Final = 64 << 20


class Journal:
    """An open journal that this process alone may append to. For worker threads."""

    def __init__(self, folder: Folder, fd: int) -> None:
        """Append to `fd`, a file of `folder`."""
        self._folder, self._fd = folder, fd

    def lines(self) -> list[bytes]:
        """What was appended so far, line by line; one that was torn by a crash counts as well."""
        size = os.fstat(self._fd).st_size
        if size > LONGEST:
            raise InvalidCheckpointState("a journal is longer than it should be")
        return os.pread(self._fd, size, 0).splitlines()

    def append(self, entry: Mapping[str, Any]) -> int:
        """Append a line, wait until it is on disk, and answer its number, from 1."""
        lines = self.lines()
        size = os.fstat(self._fd).st_size
        is_torn = size > 0 and os.pread(self._fd, 1, size - 1) != b"\n"
        write_all(self._fd, b"\n" * is_torn + orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE))
        os.fsync(self._fd)
        self._folder.sync()
        return len(lines) + 1


@contextmanager
def open_journal(folder: Folder, name: str, *, wait: bool) -> Generator[Journal | None]:
    """Open a journal for this process alone; it is let go of in the end, or when the process dies.

    Args:
        folder: where it is, or will be.
        name: its name.
        wait: whether to wait for another process; if not, None is given.

    Raises:
        InvalidCheckpointState: another process did not let go of it in time.
        OSError: it cannot be opened.
    """
    fd = folder.open_to_append(name)
    try:
        has = _lock(fd, LOCKED_WITHIN if wait else 0.0)
        if wait and not has:
            raise InvalidCheckpointState(f"another controller holds {name}")
        yield Journal(folder, fd) if has else None
    finally:
        os.close(fd)


def _lock(fd: int, within: float) -> bool:
    ends_at = time.monotonic() + within
    while True:
        try:
            # Of the open file, not of the process: two controllers in one process exclude each other, too.
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= ends_at:
                return False
            time.sleep(LOOK_AGAIN)
        else:
            return True
