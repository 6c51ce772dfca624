"""Checkpoint operations of a fleet: several participants that act as one."""

from collections.abc import Collection, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypedDict

import anyio
import anyio.to_thread

from checkpoint import answers
from checkpoint.asking import ask_all
from checkpoint.episode import Episode, EpisodeJson
from checkpoint.fleet import PREPARE_ORDER, Fleet
from checkpoint.participants import CALLERS_FIRST, Answer, Nonsense, NotReady
from checkpoint.phase import Operation
from checkpoint.published import Published
from checkpoint.publishing import absolute, publish
from checkpoint.results import RestoredSession
from checkpoint.sharing import shares

SHORTEST: Final = 0.001
"""Seconds; a stage for which no time is left is asked all the same, so that its blockers are known."""


class FleetPrepared(TypedDict):
    """What preparing a fleet answers.

    `participants` are the answers of those that were asked: later kinds are not asked while an earlier one is
    not ready. `blockers` are theirs, each with its `participant`.
    """

    checkpointId: str
    ready: bool
    participants: dict[str, Answer]
    blockers: list[dict[str, Any]]


class Coordinator(Fleet):
    """The operations, each for all participants.

    Every one may be repeated: a participant that has done it answers what it answered the first time; so one
    that does not reply is asked again. Whatever it answers in the end is checked.
    """

    async def status(self) -> dict[str, Answer]:
        """Where each participant stands, by name.

        Raises:
            FleetError: one does not say; the others' are in its `answers`.
        """
        return (await self.asked(self.participants, "checkpoint/status", {}, answers.status)).require()

    async def prepare(self, checkpoint_id: str, *, timeout_seconds: float | None = None) -> FleetPrepared:
        """Close admission, one kind after the other, as far as one is not ready.

        Not in time is no error: admission stays closed, and the same again waits on.

        Args:
            checkpoint_id: a new one, or the one that is being prepared.
            timeout_seconds: seconds for all kinds together.

        Raises:
            FleetError: a participant failed; all of them were resumed.
        """
        within = self.given(timeout_seconds)
        await self.release_old()
        ends_at = anyio.current_time() + within
        prepared: dict[str, Answer] = {}
        try:
            for stage in self.stages(PREPARE_ORDER):
                left = max(ends_at - anyio.current_time(), SHORTEST)
                outcomes = await self.asked(
                    stage,
                    Operation.PREPARE,
                    timed(checkpoint_id, left),
                    answers.prepared(checkpoint_id),
                    left,
                )
                prepared |= outcomes.require(checkpoint_id)
                if not all(map(answers.is_ready, outcomes.answers.values())):
                    break
        except BaseException:
            await self.release(checkpoint_id)
            raise
        return _prepared(checkpoint_id, prepared)

    async def commit(
        self,
        checkpoint_id: str,
        directory: str | PathLike[str],
        *,
        timeout_seconds: float | None = None,
        episodes: Collection[Episode] | None = None,
        background: bool = False,
    ) -> Published | None:
        """Take the snapshots of all at once, have them written, and publish the checkpoint.

        Args:
            checkpoint_id: the one that is prepared.
            directory: the folder of the checkpoint, which all see; a relative one starts where this runs.
            timeout_seconds: seconds.
            episodes: which ones, None for all.
            background: return as soon as all snapshots are taken, with None; `wait` publishes then.

        Raises:
            FleetError: a participant failed; nothing is published, and the fleet stays prepared.
            InvalidCheckpointState: it cannot be published.
        """
        within, folder = self.given(timeout_seconds), absolute(directory)
        parameters = timed(checkpoint_id, within, checkpointDir=str(folder))
        if episodes is not None:
            parameters["episodes"] = _json_of(episodes)
        if background:
            parameters["background"] = True
        check = answers.committed(checkpoint_id, background=background)
        outcomes = await self.asked(self.participants, Operation.COMMIT, parameters, check, within)
        done = outcomes.require(checkpoint_id)
        return None if background else await self._publish(checkpoint_id, folder, done)

    async def wait(
        self, checkpoint_id: str, directory: str | PathLike[str], *, timeout_seconds: float | None = None
    ) -> Published:
        """Wait for the writes of a commit in the background, and publish the checkpoint.

        Raises:
            FleetError: a write failed or is not done in time; nothing is published.
            InvalidCheckpointState: it cannot be published.
        """
        within = self.given(timeout_seconds)
        outcomes = await self.asked(
            self.participants,
            Operation.WAIT,
            timed(checkpoint_id, within),
            answers.written(checkpoint_id),
            within,
        )
        return await self._publish(checkpoint_id, absolute(directory), outcomes.require(checkpoint_id))

    async def restore(
        self,
        checkpoint_id: str,
        published: Published,
        attempt_step: int,
        *,
        timeout_seconds: float | None = None,
        episodes: Collection[Episode] | None = None,
    ) -> list[RestoredSession]:
        """Restore on all at once, all or nothing; admission stays closed until resume.

        Args:
            checkpoint_id: a new id, for this restore.
            published: what to restore.
            attempt_step: how much later than stored the attempts are.
            timeout_seconds: seconds.
            episodes: which ones as stored, None for all.

        Raises:
            InvalidParams: the kinds here are not those of the checkpoint.
            FleetError: a participant failed; on all of them it was discarded.
        """
        within = self.given(timeout_seconds)
        common = timed(
            checkpoint_id, within, checkpointDir=str(published.directory), attemptStep=attempt_step
        )
        if episodes is not None:
            common["episodes"] = _json_of(episodes)
        requests = shares(published, self.stages(PREPARE_ORDER), common)
        check = answers.restored(published.checkpoint_id)
        await self.release_old()
        try:
            outcomes = await ask_all(
                Operation.RESTORE, requests, check, within + self.reply_within, self.patience
            )
            restored = [session for answer in outcomes.answers.values() for session in answer["restored"]]
            if not outcomes.reasons and episodes is None and len(restored) != published.sessions:
                why = Nonsense(f"{len(restored)} of {published.sessions} sessions were restored")
                outcomes.reasons = dict.fromkeys(outcomes.answers, why)
            if outcomes.reasons:
                raise outcomes.error(checkpoint_id, "nothing is restored, every server was told to discard")
        except BaseException:
            await self.release(checkpoint_id, discard=True)
            raise
        return restored

    async def renew(self, checkpoint_id: str, *, timeout_seconds: float | None = None) -> dict[str, Answer]:
        """Extend the leases of all.

        Raises:
            FleetError: a participant has not.
        """
        within = self.given(timeout_seconds)
        outcomes = await self.asked(
            self.participants, Operation.RENEW, timed(checkpoint_id, within), answers.renewed, self.timeout
        )
        return outcomes.require(checkpoint_id)

    async def retire(
        self, episodes: Iterable[Episode], *, timeout_seconds: float | None = None
    ) -> list[EpisodeJson]:
        """Refuse these attempts and earlier ones from now on, callers before those whom they call.

        Raises:
            FleetError: a participant has not; those it calls were not asked.
        """
        parameters, answered = {"episodes": _json_of(episodes)}, dict[str, Answer]()
        for stage in self.stages(CALLERS_FIRST):
            outcomes = await self.asked(
                stage, Operation.RETIRE, parameters, answers.retired, self.given(timeout_seconds)
            )
            answered |= outcomes.require()
        return answers.episodes_of(answered)

    async def forget(self, rollout_ids: Iterable[str]) -> list[str]:
        """Drop the marks of rollouts that are over for good, callers before those whom they call.

        Raises:
            FleetError: a participant has not; those it calls were not asked.
        """
        parameters, forgotten = {"rolloutIds": list(rollout_ids)}, dict[str, None]()
        for stage in self.stages(CALLERS_FIRST):
            outcomes = await self.asked(stage, Operation.FORGET, parameters, answers.forgotten)
            for answer in outcomes.require().values():
                forgotten |= dict.fromkeys(answer["forgotten"])
        return list(forgotten)

    async def settled(self, checkpoint_id: str) -> None:
        """Return when no write of a checkpoint is under way any more, or nobody knows."""
        parameters = timed(checkpoint_id, self.reply_within)
        await self.asked(self.participants, Operation.WAIT, parameters, answers.written(checkpoint_id))

    def not_ready(self, prepared: FleetPrepared) -> NotReady:
        """Make the error of a fleet that is not ready, and say what holds it up."""
        waiting = {
            name: f"{answer['report']['blockerCount']} call(s) in flight"
            for name, answer in prepared["participants"].items()
            if not answers.is_ready(answer)
        }
        return NotReady(prepared["checkpointId"], waiting, prepared["blockers"])

    async def _publish(self, checkpoint_id: str, folder: Path, done: Mapping[str, Answer]) -> Published:
        manifests = {name: answer["manifest"] for name, answer in done.items()}
        return await anyio.to_thread.run_sync(publish, folder, checkpoint_id, manifests)


def timed(checkpoint_id: str, timeout_seconds: float, **more: Any) -> dict[str, Any]:
    """Parameters that have a checkpoint and a time."""
    return {"checkpointId": checkpoint_id, "timeoutSeconds": timeout_seconds, **more}


def _json_of(episodes: Iterable[Episode]) -> list[EpisodeJson]:
    return [episode.as_json() for episode in episodes]


def _prepared(checkpoint_id: str, prepared: dict[str, Answer]) -> FleetPrepared:
    waiting = {name: answer for name, answer in prepared.items() if not answers.is_ready(answer)}
    return {
        "checkpointId": checkpoint_id,
        "ready": not waiting,
        "participants": prepared,
        "blockers": [
            {"participant": name, **blocker}
            for name, answer in waiting.items()
            for blocker in answer["report"]["blockers"]
        ],
    }
