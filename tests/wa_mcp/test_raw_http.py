"""The HTTP surface below any client: odd bodies, odd arguments, foreign hosts; the server goes on."""

import json
from collections.abc import Callable, Generator, Iterator
from typing import Any

import httpx2
import pytest

from tests.conftest import http_server
from tests.wa_mcp.agents import ERAS, SESSION_ID, Era
from wa_mcp import Runtime, Settings, http_app
from wa_mcp.session import Session

Reply = tuple[int, Any]

MODERN, LEGACY = "2026-07-28", "2025-06-18"
FIND = {"name": "company_directory_find_email_address", "arguments": {"name": "a"}}
MOST = 4 * 1024 * 1024


class Wire:
    """Posts what it is told to one session's URL, with the headers and `_meta` of one era."""

    def __init__(self, http: httpx2.Client, url: str, era: Era) -> None:
        self.http, self.url, self.era = http, url, era

    def post(self, body: Any, url: str | None = None, **headers: str) -> httpx2.Response:
        """Post a body as it is."""
        sent = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        sent["MCP-Protocol-Version"] = MODERN if self.era == "auto" else LEGACY
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.post(url or self.url, content=body, headers=sent)

    def call(self, params: Any, url: str | None = None, **headers: str) -> Reply:
        """Call a tool, and give the HTTP status and the JSON-RPC message."""
        if self.era == "auto":
            about = "io.modelcontextprotocol/"
            params = {
                **params,
                "_meta": {f"{about}protocolVersion": MODERN, f"{about}clientCapabilities": {}},
            }
            headers = {"Mcp_Method": "tools/call", "Mcp_Name": str(params.get("name")), **headers}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = self.post(json.dumps(asked), url, **headers)
        is_json = answer.headers.get("Content-Type") == "application/json"
        return answer.status_code, strict(answer.text) if is_json else answer.text

    def find(self, name: str, value: Any) -> Reply:
        """Call a reading tool with one argument."""
        return self.call({"name": "email_search_emails", "arguments": {name: value}})


def strict(text: str) -> Any:
    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module")
def http() -> Generator[httpx2.Client, None, None]:
    with httpx2.Client(timeout=10) as client:
        yield client


@pytest.fixture(scope="module")
def session(office: Runtime) -> Session:
    return office.sessions.seed(SESSION_ID)


@pytest.fixture(params=ERAS)
def wire(
    request: pytest.FixtureRequest, http: httpx2.Client, base: str, session: Session
) -> Generator[Wire, None, None]:
    """A wire to the session; whatever a test sends, the session and the server are as before."""
    wire = Wire(http, base + session.path, request.param)
    before = session.workplace
    yield wire
    assert session.workplace is before
    assert wire.call(FIND)[1]["result"]["isError"] is False


def code(reply: Reply) -> int:
    return reply[1]["error"]["code"]


def readable(reply: Reply) -> str:
    """Give the sentence of an input error: a result that the model can read."""
    status, message = reply
    assert (status, message["result"]["isError"]) == (200, True)
    return message["result"]["structuredContent"]["output"]


# What is no request.

BODIES: dict[str, Any] = {
    "nothing": "",
    "half an object": '{"jsonrpc": "2.0",',
    "no Unicode": b"\xff\xfe{}",
    "deep lists": "[" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "a huge number": '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + "9" * 5000 + "}}",
    "null": "null",
    "a number": "5",
    "a text": '"text"',
    "an empty batch": "[]",
    "a batch": json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": FIND}] * 2),
    "an empty object": "{}",
    "another version": '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    "a list of parameters": '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}',
    "a method that is a number": '{"jsonrpc":"2.0","id":1,"method":5}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_body_that_is_no_request_is_a_bad_request(wire: Wire, body: Any) -> None:
    answer = wire.post(body)
    assert answer.status_code == 400
    assert strict(answer.text)["error"]["code"] in (-32700, -32600, -32602)
    assert "Traceback" not in answer.text
    assert "pydantic" not in answer.text


def test_a_body_past_the_limit_is_refused_whether_it_says_its_length_or_not(wire: Wire) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(5):
            yield b" " * (MOST // 4)

    assert wire.post(b" " * (MOST + 1)).status_code == 413
    assert wire.post(pieces()).status_code == 413


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
@pytest.mark.parametrize("path", ["/mcp", f"/sessions/{SESSION_ID}/mcp"])
def test_only_post_is_served(http: httpx2.Client, base: str, method: str, path: str) -> None:
    answer = http.request(method, base + path, headers={"Accept": "text/event-stream"})
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "path",
    ["/", "/mcp/", f"/sessions/{SESSION_ID}/mcp/", f"/sessions/{SESSION_ID}", "/sessions//mcp", "/admin"],
)
def test_no_other_path_is_served_or_redirected(http: httpx2.Client, base: str, path: str) -> None:
    assert http.post(base + path).status_code == 404


