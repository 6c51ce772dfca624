"""One small server of each `checkpoint_mode`, driven through its life; and how a verify is treated."""

from pathlib import Path
from typing import Any

import pytest

from checkpoint import VERIFY, CheckpointControl, Episode, Server
from checkpoint.errors import AdmissionClosed, InvalidCheckpointState, RestartInScope, SessionConflict
from tests.checkpoint.office import Clock, Exporting, Plain, Undeclared, make_office


def control_of(server: Server, root: Path) -> CheckpointControl:
    return CheckpointControl(server, kind="small", root=root, now=Clock())


async def test_a_stateless_server_records_that_its_sessions_existed(tmp_path: Path) -> None:
    server = Plain("stateless", {"session-1": Episode("r1", 0), "session-2": Episode("r2", 0)})
    async with control_of(server, tmp_path) as control:
        call = control.gate.enter(Episode("r1", 0), "search")
        assert (await control.prepare("c", 0.01))["phase"] == "preparing"
        control.gate.leave(call)
        assert (await control.prepare("c", 5))["report"]["restarts"] == []
        await control.commit("c", 5, "step", [Episode("r1", 0)])
        await control.resume("c")
        with pytest.raises(SessionConflict):
            await control.restore("x", 5, "step")
    fresh = Plain("stateless")
    async with control_of(fresh, tmp_path) as control:
        restored = await control.restore("x", 5, "step")
        assert restored["restored"] == [
            {"sessionId": "session-1", "episode": {"rolloutId": "r1", "attempt": 1}}
        ]
        await control.resume("x", discard=True)


async def test_a_stateless_server_records_the_sessions_of_the_moment(tmp_path: Path) -> None:
    server = Plain("stateless", {"session-1": Episode("r1", 0)})
    async with control_of(server, tmp_path) as control:
        await control.prepare("c", 5)
        await control.commit("c", 5, "step", background=True)
        await control.resume("c")
        server.sessions["session-2"] = Episode("r2", 0)
        assert (await control.wait("c", 5))["manifest"]["counts"]["sessions"] == 1


async def test_a_restart_only_server_reports_its_episodes_and_holds_nobody_up(tmp_path: Path) -> None:
    server = Undeclared(**{f"session-{number:03}": Episode(f"r{number:03}", 0) for number in range(150)})
    async with control_of(server, tmp_path) as control:
        control.gate.enter(Episode("r000", 0), "search")
        prepared = await control.prepare("c", 5)
        assert prepared["phase"] == "prepared"
        report = prepared["report"]
        assert (report["ready"], report["inFlight"], report["blockerCount"]) == (True, 1, 0)
        assert report["restarts"] == [{"rolloutId": f"r{number:03}", "attempt": 0} for number in range(150)]
        with pytest.raises(AdmissionClosed):
            control.gate.enter(Episode("r001", 0), "search")
        with pytest.raises(RestartInScope) as caught:
            await control.commit("c", 5, "step", [Episode("r001", 0), Episode("elsewhere", 0)])
        assert caught.value.facts == {"episodes": [{"rolloutId": "r001", "attempt": 0}]}
        assert control.status()["phase"] == "prepared"
        committed = await control.commit("c", 5, "step", [Episode("elsewhere", 0)])
        assert "manifest" in committed
        assert committed["manifest"]["counts"]["sessions"] == 0
        await control.resume("c")
    fresh = Undeclared()
    async with control_of(fresh, tmp_path) as control:
        assert (await control.restore("x", 5, "step"))["restored"] == []
        await control.resume("x")
        await control.retire([Episode("r001", 0)])


async def test_a_restart_only_server_with_nothing_in_scope_commits_what_it_has(tmp_path: Path) -> None:
    async with control_of(Undeclared(one=Episode("r1", 0)), tmp_path) as control:
        await control.prepare("c", 5)
        assert (await control.commit("c", 5, "step"))["phase"] == "committed"


async def test_a_restart_only_server_takes_no_sessions_in(tmp_path: Path) -> None:
    async with control_of(Undeclared(), tmp_path) as control:
        state: dict[str, Any] = {"sessionId": "s", "episode": {"rolloutId": "r", "attempt": 0}}
        with pytest.raises(InvalidCheckpointState, match="can only restart"):
            await control.import_sessions([state], {})


async def test_a_checkpoint_of_a_server_in_another_mode_is_foreign(tmp_path: Path) -> None:
    async with control_of(Plain("stateless"), tmp_path) as control:
        await control.prepare("c", 5)
        await control.commit("c", 5, "step")
    async with control_of(Undeclared(), tmp_path) as control:
        with pytest.raises(InvalidCheckpointState, match="in another way"):
            await control.restore("x", 5, "step")
        assert control.status()["checkpointId"] is None


class Odd(Undeclared):
    def __init__(self, **declared: str) -> None:
        super().__init__()
        for name, value in declared.items():
            setattr(self, name, value)


@pytest.mark.parametrize(
    "declared",
    [{"checkpoint_mode": "exported"}, {"checkpoint_mode": "other"}, {"checkpoint_verify": "sometimes"}],
)
def test_a_server_that_declares_what_it_does_not_have_is_refused(
    tmp_path: Path, declared: dict[str, str]
) -> None:
    with pytest.raises(TypeError, match=r"checkpoint_|hooks"):
        control_of(Odd(**declared), tmp_path)


@pytest.mark.parametrize(
    ("server", "phase"),
    [
        (Exporting(checkpoint_verify="wait"), "preparing"),
        (Exporting(checkpoint_verify="repeat"), "prepared"),
        (Plain("stateless"), "preparing"),
        (Undeclared(), "prepared"),
    ],
)
async def test_a_checkpoint_waits_for_a_verify_that_cannot_be_run_twice(
    tmp_path: Path, server: Server, phase: str
) -> None:
    async with control_of(server, tmp_path) as control:
        verify = control.gate.enter(Episode("r", 0), VERIFY)
        assert (await control.prepare("c", 0.01))["phase"] == phase
        with pytest.raises(AdmissionClosed):
            control.gate.enter(Episode("r", 0), VERIFY)
        control.gate.leave(verify)
        assert (await control.prepare("c", 5))["phase"] == "prepared"


async def test_a_verify_that_ended_its_session_leaves_nothing_of_it_to_export(tmp_path: Path) -> None:
    office = make_office(tmp_path)
    office.server.seed("session-1", "r1")
    async with office.control:
        verify = office.control.gate.enter(Episode("r1", 0), VERIFY)
        await office.control.prepare("c", 0.01)
        office.server.retire_session_state("session-1")
        office.control.gate.leave(verify)
        committed = await office.control.commit("c", 5, "step")
    assert "manifest" in committed
    assert committed["manifest"]["counts"]["sessions"] == 0
