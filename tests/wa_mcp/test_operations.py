"""Every operation, in every way it can be asked for: one behaviour, one result, one error."""

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from mcp import Client

from tests.golden.write import OPERATIONS as GOLDEN
from tests.golden.write import advertised
from tests.wa_mcp.agents import MAIL, Door, refusal
from tests.wa_mcp.controllers import METHOD, Controller, Way, timed
from wa_mcp import Runtime, admin_server, agent_server
from wa_mcp.operations import OPERATIONS

NUMBERS = count()


@pytest.fixture
def name() -> Callable[[str], str]:
    """Make names that no other test has made."""
    number = next(NUMBERS)
    return lambda what: f"{what}-of-test-number-{number:04}"


async def test_the_operations_are_those_of_the_golden_file(way: Way) -> None:
    async with way.controller() as controller:
        assert await advertised(controller.client) == json.loads(GOLDEN.read_text(encoding="utf-8"))


async def test_the_extension_names_the_operations_that_are_served(way: Way) -> None:
    async with way.controller() as controller:
        capabilities = controller.client.server_capabilities
        # The legacy protocol has no extensions; what is not standard goes under another name there.
        announced = (capabilities.extensions if way.era == "auto" else capabilities.experimental) or {}
        tools = [tool.name for tool in (await controller.client.list_tools()).tools]
    named = announced["dev.wa-mcp/checkpoint"]["operations"]
    assert named == list(OPERATIONS)
    assert [operation.replace("/", "_") for operation in named] == tools


async def test_a_session_s_life_from_seed_to_close(way: Way, name: Callable[[str], str]) -> None:
    session_id, rollout = name("session"), name("rollout")
    wish = {"sessionId": session_id, "episode": {"rolloutId": rollout, "attempt": 2}, "toolkits": ["email"]}
    async with way.controller() as controller:
        seeded = await controller.ask("sessions/seed", **wish)
        url = f"https://Work.Example:8443/office/sessions/{session_id}/mcp"
        assert seeded == {
            "sessionId": session_id,
            "path": f"/sessions/{session_id}/mcp",
            "url": url,
            "episode": {"rolloutId": rollout, "attempt": 2},
            "toolkits": ["email"],
            "tools": None,
            "clientConfig": {"mcpServers": {"workplace": {"type": "http", "url": url}}},
        }
        assert await controller.ask("sessions/seed", **wish) == seeded
        way.runtime.sessions.get(session_id).call("email_send_email", MAIL)
        listed = (await controller.ask("sessions/list"))["sessions"]
        (mine,) = [entry for entry in listed if entry["sessionId"] == session_id]
        assert (mine["episode"], mine["toolkits"]) == (seeded["episode"], ["email"])
        assert (mine["revision"], mine["calls"]) == (1, 1)
        tables = await controller.ask("sessions/tables", sessionId=session_id)
        assert (tables["revision"], list(tables["tables"])) == (1, ["email.emails"])
        exported = await controller.ask("sessions/export", sessionIds=[session_id])
        assert [state["sessionId"] for state in exported["states"]] == [session_id]
        assert await controller.ask("sessions/close", sessionId=session_id) == {"outcome": "closed"}
        assert await controller.ask("sessions/close", sessionId=session_id) == {"outcome": "already_closed"}
        assert await controller.code("sessions/tables", sessionId=session_id) == "session_spent"


async def test_sessions_move_inline_from_one_attempt_to_the_next(
    way: Way, name: Callable[[str], str]
) -> None:
    session_id, rollout = name("session"), name("rollout")
    episode = {"rolloutId": rollout, "attempt": 0}
    async with way.controller() as controller:
        await controller.ask("sessions/seed", sessionId=session_id, episode=episode)
        exported = await controller.ask("sessions/export", sessionIds=[session_id])
        assert set(exported) == {"states", "bases", "facts"}
        number, data, _ = await controller.refused("sessions/import", **exported)
        conflict = {"code": "session_conflict", "count": 1, "sessionIds": [session_id]}
        assert (number, data) == (-32011, conflict)
        way.runtime.sessions.remove([session_id])
        imported = await controller.ask("sessions/import", **exported, attemptStep=3)
        later = {"rolloutId": rollout, "attempt": 3}
        assert imported == {"restored": [{"sessionId": session_id, "episode": later}]}
        assert way.runtime.sessions.get(session_id).episode == (rollout, 3)


async def test_a_checkpoint_s_life_from_prepare_to_restore(way: Way, name: Callable[[str], str]) -> None:
    session_id, rollout, folder = name("session"), name("rollout"), name("folder")
    first, second = name("first"), name("second")
    episode = {"rolloutId": rollout, "attempt": 0}
    async with way.controller() as controller:
        await controller.ask("sessions/seed", sessionId=session_id, episode=episode)
        prepared = await controller.ask("checkpoint/prepare", **timed(first))
        assert (prepared["phase"], prepared["checkpointId"]) == ("prepared", first)
        assert prepared["report"]["ready"] is True
        renewed = await controller.ask("checkpoint/renew", **timed(first, 100))
        assert renewed["phase"] == "prepared"
        assert 100 < renewed["leaseSeconds"] <= 130
        committing = timed(first, checkpointDir=folder, episodes=[episode])
        committed = await controller.ask("checkpoint/commit", **committing)
        assert committed["phase"] == "committed"
        assert committed["manifest"]["checkpointId"] == first
        waited = await controller.ask("checkpoint/wait", **timed(first))
        assert waited == {"manifest": committed["manifest"]}
        resumed = await controller.ask("checkpoint/resume", checkpointId=first)
        assert resumed == {"phase": "idle", "published": True}
        way.runtime.sessions.remove([session_id])
        restored = await controller.ask("checkpoint/restore", **timed(second, checkpointDir=folder))
        later = {"rolloutId": rollout, "attempt": 1}
        assert restored == {
            "phase": "restored",
            "sourceCheckpointId": first,
            "restored": [{"sessionId": session_id, "episode": later}],
        }
        resumed = await controller.ask("checkpoint/resume", checkpointId=second, discard=True)
        assert resumed == {"phase": "idle", "published": False}
        assert await controller.code("sessions/tables", sessionId=session_id) == "session_unknown"