def test_what_is_not_json_or_does_not_want_json_is_refused(wire: Wire) -> None:
    assert wire.call(FIND, Content_Type="text/plain")[0] == 400
    assert wire.call(FIND, Accept="text/html")[0] == 406


# What is no argument.


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("name", ["query", "page"])
def test_a_number_that_json_does_not_have_is_an_input_error(wire: Wire, name: str, value: float) -> None:
    assert readable(wire.find(name, value)).startswith(f"Argument '{name}': expected a value of type ")


@pytest.mark.parametrize("value", [2**60, -(2**60), 2**70, 1e300])
def test_a_number_that_not_every_reader_keeps_is_an_input_error(wire: Wire, value: float) -> None:
    assert readable(wire.find("page", value)).startswith("Argument 'page': expected an integer from -2^53")


@pytest.mark.parametrize("value", [None, 0, -1, 1.0])
def test_a_page_that_is_none_is_clamped(wire: Wire, value: Any) -> None:
    _, message = wire.find("page", value)
    assert message["result"]["structuredContent"]["output"]["pagination"]["page"] == 1


def test_a_lone_surrogate_is_refused(wire: Wire) -> None:
    sends: list[Callable[[], Reply]] = [
        lambda: wire.find("query", "\ud800"),
        lambda: wire.find("\ud800", "x"),
        lambda: wire.call({"name": "\ud800"}, Mcp_Name="=?base64?7aCA?="),
    ]
    for send in sends:
        status, message = send()
        # The legacy era's JSON reader refuses the body, the modern era's lets it in.
        refused = code((status, message)) if status == 400 else message["result"]["isError"]
        assert refused in (-32700, -32020, True)


def test_a_text_past_the_limit_is_an_input_error(wire: Wire) -> None:
    assert "at most 100000 characters" in readable(wire.find("query", "x" * 100_001))
    assert wire.find("query", "x" * 100_000)[1]["result"]["isError"] is False


@pytest.mark.parametrize("depth", [50, 180, 300, 800])
def test_a_deep_argument_is_refused(wire: Wire, depth: int) -> None:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    status, message = wire.find("query", value)
    refused = code((status, message)) if status == 400 else message["result"]["isError"]
    assert refused in (-32700, True)


@pytest.mark.parametrize("arguments", [[], "text", 5, True])
def test_arguments_that_are_no_object_are_invalid(wire: Wire, arguments: Any) -> None:
    reply = wire.call({"name": "email_search_emails", "arguments": arguments})
    assert code(reply) == -32602
    assert "pydantic" not in str(reply)


# Who may ask.


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "localhost:1", "[::1]:8765", "office.example", "office.example:443",
     "work.example:8443"],
)  # fmt: skip
def test_a_host_of_this_server_is_answered(wire: Wire, host: str) -> None:
    assert wire.call(FIND, Host=host)[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "evil.example:8765", "127.0.0.2", ""]
)
def test_any_other_host_is_misdirected(wire: Wire, host: str) -> None:
    assert wire.call(FIND, Host=host)[0] == 421


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "https://office.example", "https://work.example:8443"]
)
def test_an_origin_of_this_server_is_answered(wire: Wire, origin: str) -> None:
    assert wire.call(FIND, Origin=origin)[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://office.example.evil.example"])
def test_any_other_origin_is_forbidden(wire: Wire, origin: str) -> None:
    assert wire.call(FIND, Origin=origin)[0] == 403


def test_a_server_on_all_addresses_is_found_at_the_url_it_names(http: httpx2.Client) -> None:
    settings = Settings(host="0.0.0.0", port=0)
    runtime = Runtime(settings)
    session = runtime.sessions.seed()
    with http_server(runtime) as served:
        url = settings.base_url(httpx2.URL(served).port)
        assert Wire(http, url + session.path, "auto").call(FIND)[0] == 200


def test_the_server_says_that_it_lives_and_is_ready(http: httpx2.Client, base: str, office: Runtime) -> None:
    def ask(path: str) -> Reply:
        answer = http.get(base + path)
        return answer.status_code, answer.json()

    assert ask("/healthz") == (200, {"status": "alive"})
    assert ask("/readyz") == (200, {"status": "ready"})
    office.stopping = True
    try:
        assert ask("/healthz") == (200, {"status": "alive"})
        assert ask("/readyz") == (503, {"status": "not ready"})
    finally:
        office.stopping = False


def test_a_server_sweeps_its_idle_sessions(http: httpx2.Client) -> None:
    runtime = Runtime(Settings(idle_after=0.01))
    session = runtime.sessions.seed()
    with http_server(runtime) as url:
        while runtime.sessions.list():
            assert http.get(f"{url}/healthz").status_code == 200
        reply = Wire(http, url + session.path, "auto").call(FIND)
    assert (code(reply), reply[1]["error"]["data"]) == (-32011, {"code": "session_spent"})


async def test_an_application_that_has_not_been_started_says_so(runtime: Runtime) -> None:
    transport = httpx2.ASGITransport(http_app(runtime))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        assert (await client.post("/mcp", content="{}")).status_code == 503
