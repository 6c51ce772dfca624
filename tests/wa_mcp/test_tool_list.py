"""What `tools/list` shows: the golden file to the letter, and only what a session may see."""

import json
from typing import Any

import pytest
from mcp.types import PaginatedRequestParams

from tests.golden.write import TOOLS, advertised
from tests.wa_mcp.agents import MAIL, Door, output, refusal, text

GOLDEN = json.loads(TOOLS.read_text(encoding="utf-8"))
NAMES = [tool["name"] for tool in GOLDEN]


async def names(door: Door, session_id: str | None) -> list[str]:
    async with door.client(session_id) as client:
        return [tool.name for tool in (await client.list_tools()).tools]


async def test_a_session_s_tools_are_those_of_the_golden_file(door: Door) -> None:
    async with door.client(door.runtime.sessions.seed().id) as client:
        assert await advertised(client) == GOLDEN


async def test_without_a_session_the_list_is_the_whole_catalogue(door: Door) -> None:
    async with door.client() as client:
        assert await advertised(client) == GOLDEN


def test_the_golden_file_holds_27_tools_of_six_toolkits() -> None:
    toolkits = ["company_directory", "email", "calendar", "analytics", "project_management"]
    toolkits.append("customer_relationship_manager")
    found = [next(kit for kit in toolkits if name.startswith(kit + "_")) for name in NAMES]
    assert {kit: found.count(kit) for kit in toolkits} == dict(zip(toolkits, [1, 6, 5, 6, 5, 4], strict=True))
    assert found == sorted(found, key=toolkits.index)


@pytest.mark.parametrize("tool", GOLDEN, ids=NAMES)
def test_each_tool_says_what_a_client_needs(tool: dict[str, Any]) -> None:
    assert set(tool) == {"name", "title", "description", "inputSchema", "annotations"}
    hints = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert set(tool["annotations"]) == hints
    schema = tool["inputSchema"]
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert all(argument["description"] for argument in schema["properties"].values())


def test_the_annotations_tell_readers_from_writers_and_destroyers() -> None:
    def hinted(hint: str) -> set[str]:
        return {tool["name"] for tool in GOLDEN if tool["annotations"][hint]}

    writers = set(NAMES) - hinted("readOnlyHint")
    verbs = ("send", "delete", "forward", "reply", "create", "update", "add")
    assert writers == {name for name in NAMES if any(f"_{verb}_" in name for verb in verbs)}
    assert hinted("destructiveHint") == {n for n in NAMES if "_delete_" in n or "_update_" in n}
    assert hinted("readOnlyHint") <= hinted("idempotentHint")
    assert hinted("openWorldHint") == set()


async def test_a_session_of_two_toolkits_sees_theirs_alone(door: Door) -> None:
    session = door.runtime.sessions.seed(toolkits=["calendar", "company_directory"])
    expected = [name for name in NAMES if name.startswith(("calendar_", "company_directory_"))]
    assert await names(door, session.id) == expected
    assert sorted(session.workplace.tables) == ["calendar.events", "company_directory.addresses"]


async def test_a_session_with_an_allow_list_sees_what_is_on_it(door: Door) -> None:
    session = door.runtime.sessions.seed(tools=["email_send_email", "email_search_emails"])
    assert await names(door, session.id) == ["email_search_emails", "email_send_email"]


async def test_a_hidden_tool_and_one_that_is_not_are_the_same_to_an_agent(door: Door) -> None:
    session = door.runtime.sessions.seed(toolkits=["email"], tools=["email_search_emails"])
    before = session.workplace
    async with door.client(session.id) as client:
        hidden = ["email_send_email", "calendar_search_events"]
        for name in [*hidden, "nothing", "", "email.send", "\u00fc" * 100]:
            result = await client.call_tool(name, MAIL)
            assert result.is_error
            assert text(result) == output(result) == f"Unknown tool: {name[:60]!a}."
        assert not (await client.call_tool("email_search_emails", {})).is_error
    assert session.workplace is before


async def test_the_list_has_one_page(door: Door) -> None:
    async with door.client(door.runtime.sessions.seed().id) as client:
        assert (await client.list_tools()).next_cursor is None
        page = client.session.list_tools(params=PaginatedRequestParams(cursor="2"))
        code, data, _ = await refusal(page)
    assert (code, data) == (-32602, {"code": "invalid_params"})


async def test_the_list_of_a_session_that_is_none_is_refused(door: Door) -> None:
    async with door.client("not-a-session-at-all") as client:
        code, data, _ = await refusal(client.list_tools())
    assert (code, data) == (-32011, {"code": "session_unknown"})
