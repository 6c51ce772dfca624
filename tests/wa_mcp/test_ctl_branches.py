"""`wa-mcp ctl` on a session's past: fork, history, diff and rewind, for people and for programs."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from rich.console import Console

from tests.conftest import http_server
from tests.wa_mcp.agents import MAIL
from toolkits.dataset import Dataset
from wa_mcp import Runtime, Settings
from wa_mcp.cli import main
from wa_mcp.ctl_branches import show_diff, show_forked, show_history
from wa_mcp.session import Session

TOKEN = "a-token-for-controllers"
DELETE = ("email_delete_email", {"email_id": "00000003"})
UPDATE = ("calendar_update_event", {"event_id": "00000001", "field": "event_name", "new_value": "Moved"})


class Desk:
    """A server with one worked session, and the command that drives it."""

    def __init__(self, runtime: Runtime, url: str, capture: pytest.CaptureFixture[str]) -> None:
        self.runtime, self._url, self._capture = runtime, url, capture
        self.session: Session = runtime.sessions.seed()
        for call in (DELETE, UPDATE, ("email_send_email", MAIL)):
            self.session.call(*call)

    def ctl(self, *arguments: str) -> tuple[int, str, str]:
        self._capture.readouterr()
        status = main(["ctl", *arguments, "--url", self._url])
        out, err = self._capture.readouterr()
        return status, out, err

    def says(self, *arguments: str) -> str:
        status, out, err = self.ctl(*arguments)
        assert (status, err) == (0, "")
        return out


@pytest.fixture
def desk(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    def loaded(*_: object) -> Dataset:
        return dataset

    monkeypatch.setattr("wa_mcp.runtime.load_dataset", loaded)
    monkeypatch.setenv("WA_MCP_ADMIN_TOKEN", TOKEN)
    runtime = Runtime(Settings(checkpoint_root=tmp_path, admin_token=SecretStr(TOKEN)))
    with http_server(runtime) as url:
        yield Desk(runtime, url, capsys)


def test_a_session_is_forked_told_compared_and_taken_back_at_the_command_line(desk: Desk) -> None:
    session = desk.session
    told = desk.says("history", session.id)
    assert [line.split("|")[0].strip() for line in told.splitlines()[2:]] == ["1", "2", "3"]
    assert "email_id '00000003'" in told
    shown = desk.says("diff", session.id)
    base = desk.runtime.dataset.bases["calendar.events"]
    name = base.rows[base.index["00000001"][0]].cells[1]
    assert "  - 00000003: email_id '00000003'" in shown
    assert "(revision 1, email_delete_email)" in shown
    assert f"  ~ 00000001: event_name {name!r} -> 'Moved' (revision 2, calendar_update_event)" in shown
    assert "rows are labelled anew (revision 3, email_send_email)" in shown
    assert "calendar" not in desk.says("diff", session.id, "--from", "2", "--to", "3")
    assert "3 forked" in desk.says("fork", session.id, "--count", "3", "--at", "1")
    fork = desk.runtime.sessions.list()[1]
    assert desk.says("rewind", session.id, "2") == "back at revision 2\n"
    assert "calendar.events" in desk.says("diff", session.id, "--other", fork.id)
    assert desk.says("rewind", session.id, "1") == "back at revision 1\n"
    assert desk.says("diff", session.id, "--other", fork.id) == "no difference\n"
    assert session.id not in told + shown
    url = f"http://127.0.0.1:1/sessions/{fork.id}/mcp"
    assert "closed" in desk.says("close", url)
    assert "already_closed" in desk.says("close", fork.id)
    assert len(desk.runtime.sessions) == 3
    for call in range(4):
        session.call("email_send_email", {**MAIL, "subject": "s" * 300, "body": f"{call}" * 300})
    assert len(desk.says("history", session.id).splitlines()) == 2 + 5  # no line is broken in a pipe


def test_programs_read_whole_answers(desk: Desk) -> None:
    assert '"tool": "email_send_email"' in desk.says("history", desk.session.id, "--json")
    assert '"labels": [' in desk.says("diff", desk.session.id, "--json")
    forked = desk.says("fork", desk.session.id, "--json")
    assert desk.runtime.sessions.list()[1].id in forked
    assert '"revision": 0' in desk.says("rewind", desk.session.id, "0", "--json")


def test_what_a_session_never_was_is_said_and_fails(desk: Desk) -> None:
    status, out, err = desk.ctl("rewind", desk.session.id, "4")
    assert (status, out) == (1, "")
    assert "There is no revision 4: this session has 0 to 3." in err
    for strange in ("\udc80abc", "nobody"):
        status, out, err = desk.ctl("diff", strange)
        assert (status, out) == (1, "")
        assert "is no session's id" in err
    for words in (
        ("rewind", "x", "-1"),
        ("fork", "x", "--at", "one"),
        ("fork", "x", "--count", "0"),
        ("fork", "x", "--count", "10001"),
    ):
        with pytest.raises(SystemExit) as ended:
            desk.ctl(*words)
        assert ended.value.code == 2


def shown_on_a_terminal(show: Any, answer: Any) -> str:
    stream = StringIO()
    show(
        Console(file=stream, force_terminal=True, color_system="standard", width=200, highlight=False), answer
    )
    return stream.getvalue()


def test_on_a_terminal_rows_have_colours_and_nothing_moves_the_cursor() -> None:
    by = {"revision": 1, "tool": "email_delete_email"}
    row = {"subject": "[red]\x1b[2J", "body": "x" * 100}
    cells = {"subject": {"old": None, "new": "b", **by}}
    found = {
        "removed": [{"label": 3, "row": row, **by, "undone": True}],
        "added": [{"label": 4, "row": row, **by}],
        "changed": [{"label": 5, "cells": cells, **by}],
    }
    shown = shown_on_a_terminal(show_diff, {"tables": {"email.emails": found}})
    assert "\x1b[31m  - 3: subject '[red]\\x1b[2J', body 'xxx" in shown
    assert "\x1b[32m  + 4: " in shown
    assert "\x1b[33m  ~ 5: subject nothing -> 'b'" in shown
    assert "(undone: revision 1, email_delete_email)" in shown
    assert "x" * 61 not in shown
    entry = {"when": "2026", "attempt": 0, "arguments": row, **by}
    assert "\x1b[2J" not in shown_on_a_terminal(show_history, {"history": [entry]})


def test_of_many_forks_the_first_are_shown() -> None:
    fork = {"sessionId": "a-session-s-whole-id", "episode": {"rolloutId": "r", "attempt": 0}}
    shown = shown_on_a_terminal(show_forked, {"sessions": [fork] * 30})
    assert "... and 10 more" in shown
    assert "a-session-s-whole-id" not in shown