async def test_a_rollout_s_end_from_retire_to_forget(way: Way, name: Callable[[str], str]) -> None:
    session_id, rollout = name("session"), name("rollout")
    episode = {"rolloutId": rollout, "attempt": 1}
    async with way.controller() as controller:
        await controller.ask("sessions/seed", sessionId=session_id, episode=episode)
        assert await controller.ask("checkpoint/retire", episodes=[episode]) == {"retired": [episode]}
        assert rollout in (await controller.ask("checkpoint/status"))["retiredRollouts"]
        for wish in ({"sessionId": session_id}, {"episode": episode}):
            number, data, _ = await controller.refused("sessions/seed", **wish)
            assert (number, data) == (-32014, {"code": "stale_attempt", "episode": episode})
        forgotten = await controller.ask("checkpoint/forget", rolloutIds=[rollout, name("unknown")])
        assert forgotten == {"forgotten": [rollout]}
        assert await controller.code("sessions/seed", sessionId=session_id) == "session_spent"


REFUSED: dict[str, tuple[str, dict[str, Any], int, dict[str, Any]]] = {
    "unknown": ("sessions/close", {"sessionId": "x" * 20}, -32011, {"code": "session_unknown"}),
    "phase": (
        "checkpoint/commit",
        {**timed("never-prepared"), "checkpointDir": "x"},
        -32012,
        {"code": "invalid_phase", "operation": "checkpoint/commit", "phase": "idle"},
    ),
    "files": (
        "checkpoint/restore",
        {**timed("from-nothing"), "checkpointDir": "no-such-folder"},
        -32015,
        {"code": "invalid_checkpoint_state"},
    ),
    "states": (
        "sessions/import",
        {"states": [{"sessionId": "x" * 20}], "bases": {}},
        -32015,
        {"code": "invalid_checkpoint_state"},
    ),
    "path": (
        "checkpoint/restore",
        {**timed("outside"), "checkpointDir": "../outside"},
        -32602,
        {"code": "invalid_params"},
    ),
    "cursor": ("sessions/export", {"cursor": "nothing.1"}, -32602, {"code": "invalid_params"}),
}


@pytest.mark.parametrize(("operation", "given", "number", "data"), REFUSED.values(), ids=REFUSED)
async def test_a_refusal_is_an_error_with_a_number_a_code_and_facts(
    way: Way, operation: str, given: dict[str, Any], number: int, data: dict[str, Any]
) -> None:
    async with way.controller() as controller:
        got, facts, sentence = await controller.refused(operation, **given)
    assert (got, {**facts, **data}) == (number, facts)
    assert facts.keys() - {"reason"} == data.keys()
    assert sentence


async def test_only_operations_are_answered(way: Way) -> None:
    async with way.controller() as controller:
        number, _, sentence = await controller.refused("sessions/burn")
        assert number == (-32602 if way.as_tool else -32601)
        assert not way.as_tool or "'sessions_burn'" in sentence
        number, data, _ = await refusal(controller.client.list_tools(cursor="1"))
        assert (number, data) == (-32602, {"code": "invalid_params"})


def agents_tools(runtime: Runtime) -> set[str]:
    return {tool.name for tool in runtime.dataset.catalogue.tools.values()}


async def test_a_controller_has_no_tool_of_an_agent(way: Way) -> None:
    async with way.controller() as controller:
        listed = {tool.name for tool in (await controller.client.list_tools()).tools}
        assert not listed & agents_tools(way.runtime)
        number, _, _ = await refusal(controller.client.call_tool("email_send_email", MAIL))
        assert number == -32602


async def test_an_agent_has_no_way_to_an_operation(door: Door, name: Callable[[str], str]) -> None:
    session = door.runtime.sessions.seed(name("session"))
    async with door.client(session.id) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == agents_tools(door.runtime)
        assert (client.server_capabilities.extensions, client.server_capabilities.experimental) == (
            None,
            None,
        )
        for operation, served in OPERATIONS.items():
            assert (await Controller(client, as_tool=False).refused(operation))[0] == -32601
            for tool in (operation, operation.replace("/", "_"), METHOD + operation, served.title):
                assert (await client.call_tool(tool, {})).is_error
    assert door.runtime.control.status()["phase"] == "idle"


async def test_every_way_ends_at_the_same_server(runtime: Runtime) -> None:
    async with (
        Client(admin_server(runtime)) as one,
        Client(admin_server(runtime), mode="legacy") as other,
        Client(agent_server(runtime, runtime.sessions.seed().id)) as agent,
    ):
        await Controller(one, as_tool=True).ask("checkpoint/prepare", **timed("one"))
        data = await Controller(other, as_tool=False).refused("checkpoint/prepare", **timed("other"))
        assert data[:2] == (-32012, {"code": "checkpoint_conflict", "checkpointId": "one"})
        number, data, _ = await refusal(agent.call_tool("email_send_email", MAIL))
        closed = {"code": "admission_closed", "checkpointId": "one", "retryAfterMs": 250}
        assert (number, data) == (-32010, closed)
