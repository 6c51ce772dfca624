"""Parameters of operations: nothing is guessed, nothing coerced, and a refusal names what did not fit."""

import json
from collections.abc import Generator
from itertools import product
from typing import Any

import httpx2
import pytest

from tests.wa_mcp.agents import ERAS, Era
from tests.wa_mcp.controllers import METHOD, bearer, timed
from wa_mcp import Runtime

ABOUT = "io.modelcontextprotocol/"
NOWHERE: dict[str, Any] = {**timed("never-made"), "checkpointDir": "nowhere"}
EPISODE = {"rolloutId": "r", "attempt": 0}
A_SESSION = {"sessionId": "a-session-s-id-0001"}


class Wire:
    """Posts operations as they are, also what no client would send."""

    def __init__(self, http: httpx2.Client, url: str, era: Era, *, as_tool: bool) -> None:
        self.http, self.url, self.era, self.as_tool = http, url, era, as_tool

    def ask(self, operation: str, given: Any) -> dict[str, Any]:
        """Ask for an operation, and give the JSON-RPC message."""
        tool = operation.replace("/", "_")
        method = "tools/call" if self.as_tool else METHOD + operation
        params = {"name": tool, "arguments": given} if self.as_tool else given
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        headers["MCP-Protocol-Version"] = "2025-06-18"
        if self.era == "auto":
            headers |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": tool}
            meta: dict[str, Any] = {f"{ABOUT}protocolVersion": "2026-07-28", f"{ABOUT}clientCapabilities": {}}
            params = {**params, "_meta": meta}
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return json.loads(self.http.post(self.url, content=json.dumps(asked), headers=headers).text)


@pytest.fixture(scope="module")
def http(office: Runtime) -> Generator[httpx2.Client, None, None]:
    with httpx2.Client(timeout=20, headers=bearer(office)) as client:
        yield client


@pytest.fixture(
    params=list(product(ERAS, (False, True))),
    ids=[f"{era}-{kind}" for era, kind in product(ERAS, ("method", "tool"))],
)
def wire(
    request: pytest.FixtureRequest, office: Runtime, http: httpx2.Client, base: str
) -> Generator[Wire, None, None]:
    """A wire to the controller surface; whatever a test sends, nothing comes of it."""
    yield Wire(http, base + "/admin/mcp", request.param[0], as_tool=request.param[1])
    assert office.sessions.list() == []
    assert office.control.status()["checkpointId"] is None
    assert office.control.retired.marks == {}


