"""What people see in a terminal: tables, and how far long work is. Plain lines where there is no terminal."""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import IO, Final

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

__all__ = ["Advance", "console_on", "printable", "progress", "size", "table"]

Advance = Callable[[str, int, int | None], None]
"""Says what is done now, how much of it is done, and how much there is to do, None where nobody knows."""

_PLAIN_WIDTH: Final = 1_000_000
_UNITS: Final = ("bytes", "KiB", "MiB", "GiB")


def console_on(stream: IO[str]) -> Console:
    """Write for people; in a file or a pipe no line is broken, coloured or drawn with more than ASCII."""
    if stream.isatty():
        return Console(file=stream, highlight=False)
    return Console(file=stream, highlight=False, no_color=True, width=_PLAIN_WIDTH)


def table(console: Console, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; numbers stand on the right, and text is printed as it is, whatever marks are in it."""
    shown = [list(row) for row in rows]
    look = box.SIMPLE_HEAD if console.is_terminal else box.ASCII2
    drawn = Table(box=look, show_edge=False, pad_edge=False)
    for place, heading in enumerate(headings):
        is_number = bool(shown) and all(isinstance(row[place], int | float) for row in shown)
        drawn.add_column(Text(heading), justify="right" if is_number else "left")
    for row in shown:
        drawn.add_row(*(Text(printable(str(cell))) for cell in row))
    console.print(drawn)


@contextmanager
def progress(console: Console, *, hidden: bool = False) -> Generator[Advance]:
    """Show on a terminal how far something is; elsewhere show nothing.

    Args:
        console: Where.
        hidden: Show nothing there either.
    """
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    is_off = hidden or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=is_off) as shown:
        task = shown.add_task("", total=None)

        def advance(text: str, done: int, total: int | None) -> None:
            shown.update(task, description=escape(text), completed=done, total=total)

        yield advance


def size(count: float) -> str:
    """Say how much so many bytes are."""
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:
        count, unit = count / 1024, unit + 1
    return f"{count:.0f} {_UNITS[unit]}" if not unit else f"{count:.1f} {_UNITS[unit]}"


def printable(text: str) -> str:
    """Escape what could move a terminal's cursor: ids and reasons come from anywhere."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
