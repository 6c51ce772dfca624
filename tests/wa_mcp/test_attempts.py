"""Attempts: a call may name one in a header, in `_meta` and in the URL, and each must be the session's."""

from typing import Any

import pytest
from mcp import Client, MCPError

from tests.wa_mcp.agents import ERAS, Door, Era, named, over_http, refusal, told
from wa_mcp.session import Session

READ = "company_directory_find_email_address"
ARGUMENTS = {"name": "a"}
STALE = (-32014, {"code": "stale_attempt", "attempt": 1, "current": 2})
INVALID = (-32602, {"code": "invalid_params"})
NONE_NAMED = (-32014, {"code": "stale_attempt"})


@pytest.fixture
def session(door: Door) -> Session:
    return door.runtime.sessions.seed(episode=("rollout", 2))


async def answer(client: Client, **entries: Any) -> Any:
    """Call once, and give the attempt that the answer names."""
    return told(await client.call_tool(READ, ARGUMENTS, meta=named(**entries)), "attempt")


async def test_a_call_need_not_name_its_attempt(door: Door, session: Session) -> None:
    async with door.client(session.id) as client:
        assert await answer(client) == 2


@pytest.mark.parametrize("attempt", [2, "2", "02"])
async def test_the_session_s_attempt_in_meta_is_answered(door: Door, session: Session, attempt: Any) -> None:
    async with door.client(session.id) as client:
        assert await answer(client, attempt=attempt) == 2


@pytest.mark.parametrize("attempt", [1, "1", 3, 0, 2**53])
async def test_another_attempt_in_meta_is_stale(door: Door, session: Session, attempt: Any) -> None:
    before = session.state
    async with door.client(session.id) as client:
        code, data, _ = await refusal(answer(client, attempt=attempt))
    assert (code, data) == (-32014, {"code": "stale_attempt", "attempt": int(attempt), "current": 2})
    assert session.state is before


MALFORMED = [
    -1,
    2.0,
    True,
    "",
    " 2",
    "-2",
    "+2",
    "2.0",
    "\u0662",
    "two",
    2**53 + 1,
    "9" * 16,
    "9" * 5000,
    [2],
]


@pytest.mark.parametrize("attempt", MALFORMED, ids=lambda attempt: ascii(attempt)[:20])
async def test_what_is_no_attempt_is_refused(door: Door, session: Session, attempt: Any) -> None:
    async with door.client(session.id) as client:
        assert (await refusal(answer(client, attempt=attempt)))[:2] == INVALID


async def test_a_session_may_require_that_calls_name_their_attempt(door: Door) -> None:
    session = door.runtime.sessions.seed(episode=("rollout", 2), require_attempt=True)
    async with door.client(session.id) as client:
        assert (await refusal(answer(client)))[:2] == NONE_NAMED
        assert await answer(client, attempt=2) == 2
        assert len((await client.list_tools()).tools) == 27
    assert session.state.calls == 1


class Caller:
    """Calls one session over HTTP, naming attempts in the URL, in headers and in `_meta`."""

    def __init__(self, base: str, session: Session, era: Era) -> None:
        self.url = base + session.path
        self.era: Era = era

    async def __call__(self, query: str = "", headers: list[str] | None = None, **entries: Any) -> Any:
        sent = [("WA-Attempt", value) for value in headers or []]
        async with over_http(self.url + query, self.era, sent) as client:
            try:
                return await answer(client, **entries)
            except MCPError as error:
                return error.code, error.data


@pytest.fixture(params=ERAS)
def caller(request: pytest.FixtureRequest, base: str, office: Any) -> Caller:
    session = office.sessions.seed(episode=("rollout", 2), require_attempt=True)
    return Caller(base, session, request.param)


async def test_each_way_alone_names_the_attempt(caller: Caller) -> None:
    assert await caller("?attempt=2") == 2
    assert await caller(headers=["2"]) == 2
    assert await caller(attempt=2) == 2


async def test_each_way_alone_can_be_stale(caller: Caller) -> None:
    assert await caller("?attempt=1") == STALE
    assert await caller(headers=["1"]) == STALE
    assert await caller(attempt=1) == STALE


async def test_each_way_alone_can_be_malformed(caller: Caller) -> None:
    for query in ("?attempt=", "?attempt=x", "?attempt=-1"):
        assert await caller(query) == INVALID
    for header in ("", "x", "-1", "2, 2"):
        assert await caller(headers=[header]) == INVALID


async def test_all_ways_may_agree(caller: Caller) -> None:
    assert await caller("?attempt=2", ["2"], attempt="2") == 2


async def test_of_ways_that_disagree_the_stale_one_counts(caller: Caller) -> None:
    assert await caller("?attempt=2", ["1"], attempt=2) == STALE
    assert await caller("?attempt=1", ["2"], attempt=2) == STALE
    assert await caller("?attempt=2", ["2"], attempt=1) == STALE


async def test_an_attempt_named_twice_in_one_way_counts_twice(caller: Caller) -> None:
    assert await caller("?attempt=1&attempt=2") == STALE
    assert await caller("?attempt=2&attempt=1") == STALE
    assert await caller(headers=["1", "2"]) == STALE
    assert await caller(headers=["2", "1"]) == STALE


async def test_naming_none_of_the_ways_is_refused_where_one_is_required(caller: Caller) -> None:
    assert await caller() == NONE_NAMED
