"""`wa-mcp demo`: the real command, real processes, a real crash."""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.processes import COMMAND, ENDS_WITHIN, ROOT, environment, run
from wa_mcp import demo as story
from wa_mcp.cli import main
from wa_mcp.demo_agents import Agent

pytestmark = pytest.mark.timeout(180)

SESSIONS = 20


def servers(folder: Path) -> list[str]:
    """Find the servers that are there and keep their files in this folder."""
    listed = subprocess.run(["ps", "-ww", "-eo", "args="], capture_output=True, text=True, check=True)
    return [
        command for command in listed.stdout.splitlines() if "serve" in command and str(folder) in command
    ]


def test_the_demonstration_loses_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    proxy = "http://127.0.0.1:1"
    others = {"WA_MCP_PORT": "not for the demonstration", "HTTP_PROXY": proxy, "http_proxy": proxy}
    ended = run("demo", within=150, **others, TMPDIR=str(tmp_path))
    assert (ended.returncode, ended.stderr) == (0, "")
    rows = [line.split("|") for line in ended.stdout.splitlines() if " | " in line][1:]
    assert len(rows) == SESSIONS
    for session, _, _, calls, changes, reward, tables in rows:
        assert len(session.strip()) == len("abcdef...")
        for cell in (calls, changes):
            with_crash, without = cell.split("/")
            assert int(with_crash) == int(without) > 0
        assert (reward.strip(), tables.strip()) == ("1 / 1", "same")
    assert any(int(redone) for _, _, redone, *_ in rows)
    assert "(SIGKILL)" in ended.stdout
    assert "agents were held up for " in ended.stdout
    assert ended.stdout.endswith("both runs agree in every table and every reward.\n")
    assert (servers(tmp_path), list(tmp_path.iterdir())) == ([], [])


def test_the_demonstration_fails_where_the_runs_do_not_agree(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = story.play

    async def play(agents: Sequence[Agent], spans: dict[int, tuple[int, int]]) -> None:
        first, last = spans[0]
        # After the crash the first agent does not do again what was lost.
        is_again = first == agents[0].cut and last == len(agents[0].steps)
        await honest(agents, {**spans, 0: (last, last)} if is_again else spans)

    monkeypatch.setattr(story, "play", play)
    status = main(["demo"])
    out, err = capsys.readouterr()
    assert status == 1
    assert "DIFFER" in out
    complaints = err.splitlines()
    assert any("with the crash" in complaint for complaint in complaints)
    assert any("these tables differ" in complaint for complaint in complaints)
    assert "both runs agree" not in out


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_demonstration_that_is_stopped_leaves_no_server(sent: int, tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "demo"], cwd=ROOT, env=environment(TMPDIR=str(tmp_path)), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            while "an agent in each" not in (line := process.stdout.readline()):
                assert line, "it ended too early"
            assert servers(tmp_path)
            process.send_signal(sent)
            _, err = process.communicate(timeout=ENDS_WITHIN)
        finally:
            process.kill()
    assert (process.returncode, err) == (130, "")
    assert (servers(tmp_path), list(tmp_path.iterdir())) == ([], [])


def test_a_server_that_does_not_start_is_a_plain_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wa_mcp").mkdir()
    (tmp_path / "wa_mcp" / "__init__.py").write_text("")
    (tmp_path / "wa_mcp" / "__main__.py").write_text("raise SystemExit('wa-mcp: there is no room')")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 1
    assert capsys.readouterr().err == (
        "wa-mcp: the demonstration failed: a server ended before it was ready: wa-mcp: there is no room\n"
    )
