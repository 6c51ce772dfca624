"""`wa-mcp demo`: a real server process, real MCP clients, several workplaces, all six toolkits."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final

import anyio
from mcp import Client

from wa_mcp.settings import PREFIX

__all__ = ["demo"]

TOMORROW: Final = "2023-12-01"
OFFERED: Final = "Workplace to try: "
STOP_WITHIN: Final = 15

META_CHANGED: Final = "dev.wa-mcp/changed"
META_REVISION: Final = "dev.wa-mcp/revision"


@dataclass
class Agent:
    """A scripted agent at work in its own workplace, and what it did.

    Attributes:
        role: What it is there for.
        client: Its MCP client.
        calls: Calls made so far.
        errors: Calls that were refused.
        revision: The workplace's revision after the last call.
        done: A line for each call that changed something.
    """

    role: str
    client: Client
    calls: int = 0
    errors: int = 0
    revision: int = 0
    done: list[str] = field(default_factory=list[str])

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool and give its answer."""
        result = await self.client.call_tool(tool, arguments)
        meta = result.meta or {}
        output: Any = result.structured_content["output"]
        self.calls += 1
        self.errors += result.is_error
        self.revision = meta[META_REVISION]
        for table in meta[META_CHANGED]:
            self.done.append(f"{table:<40} {tool}: {output}")
        return output


Script = Callable[[Agent], Awaitable[None]]


async def secretary(agent: Agent) -> None:
    """Answer and forward the newest mail, and clear out the oldest of its sender."""
    newest = (await agent.call("email_search_emails", page_size=1))["emails"][0]
    sender = newest["sender/recipient"]
    await agent.call(
        "email_reply_email", email_id=newest["email_id"], body="Thank you, I will look at it today."
    )
    colleague = (await agent.call("company_directory_find_email_address", name="a"))[0]
    await agent.call("email_forward_email", email_id=newest["email_id"], recipient=colleague)
    pages = (await agent.call("email_search_emails", query=sender, page_size=1))["pagination"]["total_pages"]
    oldest = await agent.call("email_search_emails", query=sender, page=pages, page_size=1)
    await agent.call("email_delete_email", email_id=oldest["emails"][0]["email_id"])


async def planner(agent: Agent) -> None:
    """Put a meeting into tomorrow, move it, and cancel the day's first one."""
    day = await agent.call("calendar_search_events", time_min=TOMORROW, time_max=f"{TOMORROW} 23:59:59")
    first = day["events"][-1]
    new = await agent.call(
        "calendar_create_event", event_name="Look at the release plan", duration="30",
        participant_email=first["participant_email"], event_start=f"{TOMORROW} 17:00:00",
    )  # fmt: skip
    await agent.call(
        "calendar_update_event", event_id=new, field="event_start", new_value=f"{TOMORROW} 17:30:00"
    )
    await agent.call("calendar_delete_event", event_id=first["event_id"])


async def analyst(agent: Agent) -> None:
    """Find the busiest day of the last week and plot it."""
    week = {"time_min": "2023-11-24", "time_max": "2023-11-30"}
    visits = await agent.call("analytics_total_visits_count", **week)
    await agent.call("analytics_traffic_source_count", traffic_source="referral", **week)
    await agent.call("analytics_get_average_session_duration", **week)
    busiest = max(visits, key=lambda day: visits[day])
    await agent.call(
        "analytics_create_plot",
        time_min=busiest,
        time_max=busiest,
        value_to_plot="total_visits",
        plot_type="bar",
    )