TIMEOUTS: list[Any] = ["5", True, float("nan"), float("inf"), 0, -1, 3601, 3600.001, 10**400, [5], {}]
WRONG: list[tuple[str, str, dict[str, Any]]] = [
    *(("checkpoint/prepare", "timeoutSeconds", {**timed("x"), "timeoutSeconds": it}) for it in TIMEOUTS),
    *(
        (operation, "timeoutSeconds", {**NOWHERE, "timeoutSeconds": it})
        for operation in ("checkpoint/commit", "checkpoint/restore")
        for it in ("5", 0, float("nan"))
    ),
    *((operation, "timeoutSeconds", timed("x", 0)) for operation in ("checkpoint/wait", "checkpoint/renew")),
    ("checkpoint/prepare", "timeoutSeconds", {"checkpointId": "x"}),
    ("checkpoint/prepare", "timeoutSeconds", {"checkpointId": "x", "timeoutSeconds": None}),
    ("checkpoint/prepare", "checkpointId", {"timeoutSeconds": 5}),
    *(("checkpoint/prepare", "checkpointId", timed("x", checkpointId=it)) for it in (5, "", "x" * 257)),
    ("checkpoint/prepare", "checkpoint_id", {"checkpoint_id": "x", "timeoutSeconds": 5}),
    ("checkpoint/status", "verbose", {"verbose": True}),
    ("checkpoint/resume", "discard", {"checkpointId": "x", "discard": "true"}),
    ("checkpoint/resume", "discard", {"checkpointId": "x", "discard": 1}),
    ("checkpoint/resume", "timeoutSeconds", timed("x")),
    ("checkpoint/commit", "checkpointDir", timed("x")),
    ("checkpoint/commit", "background", {**NOWHERE, "background": 1}),
    ("checkpoint/commit", "episodes", {**NOWHERE, "episodes": EPISODE}),
    ("checkpoint/commit", "episodes.0.attempt", {**NOWHERE, "episodes": [{"attempt": "0"}]}),
    *(("checkpoint/restore", "checkpointDir", {**NOWHERE, "checkpointDir": it}) for it in ("", "..", "/")),
    *(("checkpoint/restore", "attemptStep", {**NOWHERE, "attemptStep": it}) for it in (-1, 1.0, "1", True)),
    *(("checkpoint/restore", "source", {**NOWHERE, "sources": it}) for it in ([], ["a", "a"], ["/"], "a")),
    *(
        ("checkpoint/restore", "shard", {**NOWHERE, "shard": it})
        for it in ({"index": 1, "count": 1}, {"index": 0}, {"index": 0, "count": 0}, {"index": "0"}, 1)
    ),
    ("checkpoint/retire", "episodes", {}),
    *(
        ("checkpoint/retire", f"episodes.0.{name}", {"episodes": [{**EPISODE, name: it}]})
        for name, values in {"attempt": (True, "0", -1, 0.0, None, 2**53 + 1), "rolloutId": ("", 5)}.items()
        for it in values
    ),
    ("checkpoint/retire", "episodes.0.extra", {"episodes": [{**EPISODE, "extra": 1}]}),
    ("checkpoint/forget", "rolloutIds", {"rolloutIds": "r"}),
    ("checkpoint/forget", "rolloutIds.1", {"rolloutIds": ["r", 1]}),
    *(("sessions/seed", "sessionId", {"sessionId": it}) for it in (5, "", "short", "x" * 129, " " * 20)),
    ("sessions/seed", "requireAttempt", {"requireAttempt": "yes"}),
    *(("sessions/seed", "onCheckpoint", {"onCheckpoint": it}) for it in ("ignore", True, "")),
    *(("sessions/seed", "toolkits", {"toolkits": it}) for it in ("email", [], ["mail"], [5])),
    *(("sessions/seed", "tools", {"tools": it}) for it in ([], ["email_burn"], 5)),
    ("sessions/seed", "rolloutId", {"episode": {"rolloutId": "a\nb", "attempt": 0}}),
    ("sessions/seed", "episode.attempt", {"episode": {"rolloutId": "r"}}),
    ("sessions/seed", "sessions", {"sessions": [{}], "toolkits": ["email"]}),
    ("sessions/seed", "sessions", {"sessions": {}}),
    ("sessions/seed", "sessions", {"sessions": [{}] * 10_001}),
    ("sessions/seed", "sessions.1.sessionId", {"sessions": [{}, {"sessionId": 5}]}),
    ("sessions/seed", "sessions.0.sessions", {"sessions": [{"sessions": []}]}),
    ("sessions/seed", "toolkits", {"sessions": [{}, {"toolkits": ["mail"]}]}),
    ("sessions/close", "sessionId", {}),
    ("sessions/close", "sessionId", {"sessionId": None}),
    ("sessions/tables", "sessionId", {"sessionId": 5}),
    *(("sessions/list", "limit", {"limit": it}) for it in (0, -1, 10_001, "5", 5.0, True)),
    *(("sessions/list", "cursor", {"cursor": it}) for it in ("", "x", "-1", "1.5", "\u00b2", 5, "9" * 5000)),
    ("sessions/export", "sessionIds", {"sessionIds": "x"}),
    *(("sessions/export", "cursor", {"cursor": it}) for it in ("", "x", "x.y", "x.1", ".", 5)),
    ("sessions/export", "cursor", {"cursor": "x.1", "sessionIds": []}),
    ("sessions/import", "states", {"bases": {}}),
    ("sessions/import", "states.0", {"states": [5], "bases": {}}),
    ("sessions/import", "bases", {"states": []}),
    ("sessions/import", "facts", {"states": [], "bases": {}, "facts": []}),
    ("sessions/import", "attemptStep", {"states": [], "bases": {}, "attemptStep": 1_000_001}),
]  # fmt: skip


