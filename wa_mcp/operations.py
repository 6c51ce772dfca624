"""Every controller operation, once: name, parameters, and what it does; served as method and as tool."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast, get_type_hints

from pydantic import ValidationError

from wa_mcp.errors import invalid_params
from wa_mcp.parameters import Params
from wa_mcp.runtime import Runtime

__all__ = ["OPERATIONS", "Operation", "checked", "operation"]

P = TypeVar("P", bound=Params)
Run = Callable[[Runtime, Any], Awaitable[Mapping[str, Any]]]


@dataclass(frozen=True)
class Operation:
    """An operation.

    Attributes:
        name: Its name in the wire contract, such as `checkpoint/prepare`.
        title: A few words for people.
        description: What it does, from the docstring.
        params: Its parameters.
        run: What does it.
        reads: Whether it changes nothing.
    """

    name: str
    title: str
    description: str
    params: type[Params]
    run: Run
    reads: bool

    async def __call__(self, runtime: Runtime, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Check the parameters and do it; a parameter that is null counts as not given.

        Raises:
            CodedError: `invalid_params`, or a refusal.
            CheckpointError: A refusal.
        """
        return await self.run(runtime, checked(self.params, given))

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the parameters."""
        return cast("dict[str, Any]", _untitled(self.params.model_json_schema(by_alias=True)))


def checked(model: type[P], given: Mapping[str, Any]) -> P:
    """Check parameters; one that is null counts as not given.

    Raises:
        CodedError: `invalid_params`; the message says which, and what was expected.
    """
    try:
        return model.model_validate({name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise invalid_params(_complaint(error)) from None


OPERATIONS: Final[dict[str, Operation]] = {}


def operation(name: str, title: str, *, reads: bool = False) -> Callable[[Run], Run]:
    """Make a function an operation; its second parameter's type is the parameters' model."""

    def register(function: Run) -> Run:
        description = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
        params = get_type_hints(function)["params"]
        OPERATIONS[name] = Operation(name, title, description, params, function, reads)
        return function

    return register


def _complaint(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part)[:60] for part in detail["loc"])
    return f"{where}: {detail['msg']}."


def _untitled(schema: Any) -> Any:
    """Drop the titles that pydantic makes of names: they tell a reader nothing."""
    if isinstance(schema, dict):
        fields = cast("dict[str, Any]", schema)
        return {
            key: _untitled(value)
            for key, value in fields.items()
            if not (key == "title" and isinstance(value, str))
        }
    return [_untitled(part) for part in cast("list[Any]", schema)] if isinstance(schema, list) else schema
