"""Commits: the snapshot on the event loop, the write behind it."""

from collections.abc import Collection

from checkpoint.background import Background
from checkpoint.checks import check_id, check_timeout
from checkpoint.episode import Episode
from checkpoint.errors import CheckpointConflict, InvalidPhase, RestartInScope
from checkpoint.hooks import LiveSession, Server, StateExport, TakenOut
from checkpoint.jobs import CommitRequest, Write, Writer
from checkpoint.modes import Participation
from checkpoint.phase import Event, Operation
from checkpoint.restoring import Rebuilder
from checkpoint.results import Committed, Waited, Writing
from checkpoint.retired import Retired
from checkpoint.standing import Opened, Standing
from checkpoint.store import Store


class Committing:
    """The operations commit and wait."""

    def __init__(
        self,
        server: Server,
        participation: Participation,
        retired: Retired,
        standing: Standing,
        store: Store,
        rebuilder: Rebuilder,
        tasks: Background,
    ) -> None:
        """Commit the sessions of `server`; writes run in `tasks`."""
        self._server, self._participation, self._retired = server, participation, retired
        self._standing, self._store, self._rebuilder, self._tasks = standing, store, rebuilder, tasks
        self.writer = Writer(store, self._settle)

    async def commit(
        self,
        checkpoint_id: str,
        timeout_seconds: float,
        checkpoint_dir: str,
        episodes: Collection[Episode] | None = None,
        *,
        background: bool = False,
    ) -> Committed | Writing:
        """Take the snapshot and write it; in the background, answer before it is written.

        Args:
            checkpoint_id: the open checkpoint.
            timeout_seconds: how long to wait for the write; the lease counts from here, too.
            checkpoint_dir: where to, under the root.
            episodes: which ones, None for all. The others stay live.
            background: answer as soon as the snapshot is taken; resume does not stop such a write.

        Raises:
            RestartInScope: `episodes` names one that can only be restarted.
            CheckpointConflict: it is committed already, with other parameters.
            DeadlineExceeded: not written in time; the write goes on, and the same commit again awaits it.
            InvalidCheckpointState: it could not be written.
            CheckpointError: see `Standing.reply`.
        """
        check_id(checkpoint_id)
        check_timeout(timeout_seconds)
        named = None if episodes is None else frozenset(episodes)
        request = CommitRequest(self._store.place(checkpoint_dir), named, background)
        self._standing.reply(Operation.COMMIT, checkpoint_id)
        opened = self._standing.renew(timeout_seconds)
        write = opened.write or self._start(opened, request)
        if write.request != request:
            raise CheckpointConflict(checkpoint_id, reason="it is committed with other parameters already")
        if background and not write.failed:
            return {"phase": self._standing.phase.value, "writing": True}
        manifest = await write.outcome(Operation.COMMIT, timeout_seconds)
        return {"phase": self._standing.phase_of(opened).value, "manifest": manifest}

    async def wait(self, checkpoint_id: str, timeout_seconds: float) -> Waited:
        """The manifest of a commit, once it is written; also after resume, and while another one is open.

        Raises:
            DeadlineExceeded: not written in time; the write goes on.
            InvalidCheckpointState: it could not be written.
            StaleCheckpoint: resume stopped the write, or the id is over and never had one.
            CheckpointConflict: it never had one, and another id is open.
            InvalidPhase: it never had one.
        """
        check_id(checkpoint_id)
        check_timeout(timeout_seconds)
        self._standing.look()
        write = self.writer.of(checkpoint_id)
        if write is None:
            self._standing.require(checkpoint_id)
            raise InvalidPhase(Operation.WAIT, self._standing.phase)
        if self._standing.is_open(checkpoint_id):
            self._standing.renew(timeout_seconds)
        return {"manifest": await write.outcome(Operation.WAIT, timeout_seconds)}

    def _start(self, opened: Opened, request: CommitRequest) -> Write:
        # No await in here: the sessions, the facts and what is taken out are of one moment.
        facts = self._rebuilder.facts_line()
        export, taken_out = self._snapshot(request.episodes)
        write = opened.write = Write(opened.checkpoint_id, request, taken_out)
        if request.background:
            self._standing.go(Event.COMMIT)
        self.writer.start(self._tasks, write, export, facts)
        return write

    def _snapshot(self, episodes: frozenset[Episode] | None) -> tuple[StateExport, TakenOut]:
        restarts = (episodes or frozenset()).intersection(self._participation.restarts())
        if restarts:
            raise RestartInScope(sorted(restarts))
        live: Collection[LiveSession] = self._server.live_sessions()
        if self._retired.marks:
            # A retired session whose call is still in flight is live, but nothing is kept of it.
            live = [session for session in live if not self._retired.covers(session.episode)]
        if episodes is None:
            return self._participation.export(live), self._participation.take_out([])
        inside = [session for session in live if session.episode in episodes]
        left_over = [it.session_id for it in live if it.untouched and it.episode not in episodes]
        export = self._participation.export(inside)
        return export, self._participation.take_out(left_over)

    def _settle(self, write: Write) -> None:
        opened = self._standing.opened
        if opened is None or opened.write is not write or write.request.background:
            return
        if write.failed:
            # The phase is `prepared` still: the commit may be tried again, also somewhere else.
            opened.write = None
        else:
            self._standing.go(Event.COMMIT)
