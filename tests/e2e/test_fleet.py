"""Three server processes under load, a checkpoint, a crash of all three, and a restore."""

import signal
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest

from checkpoint import FleetError, Patience
from tests.e2e.processes import Server, serving
from wa_mcp import Controller, Endpoint

pytestmark = pytest.mark.timeout(150)

TOKEN = "the-controllers-token"
SESSIONS = 8
EACH = 4
"""Calls of every session before the cut, at least, and after it."""
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


@dataclass
class Agent:
    """An agent that sends one mail after the other, each as a call with an id of its own.

    Attributes:
        url: Its session's.
        sent: The number of the call that was sent last.
        answered: Number of each call that was answered, to the revision that the answer told.
    """

    url: str
    sent: int = 0
    answered: dict[int, int] = field(default_factory=dict[int, int])
    _goal: int = 0
    _reached: anyio.Event = field(default_factory=anyio.Event)

    async def has_done(self, calls: int) -> None:
        """Return when so many calls were answered."""
        self._goal, self._reached = calls, anyio.Event()
        if len(self.answered) < calls:
            await self._reached.wait()

    async def work(self, http: httpx2.AsyncClient) -> None:
        """Work until the server has gone; a call that is refused while a checkpoint is open is sent again."""
        while True:
            self.sent += 1
            try:
                await self.call(http, self.sent)
            except httpx2.HTTPError:
                return

    async def call(self, http: httpx2.AsyncClient, number: int) -> int:
        """Send mail `number` until it is not refused, and give the revision that the answer tells."""
        mail = {"recipient": "ada@example.com", "subject": f"mail-{number:05}-", "body": "Hello."}
        while True:
            answer = await self._post(http, "email_send_email", mail, f"call-{number}")
            if "result" in answer:
                self.answered[number] = answer["result"]["_meta"]["dev.wa-mcp/revision"]
                if len(self.answered) >= self._goal:
                    self._reached.set()
                return self.answered[number]
            assert answer["error"]["data"]["code"] == "admission_closed"
            await anyio.sleep(answer["error"]["data"]["retryAfterMs"] / 5000)

    async def mails(self, http: httpx2.AsyncClient) -> list[int]:
        """The numbers of the mails that are there, each as often as it is there."""
        found: list[int] = []
        page, pages = 1, 1
        while page <= pages:
            asked = {"query": "mail-", "page": page, "page_size": 20}
            answer = await self._post(http, "email_search_emails", asked)
            output = answer["result"]["structuredContent"]["output"]
            found += [int(mail["subject"].split("-")[1]) for mail in output["emails"]]
            page, pages = page + 1, output["pagination"]["total_pages"]
        return sorted(found)

    async def _post(
        self, http: httpx2.AsyncClient, tool: str, arguments: dict[str, Any], call_id: str | None = None
    ) -> dict[str, Any]:
        meta = {} if call_id is None else {"dev.wa-mcp/callId": call_id}
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return (await http.post(self.url, json=body, headers=HEADERS)).json()


@asynccontextmanager
async def processes(root: Path, ports: dict[str, int]) -> AsyncGenerator[dict[str, Server]]:
    """Start a server for each instance name, all at once; port 0 takes a free one."""
    servers: dict[str, Server] = {}
    async with AsyncExitStack() as stack:

        async def start(name: str, port: int) -> None:
            folder = root / f"of-{name}"
            folder.mkdir(exist_ok=True)
            flags = ("--instance", name, "--port", str(port), "--checkpoint-root", str(root / "checkpoints"))
            process = serving(folder, *flags, "--log-level", "warning", WA_MCP_ADMIN_TOKEN=TOKEN)
            servers[name] = await anyio.to_thread.run_sync(process.__enter__)
            stack.callback(process.__exit__, None, None, None)

        async with anyio.create_task_group() as tasks:
            for name, port in ports.items():
                tasks.start_soon(start, name, port)
        yield servers


async def take(fleet: Controller, directory: Path) -> None:
    async with fleet.checkpoint(directory):
        pass


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=None)) as client:
        yield client


