"""Files under one root that nothing leads out of. POSIX: everything is done relative to open folders."""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Final

from checkpoint.errors import InvalidCheckpointState, InvalidParams

# What is kept here amounts to credentials (session ids), so it is for the owner only.
_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_OPEN_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# O_NONBLOCK: a named pipe put in place of a file must not hang its reader.
_OPEN_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_JOURNAL: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_NAME_CHARACTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")

Place = tuple[str, ...]
"""Names of folders, from the root down."""


def check_name(name: str, what: str) -> str:
    """Give back `name` if it can name a folder: `[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}`.

    Raises:
        InvalidParams: it cannot.
    """
    if 1 <= len(name) <= 64 and not name.startswith(".") and _NAME_CHARACTERS.issuperset(name):
        return name
    raise InvalidParams(f"{what} is 1 to 64 of A-Z a-z 0-9 . _ - and does not begin with a dot")


def place_in(root: Path, directory: str) -> Place:
    """Where `directory` is, seen from `root`. Looks at the text only, at no file.

    Args:
        root: the folder everything lies under.
        directory: relative to the root, or absolute and inside of it.

    Raises:
        InvalidParams: it is empty, leads out of the root, or is no path.
    """
    if not directory or "\0" in directory or not directory.isprintable():
        raise InvalidParams("checkpointDir is not a path")
    path = PurePosixPath(directory)
    if ".." in path.parts:
        raise InvalidParams("checkpointDir must not contain '..'")
    if not path.is_absolute():
        return path.parts
    for base in (root.absolute(), Path(os.path.realpath(root))):
        if path.is_relative_to(base):
            return path.relative_to(base).parts
    raise InvalidParams("checkpointDir lies outside of the checkpoint root")


class Folder:
    """An open folder. Its methods raise OSError."""

    def __init__(self, fd: int) -> None:
        """Work in the folder that `fd` is open on."""
        self._fd = fd

    def read(self, name: str, *, at_most: int) -> bytes:
        """The contents of a regular file, refused if they are more than `at_most` bytes."""
        fd = os.open(name, _OPEN_FILE, dir_fd=self._fd)
        try:
            facts = os.fstat(fd)
            if not stat.S_ISREG(facts.st_mode):
                raise InvalidCheckpointState(f"{_spoken(name)} is not a file")
            if facts.st_size > at_most:
                raise InvalidCheckpointState(f"{_spoken(name)} is longer than it should be")
            with os.fdopen(fd, "rb", closefd=False) as file:
                return file.read(at_most + 1)
        finally:
            os.close(fd)

    @contextmanager
    def temporary(self, name: str) -> Generator[int]:
        """A new file to write to, taken away again if it still has this name in the end."""
        fd = os.open(name, _NEW_FILE, _FILE_MODE, dir_fd=self._fd)
        try:
            yield fd
        finally:
            os.close(fd)
            # Renamed, as it should be; or the disk is in trouble, which has been said already, and then a
            # temporary file that stays is never read.
            with suppress(OSError):
                os.unlink(name, dir_fd=self._fd)

    def rename(self, name: str, new_name: str) -> None:
        """Give a file its final name; replaces what has that name."""
        os.rename(name, new_name, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def link(self, name: str, new_name: str) -> None:
        """Give a file its final name, unless something has that name (FileExistsError)."""
        os.link(name, new_name, src_dir_fd=self._fd, dst_dir_fd=self._fd, follow_symlinks=False)

    def open_to_append(self, name: str) -> int:
        """A regular file to read and to append to, made if it is not there; the caller closes it."""
        fd = os.open(name, _JOURNAL, _FILE_MODE, dir_fd=self._fd)
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
        raise InvalidCheckpointState(f"{_spoken(name)} is not a file")

    def remove(self, name: str) -> None:
        """Take a file away, if it is there."""
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._fd)

    def folders(self) -> list[str]:
        """The names of the folders in here, sorted."""
        with os.scandir(self._fd) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))

    def has(self, name: str) -> bool:
        """Whether there is anything of that name."""
        try:
            os.stat(name, dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def sync(self) -> None:
        """Wait until the names in this folder are on disk."""
        os.fsync(self._fd)


def write_all(fd: int, data: bytes | bytearray) -> None:
    """Write every byte; the kernel may take them in parts."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


@contextmanager
def open_folder(root: Path, place: Place, *, create: bool) -> Generator[Folder]:
    """Open the folder at `place`, and make it first if `create`.

    Links are followed as long as they stay under the root.

    Raises:
        InvalidCheckpointState: a link leads out of the root.
        OSError: there is no such folder, or it cannot be made.
    """
    if create:
        _make_root(root.absolute())
    real_root = Path(os.path.realpath(root))
    real = Path(os.path.realpath(real_root.joinpath(*place)))
    if not real.is_relative_to(real_root):
        raise InvalidCheckpointState("a link leads out of the checkpoint root")
    fd = os.open(real_root, _OPEN_FOLDER)
    try:
        # The links are resolved, so one that is met on the way down was put there just now: it is refused.
        for name in real.relative_to(real_root).parts:
            outer, fd = fd, _step_into(fd, name, create=create)
            os.close(outer)
        yield Folder(fd)
    finally:
        os.close(fd)


def _make_root(root: Path) -> None:
    if root.is_dir():
        return
    _make_root(root.parent)
    root.mkdir(_FOLDER_MODE, exist_ok=True)
    fd = os.open(root.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _step_into(fd: int, name: str, *, create: bool) -> int:
    if create:
        with suppress(FileExistsError):
            os.mkdir(name, _FOLDER_MODE, dir_fd=fd)
            os.fsync(fd)
    return os.open(name, _OPEN_FOLDER, dir_fd=fd)


def _spoken(name: str) -> str:
    return name if len(name) <= 16 else f"{name[:16]}..."
