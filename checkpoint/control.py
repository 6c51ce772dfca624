"""The control plane: one participant per server."""

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final

import anyio

from checkpoint.admission import Call, Gate, OnCheckpoint
from checkpoint.background import Background
from checkpoint.checks import check_id, check_timeout
from checkpoint.committing import Committing
from checkpoint.episode import Episode
from checkpoint.errors import StaleCheckpoint
from checkpoint.hooks import Server
from checkpoint.lease import Now
from checkpoint.manifest import Origin
from checkpoint.modes import participation_of
from checkpoint.phase import Event, Operation, Phase, Reply, discards
from checkpoint.reporting import Reporter
from checkpoint.restoring import Rebuilder
from checkpoint.results import Forgotten, Prepared, Renewed, Resumed, RetiredEpisodes, Status
from checkpoint.retired import Retired
from checkpoint.reviving import Reviving
from checkpoint.standing import Standing
from checkpoint.store import Store

CLOSE_WITHIN: Final = 10.0
"""Seconds a server that ends waits for writes that are under way."""


class CheckpointControl:
    """Checkpoints of one server, on one event loop; use it as an async context manager.

    Changes of state never await, so there is no lock to hold: what waits (for calls, threads or files) looks
    again where things stand when it goes on, and resume interrupts all of it.

    Attributes:
        gate: admission of all work that changes sessions.
        retired: marks of attempts that may not act any more.
        commit: see `Committing.commit`.
        wait: see `Committing.wait`.
        restore: see `Reviving.restore`.
        import_sessions: see `Reviving.import_sessions`.
        facts: the server facts of now, as `import_sessions` takes them.
    """

    def __init__(
        self,
        server: Server,
        *,
        kind: str,
        root: Path,
        instance: str = "main",
        retired: Retired | None = None,
        now: Now = time.monotonic,
        lease_grace: float = 30.0,
        on_checkpoint: OnCheckpoint = "refuse",
        wait_limit: float = 60.0,
        data_set: str | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        """Take part in checkpoints for `server`.

        Args:
            server: whose sessions; see `hooks` for what it declares.
            kind: what kind of server it is.
            root: every checkpoint lies under this folder.
            instance: which server of its kind.
            retired: marks to start with and to keep up to date; the server may look at them, too.
            now: monotonic seconds.
            lease_grace: seconds a lease lasts on top of every timeout.
            on_checkpoint: what happens to a call that does not say for itself while a checkpoint is open.
            wait_limit: the longest a call waits for admission, in seconds.
            data_set: digest of the data it works on, told in the manifest.
            versions: what it runs on, told in the manifest.

        Raises:
            TypeError: the server declares what it does not have.
            InvalidParams: kind or instance cannot name a folder.
        """
        participation = participation_of(server)
        self._server, self.retired = server, Retired() if retired is None else retired
        self._origin = Origin(kind, instance, participation.mode, data_set, dict(versions or {}))
        self.gate = Gate(
            now,
            self.retired,
            on_checkpoint=on_checkpoint,
            wait_limit=wait_limit,
            holds_up=participation.holds_up,
        )
        self._report = Reporter(self.gate, now, server, participation).report
        self._standing = Standing(self.gate, now, grace=lease_grace, report=self._report)
        self.gate.look = self._standing.look
        self._tasks = Background()
        store = Store(root, self._origin)
        rebuilder = Rebuilder(server, participation, self.retired)
        committing = Committing(
            server, participation, self.retired, self._standing, store, rebuilder, self._tasks
        )
        reviving = Reviving(instance, self._standing, store, rebuilder, self._tasks)
        self._writer = committing.writer
        self.commit, self.wait = committing.commit, committing.wait
        self.restore, self.import_sessions = reviving.restore, reviving.import_sessions
        self.facts = rebuilder.facts_line

    async def __aenter__(self) -> "CheckpointControl":
        """Be ready to write and to read."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let writes that are under way finish, for a while; stop everything else."""
        with anyio.move_on_after(CLOSE_WITHIN, shield=True):
            await self._writer.finished()
        await self._tasks.close()

    @property
    def restoring(self) -> bool:
        """Whether a restore reads, or stands and has not been resumed."""
        self._standing.look()
        opened = self._standing.opened
        return opened is not None and (opened.reading is not None or discards(self._standing.phase))

    def status(self) -> Status:
        """Where the server stands, in any phase."""
        self._standing.look()
        opened = self._standing.opened
        return {
            "kind": self._origin.kind,
            "instance": self._origin.instance,
            "phase": self._standing.phase.value,
            "checkpointId": opened.checkpoint_id if opened else None,
            "leaseSeconds": opened.lease.left if opened else None,
            "report": self._report(),
            "retiredRollouts": sorted(self.retired.marks),
        }

    async def prepare(self, checkpoint_id: str, timeout_seconds: float) -> Prepared:
        """Close admission at once and wait for calls in flight.

        Not in time is no error: the phase answered is `preparing`, and admission stays closed.

        Raises:
            StaleCheckpoint: the id was resumed, before or while this waited.
            CheckpointError: see `Standing.reply`.
        """
        check_id(checkpoint_id)
        check_timeout(timeout_seconds)
        if self._standing.reply(Operation.PREPARE, checkpoint_id) is Reply.ACT:
            opened = self._standing.open(checkpoint_id, timeout_seconds)
            self._writer.forget(checkpoint_id)
            self._standing.go(Event.PREPARE)
        else:
            opened = self._standing.renew(timeout_seconds)
        with anyio.move_on_after(timeout_seconds):
            await self.gate.left(self.gate.holds_up)
        self._standing.look()
        if self._standing.opened is not opened:
            raise StaleCheckpoint(checkpoint_id)
        phase = self._standing.phase.value
        return opened.prepared or {
            "phase": phase,
            "checkpointId": checkpoint_id,
            "report": self._report(),
        }

    async def resume(self, checkpoint_id: str, *, discard: bool = False) -> Resumed:
        """Reopen admission at once, whatever the checkpoint is doing; again, answer the same.

        A foreground write that is not published yet never will be; one that is just being published is waited
        for, so that `published` is true or false for good. An id that is unknown is spent.

        Args:
            checkpoint_id: the open checkpoint, or one that is over.
            discard: take out again what a restore has installed, and what was imported since.

        Raises:
            CheckpointConflict: another one is open.
        """
        check_id(checkpoint_id)
        if not self._standing.is_spent(checkpoint_id):
            self._standing.reply(Operation.RESUME, checkpoint_id)
            self._standing.resume(checkpoint_id, discard=discard)
        write = self._writer.of(checkpoint_id)
        if write is not None and not write.request.background:
            await write.finished()
        return {"phase": Phase.IDLE.value, "published": write is not None and write.succeeded}

    async def renew(self, checkpoint_id: str, timeout_seconds: float) -> Renewed:
        """Extend the lease.

        Raises:
            CheckpointError: see `Standing.reply`.
        """
        check_id(checkpoint_id)
        check_timeout(timeout_seconds)
        self._standing.reply(Operation.RENEW, checkpoint_id)
        opened = self._standing.renew(timeout_seconds)
        return {"phase": self._standing.phase.value, "leaseSeconds": opened.lease.left}

    async def retire(self, episodes: Iterable[Episode]) -> RetiredEpisodes:
        """Refuse these attempts and earlier ones from now on, wait for their calls, drop their sessions.

        A caller that goes away while this waits leaves the marks, and may ask again for the rest.

        Raises:
            InvalidPhase: a checkpoint is open.
        """
        self._standing.reply(Operation.RETIRE)
        named, mine = list(dict.fromkeys(episodes)), Retired()
        for episode in named:
            self.retired.retire(episode)
            mine.retire(episode)

        def is_theirs(call: Call) -> bool:
            return mine.covers(call.episode)

        while any(map(is_theirs, self.gate.in_flight)):
            await self.gate.left(is_theirs)
        for session in tuple(self._server.live_sessions()):
            if mine.covers(session.episode):
                self._server.retire_session_state(session.session_id)
        return {"retired": [episode.as_json() for episode in named]}

    async def forget(self, rollout_ids: Iterable[str]) -> Forgotten:
        """Drop the marks of rollouts that are over for good.

        Raises:
            InvalidPhase: a checkpoint is open.
        """
        self._standing.reply(Operation.FORGET)
        return {"forgotten": self.retired.forget(rollout_ids)}
