"""`wa-mcp serve` as people run it: what it prints works, and what it logs gives nothing away."""

import json
from collections.abc import Generator, Iterator
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import RequestParamsMeta

from tests.e2e.processes import Server, serving

pytestmark = pytest.mark.timeout(90)

CLIENTS = 50
MAIL = {"recipient": "ada@example.com", "subject": "Plan", "body": "Let us meet."}
LEGACY = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": "2025-06-18",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server, None, None]:
    """A server with a variable that a flag overrides, one that none does, and much to say."""
    folder = tmp_path_factory.mktemp("serve")
    variables = {"WA_MCP_PORT": "1", "WA_MCP_ALLOWED_HOST": "office.example", "WA_MCP_LOG_LEVEL": "error"}
    flags = ("--offer", str(CLIENTS + 8), "--log-level", "debug")
    with serving(folder, *flags, **variables) as server:
        yield server


@pytest.fixture(scope="module")
def urls(server: Server) -> list[str]:
    """Offered session URLs, of which each test takes its own from the end."""
    return server.urls[1:]


def named(**entries: Any) -> RequestParamsMeta:
    return cast("RequestParamsMeta", {f"dev.wa-mcp/{name}": value for name, value in entries.items()})


def session_of(url: str) -> str:
    return url.split("/")[-2]


def every_way(base: str, session_id: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Give requests that name a session, in order and out of it: URL, body and headers."""
    path, read = f"{base}/sessions/{session_id}/mcp", request("email_search_emails", {})
    for body in (read, "{", "[]", read[:-2], request("nothing", {}), "x" * (5 * 1024 * 1024)):
        yield path, body, {}
        yield path, body, {"MCP-Protocol-Version": "2026-07-28"}
    for more in ("/", "?attempt=x", "?attempt=1", "/more"):
        yield path + more, read, {}
    yield path, read, {"Host": "evil.example"}
    yield path, read, {"Origin": "http://evil.example"}
    yield path, read, {"WA-Session": "x" * 20}
    yield f"{base}/mcp", read, {"WA-Session": session_id}
    yield f"{base}/sessions//{session_id}", read, {}
    for named_so in (session_id, [session_id], session_id + "\ud800"):
        yield f"{base}/mcp", request("email_search_emails", {"page": session_id}, session=named_so), {}


def request(tool: str, arguments: dict[str, Any], **entries: Any) -> str:
    params = {"name": tool, "arguments": arguments, "_meta": named(**entries)}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_url_it_prints_is_a_workplace(server: Server, urls: list[str], era: Any) -> None:
    async with Client(urls.pop(), mode=era) as client:
        assert len((await client.list_tools()).tools) == 27
        result = await client.call_tool("email_send_email", MAIL)
    assert result.structured_content == {"output": "Email sent successfully."}


def test_it_prints_lines_for_adding_it_to_a_client(server: Server) -> None:
    url = server.urls[0]
    hint, first, second, config = server.said[-4:]
    assert hint == "Add it to a client:"
    assert first == f"  claude mcp add --transport http workplace {url}"
    assert second.startswith(f"  npx @modelcontextprotocol/inspector --cli {url} ")
    assert json.loads(config) == {"mcpServers": {"workplace": {"type": "http", "url": url}}}


def test_each_url_it_prints_is_another_session(server: Server) -> None:
    assert len({session_of(url) for url in server.urls}) == CLIENTS + 8
    assert {urlsplit(url).netloc for url in server.urls} == {urlsplit(server.base).netloc}


def test_a_flag_wins_over_a_variable_and_a_variable_over_the_default(server: Server, urls: list[str]) -> None:
    assert server.port != 1
    assert " INFO " in server.log()
    body = request("email_search_emails", {})
    assert (
        httpx2.post(urls.pop(), content=body, headers={**LEGACY, "Host": "office.example"}).status_code == 200
    )


def test_it_lives_and_is_ready(server: Server) -> None:
    assert httpx2.get(f"{server.base}/healthz").json() == {"status": "alive"}
    assert httpx2.get(f"{server.base}/readyz").json() == {"status": "ready"}


async def test_50_clients_at_once_work_50_workplaces(server: Server) -> None:
    async def work(http: httpx2.AsyncClient, number: int, url: str) -> None:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            for turn in range(3):
                mail = {**MAIL, "subject": f"of-{number}-turn-{turn}"}
                result = await client.call_tool("email_send_email", mail)
                assert (result.meta or {})["dev.wa-mcp/revision"] == turn + 1
            found = await client.call_tool("email_search_emails", {"query": "turn-", "page_size": 9})
        mails = found.structured_content["output"]["emails"]
        assert {mail["subject"] for mail in mails} == {f"of-{number}-turn-{turn}" for turn in range(3)}

    async with httpx2.AsyncClient(timeout=60) as http, anyio.create_task_group() as tasks:
        for number, url in enumerate(server.urls[1 : CLIENTS + 1]):
            tasks.start_soon(work, http, number, url)


async def test_a_client_that_drops_in_mid_call_leaves_the_call_done_once(
    server: Server, urls: list[str]
) -> None:
    url = urls.pop()
    body = request("email_send_email", MAIL, callId="call-1").encode()
    head = f"POST {urlsplit(url).path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    head += "".join(f"{name}: {text}\r\n" for name, text in LEGACY.items())
    whole = head.encode() + b"\r\n" + body
    for sent in (whole[:20], whole[: len(head) + 2], whole[:-1], whole, whole):
        async with await anyio.connect_tcp("127.0.0.1", server.port) as stream:
            await stream.send(sent)
    async with Client(url) as client:
        again = await client.call_tool("email_send_email", MAIL, meta=named(callId="call-1"))
        last = await client.call_tool("email_send_email", MAIL, meta=named(callId="call-2"))
    assert [(result.meta or {})["dev.wa-mcp/revision"] for result in (again, last)] == [1, 2]


async def test_no_session_s_id_is_ever_logged_whole(server: Server, urls: list[str]) -> None:
    url = urls.pop()
    good, bad = session_of(url), "a-bad-session-id-of-nobody"
    async with httpx2.AsyncClient(headers=LEGACY) as http:
        for session_id in (good, bad):
            for path, body, headers in every_way(server.base, session_id):
                await http.post(path, content=body, headers=headers)
            await http.get(f"{server.base}/sessions/{session_id}/mcp")
        async with await anyio.connect_tcp("127.0.0.1", server.port) as broken:
            await broken.send(f"BROKEN /sessions/{good}/mcp\r\n\r\n".encode())
            await broken.receive()
        async with Client(url) as client:
            await client.call_tool("email_send_email", MAIL)
        await http.post(f"{server.base}/mcp", content="{}", headers={"Host": "the-last.example"})
    log = server.log()
    assert "Invalid HTTP request" in log
    assert "the-last.example" in log
    assert good not in log
    assert bad not in log
    assert not [session for session in map(session_of, server.urls) if session in log]
