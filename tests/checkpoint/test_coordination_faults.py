"""One server is down, slow or talks nonsense, at any step: the fleet stays open, and a second try works."""

from itertools import product
from pathlib import Path
from typing import Any

import anyio
import pytest

from checkpoint import Coordinator, FleetError, Patience, restore_checkpoint, take_checkpoint
from checkpoint.published import CHECKPOINT_NAME
from tests.checkpoint.fleet import AT_ONCE, Fault, Member, members, notes, running, seed
from tests.checkpoint.office import Hold, settled

TAKING = ("status", "prepare", "commit", "wait", "resume")
RESTORING = ("status", "restore", "renew")
FAULTS = {
    "down": "connection refused",
    "lost": "the reply was lost",
    "nonsense": "its answer makes no sense",
    "list": "its answer makes no sense",
    "crashes": "its answer makes no sense",
}


def where_of(tmp_path: Path) -> Path:
    return tmp_path / "root/cut"


def two(tmp_path: Path) -> list[Member]:
    return members(tmp_path / "root", "a", "b")


async def take(fleet: Coordinator, tmp_path: Path) -> None:
    async with take_checkpoint(fleet, where_of(tmp_path)):
        pass


async def taken(tmp_path: Path) -> dict[str, Any]:
    """Take a checkpoint, and give what it must come back as the first time."""
    fleet = two(tmp_path)
    seed(fleet)
    async with running(fleet) as both:
        await take(both, tmp_path)
    return {session: (1, noted) for session, (_, noted) in notes(fleet).items()}


@pytest.mark.parametrize(("step", "what"), list(product(TAKING, FAULTS)))
async def test_a_checkpoint_that_fails_publishes_nothing_and_can_be_tried_again(
    step: str, what: str, tmp_path: Path
) -> None:
    fleet = two(tmp_path)
    seed(fleet)
    good, bad = fleet
    async with running(fleet) as both:
        bad.faults[f"checkpoint/{step}"] = Fault(what)
        with pytest.raises(FleetError, match=FAULTS[what]) as caught:
            await take(both, tmp_path)
        assert list(caught.value.reasons) == ["environment/b"]
        assert "environment/b (b.example): " in str(caught.value)
        assert good.is_open
        assert bad.is_open or step == "resume"
        assert not (where_of(tmp_path) / CHECKPOINT_NAME).exists()
        bad.faults.clear()
        await take(both, tmp_path)
        assert all(member.is_open for member in fleet)
    assert (where_of(tmp_path) / CHECKPOINT_NAME).exists()
    assert len(await restored(tmp_path)) == 6


async def restored(tmp_path: Path) -> dict[str, Any]:
    fresh = two(tmp_path)
    async with running(fresh) as both:
        await restore_checkpoint(both, where_of(tmp_path))
    return notes(fresh)


@pytest.mark.parametrize(("step", "what"), list(product(RESTORING, FAULTS)))
async def test_a_restore_that_fails_restores_nothing_and_can_be_tried_again(
    step: str, what: str, tmp_path: Path
) -> None:
    expected = await taken(tmp_path)
    fresh = two(tmp_path)
    async with running(fresh) as both:
        fresh[1].faults[f"checkpoint/{step}"] = Fault(what)
        with pytest.raises(FleetError, match=FAULTS[what]) as caught:
            await restore_checkpoint(both, where_of(tmp_path))
        assert list(caught.value.reasons) == ["environment/b"]
        assert notes(fresh) == {}
        assert all(member.is_open for member in fresh)
        fresh[1].faults.clear()
        back = await restore_checkpoint(both, where_of(tmp_path))
        assert all(member.is_open for member in fresh)
    assert {session: noted for session, (_, noted) in notes(fresh).items()} == {
        session: noted for session, (_, noted) in expected.items()
    }
    # A try that was noted keeps its number, so that no two lives share an attempt.
    assert back.attempt_step == (1 if step == "status" else 2)


