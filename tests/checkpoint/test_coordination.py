"""Several participants act as one: order, answers, and the two dances when nothing goes wrong."""

from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from checkpoint import CheckpointError, Coordinator, Episode, NotReady, restore_checkpoint, take_checkpoint
from checkpoint.errors import InvalidCheckpointState, InvalidParams
from checkpoint.published import read_published
from checkpoint.publishing import count_restore
from checkpoint.restoring import place_of
from tests.checkpoint.fleet import Fault, coordinator, members, notes, running, seed
from tests.checkpoint.office import Hold, settled

KINDS = ("resources/r", "agent/a", "model/m", "environment/e2", "environment/e1")


def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


async def cut(fleet: Coordinator, directory: Path) -> None:
    async with take_checkpoint(fleet, directory):
        pass


def steps(log: list[str], operation: str) -> list[str]:
    return [line.split()[1] for line in log if line.startswith(f"checkpoint/{operation} ")]


async def test_prepare_goes_by_kind_and_resume_the_other_way_round(tmp_path: Path) -> None:
    fleet = members(root(tmp_path), *KINDS)
    async with running(fleet) as all_of_them:
        prepared = await all_of_them.prepare("c1")
        await all_of_them.resume("c1")
    assert prepared["ready"]
    assert list(prepared["participants"]) == [
        "environment/e1", "environment/e2", "model/m", "agent/a", "resources/r",
    ]  # fmt: skip
    prepares, resumes = steps(fleet[0].log, "prepare"), steps(fleet[0].log, "resume")
    assert [sorted(prepares[:2]), prepares[2:]] == [["e1", "e2"], ["m", "a", "r"]]
    assert [resumes[:3], sorted(resumes[3:])] == [["r", "a", "m"], ["e1", "e2"]]


async def test_prepare_stops_at_a_kind_that_is_not_ready_and_names_its_blockers(
    tmp_path: Path,
) -> None:
    fleet = members(root(tmp_path), *KINDS)
    model = fleet[2]
    async with running(fleet) as all_of_them:
        call = model.control.gate.enter(Episode("r1", 4), "generate")
        prepared = await all_of_them.prepare("c1", timeout_seconds=0.05)
        assert not prepared["ready"]
        assert list(prepared["participants"]) == ["environment/e1", "environment/e2", "model/m"]
        (blocker,) = prepared["blockers"]
        assert (blocker["participant"], blocker["operation"]) == ("model/m", "generate")
        assert blocker["episode"] == {"rolloutId": "r1", "attempt": 4}
        assert [member.is_open for member in fleet] == [True, True, False, False, False]
        model.control.gate.leave(call)
        assert (await all_of_them.prepare("c1"))["ready"]
        await all_of_them.resume("c1")
    assert all(member.is_open for member in fleet)


async def test_retire_and_forget_go_to_callers_before_those_whom_they_call(tmp_path: Path) -> None:
    fleet = members(root(tmp_path), *KINDS)
    async with running(fleet) as all_of_them:
        fleet[-1].server.seed("session", "r1", 2)
        assert await all_of_them.retire([Episode("r1", 2)]) == [{"rolloutId": "r1", "attempt": 2}]
        assert await all_of_them.forget(["r1", "unknown"]) == ["r1"]
    for operation in ("retire", "forget"):
        order = steps(fleet[0].log, operation)
        assert [order[0], sorted(order[1:3]), order[3:]] == ["a", ["e1", "e2"], ["m", "r"]]
    assert notes(fleet) == {}


async def test_a_commit_waits_for_no_other(tmp_path: Path) -> None:
    fleet = members(root(tmp_path), "a", "b")
    first, second = fleet
    async with running(fleet) as both:
        await both.prepare("c1")
        first.faults["checkpoint/commit"] = Fault("slow")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(both.commit, "c1", root(tmp_path) / "cut")
            await first.hung.wait()
            assert (await second.control.wait("c1", 5))["manifest"]["instance"] == "b"
            tasks.cancel_scope.cancel()
        await both.resume("c1")


