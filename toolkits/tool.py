"""From a method to a tool: the signature gives the schema, the docstring the description.

What the schema advertises is what `Tool.read` enforces, to the letter: no coercion, no unknown argument.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from toolkits.cells import LONGEST_TEXT, has_surrogate
from toolkits.table import Table

__all__ = ["Arg", "Change", "InputError", "Tool", "ToolError", "tool", "tools_of"]

Change = tuple[Table, Any]
"""What a changing tool gives back: the table it changed, and its answer."""

LARGEST_INTEGER: Final = 2**53
"""The largest size of an integer that every JSON reader keeps exactly."""

F = TypeVar("F", bound=Callable[..., Any])


class ToolError(Exception):
    """A call that did nothing, for a reason that the model can read and act on."""


class InputError(ToolError):
    """Arguments that do not fit the advertised schema, or that cannot be stored."""


class Arg(NamedTuple):
    """What a parameter's annotation says of it: a description for the model, and a lower bound."""

    description: str
    minimum: int | None = None


class _Marks(NamedTuple):
    title: str
    destructive: bool
    idempotent: bool


class _Parameter(NamedTuple):
    name: str
    kind: type
    required: bool
    schema: dict[str, Any]
    minimum: int | None


@dataclass(frozen=True)
class Tool:
    """A tool: what is advertised of it, and the method that does it.

    Attributes:
        name: `<toolkit>_<method>`, the name on the wire.
        toolkit: The toolkit's name.
        method: The method's name on the toolkit class.
        title: A few words for people.
        description: What a model reads.
        changes: Whether a successful call changes a table.
        destructive: Whether it may delete or overwrite.
        idempotent: Whether doing it twice has the effect of doing it once.
        schema: The JSON Schema of the arguments.
    """

    name: str
    toolkit: str
    method: str
    title: str
    description: str
    changes: bool
    destructive: bool
    idempotent: bool
    schema: dict[str, Any]
    parameters: dict[str, _Parameter]

    def read(self, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """Check arguments against the schema; null counts as not given.

        Raises:
            InputError: Naming the argument, what was expected and what came.
        """
        given = {name: value for name, value in (arguments or {}).items() if value is not None}
        for name in given:
            if name not in self.parameters:
                raise InputError(f"Unknown argument {_shown(name)}: {self.name} takes {self._takes()}.")
        for name, parameter in self.parameters.items():
            if name in given:
                given[name] = _checked(parameter, given[name])
            elif parameter.required:
                expected = parameter.schema["type"]
                raise InputError(f"Missing argument '{name}': expected a value of type {expected}, got none.")
        return given

    def _takes(self) -> str:
        return ", ".join(f"'{name}'" for name in self.parameters)


def tool(*, title: str, destructive: bool = False, idempotent: bool = False) -> Callable[[F], F]:
    """Mark a toolkit method as a tool.

    Args:
        title: A few words for people.
        destructive: It may delete or overwrite something.
        idempotent: Calling it again with the same arguments has no further effect. Reading tools always are.
    """

    def mark(function: F) -> F:
        function.__tool_marks__ = _Marks(title, destructive, idempotent)  # type: ignore[attr-defined]
        return function

    return mark


def tools_of(toolkit: str, owner: type) -> dict[str, Tool]:
    """Make the tools of a toolkit class, by method name, in the order in which they are written.

    Raises:
        TypeError: A description is missing, or a parameter's type is not one that a schema can say.
    """
    return {
        name: _make(toolkit, function, marks)
        for name, function in vars(owner).items()
        if (marks := getattr(function, "__tool_marks__", None)) is not None
    }


def _make(toolkit: str, function: Callable[..., Any], marks: _Marks) -> Tool:
    where = f"{toolkit}_{function.__name__}"
    if not (description := " ".join((inspect.getdoc(function) or "").split())):
        raise TypeError(f"{where} has no docstring: it is the description that a model reads")
    hints = get_type_hints(function, include_extras=True)
    changes = hints.pop("return", None) == Change
    parameters = {
        name: _parameter(where, name, hints.get(name), parameter.default)
        for name, parameter in list(inspect.signature(function).parameters.items())[1:]
    }
    return Tool(
        name=where,
        toolkit=toolkit,
        method=function.__name__,
        title=marks.title,
        description=description,
        changes=changes,
        destructive=marks.destructive,
        idempotent=marks.idempotent or not changes,
        schema={
            "type": "object",
            "properties": {name: parameter.schema for name, parameter in parameters.items()},
            "required": [name for name, parameter in parameters.items() if parameter.required],
            "additionalProperties": False,
        },
        parameters=parameters,
    )


def _parameter(where: str, name: str, hint: Any, default: Any) -> _Parameter:
    base, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    said = next((mark for mark in marks if isinstance(mark, Arg)), None)
    if said is None or not said.description:
        raise TypeError(f"{where}: parameter {name!r} has no description; annotate it with Arg(...)")
    kind = _KINDS.get(base)
    if kind is None:
        raise TypeError(f"{where}: parameter {name!r} must be str or int, not {base!r}")
    schema: dict[str, Any] = {"type": _TYPES[kind], "description": said.description}
    if said.minimum is not None:
        schema["minimum"] = said.minimum
    if isinstance(default, int):
        schema["default"] = default
    return _Parameter(name, kind, default is inspect.Parameter.empty, schema, said.minimum)


_TYPES: Final[dict[type, str]] = {str: "string", int: "integer"}
_KINDS: Final[dict[Any, type]] = {str: str, str | None: str, int: int, int | None: int}


def _checked(parameter: _Parameter, value: Any) -> Any:
    if parameter.kind is str:
        return _text(parameter.name, value)
    return _integer(parameter, value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"Argument '{name}': expected a value of type string, got {_kind(value)}.")
    if len(value) > LONGEST_TEXT:
        raise InputError(
            f"Argument '{name}': expected at most {LONGEST_TEXT} characters, got {len(value)} characters."
        )
    if not value.isascii() and has_surrogate(value):
        raise InputError(f"Argument '{name}': expected Unicode text, got a text with a lone surrogate.")
    return value


def _integer(parameter: _Parameter, value: Any) -> int:
    # JSON Schema counts 5.0 as the integer 5, and JSON writers disagree about which to send.
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole:
        got = _kind(value)
        raise InputError(f"Argument '{parameter.name}': expected a value of type integer, got {got}.")
    if not -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
        raise InputError(
            f"Argument '{parameter.name}': expected an integer from -2^53 to 2^53, got one outside of that."
        )
    if parameter.minimum is not None and value < parameter.minimum:
        raise InputError(
            f"Argument '{parameter.name}': expected an integer of at least {parameter.minimum}, got {value}."
        )
    return int(value)


def _kind(value: Any) -> str:
    for kind, name in ((bool, "a boolean"), (str, "a string"), (int, "an integer"), (float, "a number")):
        if isinstance(value, kind):
            return name
    return "an object" if isinstance(value, Mapping) else "an array"


def _shown(name: Any) -> str:
    """Quote a name that a caller made up, short and in ASCII, so that it can be sent back."""
    text = ascii(name)
    return text if len(text) <= 80 else f"{text[:76]}...'"