@pytest.mark.parametrize("what", FAULTS)
async def test_a_server_that_does_not_hear_the_end_of_a_restore_can_be_told_again(
    what: str, tmp_path: Path
) -> None:
    expected = await taken(tmp_path)
    fresh = two(tmp_path)
    async with running(fresh) as both:
        fresh[1].faults["checkpoint/resume"] = Fault(what)
        with pytest.raises(FleetError, match="all is restored; resume it again") as caught:
            await restore_checkpoint(both, where_of(tmp_path))
        assert fresh[0].is_open
        fresh[1].faults.clear()
        assert caught.value.checkpoint_id is not None
        await both.resume(caught.value.checkpoint_id)
        assert all(member.is_open for member in fresh)
    assert notes(fresh) == expected


async def test_a_server_that_is_down_from_one_step_on_hears_of_it_when_it_is_back(tmp_path: Path) -> None:
    expected = await taken(tmp_path)
    fresh = two(tmp_path)
    async with running(fresh) as both:
        # It restores, but neither does its answer come back nor does the discard arrive.
        fresh[1].faults |= {"checkpoint/restore": Fault("lost"), "checkpoint/resume": Fault("down")}
        with pytest.raises(FleetError):
            await restore_checkpoint(both, where_of(tmp_path))
        assert fresh[1].control.status()["phase"] == "restored"
        fresh[1].faults.clear()
        await restore_checkpoint(both, where_of(tmp_path))
        assert all(member.is_open for member in fresh)
    assert notes(fresh).keys() == expected.keys()


@pytest.mark.parametrize(("step", "what"), list(product(TAKING, ("down", "lost"))))
async def test_a_reply_that_is_lost_once_is_asked_for_again(step: str, what: str, tmp_path: Path) -> None:
    fleet = two(tmp_path)
    seed(fleet)
    async with running(fleet) as both:
        fleet[1].faults[f"checkpoint/{step}"] = Fault(what, times=2)
        await take(both, tmp_path)
        ids = {given["checkpointId"] for _, given in fleet[1].asked if "checkpointId" in given}
        assert len(ids) == 1
    assert len(await restored(tmp_path)) == 6


@pytest.mark.parametrize(("step", "what"), list(product((*RESTORING, "resume"), ("down", "lost"))))
async def test_a_reply_to_a_restore_that_is_lost_once_is_asked_for_again(
    step: str, what: str, tmp_path: Path
) -> None:
    expected = await taken(tmp_path)
    fresh = two(tmp_path)
    async with running(fresh) as both:
        fresh[1].faults[f"checkpoint/{step}"] = Fault(what, times=2)
        await restore_checkpoint(both, where_of(tmp_path))
    assert notes(fresh) == expected


@pytest.mark.parametrize("step", TAKING)
async def test_a_controller_that_is_cancelled_leaves_the_fleet_open(step: str, tmp_path: Path) -> None:
    fleet = two(tmp_path)
    seed(fleet)
    async with running(fleet) as both:
        fleet[1].faults[f"checkpoint/{step}"] = Fault("slow", times=1)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(take, both, tmp_path)
            await fleet[1].hung.wait()
            tasks.cancel_scope.cancel()
        assert all(member.is_open for member in fleet)
        assert not (where_of(tmp_path) / CHECKPOINT_NAME).exists()
        await take(both, tmp_path)
    assert len(await restored(tmp_path)) == 6


@pytest.mark.parametrize("step", [*RESTORING, "resume"])
async def test_a_controller_that_is_cancelled_restores_all_or_nothing(step: str, tmp_path: Path) -> None:
    expected = await taken(tmp_path)
    fresh = two(tmp_path)
    async with running(fresh) as both:
        fresh[1].faults[f"checkpoint/{step}"] = Fault("slow", times=1)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(restore_checkpoint, both, where_of(tmp_path))
            await fresh[1].hung.wait()
            tasks.cancel_scope.cancel()
        assert all(member.is_open for member in fresh)
        assert notes(fresh) == (expected if step == "resume" else {})


