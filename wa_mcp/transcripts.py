"""Calls as models and task authors write them down: plain lists, JSON text, or a conversation's messages.

Nothing here knows which tools there are, and nothing raises for what one call looks like: a call that cannot
be read says why, so that a score can tell.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import orjson

from wa_mcp.errors import invalid_params

__all__ = ["MOST_CALLS", "Asked", "read_calls", "read_list"]

MOST_CALLS: Final = 1_000
"""Calls that one run may have."""

_CALL_ITEMS: Final = frozenset({"function_call", "mcp_call"})
"""Items of a Responses conversation that are calls; a hosted MCP client writes the second kind."""


class Asked(NamedTuple):
    """A call as somebody wrote it.

    Attributes:
        name: The tool's name as written; None where there is none.
        arguments: What it is called with; empty where they cannot be read.
        problem: Why it cannot be made; empty if it can be read.
    """

    name: str | None
    arguments: Mapping[str, Any]
    problem: str = ""


def read_list(given: Any, parameter: str) -> list[Asked]:
    """Read a list of `{name, arguments}`, or the JSON text of one.

    Args:
        given: The list; each entry's arguments are an object or its JSON text, none at all counting as `{}`.
        parameter: What the list is called in an error.

    Returns:
        One call an entry, in order.

    Raises:
        CodedError: `invalid_params`: it is no list, or has more than `MOST_CALLS` entries.
    """
    return _at_most(map(_plain, _entries(given, parameter)), parameter)


def read_calls(given: Any, parameter: str) -> list[Asked]:
    """Read what `read_list` reads, or the messages of a conversation, from which the calls are taken.

    The messages are those of the Responses API (items of type `function_call`) or of chat completions
    (`tool_calls`, or the older `function_call`, of messages). Whatever else has a role or a type is no call.

    Returns:
        The calls in order: the position of a call is its place among the calls, from 0, which for a plain
        list is its place in the list.

    Raises:
        CodedError: `invalid_params`: it is no list, or holds more than `MOST_CALLS` calls.
    """
    calls = (call for entry in _entries(given, parameter) for call in _calls_of(entry))
    return _at_most(calls, parameter)


def _entries(given: Any, parameter: str) -> Sequence[Any]:
    if isinstance(given, str):
        try:
            given = orjson.loads(given)
        except ValueError:
            raise invalid_params(
                f"{parameter}: expected a list of calls, got text that is not JSON."
            ) from None
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return cast("Sequence[Any]", given)
    raise invalid_params(f"{parameter}: expected a list of calls, or its JSON text.")


def _at_most(calls: Iterator[Asked], parameter: str) -> list[Asked]:
    read: list[Asked] = []
    for call in calls:
        if len(read) == MOST_CALLS:
            raise invalid_params(f"{parameter}: expected at most {MOST_CALLS} calls.", limit=MOST_CALLS)
        read.append(call)
    return read


def _calls_of(entry: Any) -> Iterator[Asked]:
    """Give the calls of an entry of a list that may be a conversation."""
    if not isinstance(entry, Mapping):
        yield _plain(entry)
        return
    fields = cast("Mapping[str, Any]", entry)
    kind = fields.get("type", "function_call")
    if "role" in fields:
        yield from _calls_of_message(fields)
    elif kind == "function":  # an entry of tool_calls by itself
        yield _plain(fields.get("function", fields))
    elif isinstance(kind, str) and kind in _CALL_ITEMS:
        yield _plain(fields)


def _calls_of_message(message: Mapping[str, Any]) -> Iterator[Asked]:
    """Give the calls of a message; only those that the model itself made count."""
    if message["role"] != "assistant":
        return
    listed: Any = message.get("tool_calls")
    if isinstance(listed, Sequence) and not isinstance(listed, str | bytes):
        for call in cast("Sequence[Any]", listed):
            yield _plain(
                cast("Mapping[str, Any]", call).get("function") if isinstance(call, Mapping) else call
            )
    elif listed is not None:
        yield Asked(None, {}, "tool_calls is not a list.")
    if message.get("function_call") is not None:
        yield _plain(message["function_call"])


def _plain(entry: Any) -> Asked:
    if not isinstance(entry, Mapping):
        return Asked(None, {}, "The call is not an object with name and arguments.")
    fields = cast("Mapping[str, Any]", entry)
    name = fields.get("name")
    if not isinstance(name, str) or not name:
        return Asked(None, {}, "The call has no name.")
    arguments = fields.get("arguments")
    if isinstance(arguments, str) and arguments:
        try:
            arguments = orjson.loads(arguments)
        except ValueError:
            return Asked(name, {}, "The arguments are not JSON.")
    if arguments is None or arguments == "":
        return Asked(name, {})
    if not isinstance(arguments, Mapping):
        return Asked(name, {}, "The arguments are not an object.")
    return Asked(name, cast("Mapping[str, Any]", arguments))