async def test_the_disk_is_not_in_the_pause(tmp_path: Path) -> None:
    fleet = members(root(tmp_path), "a", "b")
    seed(fleet)
    async with running(fleet) as both:
        holds = [Hold(), Hold()]
        for member, hold in zip(fleet, holds, strict=True):
            member.server.holds["encode"] = hold
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cut, both, root(tmp_path) / "cut")
            for hold in holds:
                await hold.reached()
            await settled()
            # Both write still, and both are at work again.
            assert all(member.is_open for member in fleet)
            fleet[0].server.note("a-session-0", "after the cut")
            assert not (root(tmp_path) / "cut/checkpoint.json").exists()
            for hold in holds:
                hold.release()
        assert read_published(root(tmp_path) / "cut").sessions == 6


async def test_the_block_runs_while_all_stand_still_with_the_snapshots_taken(tmp_path: Path) -> None:
    fleet = members(root(tmp_path), "a", "b")
    seed(fleet)
    async with running(fleet) as both:
        async with take_checkpoint(both, root(tmp_path) / "cut") as taken:
            assert [member.control.status()["phase"] for member in fleet] == ["committed"] * 2
            assert (taken.pause_seconds, taken.published) == (None, None)
            assert list(taken.participants) == ["environment/a", "environment/b"]
        assert all(member.is_open for member in fleet)
        assert taken.pause_seconds is not None
        assert taken.published is not None
        assert taken.published.checkpoint_id == taken.checkpoint_id


async def test_calls_in_flight_that_do_not_end_leave_the_fleet_open_and_are_named(tmp_path: Path) -> None:
    fleet = members(root(tmp_path), "a", "b")
    async with running(fleet) as both:
        fleet[1].control.gate.enter(Episode("r1", 0), "long_call")
        with pytest.raises(NotReady, match=r"environment/b: 1 call\(s\) in flight") as caught:
            async with take_checkpoint(both, root(tmp_path) / "cut", timeout_seconds=0.05):
                raise AssertionError("the block must not run")
        assert [blocker["operation"] for blocker in caught.value.blockers] == ["long_call"]
        assert caught.value.facts["blockers"] == caught.value.blockers
        assert all(member.is_open for member in fleet)
    assert not (root(tmp_path) / "cut/checkpoint.json").exists()


async def test_what_the_block_raises_comes_out_and_nothing_is_published(tmp_path: Path) -> None:
    fleet = members(root(tmp_path), "a", "b")
    seed(fleet)
    async with running(fleet) as both:
        with pytest.raises(ZeroDivisionError):
            async with take_checkpoint(both, root(tmp_path) / "cut"):
                raise ZeroDivisionError
        assert all(member.is_open for member in fleet)
        with pytest.raises(InvalidCheckpointState, match="missing"):
            read_published(root(tmp_path) / "cut")
        await cut(both, root(tmp_path) / "cut")
    assert read_published(root(tmp_path) / "cut").sessions == 6


async def test_a_restore_gives_back_the_sessions_as_later_attempts(tmp_path: Path) -> None:
    where = root(tmp_path) / "cut"
    fleet = members(root(tmp_path), *KINDS)
    seed(fleet)
    async with running(fleet) as all_of_them:
        await cut(all_of_them, where)
    before = notes(fleet)
    for step in (1, 2):
        fresh = members(root(tmp_path), *KINDS)
        async with running(fresh) as all_of_them:
            back = await restore_checkpoint(all_of_them, where)
        assert (back.attempt_step, len(back.sessions)) == (step, len(before))
        assert notes(fresh) == {session: (step, noted) for session, (_, noted) in before.items()}
        assert all(member.is_open for member in fresh)


async def test_only_some_episodes_can_be_taken_and_given_back(tmp_path: Path) -> None:
    where, wanted = root(tmp_path) / "cut", [Episode("a-rollout-0", 0), Episode("b-rollout-1", 0)]
    fleet = members(root(tmp_path), "a", "b")
    seed(fleet)
    async with running(fleet) as both, take_checkpoint(both, where, episodes=wanted):
        pass
    fresh = members(root(tmp_path), "a", "b")
    async with running(fresh) as both:
        await restore_checkpoint(both, where, episodes=wanted[:1])
    assert list(notes(fresh)) == ["a-session-0"]


