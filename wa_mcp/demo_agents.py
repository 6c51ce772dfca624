"""Scripted agents of the demonstration: each plays a task's solution in its own workplace, over HTTP."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, Final, NamedTuple

import anyio
import httpx2
import orjson
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from toolkits.dataset import BUNDLED
from wa_mcp.agent_server import META
from wa_mcp.demo_server import DemoError

__all__ = ["Agent", "Step", "Task", "choose_tasks", "play", "steps_of"]

CALL_WITHIN: Final = 30.0

_BUNDLED_TASKS: Final = BUNDLED / "tasks.jsonl"


class Step(NamedTuple):
    """One call of a script."""

    name: str
    arguments: Mapping[str, Any]


_READS: Final = {
    "analytics": Step("analytics_total_visits_count", {"time_min": "2023-11-24", "time_max": "2023-11-30"}),
    "calendar": Step("calendar_search_events", {"time_min": "2023-12-01", "page_size": 5}),
    "customer_relationship_manager": Step(
        "customer_relationship_manager_search_customers", {"status": "Lead", "page_size": 5}
    ),
    "email": Step("email_search_emails", {"page_size": 5}),
    "project_management": Step("project_management_search_tasks", {"list_name": "Backlog"}),
}
"""What an agent looks at before and after it changes something, by toolkit."""


class Task(NamedTuple):
    """A bundled task, as far as its solution goes.

    Attributes:
        id: Its name.
        category: The domain, or `several`.
        kind: Its kind, with the category.
        calls: What solves it.
    """

    id: str
    category: str
    kind: str
    calls: tuple[Step, ...]


@dataclass(frozen=True)
class Agent:
    """An agent, its task and its workplace.

    Attributes:
        number: Its place among the agents, from 0.
        task: What it is to do.
        session_id: Its workplace.
        url: Where that is.
        steps: Its calls from the first to the last.
    """

    number: int
    task: Task
    session_id: str
    url: str
    steps: Sequence[Step]

    @property
    def cut(self) -> int:
        """How many of its calls are made before the checkpoint: half of them."""
        return (len(self.steps) + self.number % 2) // 2

    @property
    def crash(self) -> int:
        """How many are made before the crash: every other agent goes on past the checkpoint."""
        return self.cut if self.number % 2 else min(self.cut + 2, len(self.steps))


def choose_tasks(count: int) -> list[Task]:
    """Choose bundled tasks that change something: one of a kind, categories in turn, the longest first."""
    with _BUNDLED_TASKS.open("rb") as lines:
        tasks = [_read(line) for line in lines]
    longest = sorted(tasks, key=lambda task: -len(task.calls))
    one_of_a_kind = {task.kind: task for task in reversed(longest) if task.calls}
    changing = [task for task in longest if one_of_a_kind.get(task.kind) is task]
    categories = dict.fromkeys(task.category for task in tasks)
    by_category = [[task for task in changing if task.category == category] for category in categories]
    in_turn = [task for task in chain(*zip_longest(*by_category)) if task is not None]
    return in_turn[:count]


def steps_of(task: Task) -> list[Step]:
    """Make an agent's script: what solves the task, between two looks at what it is about."""
    return [_look(task.calls[0]), *task.calls, _look(task.calls[-1])]


async def play(agents: Iterable[Agent], spans: Mapping[int, tuple[int, int]]) -> None:
    """Have agents make their calls, all agents at once, and each its calls in order.

    Args:
        agents: Who.
        spans: Number of an agent to its first step, and the step before which it stops.

    Raises:
        DemoError: A call was refused.
    """
    timeout = httpx2.Timeout(CALL_WITHIN)
    # What a proxy answers for this machine is not this machine.
    async with (
        httpx2.AsyncClient(timeout=timeout, trust_env=False) as http,
        anyio.create_task_group() as tasks,
    ):
        for agent in agents:
            first, last = spans[agent.number]
            if first < last:
                tasks.start_soon(_play, http, agent, first, last)


async def _play(http: httpx2.AsyncClient, agent: Agent, first: int, last: int) -> None:
    async with Client(streamable_http_client(agent.url, http_client=http)) as client:
        for number in range(first, last):
            name, arguments = agent.steps[number]
            # A call that comes twice because its answer was lost is done once.
            meta: Any = {f"{META}callId": f"step-{number}"}
            result = await client.call_tool(name, dict(arguments), meta=meta)
            if result.is_error:
                said = getattr(result.content[0], "text", "") if result.content else ""
                raise DemoError(f"the agent of {agent.task.id} called {name}, which answered: {said}")


def _read(line: bytes) -> Task:
    fields = orjson.loads(line)
    calls = tuple(Step(call["name"], call["arguments"]) for call in fields["ground_truth"])
    return Task(fields["id"], fields["category"], f"{fields['category']}/{fields['kind']}", calls)


def _look(step: Step) -> Step:
    return next(read for toolkit, read in _READS.items() if step.name.startswith(f"{toolkit}_"))
