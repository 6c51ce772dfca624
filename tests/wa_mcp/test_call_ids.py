"""Exactly once: a call id that changed something answers again what it answered, whoever asks."""

from typing import Any

import pytest

from tests.wa_mcp.agents import MAIL, Door, named, output, refusal, text, told
from wa_mcp import Runtime
from wa_mcp.errors import CodedError
from wa_mcp.session_state import MOST_REMEMBERED

SEND = "email_send_email"
SENT = "email.emails"


def mails(session: Any) -> int:
    return len(session.workplace.tables[SENT])


async def test_the_same_call_id_over_a_client_that_reconnected_does_it_once(door: Door) -> None:
    session = door.runtime.sessions.seed()
    before = mails(session)
    async with door.client(session.id) as client:
        first = await client.call_tool(SEND, MAIL, meta=named(callId="call-1"))
        other = await client.call_tool(SEND, MAIL, meta=named(callId="call-2"))
    async with door.client(session.id) as client:
        again = await client.call_tool(SEND, MAIL, meta=named(callId="call-1"))
    assert (first.is_error, text(first)) == (False, "Email sent successfully.")
    assert told(other, "revision") == 2
    assert output(again) == output(first)
    assert [told(again, name) for name in ("revision", "attempt", "changed")] == [1, 0, [SENT]]
    assert (mails(session) - before, session.revision, session.state.calls) == (2, 2, 2)


async def test_a_call_id_with_another_call_is_refused(door: Door) -> None:
    session = door.runtime.sessions.seed()
    async with door.client(session.id) as client:
        await client.call_tool(SEND, MAIL, meta=named(callId="call-1"))
        before = session.state
        for name, arguments in [
            (SEND, {**MAIL, "body": "Let us not."}),
            (SEND, {}),
            (SEND, {**MAIL, "body": 5}),
            (SEND, {**MAIL, "more": "of it"}),
            ("email_search_emails", MAIL),
            ("no_such_tool", MAIL),
        ]:
            code, data, _ = await refusal(client.call_tool(name, arguments, meta=named(callId="call-1")))
            assert (code, data) == (-32602, {"code": "call_id_conflict", "callId": "call-1"})
        assert session.state is before


async def test_null_counts_as_not_given_and_the_order_of_arguments_as_nothing(door: Door) -> None:
    session = door.runtime.sessions.seed()
    customer = {"customer_name": "Ada", "assigned_to_email": "bo@example.com", "status": "Lead"}
    added = "customer_relationship_manager_add_customer"
    async with door.client(session.id) as client:
        first = await client.call_tool(added, {**customer, "notes": None}, meta=named(callId="call-1"))
        turned = dict(reversed([*customer.items(), ("customer_phone", None)]))
        again = await client.call_tool(added, turned, meta=named(callId="call-1"))
    assert output(again) == output(first)
    assert session.revision == 1


async def test_a_call_that_failed_is_not_remembered(door: Door) -> None:
    session = door.runtime.sessions.seed()
    async with door.client(session.id) as client:
        failed = await client.call_tool(SEND, {**MAIL, "recipient": "nobody"}, meta=named(callId="call-1"))
        corrected = await client.call_tool(SEND, MAIL, meta=named(callId="call-1"))
    assert (failed.is_error, corrected.is_error) == (True, False)
    assert session.revision == 1


async def test_a_call_that_only_read_is_not_remembered(door: Door) -> None:
    session = door.runtime.sessions.seed()
    find = "company_directory_find_email_address"
    async with door.client(session.id) as client:
        await client.call_tool(find, {"name": "a"}, meta=named(callId="call-1"))
        other = await client.call_tool(find, {"name": "\u2014"}, meta=named(callId="call-1"))
    assert output(other) == []
    assert session.state.remembered == {}


@pytest.mark.parametrize(
    "call_id", ["", "x" * 129, "a\nb", 5, True, ["call-1"], {"id": "call-1"}, 1.5], ids=ascii
)
async def test_a_call_id_that_is_none_is_refused_and_nothing_is_done(door: Door, call_id: Any) -> None:
    session = door.runtime.sessions.seed()
    before = session.state
    async with door.client(session.id) as client:
        code, data, _ = await refusal(client.call_tool(SEND, MAIL, meta=named(callId=call_id)))
    assert (code, data) == (-32602, {"code": "invalid_params"})
    assert session.state is before


@pytest.mark.parametrize("call_id", ["1", "x" * 128, "\u00fc \u2014 7"], ids=ascii)
async def test_a_call_id_at_the_limits_is_taken(door: Door, call_id: str) -> None:
    session = door.runtime.sessions.seed()
    async with door.client(session.id) as client:
        for _ in range(2):
            await client.call_tool(SEND, MAIL, meta=named(callId=call_id))
    assert session.revision == 1


async def test_the_same_call_id_in_two_sessions_is_two_calls(door: Door) -> None:
    sessions = [door.runtime.sessions.seed() for _ in range(2)]
    for session in sessions:
        async with door.client(session.id) as client:
            await client.call_tool(SEND, MAIL, meta=named(callId="call-1"))
    assert [session.revision for session in sessions] == [1, 1]


def test_the_last_256_changing_calls_are_remembered(runtime: Runtime) -> None:
    session = runtime.sessions.seed()
    for number in range(MOST_REMEMBERED + 1):
        session.call(SEND, {**MAIL, "subject": f"Plan {number}"}, call_id=f"call-{number}")
    assert MOST_REMEMBERED == 256
    assert list(session.state.remembered) == [f"call-{number}" for number in range(1, 257)]
    assert session.call(SEND, {**MAIL, "subject": "Plan 1"}, call_id="call-1").revision == 2
    assert session.revision == 257
    session.call(SEND, {**MAIL, "subject": "Plan 0"}, call_id="call-0")
    assert session.revision == 258


@pytest.mark.parametrize("odd", ["\ud800", 2**80, float("nan"), {"deep": "\ud800"}], ids=ascii)
def test_arguments_that_cannot_be_stored_are_another_call(runtime: Runtime, odd: Any) -> None:
    session = runtime.sessions.seed()
    session.call(SEND, MAIL, call_id="call-1")
    with pytest.raises(CodedError) as caught:
        session.call(SEND, {**MAIL, "body": odd}, call_id="call-1")
    assert caught.value.code == "call_id_conflict"
