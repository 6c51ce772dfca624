"""The command as a process: exit statuses, plain words, and data sets."""

import socket
from pathlib import Path

import pytest

from tests.e2e.processes import run

pytestmark = pytest.mark.timeout(90)


def test_a_port_in_use_is_a_plain_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run("serve", "--port", str(port), "--log-level", "error")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"wa-mcp: cannot listen on 127.0.0.1 port {port}: Address already in use")
    assert len(ended.stderr.splitlines()) == 1


def test_a_misspelt_variable_is_a_plain_error() -> None:
    ended = run("serve", "--port", "0", WA_MCP_MAX_SESSION="5")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("wa-mcp: WA_MCP_MAX_SESSION is not a setting; known are WA_MCP_HOST, ")
    assert "WA_MCP_MAX_SESSIONS" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_data_set_can_be_made_and_checked(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    made = run("data", "generate", "--seed", "7", "--out", str(folder))
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout == f"wrote a data set with seed 7 to {folder}\n"
    checked = run("data", "check", str(folder))
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "email" in checked.stdout
