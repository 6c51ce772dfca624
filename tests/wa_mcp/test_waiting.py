"""Calls that wait for a checkpoint to end: who is let in afterwards, as what, and who is not."""

import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from mcp import Client, MCPError

from tests.conftest import http_server
from tests.wa_mcp.agents import MAIL, SESSION_ID, named, told, until
from tests.wa_mcp.controllers import METHOD, Controller, Way, bearer, controlling, timed
from wa_mcp import Runtime, Settings, agent_server

HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": "2025-06-18",
}
EPISODE = {"rolloutId": "rollout", "attempt": 0}


def asked(method: str, params: dict[str, Any]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


SEND = asked("tools/call", {"name": "email_send_email", "arguments": MAIL})


class Waiter:
    """A call that stands before the closed gate, and what it comes to: a result, or the code of a refusal."""

    def __init__(self) -> None:
        self.outcome = cast("Any", None)

    async def call(self, client: Client, **meta: Any) -> None:
        """Call once."""
        try:
            self.outcome = await client.call_tool("email_send_email", MAIL, meta=named(**meta))
        except MCPError as error:
            self.outcome = error.data["code"]


@asynccontextmanager
async def waiting(runtime: Runtime, **meta: Any) -> AsyncGenerator[Waiter, None]:
    """Have a call of the one session that waits; when this ends, it has been answered."""
    waiter, gate = Waiter(), runtime.control.gate
    before = gate.waiting
    async with Client(agent_server(runtime, SESSION_ID)) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: waiter.call(client, **meta))
        await until(lambda: gate.waiting == before + 1)
        yield waiter


async def test_a_session_may_wait_where_others_are_refused(runtime: Runtime, control: Controller) -> None:
    await control.ask("sessions/seed", sessionId=SESSION_ID, onCheckpoint="wait")
    other = (await control.ask("sessions/seed"))["sessionId"]
    await control.ask("checkpoint/prepare", **timed("one"))
    async with Client(agent_server(runtime, other)) as refused, waiting(runtime) as waiter:
        with pytest.raises(MCPError) as caught:
            await refused.call_tool("email_send_email", MAIL)
        closed = {"code": "admission_closed", "checkpointId": "one", "retryAfterMs": 250}
        assert (caught.value.code, caught.value.data) == (-32010, closed)
        assert not waiter.outcome
        report = (await control.ask("checkpoint/status"))["report"]
        assert (report["ready"], report["inFlight"]) == (True, 0)
        await control.ask("checkpoint/resume", checkpointId="one")
    assert told(waiter.outcome, "revision") == 1


async def test_where_the_server_waits_a_session_may_be_refused() -> None:
    runtime = Runtime(Settings(on_checkpoint="wait"))
    runtime.sessions.seed(SESSION_ID)
    other = runtime.sessions.seed(on_checkpoint="refuse").id
    async with controlling(runtime) as control, Client(agent_server(runtime, other)) as refused:
        await control.ask("checkpoint/prepare", **timed("one"))
        async with waiting(runtime) as waiter:
            with pytest.raises(MCPError, match="checkpoint is being taken"):
                await refused.call_tool("email_send_email", MAIL)
            await control.ask("checkpoint/resume", checkpointId="one")
    assert told(waiter.outcome, "revision") == 1


