"""`wa-mcp demo`: twenty agents at work, a server killed under them, and nothing lost."""

import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from secrets import token_urlsafe
from typing import Final

import anyio
from anyio import current_time
from rich.console import Console

from wa_mcp.controller import Controller
from wa_mcp.demo_agents import Agent, Task, choose_tasks, play, steps_of
from wa_mcp.demo_report import Figures, Outcome, disagreements, outcomes, show_figures, show_outcomes
from wa_mcp.demo_server import DemoServer, serving
from wa_mcp.failing import plain_reason
from wa_mcp.showing import Advance, console_on, progress

__all__ = ["demo"]

SESSIONS: Final = 20
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def demo() -> int:
    """Work with a crash and without, and compare; the exit status is 0 if all agrees, 130 if interrupted."""
    console = console_on(sys.stdout)
    try:
        with tempfile.TemporaryDirectory(prefix="wa-mcp-demo-") as folder:
            return anyio.run(_until_signal, console, Path(folder))
    except Exception as error:  # noqa: BLE001  # whoever runs a demonstration gets a sentence
        sys.stderr.write(f"wa-mcp: the demonstration failed: {plain_reason(error)}\n")
        return 1


async def _until_signal(console: Console, folder: Path) -> int:
    statuses: list[int] = []
    with anyio.open_signal_receiver(*_SIGNALS) as signals:
        async with anyio.create_task_group() as tasks:

            async def end_on_signal() -> None:
                async for _ in signals:
                    tasks.cancel_scope.cancel()

            tasks.start_soon(end_on_signal)
            with progress(console) as advance:
                statuses.append(await _Story(console, advance, folder).tell())
            tasks.cancel_scope.cancel()
    return statuses[0] if statuses else 130


class _Story:
    """The demonstration from the first step to the last.

    Args:
        console: Where it is told.
        advance: Shows on a terminal that it goes on.
        folder: For checkpoints and logs, and for nothing after it.
    """

    def __init__(self, console: Console, advance: Advance, folder: Path) -> None:
        self._console, self._advance, self._folder = console, advance, folder
        self._token: Final = token_urlsafe(32)
        self._began: Final = current_time()
        self._checkpoint: Final = folder / "checkpoints" / "half-way"

    async def tell(self) -> int:
        """Tell it; 0 if both runs agree."""
        async with AsyncExitStack() as stack:
            self._say("starting a server on the bundled data")
            first = await stack.enter_async_context(serving(self._folder, "first", self._token))
            tasks = choose_tasks(SESSIONS)
            await first.ready()
            # It starts while agents work, and gets its own agents at the end.
            quiet = await stack.enter_async_context(serving(self._folder, "undisturbed", self._token))
            agents = await self._seed(first, tasks)
            pause, taking = await self._half_way(first, agents)
            written = sum(file.stat().st_size for file in self._checkpoint.rglob("*") if file.is_file())
            await play(agents, {agent.number: (agent.cut, agent.crash) for agent in agents})
            lost = sum(agent.crash - agent.cut for agent in agents)
            self._say(f"{lost} calls past the checkpoint; then the server is killed (SIGKILL)")
            crashed_at = current_time()
            await first.kill()
            second = await stack.enter_async_context(serving(self._folder, "second", self._token, first.port))
            await second.ready()
            starting = current_time() - crashed_at
            restoring = await self._restore(second)
            await play(agents, {agent.number: (agent.cut, len(agent.steps)) for agent in agents})
            self._say("all tasks finished over the same URLs; scoring them")
            crashed = await self._outcomes(second, agents)
            self._say("the same tasks on a server that is left in peace")
            calm = await self._undisturbed(quiet, tasks)
            whole = current_time() - self._began
            figures = Figures(pause, taking, written, starting, restoring, lost, whole)
            return self._verdict(agents, crashed, calm, figures)

    async def _seed(self, server: DemoServer, tasks: Sequence[Task]) -> list[Agent]:
        wanted = [{"episode": {"rolloutId": f"demo-{at}", "attempt": 0}} for at in range(len(tasks))]
        async with Controller([server.endpoint]) as fleet:
            seeded = await fleet.seed(wanted)
            ids = [session["sessionId"] for session in seeded]
            self._say(f"{len(ids)} sessions seeded on {server.base}, an agent in each")
            return [
                Agent(number, task, session_id, fleet.url(session_id), steps_of(task))
                for number, (task, session_id) in enumerate(zip(tasks, ids, strict=True))
            ]

    async def _half_way(self, server: DemoServer, agents: Sequence[Agent]) -> tuple[float, float]:
        await play(agents, {agent.number: (0, agent.cut) for agent in agents})
        self._say(f"half-way: {sum(agent.cut for agent in agents)} calls made; taking a checkpoint")
        began = current_time()
        async with Controller([server.endpoint]) as fleet:
            async with fleet.checkpoint(self._checkpoint) as cut:
                pass
            return cut.pause_seconds or 0.0, current_time() - began

    async def _restore(self, server: DemoServer) -> float:
        began = current_time()
        async with Controller([server.endpoint]) as fleet:
            restored = await fleet.restore(self._checkpoint)
        self._say(f"a fresh server on the same port; {len(restored.sessions)} sessions restored")
        return current_time() - began

    async def _undisturbed(self, server: DemoServer, tasks: Sequence[Task]) -> list[Outcome]:
        await server.ready()
        agents = await self._seed(server, tasks)
        await play(agents, {agent.number: (0, len(agent.steps)) for agent in agents})
        return await self._outcomes(server, agents)

    async def _outcomes(self, server: DemoServer, agents: Sequence[Agent]) -> list[Outcome]:
        async with Controller([server.endpoint]) as fleet:
            return await outcomes(fleet, agents)

    def _verdict(
        self, agents: Sequence[Agent], crashed: Sequence[Outcome], calm: Sequence[Outcome], figures: Figures
    ) -> int:
        show_outcomes(self._console, agents, crashed, calm)
        show_figures(self._console, len(agents), figures)
        complaints = disagreements(agents, crashed, calm)
        for complaint in complaints:
            sys.stderr.write(f"wa-mcp: {complaint}\n")
        if not complaints:
            self._console.print(
                "Nothing lost, nothing doubled: both runs agree in every table and every reward."
            )
        return 1 if complaints else 0

    def _say(self, text: str) -> None:
        self._console.print(f"[{current_time() - self._began:5.1f} s] {text}", markup=False, soft_wrap=True)
        self._advance("at work", 0, None)
