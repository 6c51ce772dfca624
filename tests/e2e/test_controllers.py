"""`wa-mcp serve` for controllers: the token that opens it, where it is shown, and that no log holds it."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.processes import Server, run, serving
from tests.wa_mcp.controllers import Controller, timed

pytestmark = pytest.mark.timeout(90)

MADE = "Controllers' token, made for this run: "
TOKEN = "a-token-that-somebody-chose"


async def drive(server: Server, token: str, folder: str) -> dict[str, Any]:
    """Take a checkpoint, rightly and wrongly, and give the status."""
    url = server.base + "/admin/mcp"
    for shown in ("Bearer " + token[:-1], "Basic " + token, token, ""):
        assert httpx2.post(url, headers={"Authorization": shown}, content="{}").status_code == 401
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        await http.post(url, content="{", headers={"Content-Type": "application/json"})
        await http.post(url, content="[]" + token)
        controller = Controller(client, as_tool=True)
        await controller.ask("checkpoint/prepare", **timed("one"))
        await controller.ask("checkpoint/commit", **timed("one", checkpointDir=folder))
        assert await controller.code("checkpoint/prepare", **timed("two")) == "checkpoint_conflict"
        await controller.ask("checkpoint/resume", checkpointId="one")
        return await controller.ask("checkpoint/status")


def lines(server: Server) -> list[str]:
    return [line for line in server.said if line.startswith(MADE)]


async def test_a_token_made_on_loopback_is_shown_once_and_never_logged(tmp_path: Path) -> None:
    flags = ("--log-level", "debug", "--checkpoint-root", str(tmp_path / "kept"))
    with serving(tmp_path, *flags) as server:
        assert f"Controllers: {server.base}/admin/mcp" in server.said
        (line,) = lines(server)
        token = line.removeprefix(MADE)
        assert (await drive(server, token, "first"))["phase"] == "idle"
        assert token not in server.log()
        assert "\n".join(server.said).count(token) == 1
    assert (tmp_path / "kept" / "first" / "environment" / "main" / "manifest.json").is_file()


async def test_a_token_that_was_given_is_shown_nowhere(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN + "\n")
    flags = ("--admin-token-file", str(tmp_path / "token"), "--host", "0.0.0.0", "--log-level", "debug")
    with serving(
        tmp_path, *flags, "--checkpoint-root", str(tmp_path / "kept"), "--instance", "two"
    ) as server:
        assert lines(server) == []
        assert (await drive(server, TOKEN, "first"))["instance"] == "two"
        assert TOKEN not in server.log() + "\n".join(server.said)


def test_where_others_can_reach_it_it_does_not_start_without_a_token(tmp_path: Path) -> None:
    ended = run("serve", "--port", "0", "--host", "0.0.0.0")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "0.0.0.0 can be reached by others" in ended.stderr
    missing = str(tmp_path / "missing")
    ended = run("serve", "--port", "0", "--admin-token-file", missing)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.splitlines()[-1].startswith(f"wa-mcp: --admin-token-file: {missing} cannot be read")
