"""`wa-mcp ctl` against servers that are there: what people read, what programs read, what changes."""

import json
import shlex
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from mcp import Client
from pydantic import SecretStr

from tests.conftest import http_server
from toolkits.dataset import Dataset
from wa_mcp import Runtime, Settings, agent_server
from wa_mcp.cli import main

TOKEN = "a-token-for-controllers"
README = Path(__file__).parent.parent.parent / "README.md"
DELETE: dict[str, Any] = {"name": "email_delete_email", "arguments": {"email_id": "00000003"}}


class Said(NamedTuple):
    """What the command came to."""

    status: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        assert (self.status, self.err) == (0, "")
        return json.loads(self.out)


class Fleet(NamedTuple):
    """Servers, and the command that drives them."""

    runtimes: list[Runtime]
    root: Path
    ctl: Callable[..., Said]

    def delete_mail(self, session_id: str) -> None:
        """Do as an agent what `DELETE` is."""
        (runtime,) = [it for it in self.runtimes if it.sessions.live([session_id])]

        async def work() -> None:
            async with Client(agent_server(runtime, session_id)) as office:
                await office.call_tool(DELETE["name"], DELETE["arguments"])

        anyio.run(work)


Make = Callable[..., Fleet]


@pytest.fixture
def make(
    dataset: Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Generator[Make, None, None]:
    """Start servers of these names that share a checkpoint root; all end with the test."""

    def loaded(*_: object) -> Dataset:
        return dataset

    monkeypatch.setattr("wa_mcp.runtime.load_dataset", loaded)
    token = tmp_path / "token"
    token.write_text(TOKEN)
    root = tmp_path / "root"
    root.mkdir()
    with ExitStack() as stack:

        def started(*names: str) -> Fleet:
            settings = [
                Settings(instance=name, checkpoint_root=root, admin_token=SecretStr(TOKEN)) for name in names
            ]
            runtimes = [Runtime(it) for it in settings]
            urls = [stack.enter_context(http_server(runtime)) for runtime in runtimes]
            reached = [word for url in urls for word in ("--url", url)]

            def ctl(*arguments: str) -> Said:
                capsys.readouterr()
                status = main(["ctl", *arguments, *reached, "--token-file", str(token)])
                out, err = capsys.readouterr()
                return Said(status, out, err)

            return Fleet(runtimes, root, ctl)

        yield started


def test_a_checkpoint_outlives_its_servers(make: Make) -> None:
    one = make("a", "b")
    seeded = one.ctl("seed", "--count", "6", "--json").answer["sessions"]
    worked = seeded[0]["sessionId"]
    one.delete_mail(worked)
    folder = str(one.root / "cut")
    taken = one.ctl("checkpoint", folder, "--json").answer
    assert (taken["sessions"], taken["directory"]) == (6, folder)
    assert taken["pauseSeconds"] > 0
    fresh = make("c")
    back = fresh.ctl("restore", folder, "--json").answer
    assert back["source"]["checkpointId"] == taken["checkpointId"]
    assert back["attemptStep"] == 1
    listed = fresh.ctl("sessions", "--json").answer["sessions"]
    ids = {session["sessionId"] for session in seeded}
    assert {session["sessionId"] for session in listed} == ids
    assert {session["sessionId"] for session in back["restored"]} == ids
    assert {session["instance"] for session in listed} == {"c"}
    assert {it["sessionId"]: it["revision"] for it in listed} == {**dict.fromkeys(ids, 0), worked: 1}


def test_each_step_can_be_taken_by_itself(make: Make) -> None:
    fleet = make("main")
    fleet.ctl("seed", "--json")
    prepared = fleet.ctl("prepare", "--json").answer
    checkpoint_id = prepared["checkpointId"]
    assert prepared["ready"]
    assert fleet.ctl("prepare", checkpoint_id, "--json").answer["checkpointId"] == checkpoint_id
    assert fleet.ctl("status", "--json").answer["environment/main"]["phase"] == "prepared"
    refused = fleet.ctl("seed", "--timeout", "0.5")
    assert (refused.status, refused.out) == (1, "")
    assert refused.err.startswith("wa-mcp: sessions/seed failed: environment/main")
    written = fleet.ctl("commit", checkpoint_id, str(fleet.root / "by-hand"), "--json").answer
    assert (written["checkpointId"], written["sessions"]) == (checkpoint_id, 1)
    resumed = fleet.ctl("resume", checkpoint_id, "--json").answer
    assert resumed["environment/main"]["phase"] == "idle"
    assert fleet.ctl("seed").status == 0


def test_a_call_in_flight_is_named_and_fails_a_prepare_that_has_no_more_time(make: Make) -> None:
    fleet = make("main")
    (runtime,) = fleet.runtimes
    session = runtime.sessions.seed()
    call = runtime.control.gate.enter(session.episode, "email_delete_email")
    said = fleet.ctl("prepare", "cut-1", "--timeout", "0.05")
    assert said.status == 1
    assert said.out.startswith("preparing: cut-1\n")
    assert f"{session.episode.rollout_id}:0" in said.out
    assert said.err == (
        "wa-mcp: not ready: 1 call(s) in flight; "
        "`prepare cut-1` waits on, `resume cut-1` lets calls in again\n"
    )
    assert "email_delete_email" in fleet.ctl("status").out
    late = fleet.ctl("checkpoint", str(fleet.root / "late"), "--timeout", "0.05")
    assert (late.status, late.out) == (1, "")
    runtime.control.gate.leave(call)
    assert fleet.ctl("prepare", "cut-1").out == "prepared: cut-1\n"


def test_sessions_are_scored_from_any_form_of_file(make: Make, tmp_path: Path) -> None:
    fleet = make("a", "b")
    ids = [it["sessionId"] for it in fleet.ctl("seed", "--count", "4", "--json").answer["sessions"]]
    fleet.delete_mail(ids[0])
    fleet.delete_mail(ids[3])
    items = [{"sessionId": session_id, "groundTruth": [DELETE], "keep": True} for session_id in ids]
    forms = {
        "lines.jsonl": "\n\n".join(json.dumps(item) for item in items),
        "list.json": json.dumps(items),
        "items.json": json.dumps({"items": items}),
    }
    for name, text in forms.items():
        (tmp_path / name).write_text(text)
        results = fleet.ctl("verify", str(tmp_path / name), "--json").answer["results"]
        assert [result["sessionId"] for result in results] == ids
        assert [result["result"]["reward"] for result in results] == [1.0, 0.0, 0.0, 1.0]
    (tmp_path / "one.json").write_text(json.dumps(items[0]))
    shown = fleet.ctl("verify", str(tmp_path / "one.json"))
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.endswith("1 scored, on average 1.000\n")


def test_a_session_that_was_not_scored_fails_the_command_and_not_the_others(
    make: Make, tmp_path: Path
) -> None:
    fleet = make("main")
    (seeded,) = fleet.ctl("seed", "--json").answer["sessions"]
    nobody = "n" * 30
    nothing: list[Any] = []
    items = [{"sessionId": it, "groundTruth": nothing} for it in (seeded["sessionId"], nobody)]
    (tmp_path / "items.json").write_text(json.dumps(items))
    said = fleet.ctl("verify", str(tmp_path / "items.json"), "--json")
    assert said.status == 1
    assert said.err.startswith("wa-mcp: 1 of 2 were not scored: ")
    scored, failed = json.loads(said.out)["results"]
    assert scored["result"]["reward"] == 1.0
    assert failed["error"]["data"]["code"] == "session_unknown"
    shown = fleet.ctl("verify", str(tmp_path / "items.json"))
    assert "nnnnnn..." in shown.out
    assert "1 scored, on average 1.000" in shown.out


def test_the_live_attempt_is_retired_where_none_is_named(make: Make) -> None:
    fleet = make("main")
    (runtime,) = fleet.runtimes
    (seeded,) = fleet.ctl("seed", "--json").answer["sessions"]
    rollout = seeded["episode"]["rolloutId"]
    assert fleet.ctl("retire", rollout, "gone:3", "--json").answer == {
        "retired": [{"rolloutId": rollout, "attempt": 0}, {"rolloutId": "gone", "attempt": 3}]
    }
    assert list(runtime.sessions.list()) == []
    status = fleet.ctl("status", "--json").answer["environment/main"]
    assert sorted(status["retiredRollouts"]) == sorted(["gone", rollout])
    again = fleet.ctl("retire", rollout)
    assert (again.status, again.out) == (1, "")
    assert again.err.startswith(f"wa-mcp: '{rollout}' has no live session; say which attempt")


def test_people_read_tables_without_a_whole_session_id(make: Make) -> None:
    fleet = make("a", "b")
    seeded = fleet.ctl("seed", "--count", "25", "--json").answer["sessions"]
    folder = str(fleet.root / "cut")
    shown = {
        "seed": fleet.ctl("seed", "--count", "25"),
        "sessions": fleet.ctl("sessions"),
        "status": fleet.ctl("status"),
        "checkpoint": fleet.ctl("checkpoint", folder),
        "restore": make("c").ctl("restore", folder),
        "retire": fleet.ctl("retire", "r1:0"),
        "resume": fleet.ctl("resume", "cut-over"),
    }
    assert {said.status for said in shown.values()} == {0}
    assert {said.err for said in shown.values()} == {""}
    everything = "".join(said.out for said in shown.values())
    assert everything.isascii()
    assert not any(session["sessionId"] in everything for session in seeded)
    assert "... and 5 more\n25 seeded" in shown["seed"].out
    assert shown["sessions"].out.endswith("50 live\n")
    assert seeded[0]["sessionId"][:6] + "..." in shown["sessions"].out
    assert "environment/b" in shown["status"].out
    assert "published cut-" in shown["checkpoint"].out
    assert "50 restored from cut-" in shown["restore"].out


def test_the_commands_in_the_readme_are_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("WA_MCP_ADMIN_TOKEN", raising=False)
    lines = README.read_text().splitlines()
    commands = [line.split(" > ")[0] for line in lines if line.startswith("wa-mcp ctl ")]
    assert len(commands) >= 4
    for command in commands:
        # Read as a command, and only then refused, for want of a token.
        assert main(shlex.split(command, comments=True)[1:]) == 2
        assert "give the controllers' token in WA_MCP_ADMIN_TOKEN" in capsys.readouterr().err
