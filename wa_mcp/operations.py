"""Every controller operation, once: name, parameters, and what it does; served as method and as tool."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast, get_type_hints

from pydantic import ValidationError

from wa_mcp.errors import invalid_params
from wa_mcp.parameters import Params
from wa_mcp.runtime import Runtime

__all__ = ["OPERATIONS", "CheckClient", "Operation", "checked", "operation", "operation_that_waits"]

P = TypeVar("P", bound=Params)

NAMED: Final = 3
"""Parameters that do not fit which an error names, at most."""

Result = Awaitable[Mapping[str, Any]]
CheckClient = Callable[[], Awaitable[None]]
"""Raises if the client of a request has gone."""
Waiting = Callable[[Runtime, Any, CheckClient], Result]


@dataclass(frozen=True)
class Operation:
    """An operation.

    Attributes:
        name: Its name in the wire contract, such as `checkpoint/prepare`.
        title: A few words for people.
        description: What it does, from the docstring.
        params: Its parameters.
        run: What does it, for a client that may be looked after.
        reads: Whether it changes nothing.
    """

    name: str
    title: str
    description: str
    params: type[Params]
    run: Waiting
    reads: bool

    async def __call__(
        self, runtime: Runtime, given: Mapping[str, Any], check_client: CheckClient
    ) -> Mapping[str, Any]:
        """Check the parameters and do it; a parameter that is null counts as not given.

        Raises:
            CodedError: `invalid_params`, or a refusal.
            CheckpointError: A refusal.
        """
        return await self.run(runtime, checked(self.params, given), check_client)

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


def operation(
    name: str, title: str, *, reads: bool = False
) -> Callable[[Callable[[Runtime, Any], Result]], Callable[[Runtime, Any], Result]]:
    """Make a function an operation; its second parameter's type is the parameters' model."""

    def register(function: Callable[[Runtime, Any], Result]) -> Callable[[Runtime, Any], Result]:
        _register(name, title, function, lambda runtime, params, _: function(runtime, params), reads=reads)
        return function

    return register


def operation_that_waits(name: str, title: str) -> Callable[[Waiting], Waiting]:
    """Make a function an operation that may wait for a checkpoint to end, and then looks after its client."""

    def register(function: Waiting) -> Waiting:
        _register(name, title, function, function, reads=False)
        return function

    return register


def _register(name: str, title: str, function: Callable[..., Result], run: Waiting, *, reads: bool) -> None:
    description = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
    params = get_type_hints(function)["params"]
    OPERATIONS[name] = Operation(name, title, description, params, run, reads)


def _complaint(error: ValidationError) -> str:
    details = error.errors(include_url=False, include_input=False)
    # A misspelt name is two complaints, one of which says what was meant.
    named = [
        f"{'.'.join(str(part)[:60] for part in detail['loc'])}: {detail['msg']}" for detail in details[:NAMED]
    ]
    return "; ".join(named) + "."


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
