"""`wa-mcp inspect` says what a checkpoint holds, and is right about whether it would restore."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from checkpoint import read_episode
from wa_mcp import Controller, Runtime, admin_server
from wa_mcp.cli import main
from wa_mcp.inspecting import Inspected, inspect

SESSION_ID = "inspected-session-1"


@pytest.fixture
async def folder(runtime: Runtime) -> Path:
    """A published checkpoint of two sessions, of which one has changed something."""
    session = runtime.sessions.seed(SESSION_ID, episode=("r1", 2))
    session.call("email_delete_email", {"email_id": "00000003"})
    session.call("calendar_delete_event", {"event_id": "00000004"})
    runtime.sessions.seed()
    runtime.sessions.close(runtime.sessions.seed().id)
    place = runtime.settings.checkpoint_root / "cut"
    async with Controller([admin_server(runtime)]) as fleet, fleet.checkpoint(place):
        pass
    return place


def only(folder: Path) -> Inspected:
    (found,) = inspect(folder)
    return found


def part(folder: Path) -> Path:
    return folder / "environment" / "main"


async def test_it_shows_sessions_changes_and_sizes_and_hides_ids(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "environment/main: verifies" in shown
    assert "2 sessions" in shown
    assert "1 ended ids" in shown
    assert "r1-a2 revision 2" in shown
    assert "email.emails 1, calendar.events 1" in shown
    assert "published: 1 server, nothing missing" in shown
    assert SESSION_ID not in shown


async def test_for_machines_it_shows_everything(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "--json", str(folder)]) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    sessions: dict[str, Any] = {session["sessionId"]: session for session in shown["sessions"]}
    assert (shown["verifies"], shown["reason"], len(sessions)) == (True, "", 2)
    session = sessions[SESSION_ID]
    assert read_episode(session["episode"]) == ("r1", 2)
    assert (session["revision"], session["changes"]) == (2, {"email.emails": 1, "calendar.events": 1})
    assert 0 < session["size"] < shown["size"]


async def test_an_altered_records_file_does_not_verify(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (records,) = part(folder).glob("records-*.jsonl")
    records.write_bytes(records.read_bytes().replace(b"00000003", b"00000005", 1))
    assert main(["inspect", str(folder)]) == 1
    assert "DOES NOT VERIFY: the records are torn or were altered" in capsys.readouterr().out
    assert not only(folder).verifies


async def test_a_part_without_a_manifest_does_not_verify(folder: Path) -> None:
    (part(folder) / "manifest.json").unlink()
    assert (only(folder).verifies, only(folder).sessions) == (False, [])


async def test_one_that_was_not_published_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "checkpoint.json").unlink()
    assert main(["inspect", str(folder)]) == 0
    assert "not published: no checkpoint.json" in capsys.readouterr().out


async def test_an_altered_publication_does_not_verify(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "checkpoint.json"
    content = orjson.loads(file.read_bytes())
    file.unlink()
    file.write_bytes(orjson.dumps({**content, "checkpointId": "another"}))
    assert main(["inspect", str(folder)]) == 1
    assert "checkpoint.json: DOES NOT VERIFY" in capsys.readouterr().out


async def test_a_part_of_another_kind_of_server_cannot_be_read(folder: Path) -> None:
    (folder / "environment").rename(folder / "model")
    assert not only(folder).verifies


def test_a_folder_without_a_checkpoint_is_said_to_be_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(tmp_path / "nothing")]) == 1
    assert "holds no checkpoint: expected <kind>/<instance>/manifest.json" in capsys.readouterr().err
