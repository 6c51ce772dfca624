"""The agent surface through every door: results, how a session is named, and each refusal with its code."""

import json
from typing import Any

import pytest
from mcp import MCPError

from tests.wa_mcp.agents import ERAS, MAIL, Door, Era, named, output, over_http, refusal, text, told
from wa_mcp import Runtime, Settings
from wa_mcp.version import VERSION

FIND = "company_directory_find_email_address"
REQUIRED = (-32011, {"code": "session_required"})
UNKNOWN = (-32011, {"code": "session_unknown"})
CONFLICT = (-32011, {"code": "session_conflict"})
SPENT = (-32011, {"code": "session_spent"})


async def test_the_server_says_what_it_is(door: Door) -> None:
    async with door.client(door.runtime.sessions.seed().id) as client:
        info = client.server_info
        assert info is not None
        assert (info.name, info.title, info.version) == ("wa-mcp", "Workplace", VERSION)
        assert (client.instructions or "").startswith("A workplace of your own")


async def test_a_text_is_answered_bare(door: Door) -> None:
    async with door.client(door.runtime.sessions.seed().id) as client:
        result = await client.call_tool("email_send_email", MAIL)
    assert (text(result), output(result)) == ("Email sent successfully.", "Email sent successfully.")


async def test_anything_else_is_answered_as_compact_json_with_its_letters_as_they_are(door: Door) -> None:
    async with door.client(door.runtime.sessions.seed().id) as client:
        await client.call_tool("email_send_email", {**MAIL, "subject": "Gr\u00fc\u00dfe \u2014 \U0001f600"})
        result = await client.call_tool("email_search_emails", {"query": "Gr\u00fc\u00dfe"})
    assert text(result) == json.dumps(output(result), ensure_ascii=False, separators=(",", ":"))
    assert '"subject":"Gr\u00fc\u00dfe \u2014 \U0001f600"' in text(result)


async def test_an_empty_answer_is_an_answer(door: Door) -> None:
    async with door.client(door.runtime.sessions.seed().id) as client:
        nobody = await client.call_tool(FIND, {"name": "nobody has this name"})
        no_day = await client.call_tool("analytics_total_visits_count", {"time_min": "2999"})
    assert (nobody.is_error, text(nobody), output(nobody)) == (False, "[]", [])
    assert (no_day.is_error, text(no_day), output(no_day)) == (False, "{}", {})


async def test_an_empty_cell_is_null(door: Door) -> None:
    async with door.client(door.runtime.sessions.seed().id) as client:
        customer = {"customer_name": "Ada", "assigned_to_email": "bo@example.com", "status": "Lead"}
        await client.call_tool("customer_relationship_manager_add_customer", customer)
        search = {"customer_name": "Ada", "assigned_to_email": "bo@example.com"}
        result = await client.call_tool("customer_relationship_manager_search_customers", search)
    (found,) = output(result)["customers"]
    assert found["customer_phone"] is None
    assert '"customer_phone":null' in text(result)


async def test_every_result_tells_revision_attempt_and_the_tables_changed(door: Door) -> None:
    session = door.runtime.sessions.seed(episode=("rollout", 3))

    async def entries(name: str, arguments: dict[str, Any]) -> list[Any]:
        result = await client.call_tool(name, arguments)
        return [told(result, entry) for entry in ("revision", "attempt", "changed")]

    async with door.client(session.id) as client:
        assert await entries(FIND, {"name": "a"}) == [0, 3, []]
        assert await entries("email_send_email", MAIL) == [1, 3, ["email.emails"]]
        assert await entries("email_send_email", {}) == [1, 3, []]
        plot = {"time_min": "1", "time_max": "2", "value_to_plot": "total_visits", "plot_type": "bar"}
        assert await entries("analytics_create_plot", plot) == [2, 3, ["analytics.plots"]]


async def test_bad_input_is_a_result_that_the_model_can_read(door: Door) -> None:
    async with door.client(door.runtime.sessions.seed().id) as client:
        result = await client.call_tool("email_send_email", {"recipient": "ada@example.com", "subject": 5})
    assert result.is_error
    assert text(result) == output(result)
    assert "'subject'" in text(result)


async def test_arguments_may_be_left_out(door: Door) -> None:
    async with door.client(door.runtime.sessions.seed().id) as client:
        assert not (await client.call_tool("email_search_emails")).is_error


async def test_a_call_without_a_session_says_how_to_get_one(door: Door) -> None:
    async with door.client() as client:
        code, data, sentence = await refusal(client.call_tool(FIND, {"name": "a"}))
    assert (code, data) == REQUIRED
    for way in ("/sessions/<id>/mcp", "WA-Session", "dev.wa-mcp/session"):
        assert way in sentence


