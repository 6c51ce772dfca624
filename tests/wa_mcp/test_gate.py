"""The gate under load: nothing is admitted while it is closed, nothing is lost, nothing is done twice."""

from collections.abc import Iterator
from itertools import count
from typing import Any, cast

import anyio
import pytest
from mcp import Client, MCPError

from tests.conftest import http_server
from tests.wa_mcp.agents import MAIL, named, told, until
from tests.wa_mcp.controllers import Controller, Way, timed
from wa_mcp import Runtime, agent_server
from wa_mcp.session import OnCheckpoint, Session

pytestmark = pytest.mark.timeout(90)

SESSIONS = 200
CALLS = 4
CONNECTIONS = 20


def revisions(runtime: Runtime) -> list[int]:
    return [session.revision for session in runtime.sessions.list()]


class Load:
    """Agents that write mails until each has written enough, and how far they are.

    Attributes:
        refused: Answers that said to come back.
        calls: Answers of any other kind.
        working: Agents that have not written enough yet.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.runtime, self.refused, self.calls, self.working = runtime, 0, 0, 0
        self._moved = anyio.Event()

    async def work(self, session: Session, client: Client) -> None:
        """Write mails in one session, each until it is answered, with its own call id."""
        self.working += 1
        for turn in range(CALLS):
            await self.until_answered(session, client, turn)
            # What was answered is asked for once more, as a client does that lost the answer.
            again = await self.until_answered(session, client, turn)
            assert told(again, "revision") == turn + 1
        self.working -= 1

    async def until_answered(self, session: Session, client: Client, turn: int) -> Any:
        """Call until the gate lets the call in."""
        meta = named(callId=f"call-{turn}", session=session.id)
        mail = {**MAIL, "subject": f"turn-{turn}"}
        while True:
            result, data = None, cast("dict[str, Any]", {})
            try:
                result = await client.call_tool("email_send_email", mail, meta=meta)
            except MCPError as error:
                data = error.data
            if result is not None:
                self.calls += 1
                self._stir()
                return result
            assert (data["code"], data["retryAfterMs"]) == ("admission_closed", 250)
            self.refused += 1
            self._stir()
            # It is told to wait a little; coming back at once is harder on the gate.
            await anyio.lowlevel.checkpoint()

    def _stir(self) -> None:
        self._moved.set()
        self._moved = anyio.Event()

    async def until(self, calls: int) -> None:
        """Wait until so many calls were answered."""
        while self.calls < calls:
            await self._moved.wait()

    async def until_refused(self, more: int) -> None:
        """Wait until so many more were refused."""
        wanted = self.refused + more
        while self.refused < wanted:
            await self._moved.wait()

    async def until_all_wait(self) -> None:
        """Wait until every agent stands before the gate."""
        await until(lambda: self.runtime.control.gate.waiting == self.working)


async def pause(control: Controller, load: Load, checkpoint_id: str, on_checkpoint: OnCheckpoint) -> None:
    """Take a checkpoint in the middle of the load; nothing changes while it is prepared."""
    prepared = await control.ask("checkpoint/prepare", **timed(checkpoint_id))
    assert prepared["phase"] == "prepared"
    before = [session.state for session in load.runtime.sessions.list()]
    assert load.working
    if on_checkpoint == "wait":
        await load.until_all_wait()
    else:
        await load.until_refused(SESSIONS)
    committed = await control.ask("checkpoint/commit", **timed(checkpoint_id, checkpointDir=checkpoint_id))
    assert committed["manifest"]["counts"]["sessions"] == len(before)
    assert all(now.state is then for now, then in zip(load.runtime.sessions.list(), before, strict=True))
    assert (await control.ask("checkpoint/status"))["report"]["inFlight"] == 0
    await control.ask("checkpoint/resume", checkpointId=checkpoint_id)


def each_of(runtime: Runtime, on_checkpoint: OnCheckpoint, many: int) -> Iterator[Session]:
    for _ in range(many):
        yield runtime.sessions.seed(toolkits=["email"], on_checkpoint=on_checkpoint)


@pytest.mark.parametrize("on_checkpoint", ["refuse", "wait"])
@pytest.mark.timeout(90)
async def test_no_call_of_200_sessions_gets_past_the_gate_is_lost_or_done_twice(
    runtime: Runtime, control: Controller, on_checkpoint: OnCheckpoint
) -> None:
    load, numbers = Load(runtime), count()
    sessions = list(each_of(runtime, on_checkpoint, SESSIONS))
    async with Client(agent_server(runtime)) as client, anyio.create_task_group() as tasks:
        for session in sessions:
            tasks.start_soon(load.work, session, client)
        for turn in range(1, 2 * CALLS, 4):
            await load.until(turn * SESSIONS)
            await pause(control, load, f"pause-{next(numbers)}", on_checkpoint)
    assert revisions(runtime) == [CALLS] * SESSIONS
    assert load.calls == 2 * CALLS * SESSIONS
    assert (load.refused > 0) == (on_checkpoint == "refuse")
    for session in sessions:
        subjects = session.workplace.tables["email.emails"].column("subject")
        assert [subject for subject in subjects if str(subject).startswith("turn-")] == [
            f"turn-{turn}" for turn in range(CALLS)
        ]


async def test_over_real_connections_waiting_calls_are_all_delivered_after_resume(runtime: Runtime) -> None:
    load = Load(runtime)
    sessions = list(each_of(runtime, "wait", CONNECTIONS))
    with http_server(runtime) as base:
        way = Way(runtime, "auto", base, as_tool=False)
        async with way.controller() as control, anyio.create_task_group() as tasks:
            for session in sessions:
                tasks.start_soon(_work_over_http, load, session, base + session.path)
            await load.until(CONNECTIONS)
            await pause(control, load, "one", "wait")
    assert revisions(runtime) == [CALLS] * CONNECTIONS


async def _work_over_http(load: Load, session: Session, url: str) -> None:
    async with Client(url) as client:
        await load.work(session, client)
