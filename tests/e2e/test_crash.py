"""Servers that are killed at any moment: a fresh one goes on, and the agents' clients do not notice."""

import os
import signal
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from tests.e2e.processes import Server, serving
from tests.wa_mcp.agents import ERAS, Era, named, output, refusal, told
from tests.wa_mcp.checkpoints import ask
from tests.wa_mcp.offices import ADA, SCRIPT, Call, write_dataset
from wa_mcp import Runtime, Settings, admin_server, agent_server

pytestmark = pytest.mark.timeout(120)

TOKEN = "a-token-for-controllers"
SESSIONS: dict[Era, str] = {era: f"an-agent-s-session-{era}" for era in ERAS}
BEFORE, AFTER = SCRIPT[:5], SCRIPT[5:]
LOST: Call = ("calendar_delete_event", {"event_id": "00000000"})
MANY = 6000


class Place:
    """Where servers start one after another: one data set, one checkpoint root, one port."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkpoints"
        self._folder = folder
        self._data = write_dataset(folder / "data")
        self._started = 0
        self._port = 0

    def server(self) -> AbstractContextManager[Server]:
        folder = self._folder / f"server-{self._started}"
        folder.mkdir()
        self._started += 1
        flags = ["--port", str(self._port), "--data", str(self._data), "--checkpoint-root", str(self.root)]
        return serving(folder, *flags, WA_MCP_ADMIN_TOKEN=TOKEN)

    def keep(self, server: Server) -> None:
        """Let the servers to come have the port of this one."""
        self._port = server.port

    def undisturbed(self) -> Runtime:
        """Make the server to which nothing happens, in memory."""
        return Runtime(Settings(data=self._data))


@asynccontextmanager
async def controller(server: Server, era: Era = "auto") -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{server.base}/admin/mcp", http_client=http), mode=era) as client,
    ):
        yield client


@asynccontextmanager
async def agent(url: str, era: Era) -> AsyncGenerator[Client]:
    """Work at a URL with a client that connects anew when it has to."""
    async with (
        httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(retries=3), timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


async def seed_all(server: Server, session_ids: Sequence[str]) -> list[str]:
    """Seed sessions, and give their URLs."""
    async with controller(server) as client:
        seeds = [{"sessionId": session_id} for session_id in session_ids]
        seeded = await ask(client, "sessions/seed", sessions=seeds)
    return [session["url"] for session in seeded["sessions"]]


def about(checkpoint_id: str, directory: str | None = None) -> dict[str, Any]:
    given = {"checkpointId": checkpoint_id, "timeoutSeconds": 60}
    return given if directory is None else {**given, "checkpointDir": directory}


async def take(client: Client, checkpoint_id: str, **more: Any) -> Any:
    """Take a checkpoint into a folder of its own name, up to where its commit is answered."""
    prepared = await ask(client, "checkpoint/prepare", **about(checkpoint_id))
    assert prepared["phase"] == "prepared"
    return await ask(client, "checkpoint/commit", **about(checkpoint_id, checkpoint_id), **more)


async def work(client: Client, calls: Sequence[Call], *, first: int = 0) -> list[CallToolResult]:
    return [
        await client.call_tool(*call, meta=named(callId=f"call-{number}"))
        for number, call in enumerate(calls, first)
    ]


def answers(results: Sequence[CallToolResult]) -> list[Any]:
    return [
        (result.is_error, output(result), told(result, "revision"), told(result, "changed"))
        for result in results
    ]


async def test_after_a_kill_the_same_clients_go_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    place = Place(tmp_path)
    given: dict[Era, list[CallToolResult]] = {}
    async with AsyncExitStack() as stack:
        agents: dict[Era, Client] = {}
        with place.server() as server:
            place.keep(server)
            urls = await seed_all(server, list(SESSIONS.values()))
            for era, url in zip(ERAS, urls, strict=True):
                agents[era] = await stack.enter_async_context(agent(url, era))
                given[era] = await work(agents[era], BEFORE)
            async with controller(server, "legacy") as client:
                assert "manifest" in await take(client, "c1")
                for era in ERAS:
                    assert (await refusal(agents[era].call_tool(*LOST)))[1]["code"] == "admission_closed"
                await ask(client, "checkpoint/resume", checkpointId="c1")
                # What is done after the checkpoint is lost with the server.
                assert not (await agents["auto"].call_tool(*LOST)).is_error
                assert server.stop(signal.SIGKILL) == -signal.SIGKILL
        with place.server() as server:
            async with controller(server) as client:
                restored = await ask(client, "checkpoint/restore", **about("r1", "c1"))
                assert [one["episode"]["attempt"] for one in restored["restored"]] == [1, 1]
                for era in ERAS:
                    assert (await refusal(agents[era].call_tool(*LOST)))[1]["code"] == "admission_closed"
                await ask(client, "checkpoint/resume", checkpointId="r1")
                for era in ERAS:
                    repeated = [await agents[era].call_tool(*BEFORE[0], meta=named(callId="call-0"))]
                    assert answers(repeated) == answers(given[era][:1])
                    zombie = agents[era].call_tool(*LOST, meta=named(attempt=0))
                    assert (await refusal(zombie))[1]["code"] == "stale_attempt"
                    given[era] += await work(agents[era], AFTER, first=len(BEFORE))
                shown = {
                    era: await ask(client, "sessions/tables", sessionId=session_id)
                    for era, session_id in SESSIONS.items()
                }
    runtime = place.undisturbed()
    async with Client(admin_server(runtime)) as client:
        for era, session_id in SESSIONS.items():
            runtime.sessions.seed(session_id)
            async with Client(agent_server(runtime, session_id)) as alone:
                assert answers(given[era]) == answers(await work(alone, SCRIPT))
            assert shown[era] == await ask(client, "sessions/tables", sessionId=session_id)


def halt(server: Server) -> None:
    """Stop the process where it is, to be looked at."""
    server.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, server.process.pid, os.WSTOPPED)


async def kill_in_mid_write(server: Server, client: Client, root: Path) -> str:
    """Kill the server while it writes a checkpoint in the background; one that was too fast gets another."""
    for number in range(20):
        directory = f"torn-{number}"
        assert (await take(client, directory, background=True))["writing"]
        await ask(client, "checkpoint/resume", checkpointId=directory)
        folder = root / directory / "environment" / "main"
        while not (folder.is_dir() and any(folder.iterdir())):
            assert server.process.poll() is None
        halt(server)
        if not (folder / "manifest.json").exists():
            assert server.stop(signal.SIGKILL) == -signal.SIGKILL
            return directory
        server.process.send_signal(signal.SIGCONT)
        await ask(client, "checkpoint/wait", **about(directory))
    raise AssertionError("every write was done before the server could be stopped")


async def kill_while_it_restores(server: Server, client: Client, directory: str) -> None:
    """Kill the server while it reads a checkpoint; one that was too fast reads it again."""
    for number in range(20):
        checkpoint_id = f"killed-{number}"

        async def restore(checkpoint_id: str = checkpoint_id) -> None:
            async with controller(server) as another:
                await ask(another, "checkpoint/restore", **about(checkpoint_id, directory))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(restore)
            if await reads(client):
                assert server.stop(signal.SIGKILL) == -signal.SIGKILL
                tasks.cancel_scope.cancel()
                return
        await ask(client, "checkpoint/resume", checkpointId=checkpoint_id, discard=True)
    raise AssertionError("every restore was done before the server could be stopped")


async def reads(client: Client) -> bool:
    """Wait until a checkpoint is open; say whether it is a restore that reads still."""
    while (status := await ask(client, "checkpoint/status"))["checkpointId"] is None:
        pass
    return status["phase"] == "idle"


async def test_a_kill_in_mid_write_and_one_in_mid_restore_cost_nothing_but_the_torn_checkpoint(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path)
    async with AsyncExitStack() as stack:
        with place.server() as server:
            place.keep(server)
            urls = await seed_all(server, [f"session-number-{number}" for number in range(MANY)])
            work_at = await stack.enter_async_context(agent(urls[0], "auto"))
            await work(work_at, BEFORE)
            async with controller(server) as client:
                assert (await take(client, "whole"))["manifest"]["counts"]["sessions"] == MANY
                await ask(client, "checkpoint/resume", checkpointId="whole")
                await work_at.call_tool(*LOST)
                torn = await kill_in_mid_write(server, client, place.root)
        with place.server() as server:
            async with controller(server) as client:
                await kill_while_it_restores(server, client, "whole")
        with place.server() as server:
            async with controller(server) as one, controller(server, "legacy") as other:
                code, data, _ = await refusal(ask(one, "checkpoint/restore", **about("r1", torn)))
                assert (code, data["code"]) == (-32015, "invalid_checkpoint_state")
                assert (await ask(one, "checkpoint/status"))["report"]["sessions"] == 0
                await ask(one, "sessions/seed", sessionId="a-session-that-shows-it-open")
                await check_two_controllers(one, other)
                given = await work_at.call_tool(*LOST, meta=named(attempt=1))
                assert (given.is_error, told(given, "revision")) == (False, len(BEFORE) + 1)
                found = await work_at.call_tool("calendar_search_events", {"query": ADA})
                assert output(found)["pagination"]["total_events"] == 1


async def check_two_controllers(one: Client, other: Client) -> None:
    """Restore as two controllers at once that know of each other, and as one that does not."""
    replies: list[Any] = []

    async def restore(client: Client) -> None:
        replies.append(await ask(client, "checkpoint/restore", **about("r1", "whole")))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(restore, one)
        tasks.start_soon(restore, other)
    assert replies[0] == replies[1]
    assert len(replies[0]["restored"]) == MANY
    for operation, params in [
        ("checkpoint/restore", about("r2", "whole")),
        ("checkpoint/prepare", about("r2")),
        ("checkpoint/resume", {"checkpointId": "r2"}),
    ]:
        assert (await refusal(ask(other, operation, **params)))[1]["code"] == "checkpoint_conflict"
    for client in (other, one):
        resumed = await ask(client, "checkpoint/resume", checkpointId="r1")
        assert resumed == {"phase": "idle", "published": False}
    assert (await refusal(ask(one, "checkpoint/prepare", **about("r1"))))[1]["code"] == "stale_checkpoint"
    assert (await ask(other, "checkpoint/status"))["report"]["sessions"] == MANY + 1