def named(case: tuple[str, str, dict[str, Any]]) -> str:
    operation, parameter, given = case
    return f"{operation}-{parameter}-{ascii(given)[:40]}"


@pytest.mark.parametrize(("operation", "parameter", "given"), WRONG, ids=map(named, WRONG))
def test_a_parameter_that_does_not_fit_is_refused_by_name(
    wire: Wire, operation: str, parameter: str, given: dict[str, Any]
) -> None:
    error = wire.ask(operation, given)["error"]
    assert (error["code"], error["data"]["code"]) == (-32602, "invalid_params")
    assert parameter in error["message"]


SURROGATE = "\ud800"


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        ("checkpoint/prepare", timed(SURROGATE)),
        ("checkpoint/prepare", timed("x", **{SURROGATE: 1})),
        ("checkpoint/restore", {**NOWHERE, "checkpointDir": SURROGATE}),
        ("checkpoint/restore", {**NOWHERE, "sources": [SURROGATE]}),
        ("checkpoint/retire", {"episodes": [{**EPISODE, "rolloutId": SURROGATE}]}),
        ("sessions/seed", {"sessionId": SURROGATE * 20}),
        ("sessions/seed", {"toolkits": [SURROGATE]}),
        ("sessions/seed", {"episode": {**EPISODE, "rolloutId": SURROGATE}}),
        ("sessions/close", {"sessionId": SURROGATE}),
        ("sessions/tables", {"sessionId": SURROGATE}),
        ("sessions/list", {"cursor": SURROGATE}),
        ("sessions/export", {"cursor": SURROGATE + ".1"}),
        ("sessions/export", {"sessionIds": [SURROGATE]}),
        ("sessions/import", {"states": [{"sessionId": SURROGATE}], "bases": {SURROGATE: SURROGATE}}),
        ("sessions/import", {"states": [], "bases": {"x": float("nan")}, "facts": {"retired": SURROGATE}}),
    ],
    ids=ascii,
)
def test_what_is_no_text_is_refused_and_breaks_nothing(
    wire: Wire, operation: str, given: dict[str, Any]
) -> None:
    assert wire.ask(operation, given)["error"]["code"] in (-32700, -32602, -32011, -32015)
    assert wire.ask("checkpoint/status", {})["result"]


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        ("checkpoint/status", {"anything": None}),
        ("sessions/list", {"cursor": None, "limit": None}),
        ("sessions/export", {"sessionIds": None, "cursor": None}),
        ("sessions/import", {"states": [], "bases": {}, "facts": None, "attemptStep": None}),
        ("checkpoint/forget", {"rolloutIds": []}),
        ("checkpoint/resume", {"checkpointId": "spent-by-this", "discard": None}),
        ("sessions/seed", {"sessions": [], "sessionId": None, "toolkits": None}),
    ],
)
def test_a_parameter_that_is_null_is_not_given(wire: Wire, operation: str, given: dict[str, Any]) -> None:
    assert "result" in wire.ask(operation, given)


@pytest.mark.parametrize("seconds", [1, 0.001, 3600, 3600.0])
def test_a_timeout_is_any_number_above_0_up_to_an_hour(wire: Wire, seconds: float) -> None:
    # Parameters are looked at first: an id that was never open is refused only after them.
    error = wire.ask("checkpoint/renew", timed("never-made", seconds))["error"]
    assert error["data"]["code"] == "invalid_phase"
