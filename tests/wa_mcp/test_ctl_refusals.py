"""`wa-mcp ctl` when it cannot do what it should: 2 for wrong usage, 1 with the reason for all else."""

import json
import socket
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import http_server
from wa_mcp import Runtime
from wa_mcp.cli import main


@pytest.fixture(autouse=True)
def token(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WA_MCP_ADMIN_TOKEN", runtime.admin_token)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["statsu"], "invalid choice: 'statsu'"),
        (["commit", "cut-1"], "the following arguments are required: DIR"),
        (["resume"], "the following arguments are required: ID"),
        (["retire"], "the following arguments are required: ROLLOUT[:ATTEMPT]"),
        (["retire", ":1"], "expected the name of a rollout, got ':1'"),
        (["retire", "r1:last"], "expected ROLLOUT or ROLLOUT:ATTEMPT, got 'r1:last'"),
        (["retire", "r1:"], "expected ROLLOUT or ROLLOUT:ATTEMPT, got 'r1:'"),
        (["seed", "--count", "0"], "argument --count: expected 1 to 1000000, got '0'"),
        (
            ["status", "--timeout", "nan"],
            "argument --timeout: expected seconds above 0, at most 3600, got 'nan'",
        ),
        (["status", "--timeout", "soon"], "argument --timeout: expected seconds above 0"),
        (["restore", "cut", "--discard"], "unrecognized arguments: --discard"),
    ],
)
def test_wrong_usage_ends_with_2(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["ctl", *arguments])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--url", "localhost:8765"], "--url: 'localhost:8765' is not a server's URL"),
        (["--token-file", "no/such/file"], "--admin-token-file: no/such/file cannot be read"),
    ],
)
def test_an_address_or_a_token_that_is_none_is_wrong_usage(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ctl", "status", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert err.startswith(f"wa-mcp: {said}")


def test_a_server_that_is_down_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    assert main(["ctl", "sessions", "--url", url, "--timeout", "0.5", "--json"]) == 1
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert err.startswith(f"wa-mcp: checkpoint/status failed: {url}: ")


def test_another_token_is_refused_and_two_of_one_name_are_no_fleet(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with http_server(runtime) as url:
        assert main(["ctl", "status", "--url", url, "--url", url]) == 1
        assert "each server needs an instance name of its own" in capsys.readouterr().err
        monkeypatch.setenv("WA_MCP_ADMIN_TOKEN", "another-token-entirely")
        assert main(["ctl", "status", "--url", url]) == 1
        assert "it does not take the token" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"sessionId": "s"}', "item 1: expected an object with sessionId and groundTruth"),
        ('[{"sessionId": "s", "groundTruth": []}, 7]', "item 2: expected an object with"),
        ("7", "expected a list of items"),
        ('{"sessionId": "s", "groundTruth": []}\n\n{"sessionId"', "line 3: not JSON: "),
        ('{"sessionId": "s", "groundTruth": []}\n{"sessionId": 1}', "line 2: expected an object with"),
    ],
)
def test_a_file_that_holds_no_items_is_refused_and_the_place_named(
    text: str, said: str, runtime: Runtime, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "items"
    file.write_text(text)
    with http_server(runtime) as url:
        assert main(["ctl", "verify", str(file), "--url", url]) == 1
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert err.startswith(f"wa-mcp: {file}")
    assert said in err


def test_items_come_from_standard_input_too(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    item: dict[str, Any] = {"sessionId": runtime.sessions.seed().id, "groundTruth": []}
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(json.dumps(item).encode())))
    with http_server(runtime) as url:
        assert main(["ctl", "verify", "-", "--url", url]) == 0
    assert capsys.readouterr().out.endswith("1 scored, on average 1.000\n")


def test_a_folder_without_a_checkpoint_restores_nothing(
    runtime: Runtime, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with http_server(runtime) as url:
        assert main(["ctl", "restore", str(tmp_path / "none"), "--url", url]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "wa-mcp: there is no checkpoint: a file or folder is missing\n")