@pytest.mark.parametrize(
    ("before", "after"),
    [("a", "abc"), ("abc", "ab"), ("ab", "bc"), ("ab", "ab"), ("abc", "d"), ("ba", "ab")],
)
async def test_a_checkpoint_comes_back_on_more_servers_and_on_fewer(
    before: str, after: str, tmp_path: Path
) -> None:
    where = root(tmp_path) / "cut"
    fleet, fresh = members(root(tmp_path), *before), members(root(tmp_path), *after)
    seed(fleet, each=20)
    async with running(fleet) as them:
        await cut(them, where)
    async with running(fresh) as them:
        back = await restore_checkpoint(them, where)
    assert notes(fresh) == {session: (1, noted) for session, (_, noted) in notes(fleet).items()}
    assert len(back.sessions) == 20 * len(before)
    reads_all = {"sources" in given for member in fresh for name, given in member.asked if "restore" in name}
    assert reads_all == {sorted(before) != sorted(after)}
    if sorted(before) != sorted(after):
        homes = sorted(fresh, key=lambda member: member.instance)
        for place, member in enumerate(homes):
            assert all(place_of(session, len(homes)) == place for session in member.server.desks)
            assert member.server.desks


async def test_a_restore_can_be_left_standing_and_taken_back(tmp_path: Path) -> None:
    where = root(tmp_path) / "cut"
    fleet, fresh = members(root(tmp_path), "a", "b"), members(root(tmp_path), "a", "b")
    seed(fleet)
    async with running(fleet) as both:
        await cut(both, where)
    async with running(fresh) as both:
        back = await restore_checkpoint(both, where, resume=False)
        assert [member.control.status()["phase"] for member in fresh] == ["restored"] * 2
        await both.renew(back.checkpoint_id, timeout_seconds=100)
        assert [member.control.status()["leaseSeconds"] for member in fresh] == [130.0] * 2
        await both.resume(back.checkpoint_id, discard=True)
        assert notes(fresh) == {}
        back = await restore_checkpoint(both, where, resume=False)
        await both.resume(back.checkpoint_id)
        assert len(notes(fresh)) == 6


async def test_a_checkpoint_in_steps_is_published_by_commit_or_by_wait(tmp_path: Path) -> None:
    fleet = members(root(tmp_path), "a", "b")
    seed(fleet)
    async with running(fleet) as both:
        await both.prepare("c1")
        published = await both.commit("c1", root(tmp_path) / "one")
        await both.resume("c1")
        assert published == read_published(root(tmp_path) / "one")
        await both.prepare("c2")
        assert await both.commit("c2", root(tmp_path) / "two", background=True) is None
        await both.resume("c2")
        published = await both.wait("c2", root(tmp_path) / "two")
        assert published == await both.wait("c2", root(tmp_path) / "two")
        assert published == read_published(root(tmp_path) / "two")


async def test_kinds_that_do_not_match_are_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    where = root(tmp_path) / "cut"
    fleet = members(root(tmp_path), "a", "model/m")
    async with running(fleet) as them:
        await cut(them, where)
    for names in (["a"], ["a", "model/m", "agent/x"]):
        fresh = members(root(tmp_path), *names)
        async with running(fresh) as them:
            with pytest.raises(InvalidParams, match="the checkpoint is one of environment, model"):
                await restore_checkpoint(them, where)
        assert "checkpoint/restore" not in {name for member in fresh for name, _ in member.asked}


def test_a_fleet_needs_servers_and_each_a_name_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(InvalidParams, match="at least one"):
        coordinator([])
    with pytest.raises(InvalidParams, match="twice there: environment/a"):
        coordinator(members(tmp_path, "a", "b", "a"))
    for seconds in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(CheckpointError):
            coordinator(members(tmp_path, "a"), timeout_seconds=seconds)


async def test_no_two_restores_get_the_same_number(tmp_path: Path) -> None:
    numbers: list[int] = []

    async def restore(name: str) -> None:
        numbers.append(await anyio.to_thread.run_sync(count_restore, tmp_path, name))

    async with anyio.create_task_group() as tasks:
        for turn in range(40):
            tasks.start_soon(restore, f"restore-{turn}")
    assert sorted(numbers) == list(range(1, 41))
    lines = (tmp_path / "restores.jsonl").read_text().splitlines()
    assert len(set(lines)) == 40
