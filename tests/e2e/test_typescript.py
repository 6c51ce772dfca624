"""TypeScript clients, the SDK's and the Inspector, list and call tools over HTTP and stdio.

They are installed once, into a folder of the user's cache, or into the one that WORKPLACE_NODE_CLIENTS names.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.processes import ROOT, Server, environment, serving
from tests.golden.write import TOOLS

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not (shutil.which("node") and shutil.which("npm")), reason="node and npm are not here"
    ),
]

PACKAGES = ("@modelcontextprotocol/sdk@1", "@modelcontextprotocol/inspector@0")
NO_REGISTRY = (
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "ENETUNREACH",
    "E403",
    "E404",
)

SEND = "email_send_email"
MAIL = {"recipient": "ada@example.com", "subject": "Gr\u00fc\u00dfe \u2014 \U0001f600", "body": "5"}
STDIO = [sys.executable, "-m", "wa_mcp", "stdio"]
ONCE = {"dev.wa-mcp/callId": "call-1"}
CALLS: list[dict[str, Any]] = [
    {"name": SEND, "arguments": MAIL, "_meta": ONCE},
    {"name": SEND, "arguments": MAIL, "_meta": ONCE},
    {"name": "email_search_emails", "arguments": {"query": "Gr\u00fc\u00dfe"}},
    {"name": "email_send_email", "arguments": {"recipient": 5}},
    {"name": "no_such_tool", "arguments": {}},
    {"name": SEND, "arguments": {}, "_meta": ONCE},
]


@pytest.fixture(scope="module")
def installed() -> Path:
    """The folder in which the clients are installed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(os.environ.get("WORKPLACE_NODE_CLIENTS") or cache / "wa-mcp" / "node-clients")
    # npm writes this list last.
    if not (folder / "node_modules" / ".package-lock.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-audit", "--no-fund", "--fetch-retries=1", "--prefix", str(folder)]
        done = subprocess.run([*install, *PACKAGES], check=False, capture_output=True, text=True)
        if done.returncode and any(code in done.stderr for code in NO_REGISTRY):
            pytest.skip(f"no npm registry can be reached: {done.stderr.strip().splitlines()[0]}")
        assert done.returncode == 0, done.stderr
    return folder / "node_modules"


@pytest.fixture(scope="module")
def folder(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the test's client, which finds the installed packages beside it."""
    folder = tmp_path_factory.mktemp("node")
    (folder / "node_modules").symlink_to(installed)
    shutil.copy(Path(__file__).parent / "client.mjs", folder)
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server, None, None]:
    with serving(tmp_path_factory.mktemp("serve"), "--offer", "4") as server:
        yield server


def run(*command: str) -> Any:
    """Run a client to its end and read the JSON that it prints."""
    done = subprocess.run(
        command, check=False, cwd=ROOT, env=environment(), capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def talk(folder: Path, server: dict[str, Any], calls: list[dict[str, Any]]) -> Any:
    return run("node", str(folder / "client.mjs"), json.dumps(server), json.dumps(calls))


def check_sdk(told: Any) -> None:
    assert told["server"]["name"] == "wa-mcp"
    assert told["tools"] == json.loads(TOOLS.read_text(encoding="utf-8"))
    sent, again, found, wrong, unknown, other = told["results"]
    assert again == sent
    assert sent["content"] == [{"type": "text", "text": "Email sent successfully."}]
    assert sent["structuredContent"] == {"output": "Email sent successfully."}
    assert sent["_meta"]["dev.wa-mcp/changed"] == ["email.emails"]
    (mail,) = found["structuredContent"]["output"]["emails"]
    assert mail["subject"] == MAIL["subject"]
    assert json.loads(found["content"][0]["text"]) == found["structuredContent"]["output"]
    assert found["_meta"]["dev.wa-mcp/revision"] == 1
    assert [result["isError"] for result in (wrong, unknown)] == [True, True]
    assert other["error"]["code"] == -32602
    assert other["error"]["data"] == {"code": "call_id_conflict", "callId": "call-1"}


def test_the_sdk_s_client_works_over_http(folder: Path, server: Server) -> None:
    check_sdk(talk(folder, {"url": server.urls[0]}, CALLS))


def test_the_sdk_s_client_works_over_stdio(folder: Path) -> None:
    check_sdk(talk(folder, {"command": STDIO[0], "args": STDIO[1:], "cwd": str(ROOT)}, CALLS))


def test_the_sdk_s_client_sees_why_a_session_is_refused(folder: Path, server: Server) -> None:
    unknown = talk(folder, {"url": f"{server.base}/sessions/nobody-s-session-id/mcp"}, CALLS[:1])
    required = talk(folder, {"url": f"{server.base}/mcp"}, CALLS[:1])
    for refused in (unknown["tools"], unknown["results"][0]):
        assert (refused["error"]["code"], refused["error"]["data"]) == (-32011, {"code": "session_unknown"})
    assert len(required["tools"]) == 27
    assert required["results"][0]["error"]["data"] == {"code": "session_required"}


def inspect(installed: Path, *arguments: str) -> Any:
    """Run the Inspector's command line, as `npx @modelcontextprotocol/inspector --cli` does."""
    return run(str(installed / ".bin" / "mcp-inspector"), "--cli", *arguments)


def sending() -> list[str]:
    given = [part for name, value in MAIL.items() for part in ("--tool-arg", f"{name}={value}")]
    return ["--method", "tools/call", "--tool-name", SEND, *given]


@pytest.mark.parametrize("over_http", [True, False], ids=["http", "stdio"])
def test_the_inspector_lists_and_calls(installed: Path, server: Server, over_http: bool) -> None:
    target = [server.urls[1], "--transport", "http"] if over_http else STDIO
    listed = inspect(installed, *target, "--method", "tools/list")
    assert listed["tools"] == json.loads(TOOLS.read_text(encoding="utf-8"))
    sent = inspect(installed, *target, *sending())
    assert sent["content"] == [{"type": "text", "text": "Email sent successfully."}]
    assert sent["structuredContent"] == {"output": "Email sent successfully."}
    assert sent["_meta"]["dev.wa-mcp/revision"] == 1


def test_the_line_that_the_server_prints_for_the_inspector_works(installed: Path, server: Server) -> None:
    (line,) = [line.split() for line in server.said if "@modelcontextprotocol/inspector" in line]
    assert line[:3] == ["npx", "@modelcontextprotocol/inspector", "--cli"]
    assert len(inspect(installed, *line[3:])["tools"]) == 27
