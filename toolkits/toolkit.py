"""What the six toolkits are built from: tables as fields, arguments read alike, pages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, overload

from toolkits.cells import Cell, is_id
from toolkits.shelf import Shelf
from toolkits.table import Table, TableSpec
from toolkits.tool import Arg, Tool, ToolError, tools_of

__all__ = [
    "Facts",
    "Page",
    "PageSize",
    "TableField",
    "Toolkit",
    "check_effort",
    "next_id",
    "one_of",
]

Page = Annotated[int, Arg("Page to return, from 1; a number past the last page gives the last.")]
PageSize = Annotated[int, Arg("Results per page, at least 1.", minimum=1)]

_ID_WIDTH: Final = 8

MOST_EFFORT: Final = 250_000_000
"""Steps that one search may need: bytes that a table's changes store, times characters looked for."""


@dataclass(frozen=True)
class Facts:
    """What a data set says beside its tables.

    Attributes:
        now: The data set's own clock, `YYYY-MM-DD HH:MM:SS`.
        day_starts: Start of the working hours, `HH:MM`.
        day_ends: End of the working hours, `HH:MM`.
        owner_name: The person the workplace belongs to; empty where nobody owns it.
        owner_email: That person's address; empty where nobody owns it.
    """

    now: str = "2023-11-30 23:59:00"
    day_starts: str = "09:00"
    day_ends: str = "18:00"
    owner_name: str = ""
    owner_email: str = ""


class TableField:
    """A table of a toolkit: declares the layout on the class, gives the current table on the instance."""

    def __init__(self, *columns: str, file: str = "", key: str = "", **layout: Any) -> None:
        self._arguments: Final[dict[str, Any]] = {"file": file, "columns": columns, "key": key, **layout}
        self.spec: TableSpec

    def __set_name__(self, owner: type["Toolkit"], name: str) -> None:
        """Name the table after the toolkit and the field."""
        self.spec = TableSpec(name=f"{owner.name}.{name}", **self._arguments)

    @overload
    def __get__(self, instance: None, owner: type) -> "TableField": ...
    @overload
    def __get__(self, instance: "Toolkit", owner: type) -> Table: ...
    def __get__(self, instance: "Toolkit | None", owner: type) -> "TableField | Table":
        """Give the table that the call works on."""
        return self if instance is None else instance.tables[self.spec.name]


class Toolkit:
    """A group of tools and the tables that they work on, for the length of one call.

    Attributes:
        tables: Full table name to the session's current table.
        facts: What the data set says beside its tables.
        revision: The revision that this call makes if it changes something.
    """

    name: ClassVar[str]
    tools: ClassVar[dict[str, Tool]]
    specs: ClassVar[tuple[TableSpec, ...]]

    def __init_subclass__(cls) -> None:
        """Make the tools; a missing description is a `TypeError` at import."""
        super().__init_subclass__()
        cls.tools = tools_of(cls.name, cls)
        cls.specs = tuple(field.spec for field in vars(cls).values() if isinstance(field, TableField))

    @classmethod
    def prepare(cls, tables: Mapping[str, Table]) -> None:
        """Make now, of tables without any change, what the first calls would have to make of them."""
        for spec in cls.specs:
            tables[spec.name].derive(Shelf).prepare()
            if spec.key:
                _ = tables[spec.name].highest_id

    def __init__(self, tables: Mapping[str, Table], facts: Facts, revision: int) -> None:
        self.tables: Final = tables
        self.facts: Final = facts
        self.revision: Final = revision


def check_effort(table: Table, parts: Iterable[str]) -> None:
    """Refuse a search that would take long over what the session itself has stored.

    Where a text and a part of it are made for it, finding one in the other takes as many steps as their
    lengths multiplied; what came with the data set is not made for it.

    Raises:
        ToolError: The session has stored too much for parts that long.
    """
    if table.stored * sum(map(len, parts)) > MOST_EFFORT:
        raise ToolError(
            "This search is too long for all the text that this workplace has stored. "
            "Search for fewer or shorter words."
        )


def next_id(table: Table, *, padded: bool = True) -> str:
    """Name the id after the highest *as text* in the table, padded with zeros to 8 digits.

    Raises:
        ToolError: It would be longer than an id may be, and so could not come back from a checkpoint.
    """
    highest = table.highest_id
    if highest is None:
        return "0" * _ID_WIDTH if padded else "1"
    number = str(int(highest) + 1)
    if not is_id(number):
        raise ToolError("There are no more ids. Nothing was changed.")
    return number.zfill(_ID_WIDTH) if padded else number


def one_of(value: Cell, allowed: Sequence[str], complaint: str) -> None:
    """Refuse a value that is not one of the allowed ones, with the tool's own complaint."""
    if value not in allowed:
        raise ToolError(complaint)