@pytest.mark.parametrize("step", ["prepare", "commit", "resume"])
async def test_a_server_that_never_answers_is_given_up(step: str, tmp_path: Path) -> None:
    fleet = two(tmp_path)
    seed(fleet)
    async with running(fleet, timeout_seconds=0.8, reply_within=0.4) as both:
        fleet[1].faults[f"checkpoint/{step}"] = Fault("slow")
        with pytest.raises(FleetError, match=r"environment/b \(b.example\): no answer within") as caught:
            await take(both, tmp_path)
        assert list(caught.value.reasons) == ["environment/b"]
        assert fleet[0].is_open


async def test_every_request_has_an_end(tmp_path: Path) -> None:
    fleet = two(tmp_path)
    seed(fleet)
    async with running(fleet) as both:
        await take(both, tmp_path)
        assert all(0 < within <= 15 for member in fleet for within in member.within)


async def test_a_write_that_ends_late_is_not_in_the_way_of_the_next_try(tmp_path: Path) -> None:
    fleet = two(tmp_path)
    seed(fleet)
    hold = Hold()
    async with running(fleet) as both:
        fleet[1].faults["checkpoint/wait"] = Fault("down")
        fleet[1].server.holds["encode"] = hold
        with pytest.raises(FleetError):
            await take(both, tmp_path)
        fleet[1].faults.clear()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(take, both, tmp_path)
            await hold.reached()
            await settled()
            # It waits for the write of the try before, while all are at work.
            assert all(member.is_open for member in fleet)
            hold.release()
    assert len(await restored(tmp_path)) == 6


async def test_a_server_that_restores_too_few_is_not_believed(tmp_path: Path) -> None:
    await taken(tmp_path)
    fresh = two(tmp_path)
    async with running(fresh) as both:
        real = fresh[1].control.restore

        async def forgetful(*args: Any, **given: Any) -> Any:
            answer = await real(*args, **given)
            return {**answer, "restored": answer["restored"][1:]}

        fresh[1].control.restore = forgetful  # type: ignore[method-assign]
        with pytest.raises(FleetError, match="5 of 6 sessions were restored"):
            await restore_checkpoint(both, where_of(tmp_path))
        assert notes(fresh) == {}
        assert all(member.is_open for member in fresh)


async def test_a_refusal_is_final_and_keeps_its_code(tmp_path: Path) -> None:
    fleet = two(tmp_path)
    async with running(fleet) as both:
        await fleet[1].control.prepare("of-somebody-else", 5)
        with pytest.raises(FleetError) as caught:
            await take(both, tmp_path)
        reason = caught.value.reasons["environment/b"]
        assert (reason.code, reason.facts) == ("checkpoint_conflict", {"checkpointId": "of-somebody-else"})
        assert [name for name, _ in fleet[1].asked].count("checkpoint/prepare") == 1
        assert caught.value.facts["reasons"] == {
            "environment/b": {
                "code": "checkpoint_conflict",
                "message": "another checkpoint is open",
                "checkpointId": "of-somebody-else",
            }
        }
        # It is somebody else's, so it stays as it is.
        assert fleet[1].control.status()["checkpointId"] == "of-somebody-else"
        assert fleet[0].is_open


async def test_the_status_of_the_others_is_in_the_error(tmp_path: Path) -> None:
    fleet = two(tmp_path)
    async with running(fleet) as both:
        fleet[0].faults["checkpoint/status"] = Fault("down")
        with pytest.raises(FleetError) as caught:
            await both.status()
        assert caught.value.answers["environment/b"]["phase"] == "idle"


def test_patience_has_an_end_and_waits_longer_each_time() -> None:
    assert list(Patience(tries=6, first_wait=1, longest_wait=5).waits()) == [1, 2, 4, 5, 5]
    assert list(AT_ONCE.waits()) == [0, 0]