async def test_three_servers_crash_and_nothing_is_lost_or_doubled(
    tmp_path: Path, http: httpx2.AsyncClient
) -> None:
    cut = tmp_path / "checkpoints/cut-1"
    async with AsyncExitStack() as stack:
        servers = await stack.enter_async_context(processes(tmp_path, dict.fromkeys("abc", 0)))
        ports = {name: server.port for name, server in servers.items()}
        endpoints = [Endpoint(server.base, TOKEN) for server in servers.values()]
        fleet = await stack.enter_async_context(Controller(endpoints, patience=Patience(tries=2)))
        agents = {one["sessionId"]: Agent(one["url"]) for one in await fleet.seed(SESSIONS)}
        assert {fleet.url(session_id) for session_id in agents} == {agent.url for agent in agents.values()}

        before, after = dict[str, dict[int, int]](), dict[str, int]()
        async with anyio.create_task_group() as tasks:
            for agent in agents.values():
                tasks.start_soon(agent.work, http)
            for agent in agents.values():
                await agent.has_done(EACH)
            before = {session_id: dict(agent.answered) for session_id, agent in agents.items()}
            await take(fleet, cut)
            after = {session_id: len(agent.answered) for session_id, agent in agents.items()}
            for session_id, agent in agents.items():
                await agent.has_done(after[session_id] + EACH)
            for server in servers.values():
                server.process.send_signal(signal.SIGKILL)
        # Every agent was in the midst of its work, so each has met the crash.
        assert {server.process.wait() for server in servers.values()} == {-signal.SIGKILL}

        # One of them does not come back at first: nothing is restored anywhere.
        async with processes(tmp_path, {name: ports[name] for name in "ab"}):
            with pytest.raises(FleetError, match=f"environment/c .http://127.0.0.1:{ports['c']}"):
                await fleet.restore(cut)
            up = [endpoint for endpoint in endpoints if not endpoint.address.endswith(str(ports["c"]))]
            async with Controller(up) as two:
                assert [session async for session in two.sessions()] == []
                assert {status["phase"] for status in (await two.status()).values()} == {"idle"}
            await stack.enter_async_context(processes(tmp_path, {"c": ports["c"]}))
            back = await fleet.restore(cut)
            assert {session["sessionId"] for session in back.sessions} == agents.keys()
            revisions = {one["sessionId"]: one["revision"] async for one in fleet.sessions()}

            for session_id, agent in agents.items():
                kept = revisions[session_id]
                # What was answered before the cut is in it, and what is in it was sent before it was over.
                assert max(before[session_id].values()) <= kept <= after[session_id] + 1
                assert await agent.mails(http) == list(range(1, kept + 1))
            async with anyio.create_task_group() as tasks:
                for session_id, agent in agents.items():
                    tasks.start_soon(partial(goes_on, agent, http, revisions[session_id]))


async def goes_on(agent: Agent, http: httpx2.AsyncClient, kept: int) -> None:
    """Send the last calls again: those in the cut answer as they did, and the others act, but only once."""
    told, last = dict(agent.answered), agent.sent
    for number in [*range(max(1, kept - EACH), last + 1), last - 1, last]:
        assert await agent.call(http, number) == number
        assert number > kept or told.get(number, number) == number
    assert await agent.mails(http) == list(range(1, agent.sent + 1))


async def test_a_server_that_crashes_in_mid_fleet_leaves_the_others_at_work(
    tmp_path: Path, http: httpx2.AsyncClient
) -> None:
    cut = tmp_path / "checkpoints/cut-1"
    async with AsyncExitStack() as stack:
        servers = await stack.enter_async_context(processes(tmp_path, dict.fromkeys("ab", 0)))
        endpoints = [Endpoint(server.base, TOKEN) for server in servers.values()]
        fleet = await stack.enter_async_context(Controller(endpoints, patience=Patience(tries=2)))
        seeded = await fleet.seed(12)
        survivor = next(Agent(one["url"]) for one in seeded if fleet.instance(one["sessionId"]) == "a")
        with pytest.raises(FleetError, match=f"environment/b .{servers['b'].base}"):
            await crash_in_mid_checkpoint(fleet, cut, servers["b"])
        assert not (cut / "checkpoint.json").exists()
        assert await survivor.call(http, 1) == 1
        async with processes(tmp_path, {"b": servers["b"].port}):
            await take(fleet, cut)
            assert (cut / "checkpoint.json").exists()


async def crash_in_mid_checkpoint(fleet: Controller, directory: Path, server: Server) -> None:
    async with fleet.checkpoint(directory):
        server.stop(signal.SIGKILL)