async def test_a_session_that_never_was_is_unknown(door: Door) -> None:
    async with door.client("a-session-that-never-was") as client:
        code, data, sentence = await refusal(client.call_tool(FIND, {"name": "a"}))
    assert (code, data) == UNKNOWN
    assert "never-was" not in sentence


async def test_a_session_that_has_ended_is_spent(door: Door) -> None:
    session = door.runtime.sessions.seed()
    async with door.client(session.id) as client:
        await client.call_tool(FIND, {"name": "a"})
        door.runtime.sessions.close(session.id)
        assert (await refusal(client.call_tool(FIND, {"name": "a"})))[:2] == SPENT
        assert (await refusal(client.list_tools()))[:2] == SPENT


async def test_meta_names_the_session_of_a_call(door: Door) -> None:
    first, second = (door.runtime.sessions.seed() for _ in range(2))
    async with door.client() as client:
        for session in (first, second, first):
            await client.call_tool("email_send_email", MAIL, meta=named(session=session.id))
        code, data, _ = await refusal(client.call_tool(FIND, {"name": "a"}, meta=named(session="unknown")))
    assert [first.revision, second.revision] == [2, 1]
    assert (code, data) == UNKNOWN


async def test_two_sources_may_agree_and_must_not_disagree(door: Door) -> None:
    first, second = (door.runtime.sessions.seed() for _ in range(2))
    async with door.client(first.id) as client:
        await client.call_tool("email_send_email", MAIL, meta=named(session=first.id))
        call = client.call_tool("email_send_email", MAIL, meta=named(session=second.id))
        assert (await refusal(call))[:2] == CONFLICT
    assert [first.revision, second.revision] == [1, 0]


@pytest.mark.parametrize("session", [5, True, ["a"], {"id": "a"}], ids=ascii)
async def test_a_session_in_meta_that_is_no_text_is_refused(door: Door, session: Any) -> None:
    async with door.client() as client:
        code, data, _ = await refusal(client.call_tool(FIND, {"name": "a"}, meta=named(session=session)))
    assert (code, data) == (-32602, {"code": "invalid_params"})


async def test_the_first_request_makes_an_offered_session(door: Door) -> None:
    session_id = door.runtime.sessions.offer()
    before = len(door.runtime.sessions)
    async with door.client(session_id) as client:
        assert len(door.runtime.sessions) == before
        await client.call_tool("email_send_email", MAIL)
    assert len(door.runtime.sessions) == before + 1
    assert door.runtime.sessions.get(session_id).revision == 1


@pytest.mark.parametrize("era", ERAS)
async def test_an_offered_session_that_has_no_room_says_so(era: Era) -> None:
    full = Runtime(Settings(max_sessions=1))
    full.sessions.seed()
    async with Door(full, era, None).client(full.sessions.offer()) as client:
        code, data, _ = await refusal(client.call_tool(FIND, {"name": "a"}))
    assert (code, data) == (-32011, {"code": "session_limit", "limit": 1})


async def by_header(door: Door, path: str, *ids: str, **entries: Any) -> Any:
    """Call once with `WA-Session` headers, and give the answer's revision or the error's code and data."""
    headers = [("WA-Session", session_id) for session_id in ids]
    async with over_http(f"{door.base}{path}", door.era, headers) as client:
        try:
            result = await client.call_tool("email_send_email", MAIL, meta=named(**entries))
        except MCPError as error:
            return error.code, error.data
        return told(result, "revision")


async def test_a_header_names_the_session(web_door: Door) -> None:
    session = web_door.runtime.sessions.seed()
    assert await by_header(web_door, "/mcp", session.id) == 1
    assert await by_header(web_door, "/mcp", session.id, session=session.id) == 2
    assert await by_header(web_door, session.path, session.id, session=session.id) == 3


async def test_a_header_that_disagrees_is_a_conflict(web_door: Door) -> None:
    first, second = (web_door.runtime.sessions.seed() for _ in range(2))
    assert await by_header(web_door, first.path, second.id) == CONFLICT
    assert await by_header(web_door, "/mcp", first.id, session=second.id) == CONFLICT
    assert await by_header(web_door, "/mcp", first.id, second.id) == CONFLICT
    assert await by_header(web_door, first.path, "") == CONFLICT
    assert [first.revision, second.revision] == [0, 0]


async def test_the_list_over_a_header_is_the_session_s(web_door: Door) -> None:
    session = web_door.runtime.sessions.seed(toolkits=["company_directory"])
    async with over_http(f"{web_door.base}/mcp", web_door.era, [("WA-Session", session.id)]) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [FIND]
