"""What a controller makes of servers that are down, hang, restart, or are no such servers at all."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream
from mcp import MCPError
from mcp.types import RequestParams
from pydantic import SecretStr

from checkpoint import FleetError, Patience
from checkpoint.errors import InvalidParams
from tests.conftest import http_server
from tests.wa_mcp.bad_servers import Answering, Proxy, listening, made_up, response, saying
from wa_mcp import Controller, Endpoint, Runtime, Settings, admin_server

AT_ONCE = Patience(tries=3, first_wait=0.0, longest_wait=0.0)
JSON = "application/json"
IDLE: dict[str, Any] = {
    "kind": "environment",
    "instance": "a",
    "phase": "idle",
    "report": {"blockers": [], "blockerCount": 0},
}


async def reasons(endpoints: Sequence[Endpoint], **options: Any) -> dict[str, tuple[str, str]]:
    """Why a fleet cannot be entered: address to code and sentence."""
    with pytest.raises(FleetError) as caught:
        async with Controller(endpoints, patience=AT_ONCE, **options):
            raise AssertionError("it must not come so far")
    assert all(address in str(caught.value) for address in caught.value.reasons)
    return {address: (why.code, str(why)) for address, why in caught.value.reasons.items()}


async def drop(_: SocketStream, __: bytes) -> None:
    """Close the connection without a word."""


async def drop_midway(stream: SocketStream, _: bytes) -> None:
    await stream.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")


@pytest.mark.parametrize(
    ("answer", "code", "sentence"),
    [
        (drop, "no_reply", "disconnected"),
        (drop_midway, "no_reply", ""),
        (saying(b"SSH-2.0-OpenSSH\r\n"), "no_reply", ""),
        (saying(response("502 Bad Gateway", "text/html", b"<h1>Bad</h1>")), "no_reply", "HTTP status 502"),
        (saying(response("404 Not Found", "text/html", b"<h1>No</h1>")), "nonsense", "HTTP status 404"),
        (saying(response("401 Unauthorized", "text/plain", b"No.")), "token_refused", "take the token"),
        (saying(response("200 OK", "text/html", b"<h1>Hello</h1>")), "nonsense", "text/html"),
        (saying(response("200 OK", JSON, b"<h1>Hello</h1>")), "nonsense", "parse"),
        (saying(response("200 OK", JSON, b'{"hello": "world"}')), "nonsense", "parse"),
        (saying(response("202 Accepted", JSON, b"")), "nonsense", "202"),
        (saying(response("307 Temporary Redirect", JSON, b"")), "nonsense", ""),
    ],
)  # fmt: skip
async def test_what_is_no_server_of_ours_is_told_plainly(answer: Answering, code: str, sentence: str) -> None:
    async with listening(answer) as base:
        told = (await reasons([Endpoint(base, "token")]))[base]
    assert told[0] == code
    assert sentence in told[1]


@pytest.mark.parametrize(
    "status",
    [{}, {"kind": "cat", "instance": "a"}, {"kind": "environment"},
     {"kind": "environment", "instance": "../x"}, {"kind": ["environment"], "instance": 3}],
)  # fmt: skip
async def test_a_status_that_says_nothing_is_nonsense(status: dict[str, Any]) -> None:
    told = await reasons([Endpoint(made_up(checkpoint_status=lambda _: status))])
    assert told == {
        "in memory": ("nonsense", "its answer makes no sense: it does not say which kind and instance it is")
    }


async def test_a_server_without_the_operation_says_so() -> None:
    told = await reasons([Endpoint(made_up())])
    assert told["in memory"][0] == "jsonrpc-32601"


async def test_servers_that_are_down_and_servers_that_hang_are_named(runtime: Runtime) -> None:
    async def hang(_: SocketStream, __: bytes) -> None:
        await anyio.sleep_forever()

    async with listening(drop) as was_there:
        down = was_there
    async with listening(hang) as base:
        told = await reasons(
            [Endpoint(base, "t"), Endpoint(down, "t"), Endpoint(admin_server(runtime))], timeout_seconds=2
        )
    assert told.keys() == {base, down}
    assert told[base] == ("no_reply", "no answer within 2 s")
    assert "connect" in told[down][1].lower()


async def test_a_server_that_hangs_in_a_checkpoint_leaves_the_others_open(
    tmp_path: Path, runtime: Runtime
) -> None:
    quiet = anyio.Event()

    def status(_: dict[str, Any]) -> dict[str, Any]:
        return {**IDLE, "instance": "z"}

    server = made_up(checkpoint_status=status)

    async def hang(*_: Any) -> dict[str, Any]:
        await quiet.wait()
        return {}

    server.add_request_handler("dev.wa-mcp/checkpoint/prepare", RequestParams, hang)
    endpoints = [Endpoint(admin_server(runtime)), Endpoint(server)]
    async with Controller(endpoints, timeout_seconds=1, reply_within=1, patience=AT_ONCE) as controller:
        with pytest.raises(FleetError, match=r"environment/z \(in memory\): no answer within 2 s"):
            await _take(controller, tmp_path / "cut")
        assert runtime.control.status()["phase"] == "idle"
        assert runtime.control.gate.is_open


async def _take(controller: Controller, directory: Path) -> None:
    async with controller.checkpoint(directory):
        pass


@pytest.fixture
def office(tmp_path: Path, runtime: Runtime) -> Runtime:
    """A runtime with a root of its own, on data that is loaded already."""
    del runtime  # it has put the data in place
    return Runtime(Settings(checkpoint_root=tmp_path / "root"))


@pytest.fixture
async def proxy(office: Runtime) -> AsyncIterator[tuple[Proxy, Endpoint]]:
    """A server behind a proxy that can lose replies."""
    with http_server(office) as base:
        made = Proxy(base)
        async with listening(made.answer) as address:
            yield made, Endpoint(address, office.admin_token)


@pytest.mark.parametrize(
    "operation",
    ["sessions/seed", "checkpoint/status", "checkpoint/prepare", "checkpoint/commit", "checkpoint/wait",
     "checkpoint/resume"],
)  # fmt: skip
async def test_a_reply_lost_on_the_way_is_asked_for_again(
    operation: str, proxy: tuple[Proxy, Endpoint], office: Runtime, tmp_path: Path
) -> None:
    lossy, endpoint = proxy
    async with Controller([endpoint], patience=AT_ONCE) as controller:
        lossy.losing, lossy.times = operation, 2
        await controller.seed(3)
        await _take(controller, tmp_path / "root/cut")
    assert lossy.times == 0
    assert lossy.seen.count(operation) >= 3
    assert len(office.sessions) == 3
    assert office.control.gate.is_open


async def test_replies_that_never_come_publish_nothing_and_a_second_try_works(
    proxy: tuple[Proxy, Endpoint], office: Runtime, tmp_path: Path
) -> None:
    lossy, endpoint = proxy
    async with Controller([endpoint], patience=AT_ONCE) as controller:
        await controller.seed(3)
        lossy.losing, lossy.times = "checkpoint/commit", 3
        with pytest.raises(FleetError, match=f"environment/main .{endpoint.base}"):
            await _take(controller, tmp_path / "root/cut")
        assert office.control.gate.is_open
        assert not (tmp_path / "root/cut/checkpoint.json").exists()
        await _take(controller, tmp_path / "root/cut")


async def test_a_controller_outlives_a_server_that_restarts_between_calls(
    office: Runtime, tmp_path: Path
) -> None:
    """The proxy's port stays; what is behind it is another process's worth of server each time."""
    token = office.admin_token
    with http_server(office) as base:
        made = Proxy(base)
        async with listening(made.answer) as address, Controller([Endpoint(address, token)]) as controller:
            ids = [one["sessionId"] for one in await controller.seed(3)]
            await _take(controller, tmp_path / "root/cut")
            fresh = Runtime(Settings(checkpoint_root=tmp_path / "root", admin_token=SecretStr(token)))
            with http_server(fresh) as made.base:
                back = await controller.restore(tmp_path / "root/cut")
                assert [session["sessionId"] for session in back.sessions] == ids
            assert len(fresh.sessions) == 3


async def test_the_same_connections_outlive_a_restart_on_the_same_port() -> None:
    asked: list[bytes] = []

    async def answer(stream: SocketStream, request: bytes) -> None:
        asked.append(request.split(b"\r\n")[0])
        request_id = json.loads(request.partition(b"\r\n\r\n")[2])["id"]
        result = {"resultType": "complete", **IDLE}
        body = json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result})
        # The connection is said to be kept, and is not.
        kept = response("200 OK", JSON, body.encode()).replace(b"Connection: close\r\n", b"")
        await stream.send(kept)

    async with AsyncExitStack() as stack:
        async with listening(answer) as base:
            port = int(base.rsplit(":", 1)[1])
            controller = await stack.enter_async_context(Controller([Endpoint(base, "t")], patience=AT_ONCE))
        async with listening(answer, port):
            assert (await controller.status())["environment/a"]["phase"] == "idle"
        with pytest.raises(FleetError, match=f"environment/a .{base}"):
            await controller.status()
    assert set(asked) == {b"POST /admin/mcp HTTP/1.1"}


@pytest.mark.parametrize("form", ["{base}", "{base}/", "{base}/admin/mcp", "{base}/admin/mcp/"])
async def test_any_form_of_the_url_will_do(form: str, office: Runtime) -> None:
    with http_server(office) as base:
        endpoint = Endpoint(form.format(base=base), office.admin_token)
        async with Controller([endpoint]) as controller:
            assert controller.url("s" * 16) == f"{base}/sessions/{'s' * 16}/mcp"
        told = await reasons([Endpoint(base, "not-the-token")])
    assert told[base] == ("token_refused", "it does not take the token")
    assert office.admin_token not in repr(endpoint)


@pytest.mark.parametrize(
    "url",
    ["", "office", "ftp://office", "http://", "http://office?x=1", "http://office#x", "http://a:b@office"],
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="is not a server's URL"):
        Endpoint(url)


async def test_a_controller_outside_of_its_block_says_so(runtime: Runtime) -> None:
    controller = Controller([admin_server(runtime)])
    with pytest.raises(RuntimeError, match="async with"):
        await controller.status()
    async with controller:
        await controller.status()
    with pytest.raises(RuntimeError, match="async with"):
        await controller.status()


def scorer(instance: str, scored: list[str]) -> Endpoint:
    """A server that scores: sessions whose id has `bad` in it are errors."""

    def status(_: dict[str, Any]) -> dict[str, Any]:
        return {"kind": "environment", "instance": instance}

    def verify(given: dict[str, Any]) -> dict[str, Any]:
        if "items" not in given:
            return _score(given["sessionId"], given)
        assert len(given["items"]) <= 1000
        return {"results": [one(item["sessionId"], item) for item in given["items"]]}

    def one(session_id: str, item: dict[str, Any]) -> dict[str, Any]:
        if "bad" in session_id:
            return {"sessionId": session_id, "error": {"code": -32011, "message": "no", "data": {}}}
        return {"sessionId": session_id, "result": _score(session_id, item)}

    def _score(session_id: str, item: dict[str, Any]) -> dict[str, Any]:
        scored.append(session_id)
        if session_id.startswith("refused"):
            raise MCPError(code=-32011, message="It has ended.", data={"code": "session_spent", "count": 1})
        return {"reward": 1.0, "by": instance, "keep": item.get("keep"), "calls": item["calls"]}

    return Endpoint(made_up(checkpoint_status=status, sessions_verify=verify))


async def test_scores_come_back_in_order_whichever_server_has_the_session() -> None:
    scored: list[str] = []
    items: list[dict[str, Any]] = [
        {
            "sessionId": f"{'bad' if n % 5 == 0 else 'good'}-session-{n:04}",
            "calls": [{"x": None}],
            "keep": True,
        }
        for n in range(4000)
    ]
    async with Controller([scorer(name, scored) for name in "cab"]) as controller:
        results = await controller.verify(items)
        assert [result["sessionId"] for result in results] == [item["sessionId"] for item in items]
        for n, (item, result) in enumerate(zip(items, results, strict=True)):
            assert ("error" in result) == (n % 5 == 0)
            expected = {
                "reward": 1.0,
                "by": controller.instance(item["sessionId"]),
                "keep": True,
                "calls": [{"x": None}],
            }
            assert result.get("result", expected) == expected
        one = await controller.verify(items[1])
        assert (one["reward"], one["by"]) == (1.0, controller.instance("good-session-0001"))
        with pytest.raises(FleetError) as caught:
            await controller.verify({"sessionId": "refused-session-1", "calls": []})
        (reason,) = caught.value.reasons.values()
        assert (reason.code, reason.facts, str(reason)) == ("session_spent", {"count": 1}, "It has ended.")
    assert len(scored) == 3202


@pytest.mark.parametrize("results", [None, [], [{"sessionId": "another"}], [3]])
async def test_scores_of_other_sessions_are_nonsense(results: Any) -> None:
    status = {"kind": "environment", "instance": "a"}
    server = made_up(checkpoint_status=lambda _: status, sessions_verify=lambda _: {"results": results})
    async with Controller([server]) as controller:
        with pytest.raises(FleetError, match="its answer makes no sense: results"):
            await controller.verify([{"sessionId": "a-session"}])


async def test_a_fleet_without_sessions_says_so() -> None:
    async with Controller([made_up(checkpoint_status=lambda _: {**IDLE, "kind": "model"})]) as controller:
        assert list(await controller.status()) == ["model/a"]
        with pytest.raises(InvalidParams, match="no server of this fleet has sessions"):
            await controller.seed()
