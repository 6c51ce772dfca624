"""Restore and import: sessions become live, all of them or none."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import anyio.to_thread

from checkpoint.background import Background
from checkpoint.checks import check_id, check_shard, check_sources, check_step, check_timeout
from checkpoint.episode import Episode
from checkpoint.errors import CheckpointConflict, CheckpointError, InvalidPhase, StaleCheckpoint
from checkpoint.hooks import State
from checkpoint.jobs import Stopped
from checkpoint.phase import Event, Operation, Reply
from checkpoint.restoring import Reading, Rebuilder, RestoreRequest, Shard, refusing_invalid_states
from checkpoint.results import Imported, Restored
from checkpoint.standing import Opened, Standing
from checkpoint.store import Store


class Reviving:
    """The operations restore and import."""

    def __init__(
        self,
        instance: str,
        standing: Standing,
        store: Store,
        rebuilder: Rebuilder,
        tasks: Background,
    ) -> None:
        """Restore what `rebuilder` builds, by default from what `instance` wrote; reading runs in `tasks`."""
        self._instance = instance
        self._standing, self._store, self._rebuilder, self._tasks = standing, store, rebuilder, tasks

    async def restore(
        self,
        checkpoint_id: str,
        timeout_seconds: float,
        checkpoint_dir: str,
        episodes: Collection[Episode] | None = None,
        *,
        attempt_step: int = 1,
        sources: Sequence[str] | None = None,
        shard: Shard | None = None,
    ) -> Restored:
        """Read, verify and rebuild sessions, then install all of them or none; admission stays closed.

        Args:
            checkpoint_id: a new id, for this restore.
            timeout_seconds: how long it may take; the lease counts from here, too.
            checkpoint_dir: where from, under the root.
            episodes: which ones as stored, None for all.
            attempt_step: how much later than stored the attempts are.
            sources: the instances to read, None for this server's own.
            shard: which part of the sessions, None for all.

        Raises:
            DeadlineExceeded: not done in time; nothing is installed, and admission opens.
            StaleCheckpoint: the id was resumed, before or while this read.
            CheckpointConflict: it has restored already, with other parameters.
            InvalidCheckpointState: the checkpoint is not what it should be.
            CheckpointError: something live is in the way; see also `Standing.reply`.
        """
        check_id(checkpoint_id)
        check_timeout(timeout_seconds)
        if shard is not None:
            check_shard(shard.index, shard.count)
        request = RestoreRequest(
            self._store.place(checkpoint_dir),
            None if episodes is None else frozenset(episodes),
            check_step(attempt_step),
            check_sources(sources, self._instance),
            shard,
        )
        if self._standing.reply(Operation.RESTORE, checkpoint_id) is Reply.ACT:
            opened = self._standing.open(checkpoint_id, timeout_seconds)
            opened.reading = Reading(request)
            self._tasks.start(self._read, opened, opened.reading)
        else:
            opened = self._standing.renew(timeout_seconds)
        if opened.reading is None:
            return _first_result(opened, request)
        if opened.reading.request != request:
            raise InvalidPhase(Operation.RESTORE, self._standing.phase)
        return await self._outcome(opened.reading, opened, timeout_seconds)

    async def _outcome(self, reading: Reading, opened: Opened, timeout_seconds: float) -> Restored:
        reading.waiting += 1
        try:
            return await reading.outcome(Operation.RESTORE, timeout_seconds)
        finally:
            reading.waiting -= 1
            # Once nobody waits for it, sessions that turn up behind the controller's back help no one.
            if not reading.waiting and not reading.is_done:
                reading.stop(StaleCheckpoint(opened.checkpoint_id))
                self._standing.give_up()

    async def _read(self, opened: Opened, reading: Reading) -> None:
        work = partial(self._rebuilder.read, self._store, reading.request, reading)
        try:
            with refusing_invalid_states("the checkpoint could not be restored"):
                rebuilt = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
                self._standing.look()
                reading.check()
                self._rebuilder.install(rebuilt)
        except Stopped:
            return
        except CheckpointError as error:
            if not reading.is_done:
                reading.fail(error)
                self._standing.give_up()
            return
        self._standing.go(Event.RESTORE)
        result: Restored = {
            "phase": self._standing.phase.value,
            "sourceCheckpointId": rebuilt.checkpoint_id,
            "restored": rebuilt.as_json(),
        }
        opened.installed.append(rebuilt.installation)
        opened.reading, opened.restored = None, (reading.request, result)
        reading.succeed(result)

    async def import_sessions(
        self,
        states: Sequence[State],
        bases: Mapping[str, Any],
        facts: Mapping[str, Any] | None = None,
        *,
        attempt_step: int = 1,
    ) -> Imported:
        """Take in sessions that were handed over inline, all of them or none.

        Args:
            states: one mapping a session, as the export hook gives them.
            bases: what they share, by digest.
            facts: what `CheckpointControl.facts` told where they come from.
            attempt_step: how much later than stored the attempts are.

        Raises:
            InvalidPhase: a checkpoint is open that has not restored.
            InvalidCheckpointState: one does not validate.
            CheckpointError: something live is in the way.
        """
        check_step(attempt_step)
        self._standing.reply(Operation.IMPORT)
        lines = [] if facts is None else [dict(facts)]
        rebuilt = await anyio.to_thread.run_sync(
            partial(self._rebuilder.rebuild, states, bases, lines, attempt_step)
        )
        # A checkpoint may have been opened meanwhile.
        self._standing.reply(Operation.IMPORT)
        self._rebuilder.install(rebuilt)
        if self._standing.opened is not None:
            self._standing.opened.installed.append(rebuilt.installation)
        return {"restored": rebuilt.as_json()}


def _first_result(opened: Opened, request: RestoreRequest) -> Restored:
    assert opened.restored is not None
    first_request, result = opened.restored
    if first_request != request:
        raise CheckpointConflict(opened.checkpoint_id, reason="it has restored with other parameters already")
    return result
