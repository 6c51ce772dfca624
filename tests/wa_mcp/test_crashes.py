"""What crashes says one plain sentence, leaves a trace in the log, and changes nothing."""

import sys
from typing import Any

import pytest
from mcp.types import CallToolResult

from tests.wa_mcp.agents import MAIL, Door, named, refusal, text
from toolkits.email import Email
from wa_mcp.session import Session

SECRET = "the secret of /etc/where"
# The package names its function where the module would be.
MODULE = sys.modules["wa_mcp.agent_server"]

FAILED = "The server failed; nothing was changed."


def crash(*_: Any, **__: Any) -> Any:
    raise RuntimeError(SECRET)


def traces(log: pytest.LogCaptureFixture) -> list[str]:
    return [str(record.exc_info[1]) for record in log.records if record.exc_info and record.exc_info[1]]


async def test_a_tool_that_crashes(
    door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session = door.runtime.sessions.seed()
    before = session.workplace
    async with door.client(session.id) as client:
        with monkeypatch.context() as patch:
            patch.setattr(Email, "send_email", crash)
            result = await client.call_tool("email_send_email", MAIL, meta=named(callId="call-1"))
        assert (result.is_error, text(result)) == (True, "email_send_email failed; nothing was changed.")
        assert SECRET not in result.model_dump_json()
        assert SECRET in traces(caplog)
        assert session.workplace is before
        again = await client.call_tool("email_send_email", MAIL, meta=named(callId="call-1"))
        assert (again.is_error, session.revision) == (False, 1)


async def test_a_handler_that_crashes_before_the_call(
    door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session = door.runtime.sessions.seed()
    before = session.state
    async with door.client(session.id) as client:
        monkeypatch.setattr(Session, "call", crash)
        monkeypatch.setattr(Session, "sees", crash)
        for call in (client.call_tool("email_send_email", MAIL), client.list_tools()):
            assert await refusal(call) == (-32603, None, FAILED)
    assert traces(caplog).count(SECRET) == 2
    assert session.state is before


async def test_a_handler_that_crashes_after_the_call_has_undone_it(
    door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session = door.runtime.sessions.seed()
    before = session.state
    async with door.client(session.id) as client:
        with monkeypatch.context() as patch:
            patch.setattr(MODULE, "_result", crash)
            call = client.call_tool("email_send_email", MAIL, meta=named(callId="call-1"))
            assert await refusal(call) == (-32603, None, FAILED)
        assert SECRET in traces(caplog)
        assert session.state is before
        again = await client.call_tool("email_send_email", MAIL, meta=named(callId="call-1"))
    assert (again.is_error, session.revision) == (False, 1)


@pytest.mark.parametrize(
    "answer",
    [object(), "\ud800", {"a": "\ud800"}, {1: 2}, 2**70],
    ids=["object", "surrogate", "surrogate within", "number for a name", "huge"],
)
async def test_an_answer_that_is_no_json_is_not_given(
    door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, answer: Any
) -> None:
    def odd(email: Email, **_: Any) -> Any:
        return email.tables["email.emails"].drop(1, (0,)), answer

    session = door.runtime.sessions.seed()
    before = session.state
    async with door.client(session.id) as client:
        with monkeypatch.context() as patch:
            patch.setattr(Email, "send_email", odd)
            assert await refusal(client.call_tool("email_send_email", MAIL)) == (-32603, None, FAILED)
        assert session.state is before
        assert traces(caplog)
        later = await client.call_tool("email_send_email", MAIL)
    assert isinstance(later, CallToolResult)
    assert not later.is_error
