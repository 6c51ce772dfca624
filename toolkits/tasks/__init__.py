"""Makes task sets: requests to a workplace, each with the calls that fulfil it."""

from toolkits.tasks.kinds import Call, Task
from toolkits.tasks.lines import BUNDLED_TASKS, as_lines, plain, responses
from toolkits.tasks.making import KINDS, generate_tasks, shortfalls

__all__ = [
    "BUNDLED_TASKS",
    "KINDS",
    "Call",
    "Task",
    "as_lines",
    "generate_tasks",
    "plain",
    "responses",
    "shortfalls",
]
