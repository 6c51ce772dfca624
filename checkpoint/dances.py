"""The two dances of a fleet from the first step to the last: taking a checkpoint, and restoring one."""

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Final

import anyio
import anyio.to_thread

from checkpoint.coordination import Coordinator
from checkpoint.episode import Episode
from checkpoint.errors import InvalidCheckpointState
from checkpoint.participants import Answer
from checkpoint.published import Published, read_published
from checkpoint.publishing import absolute, count_restore, take_away, taking
from checkpoint.results import RestoredSession

LATE_WRITES: Final = 4
"""Earlier tries whose writes may still be under way."""


@dataclass(slots=True)
class Cut:
    """A checkpoint that is being taken.

    Attributes:
        checkpoint_id: its id.
        directory: its folder, absolute.
        participants: name of each participant to its answer to prepare.
        pause_seconds: how long admission was closed, as the controller saw it; None until it is open again.
        published: what was published, None until then.
    """

    checkpoint_id: str
    directory: Path
    participants: dict[str, Answer] = field(default_factory=dict[str, Answer])
    pause_seconds: float | None = None
    published: Published | None = None


@dataclass(frozen=True, slots=True)
class FleetRestored:
    """A checkpoint that was restored.

    Attributes:
        checkpoint_id: the id of the restore.
        source: what was restored.
        attempt_step: how much later than stored the attempts are.
        sessions: the sessions, under their new attempts.
    """

    checkpoint_id: str
    source: Published
    attempt_step: int
    sessions: list[RestoredSession]


def new_id(what: str) -> str:
    """Make the id of one dance; all its steps have it, however often they are asked for."""
    return f"{what}-{token_hex(12)}"


@asynccontextmanager
async def take_checkpoint(
    fleet: Coordinator,
    directory: str | PathLike[str],
    *,
    timeout_seconds: float | None = None,
    episodes: Collection[Episode] | None = None,
) -> AsyncGenerator[Cut]:
    """Take a checkpoint; the block runs while all stand still, after the snapshots are taken.

    All are prepared, all take their snapshots and write in the background; then the block runs, all are
    resumed, and the writes are waited for, so that the disk is not in the pause. Publishing comes last.

    Args:
        fleet: who takes part.
        directory: a folder that all see, without a checkpoint in it.
        timeout_seconds: seconds for each step.
        episodes: which ones, None for all.

    Raises:
        NotReady: calls in flight did not end in time.
        FleetError: a participant failed. Whatever is raised: all were resumed, and nothing is published.
        InvalidCheckpointState: a checkpoint stands in the folder, or the disk does not play along.
    """
    # Whoever is down is noticed while the others are still at work.
    await fleet.status()
    cut = Cut(new_id("cut"), absolute(directory))
    folder = taking(cut.directory, cut.checkpoint_id)
    tried = await anyio.to_thread.run_sync(folder.__enter__)
    may_be_written = False
    try:
        await _clean_up(fleet, cut.directory, tried)
        async with _standing_still(fleet, cut, timeout_seconds):
            may_be_written = True
            await fleet.commit(
                cut.checkpoint_id,
                cut.directory,
                timeout_seconds=timeout_seconds,
                episodes=episodes,
                background=True,
            )
            yield cut
        cut.published = await fleet.wait(cut.checkpoint_id, cut.directory, timeout_seconds=timeout_seconds)
    except BaseException:
        if may_be_written:
            with anyio.CancelScope(shield=True):
                await _clean_up(fleet, cut.directory, [cut.checkpoint_id])
        raise
    finally:
        folder.__exit__(None, None, None)


async def restore_checkpoint(
    fleet: Coordinator,
    directory: str | PathLike[str],
    *,
    timeout_seconds: float | None = None,
    episodes: Collection[Episode] | None = None,
    resume: bool = True,
) -> FleetRestored:
    """Restore a checkpoint on all, or on none.

    Args:
        fleet: who takes part.
        directory: the folder of a checkpoint that was published.
        timeout_seconds: seconds for each step.
        episodes: which ones as stored, None for all.
        resume: let calls in; else that is left to `Coordinator.resume`, with or without discard.

    Raises:
        FleetError: a participant failed; nothing is restored, and a second try may work. Once calls are let
            in there is no way back: if one does not answer then, the message says so.
        InvalidCheckpointState: there is no checkpoint, or it was altered.
        InvalidParams: the kinds of the fleet are not those of the checkpoint.
    """
    await fleet.status()
    restore_id = new_id("restore")
    source = await anyio.to_thread.run_sync(read_published, absolute(directory))
    step = await anyio.to_thread.run_sync(count_restore, source.directory, restore_id)
    sessions = await fleet.restore(
        restore_id, source, step, timeout_seconds=timeout_seconds, episodes=episodes
    )
    if resume:
        try:
            # Whoever is gone by now is noticed while all of it can be taken back.
            await fleet.renew(restore_id, timeout_seconds=timeout_seconds)
        except BaseException:
            await fleet.release(restore_id, discard=True)
            raise
        await _let_in(fleet, restore_id, "all is restored; resume it again before its lease ends")
    return FleetRestored(restore_id, source, step, sessions)


@asynccontextmanager
async def _standing_still(
    fleet: Coordinator, cut: Cut, timeout_seconds: float | None
) -> AsyncGenerator[None]:
    began = anyio.current_time()
    try:
        prepared = await fleet.prepare(cut.checkpoint_id, timeout_seconds=timeout_seconds)
        cut.participants = prepared["participants"]
        if not prepared["ready"]:
            raise fleet.not_ready(prepared)
        yield
    except BaseException:
        await fleet.release(cut.checkpoint_id)
        raise
    await _let_in(fleet, cut.checkpoint_id)
    cut.pause_seconds = anyio.current_time() - began


async def _let_in(fleet: Coordinator, checkpoint_id: str, outcome: str = "") -> None:
    """Resume; when cancelled meanwhile, whoever has not been resumed is all the same."""
    try:
        await fleet.resume(checkpoint_id, outcome=outcome)
    except BaseException:
        await fleet.release(checkpoint_id)
        raise


async def _clean_up(fleet: Coordinator, directory: Path, checkpoint_ids: Sequence[str]) -> None:
    """Have what was written for nothing taken away; what cannot be, is by the next try in this folder."""
    # A write that is under way would come after the cleaning.
    for checkpoint_id in checkpoint_ids[-LATE_WRITES:]:
        with anyio.move_on_after(fleet.reply_within):
            await fleet.settled(checkpoint_id)
    if checkpoint_ids:
        with suppress(InvalidCheckpointState):
            await anyio.to_thread.run_sync(take_away, directory, checkpoint_ids)
