"""Tasks as lines of JSON: plain ones, or rows for the Responses API with the tools."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import orjson

from toolkits.dataset import BUNDLED
from toolkits.tasks.kinds import Task
from toolkits.tool import Tool

__all__ = ["BUNDLED_TASKS", "as_lines", "plain", "responses"]

BUNDLED_TASKS: Final = BUNDLED / "tasks.jsonl"
"""The tasks of the bundled data set, as the generator makes them with the data set's own seed."""


def plain(task: Task) -> dict[str, Any]:
    """Show a task as an object, the arguments of its calls as objects."""
    return {
        "id": task.id,
        "category": task.category,
        "kind": task.kind,
        "prompt": task.prompt,
        "system": task.system,
        "ground_truth": [{"name": call.name, "arguments": call.arguments} for call in task.ground_truth],
        "order_sensitive": task.order_sensitive,
    }


def responses(tools: Mapping[str, Tool]) -> Callable[[Task], dict[str, Any]]:
    """Give what shows a task as a row: parameters for a request to the Responses API, and the ground truth.

    There, arguments are JSON text, as they are in the answer of a model.
    """
    functions = [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
            "strict": False,  # optional arguments may be left out
        }
        for tool in tools.values()
    ]

    def row(task: Task) -> dict[str, Any]:
        messages = [
            {"role": "system", "content": task.system},
            {"role": "user", "content": task.prompt},
        ]
        return {
            "id": task.id,
            "category": task.category,
            "kind": task.kind,
            "responses_create_params": {"input": messages, "tools": functions},
            "ground_truth": [
                {"name": call.name, "arguments": orjson.dumps(call.arguments).decode()}
                for call in task.ground_truth
            ],
            "order_sensitive": task.order_sensitive,
        }

    return row


def as_lines(tasks: Iterable[Task], shown: Callable[[Task], dict[str, Any]] = plain) -> str:
    """Write tasks as JSON, one a line."""
    return "".join(orjson.dumps(shown(task)).decode() + "\n" for task in tasks)