async def test_a_seed_waits_as_a_call_does(runtime: Runtime, control: Controller) -> None:
    await control.ask("checkpoint/prepare", **timed("one"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: control.ask("sessions/seed", sessions=[{"onCheckpoint": "wait"}, {}]))
        await until(lambda: runtime.control.gate.waiting == 1)
        assert len(runtime.sessions) == 0
        await control.ask("checkpoint/resume", checkpointId="one")
    assert len(runtime.sessions) == 2


@pytest.mark.parametrize("kind", ["call", "seed"])
async def test_a_call_waits_no_longer_than_the_limit(kind: str) -> None:
    runtime = Runtime(Settings(on_checkpoint="wait", wait_limit=0.01))
    session = runtime.sessions.seed()
    async with controlling(runtime) as control, Client(agent_server(runtime, session.id)) as client:
        await control.ask("checkpoint/prepare", **timed("one"))
        with pytest.raises(MCPError) as caught:
            await (
                client.call_tool("email_send_email", MAIL) if kind == "call" else control.ask("sessions/seed")
            )
    assert caught.value.data["code"] == "admission_closed"
    assert (session.revision, len(runtime.sessions)) == (0, 1)


async def test_a_waiting_call_goes_on_when_the_lease_has_ended() -> None:
    runtime = Runtime(Settings(on_checkpoint="wait", lease_grace=0))
    session = runtime.sessions.seed()
    async with controlling(runtime) as control, Client(agent_server(runtime, session.id)) as client:
        await control.ask("checkpoint/prepare", **timed("one", 0.05))
        result = await client.call_tool("email_send_email", MAIL)
        assert told(result, "revision") == 1
        assert await control.phase() == "idle"
        assert await control.code("checkpoint/renew", **timed("one")) == "stale_checkpoint"


async def test_a_session_that_was_closed_meanwhile_is_spent(runtime: Runtime, control: Controller) -> None:
    runtime.sessions.seed(SESSION_ID, on_checkpoint="wait")
    await control.ask("checkpoint/prepare", **timed("one"))
    async with waiting(runtime) as waiter:
        await control.ask("sessions/close", sessionId=SESSION_ID)
        await control.ask("checkpoint/resume", checkpointId="one")
    assert waiter.outcome == "session_spent"


async def test_an_attempt_that_was_retired_meanwhile_is_stale(runtime: Runtime, control: Controller) -> None:
    runtime.sessions.seed(SESSION_ID, episode=("rollout", 0), on_checkpoint="wait")
    await control.ask("checkpoint/prepare", **timed("one"))
    async with waiting(runtime) as waiter:
        runtime.control.retired.retire(runtime.sessions.get(SESSION_ID).episode)
        await control.ask("checkpoint/resume", checkpointId="one")
    assert waiter.outcome == "stale_attempt"
    assert runtime.sessions.get(SESSION_ID).revision == 0


async def test_a_call_id_used_meanwhile_is_answered_again(runtime: Runtime, control: Controller) -> None:
    session = runtime.sessions.seed(SESSION_ID, on_checkpoint="wait")
    await control.ask("checkpoint/prepare", **timed("one"))
    async with waiting(runtime, callId="x") as first, waiting(runtime, callId="x") as second:
        await control.ask("checkpoint/resume", checkpointId="one")
    assert [told(waiter.outcome, "revision") for waiter in (first, second)] == [1, 1]
    assert session.revision == 1


@pytest.mark.parametrize(("attempt", "outcome"), [(0, "stale_attempt"), (1, 2)])
@pytest.mark.parametrize("discard", [False, True])
async def test_a_call_that_waits_through_a_restore_finds_the_restored_session(
    control: Controller, runtime: Runtime, attempt: int, outcome: Any, discard: bool
) -> None:
    runtime.sessions.seed(SESSION_ID, episode=("rollout", 0)).call("email_send_email", MAIL)
    await control.ask("checkpoint/prepare", **timed("one"))
    await control.ask("checkpoint/commit", **timed("one", checkpointDir="x"))
    fresh = Runtime(Settings(checkpoint_root=runtime.settings.checkpoint_root, on_checkpoint="wait"))
    async with controlling(fresh) as other:
        await other.ask("checkpoint/restore", **timed("two", checkpointDir="x"))
        async with waiting(fresh, attempt=attempt) as waiter:
            await other.ask("checkpoint/resume", checkpointId="two", discard=discard)
    if discard:
        assert waiter.outcome == "session_unknown"
    elif isinstance(outcome, str):
        assert waiter.outcome == outcome
    else:
        assert (told(waiter.outcome, "revision"), told(waiter.outcome, "attempt")) == (outcome, 1)


async def test_what_only_reads_is_answered_meanwhile(runtime: Runtime, control: Controller) -> None:
    session = runtime.sessions.seed(SESSION_ID, on_checkpoint="wait")
    offered = runtime.sessions.offer()
    await control.ask("checkpoint/prepare", **timed("one"))
    for session_id in (SESSION_ID, offered):
        async with Client(agent_server(runtime, session_id)) as client:
            assert len((await client.list_tools()).tools) == 27
    assert [one["sessionId"] for one in (await control.ask("sessions/list"))["sessions"]] == [SESSION_ID]
    assert (await control.ask("sessions/tables", sessionId=SESSION_ID))["revision"] == 0
    assert (await control.ask("checkpoint/status"))["phase"] == "prepared"
    assert session.state.calls == 0


async def test_an_offered_session_is_not_made_while_the_gate_is_closed(
    runtime: Runtime, control: Controller
) -> None:
    offered = runtime.sessions.offer()
    await control.ask("checkpoint/prepare", **timed("one"))
    async with Client(agent_server(runtime, offered)) as client:
        with pytest.raises(MCPError):
            await client.call_tool("email_send_email", MAIL)
        assert len(runtime.sessions) == 0
        await control.ask("checkpoint/resume", checkpointId="one")
        assert not (await client.call_tool("email_send_email", MAIL)).is_error
    assert len(runtime.sessions) == 1


# Over real HTTP.


@pytest.fixture
def waiting_server(tmp_path: Any) -> Generator[tuple[Runtime, str], None, None]:
    runtime = Runtime(Settings(on_checkpoint="wait", checkpoint_root=tmp_path))
    with http_server(runtime) as base:
        yield runtime, base


async def leave(base: str, path: str, body: str, **headers: str) -> anyio.abc.SocketStream:
    """Send a request over a connection of its own, to be closed before the answer."""
    lines = {**HEADERS, **headers, "Host": "localhost", "Content-Length": str(len(body))}
    head = f"POST {path} HTTP/1.1\r\n" + "".join(f"{name}: {text}\r\n" for name, text in lines.items())
    stream = await anyio.connect_tcp("127.0.0.1", urlsplit(base).port or 0)
    await stream.send(f"{head}\r\n{body}".encode())
    return stream


async def test_a_call_whose_client_has_gone_is_not_done(waiting_server: tuple[Runtime, str]) -> None:
    runtime, base = waiting_server
    gone, stays = (runtime.sessions.seed() for _ in range(2))
    connections: list[anyio.abc.SocketStream] = []
    async with (
        Way(runtime, "auto", base, as_tool=False).controller() as control,
        httpx2.AsyncClient(headers=HEADERS, timeout=20) as http,
        anyio.create_task_group() as tasks,
    ):
        await control.ask("checkpoint/prepare", **timed("one"))
        connections += [await leave(base, gone.path, SEND) for _ in range(3)]
        tasks.start_soon(lambda: http.post(base + stays.path, content=SEND))
        await until(lambda: runtime.control.gate.waiting == 4)
        for connection in connections:
            await connection.aclose()
        # The server has read the end of the connections once it answers a connection made after it.
        assert (await http.get(base + "/healthz")).status_code == 200
        await control.ask("checkpoint/resume", checkpointId="one")
    async with Client(base + gone.path) as client:
        result = await client.call_tool("email_send_email", MAIL)
    assert (told(result, "revision"), stays.revision) == (1, 1)


async def test_a_seed_whose_controller_has_gone_makes_no_session(waiting_server: tuple[Runtime, str]) -> None:
    runtime, base = waiting_server
    async with Way(runtime, "auto", base, as_tool=False).controller() as control:
        await control.ask("checkpoint/prepare", **timed("one"))
        seeds = (
            asked(METHOD + "sessions/seed", {}),
            asked("tools/call", {"name": "sessions_seed", "arguments": {"sessions": [{}, {}]}}),
        )
        connections = [await leave(base, "/admin/mcp", seed, **bearer(runtime)) for seed in seeds]
        await until(lambda: runtime.control.gate.waiting == 2)
        for connection in connections:
            await connection.aclose()
        async with httpx2.AsyncClient() as http:
            assert (await http.get(base + "/healthz")).status_code == 200
        await control.ask("checkpoint/resume", checkpointId="one")
        assert (await control.ask("sessions/seed", sessionId=SESSION_ID))["sessionId"] == SESSION_ID
        assert [one["sessionId"] for one in (await control.ask("sessions/list"))["sessions"]] == [SESSION_ID]


async def test_a_server_is_not_ready_while_a_restore_stands(waiting_server: tuple[Runtime, str]) -> None:
    runtime, base = waiting_server
    async with Way(runtime, "auto", base, as_tool=True).controller() as control, httpx2.AsyncClient() as http:

        async def ready() -> int:
            return (await http.get(base + "/readyz")).status_code

        await control.ask("checkpoint/prepare", **timed("one"))
        await control.ask("checkpoint/commit", **timed("one", checkpointDir="x"))
        assert await ready() == 200
        await control.ask("checkpoint/resume", checkpointId="one")
        await control.ask("checkpoint/restore", **timed("two", checkpointDir="x"))
        assert await ready() == 503
        await control.ask("checkpoint/resume", checkpointId="two")
        assert await ready() == 200