async def manager(agent: Agent) -> None:
    """Move a task along, add one, win a customer and make a mistake that the server explains."""
    task = (await agent.call("project_management_search_tasks", list_name="Backlog"))[0]
    await agent.call(
        "project_management_update_task", task_id=task["task_id"], field="list_name", new_value="In Progress"
    )
    await agent.call(
        "project_management_create_task", task_name="Write down what was learnt", list_name="Backlog",
        assigned_to_email=task["assigned_to_email"], due_date=TOMORROW, board=task["board"],
    )  # fmt: skip
    leads = await agent.call("customer_relationship_manager_search_customers", status="Lead", page_size=1)
    await agent.call(
        "customer_relationship_manager_update_customer",
        customer_id=leads["customers"][0]["customer_id"], field="status", new_value="Won",
    )  # fmt: skip
    await agent.call("project_management_delete_task", task_id="99999999")


async def visitor(agent: Agent) -> None:
    """Change nothing, and so see the workplace as it was seeded."""
    await agent.call("email_search_emails", query="Thank you, I will look at it today.")
    await agent.call("calendar_search_events", query="Look at the release plan")


SCRIPTS: Final[dict[str, Script]] = {
    "secretary": secretary,
    "planner": planner,
    "analyst": analyst,
    "manager": manager,
    "visitor": visitor,
}


def demo() -> int:
    """Start a server, have agents work their own workplaces, print what changed; 0 if all went as it must."""
    started = perf_counter()
    with _server(len(SCRIPTS)) as (process, urls):
        _say(f"server process {process.pid} serves {len(urls)} workplaces, made on first use")
        agents = anyio.run(_work, urls)
        process.send_signal(signal.SIGTERM)
        stopped = process.wait(STOP_WITHIN)
    for agent in agents:
        _say(f"\n{agent.role}: {agent.calls} calls, {agent.errors} refused, revision {agent.revision}")
        for line in agent.done or ["nothing"]:
            _say(f"  {line}")
    calls = sum(agent.calls for agent in agents)
    _say(f"\n{calls} calls over HTTP in {len(agents)} workplaces, {perf_counter() - started:.1f} s in all")
    return _verdict(agents, stopped)


def _verdict(agents: list[Agent], stopped: int) -> int:
    complaints = [
        f"{agent.role} changed {agent.revision} times, but {len(agent.done)} answers said so"
        for agent in agents
        if agent.revision != len(agent.done)
    ]
    complaints += [f"{agent.role} changed nothing" for agent in agents[:-1] if not agent.done]
    complaints += ["the visitor saw what another session did"] if agents[-1].done else []
    complaints += [f"the server ended with status {stopped}"] if stopped else []
    for complaint in complaints:
        _say(f"FAILED: {complaint}")
    return 1 if complaints else 0


async def _work(urls: list[str]) -> list[Agent]:
    agents: list[Agent] = []

    async def work(url: str, role: str, script: Script) -> None:
        async with _agent(url, role) as agent:
            await script(agent)
        agents.append(agent)

    async with anyio.create_task_group() as tasks:
        for url, (role, script) in zip(urls, SCRIPTS.items(), strict=True):
            tasks.start_soon(work, url, role, script)
    order = list(SCRIPTS)
    return sorted(agents, key=lambda agent: order.index(agent.role))


@asynccontextmanager
async def _agent(url: str, role: str) -> AsyncGenerator[Agent, None]:
    async with Client(url) as client:
        yield Agent(role, client)


@contextmanager
def _server(offers: int) -> Generator[tuple["subprocess.Popen[str]", list[str]], None, None]:
    """Start a server on the bundled data and a free port; it is killed if it is still there at the end."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    command = [sys.executable, "-m", "wa_mcp", "serve", "--port", "0", "--log-level", "warning"]
    with subprocess.Popen(
        [*command, "--offer", str(offers)], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            yield process, _urls(process, offers)
        finally:
            process.kill()


def _urls(process: "subprocess.Popen[str]", offers: int) -> list[str]:
    urls: list[str] = []
    while process.stdout is not None and len(urls) < offers and (line := process.stdout.readline()):
        if line.startswith(OFFERED):
            urls.append(line.removeprefix(OFFERED).strip())
    if len(urls) < offers:
        raise ChildProcessError(
            f"the server ended with status {process.wait(STOP_WITHIN)}; see its log above"
        )
    return urls


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
