"""A workplace is a value: tables by name. A call makes another workplace and an answer."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, NamedTuple

import orjson

from toolkits.rows import TableSpec
from toolkits.table import Base, Table
from toolkits.tool import Tool, ToolError
from toolkits.toolkit import Facts, Toolkit

__all__ = [
    "MOST_CHANGES",
    "MOST_STORED_BYTES",
    "Catalogue",
    "Dataset",
    "Outcome",
    "Workplace",
    "unknown_tool",
]

MOST_CHANGES: Final = 10_000
"""Row changes that a session may hold."""

MOST_STORED_BYTES: Final = 16 * 1024 * 1024
"""Bytes of text that a session's changes may hold."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Catalogue:
    """The toolkits that a workplace can have, in order, and their tools by name."""

    toolkits: tuple[type[Toolkit], ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the toolkits, in order."""
        return tuple(toolkit.name for toolkit in self.toolkits)

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        """Every tool by its name, in the order in which they are written."""
        return {tool.name: tool for toolkit in self.toolkits for tool in toolkit.tools.values()}

    @cached_property
    def by_name(self) -> Mapping[str, type[Toolkit]]:
        """The toolkits by name."""
        return {toolkit.name: toolkit for toolkit in self.toolkits}

    def specs(self, names: Sequence[str]) -> Iterator[TableSpec]:
        """Give the layouts of the tables of the named toolkits."""
        for name in names:
            yield from self.by_name[name].specs


@dataclass(frozen=True)
class Dataset:
    """The tables and facts that sessions start from.

    Attributes:
        catalogue: The toolkits whose tables these are.
        facts: The clock, the working hours and the owner.
        bases: Full table name to the table as loaded.
    """

    catalogue: Catalogue
    facts: Facts
    bases: Mapping[str, Base]

    def workplace(self, toolkits: Sequence[str]) -> "Workplace":
        """Give a fresh workplace with the tables of these toolkits; the same object for the same toolkits."""
        key = tuple(toolkits)
        if key not in self._fresh:
            tables = {spec.name: self.bases[spec.name].table for spec in self.catalogue.specs(key)}
            self._fresh[key] = Workplace(self, tables)
        return self._fresh[key]

    @cached_property
    def _fresh(self) -> dict[tuple[str, ...], "Workplace"]:
        return {}

    def prepare(self) -> None:
        """Make now what the first calls would have to make of the tables; it takes a while."""
        tables = {name: base.table for name, base in self.bases.items()}
        for toolkit in self.catalogue.toolkits:
            toolkit.prepare(tables)

    def named(self) -> dict[str, Any]:
        """Name what it is made of: `{"facts": {...}, "tables": {table name: digest of its base}}`."""
        return {
            "facts": asdict(self.facts),
            "tables": {name: base.digest for name, base in self.bases.items()},
        }

    @cached_property
    def digest(self) -> str:
        """The sha256 of what the data set is made of, in hex."""
        return sha256(orjson.dumps(self.named(), option=orjson.OPT_SORT_KEYS)).hexdigest()


class Outcome(NamedTuple):
    """What a call came to.

    Attributes:
        value: The answer: text, a list or an object, ready for strict JSON. Shared: nobody may write into it.
        is_error: Whether the call did nothing, because the input was bad or the row does not exist.
        changed: Full names of the tables that the call changed.
    """

    value: Any
    is_error: bool = False
    changed: tuple[str, ...] = ()


class Workplace(NamedTuple):
    """The tables of one session, and what is needed to work them.

    Attributes:
        dataset: What it started from; its tools and facts are there.
        tables: Full table name to table.
        revision: How many calls have changed something.
        changes: How many row changes the tables hold.
        stored: How many bytes of text those changes hold.
    """

    dataset: Dataset
    tables: Mapping[str, Table]
    revision: int = 0
    changes: int = 0
    stored: int = 0

    def call(self, name: str, arguments: Mapping[str, Any] | None) -> tuple["Workplace", Outcome]:
        """Call a tool: `(workplace', outcome)`; a call that fails gives this same workplace back.

        Never raises: what went wrong is in the outcome, in words that the model can read.
        """
        tool = self.dataset.catalogue.tools.get(name)
        if tool is None:
            return self, Outcome(unknown_tool(name), is_error=True)
        try:
            return self._done(tool, tool.read(arguments))
        except ToolError as error:
            return self, Outcome(str(error), is_error=True)
        except Exception:  # the one place that catches all: a crash must not end the session
            logger.exception("tool %r crashed", name)
            return self, Outcome(f"{name} failed; nothing was changed.", is_error=True)

    def _done(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple["Workplace", Outcome]:
        owner = self.dataset.catalogue.by_name[tool.toolkit]
        toolkit = owner(self.tables, self.dataset.facts, self.revision + 1)
        result = getattr(toolkit, tool.method)(**arguments)
        if not tool.changes:
            return self, Outcome(result)
        table, value = result
        return self._with(table), Outcome(value, changed=(table.spec.name,))

    def _with(self, table: Table) -> "Workplace":
        before = self.tables[table.spec.name]
        changes = self.changes + len(table.changes) - len(before.changes)
        stored = self.stored + table.stored - before.stored
        if changes > MOST_CHANGES:
            raise ToolError(f"This workplace is full: it holds {MOST_CHANGES} changes. Nothing was changed.")
        if stored > MOST_STORED_BYTES:
            raise ToolError(
                f"This workplace is full: its changes hold {MOST_STORED_BYTES} bytes of text. "
                "Nothing was changed."
            )
        tables = {**self.tables, table.spec.name: table}
        return Workplace(self.dataset, tables, self.revision + 1, changes, stored)


def unknown_tool(name: str) -> str:
    """Say that there is no such tool, whatever the name holds."""
    return f"Unknown tool: {name[:60]!a}."
