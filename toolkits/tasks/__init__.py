"""Makes task sets: requests to a workplace, each with the calls that fulfil it."""

from toolkits.tasks.kinds import Call, Task
from toolkits.tasks.making import KINDS, generate_tasks, shortfalls

__all__ = ["KINDS", "Call", "Task", "generate_tasks", "shortfalls"]
