"""A commit of some episodes: restored sessions that nobody has touched go, and come back if it fails."""

import threading
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from mcp import Client

from checkpoint.store import Store
from tests.wa_mcp.agents import MAIL
from tests.wa_mcp.controllers import Controller, controlling, timed
from wa_mcp import Runtime, Settings, agent_server

UNTOUCHED, READ, WRITTEN, FAILED, FRESH = (
    f"session-that-is-{what}" for what in ("untouched", "read", "written", "failed", "fresh")
)
STORED = [UNTOUCHED, READ, WRITTEN, FAILED]
TAKEN = "taken"


def episode(session_id: str, attempt: int = 0) -> dict[str, Any]:
    return {"rolloutId": session_id, "attempt": attempt}


@pytest.fixture
async def fresh(control: Controller, runtime: Runtime) -> AsyncGenerator[Runtime, None]:
    """A server with sessions of another, one of which nobody has touched, and one that it seeded itself."""
    stored = [{"sessionId": one, "episode": episode(one)} for one in STORED]
    await control.ask("sessions/seed", sessions=stored)
    await control.ask("checkpoint/prepare", **timed("one"))
    await control.ask("checkpoint/commit", **timed("one", checkpointDir=TAKEN))
    fresh = Runtime(Settings(checkpoint_root=runtime.settings.checkpoint_root))
    async with fresh.control, controlling(fresh) as controller:
        await controller.ask("checkpoint/restore", **timed("two", checkpointDir=TAKEN))
        await controller.ask("checkpoint/resume", checkpointId="two")
        await controller.ask("sessions/seed", sessionId=FRESH, episode=episode(FRESH))
        for session_id, tool, arguments in (
            (READ, "email_search_emails", {}),
            (WRITTEN, "email_send_email", MAIL),
            (FAILED, "email_send_email", {}),
        ):
            async with Client(agent_server(fresh, session_id)) as client:
                await client.call_tool(tool, arguments)
        async with Client(agent_server(fresh, UNTOUCHED)) as client:
            await client.list_tools()
        await controller.ask("sessions/tables", sessionId=UNTOUCHED)
        yield fresh


@pytest.fixture
async def controller(fresh: Runtime) -> AsyncGenerator[Controller, None]:
    async with controlling(fresh) as controller:
        yield controller


async def live(controller: Controller) -> list[str]:
    listed: list[str] = []
    page: dict[str, Any] = {"nextCursor": None}
    while "nextCursor" in page:
        page = await controller.ask("sessions/list", limit=2, cursor=page["nextCursor"])
        listed += [session["sessionId"] for session in page["sessions"]]
    return listed


def scope(checkpoint_id: str, folder: str, **more: Any) -> dict[str, Any]:
    return timed(checkpoint_id, checkpointDir=folder, episodes=[episode(FRESH)], **more)


async def test_only_the_episodes_named_are_written_and_only_the_untouched_go(controller: Controller) -> None:
    await controller.ask("checkpoint/prepare", **timed("three"))
    committed = await controller.ask("checkpoint/commit", **scope("three", "free"))
    assert committed["manifest"]["counts"]["sessions"] == 1
    assert await live(controller) == [READ, WRITTEN, FAILED, FRESH]
    await controller.ask("checkpoint/resume", checkpointId="three")
    # It is another server's now, and not spent: this one may restore it again.
    assert await controller.code("sessions/tables", sessionId=UNTOUCHED) == "session_unknown"
    await controller.ask(
        "checkpoint/restore", **timed("four", checkpointDir=TAKEN, episodes=[episode(UNTOUCHED)])
    )
    assert UNTOUCHED in await live(controller)


async def test_without_episodes_all_are_written_and_all_stay(controller: Controller) -> None:
    await controller.ask("checkpoint/prepare", **timed("three"))
    committed = await controller.ask("checkpoint/commit", **timed("three", checkpointDir="free"))
    assert committed["manifest"]["counts"]["sessions"] == 5
    assert await live(controller) == [*STORED, FRESH]


async def test_an_untouched_session_that_is_named_is_written_and_stays(controller: Controller) -> None:
    await controller.ask("checkpoint/prepare", **timed("three"))
    named = timed("three", checkpointDir="free", episodes=[episode(UNTOUCHED, 1)])
    committed = await controller.ask("checkpoint/commit", **named)
    assert committed["manifest"]["counts"]["sessions"] == 1
    assert await live(controller) == [*STORED, FRESH]


@pytest.mark.parametrize("background", [False, True])
async def test_they_are_back_in_their_places_if_the_write_fails(
    fresh: Runtime, controller: Controller, background: bool
) -> None:
    await controller.ask("checkpoint/prepare", **timed("three"))
    # This folder holds another checkpoint.
    committing = scope("three", TAKEN, background=background)
    if background:
        assert await controller.ask("checkpoint/commit", **committing) == {
            "phase": "committed",
            "writing": True,
        }
        assert await controller.code("checkpoint/wait", **timed("three")) == "invalid_checkpoint_state"
    else:
        assert await controller.code("checkpoint/commit", **committing) == "invalid_checkpoint_state"
    assert await live(controller) == [*STORED, FRESH]
    await controller.ask("checkpoint/resume", checkpointId="three")
    async with Client(agent_server(fresh, UNTOUCHED)) as client:
        assert not (await client.call_tool("email_send_email", MAIL)).is_error


async def test_they_are_gone_as_soon_as_the_snapshot_is_taken_and_a_retired_one_stays_away(
    fresh: Runtime, controller: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, write = threading.Event(), Store.write

    def slow(*given: Any, **more: Any) -> Any:
        goes_on.wait()
        return write(*given, **more)

    monkeypatch.setattr(Store, "write", slow)
    await controller.ask("checkpoint/prepare", **timed("three"))
    await controller.ask("checkpoint/commit", **scope("three", TAKEN, background=True))
    assert UNTOUCHED not in await live(controller)
    await controller.ask("checkpoint/resume", checkpointId="three")
    retired = episode(UNTOUCHED, 1)
    await controller.ask("checkpoint/retire", episodes=[retired])
    goes_on.set()
    assert await controller.code("checkpoint/wait", **timed("three")) == "invalid_checkpoint_state"
    assert await live(controller) == [READ, WRITTEN, FAILED, FRESH]
    assert await controller.code("sessions/tables", sessionId=UNTOUCHED) == "stale_attempt"
