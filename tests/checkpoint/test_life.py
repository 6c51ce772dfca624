"""A checkpoint from prepare to the life after it."""

from pathlib import Path

import pytest

from checkpoint import Episode
from checkpoint.errors import AdmissionClosed
from tests.checkpoint.office import Office, make_office


async def test_sessions_go_on_in_a_fresh_server_as_if_nothing_had_happened(
    office: Office, tmp_path: Path
) -> None:
    office.server.seed("session-1", "r1", 0, "buy milk")
    office.server.seed("session-2", "r2", 4)
    prepared = await office.control.prepare("c1", 5)
    assert prepared["phase"] == "prepared"
    assert prepared["report"]["ready"]
    committed = await office.control.commit("c1", 5, "step-1")
    assert committed["phase"] == "committed"
    assert await office.control.resume("c1") == {"phase": "idle", "published": True}

    fresh = make_office(tmp_path / "root")
    async with fresh.control:
        restored = await fresh.control.restore("r1", 5, "step-1")
        assert restored["phase"] == "restored"
        assert restored["sourceCheckpointId"] == "c1"
        assert restored["restored"] == [
            {"sessionId": "session-1", "episode": {"rolloutId": "r1", "attempt": 1}},
            {"sessionId": "session-2", "episode": {"rolloutId": "r2", "attempt": 5}},
        ]
        with pytest.raises(AdmissionClosed):
            fresh.control.gate.enter(Episode("r1", 1), "note")
        await fresh.control.resume("r1")
        fresh.control.gate.leave(fresh.control.gate.enter(Episode("r1", 1), "note"))
    assert fresh.server.desks["session-1"].notes == ("buy milk",)
