"""Work in a thread that callers await and that can be stopped until it is too late."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, TypeVar

import anyio
import anyio.to_thread

from checkpoint.background import Background
from checkpoint.episode import Episode
from checkpoint.errors import CheckpointError, DeadlineExceeded, InvalidCheckpointState
from checkpoint.files import Place
from checkpoint.hooks import Nothing, StateExport, TakenOut
from checkpoint.manifest import Manifest
from checkpoint.store import Store

KEPT_WRITES: Final = 64
logger = logging.getLogger(__name__)
Result = TypeVar("Result")


class Stopped(Exception):
    """Tells a worker thread to give up; its job has failed already."""


class Job(Generic[Result]):
    """Work that is done once and awaited by any number of callers.

    `check` and `begin_publishing` are the thread's side of it, all the rest is for the event loop.
    """

    def __init__(self) -> None:
        """Make a job that is not done."""
        self._done = anyio.Event()
        self._lock = threading.Lock()
        self._stopped = self._publishing = False
        self._result: Result | None = None
        self._error: CheckpointError | None = None

    def check(self) -> None:
        """Raise Stopped if the work is not wanted any more."""
        if self._stopped:
            raise Stopped

    def begin_publishing(self) -> None:
        """Raise Stopped if the work is not wanted any more; from here on it cannot be stopped."""
        with self._lock:
            self.check()
            self._publishing = True

    def stop(self, error: CheckpointError) -> None:
        """Make it fail with `error` at once, unless it is done or just becoming so."""
        with self._lock:
            if self._publishing or self._done.is_set():
                return
            self._stopped = True
        self.fail(error)

    def succeed(self, result: Result) -> None:
        """It is done."""
        self._result = result
        self._done.set()

    def fail(self, error: CheckpointError) -> None:
        """It is over; one that was stopped stays as it is."""
        if not self._done.is_set():
            self._error = error
            self._done.set()

    @property
    def is_done(self) -> bool:
        """Whether it succeeded or failed."""
        return self._done.is_set()

    @property
    def succeeded(self) -> bool:
        """Whether it succeeded."""
        return self._result is not None

    @property
    def failed(self) -> bool:
        """Whether it failed."""
        return self._error is not None

    async def finished(self) -> None:
        """Return when it succeeded or failed."""
        await self._done.wait()

    async def outcome(self, operation: str, timeout_seconds: float) -> Result:
        """Its result, for an operation that may wait so many seconds.

        Raises:
            DeadlineExceeded: it is not done; it goes on.
            CheckpointError: it failed.
        """
        with anyio.move_on_after(timeout_seconds):
            await self._done.wait()
        if not self._done.is_set():
            raise DeadlineExceeded(operation, timeout_seconds=timeout_seconds)
        if self._error is not None:
            # One error answers many callers: none shall see the traceback of another.
            raise self._error.with_traceback(None)
        assert self._result is not None
        return self._result


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """What makes two commits the same.

    Attributes:
        place: where to.
        episodes: which ones, None for all.
        background: whether the answer comes before the write is done.
    """

    place: Place
    episodes: frozenset[Episode] | None
    background: bool


class Write(Job[Manifest]):
    """One commit on its way to disk."""

    def __init__(self, checkpoint_id: str, request: CommitRequest, taken_out: TakenOut) -> None:
        """Make a write.

        Args:
            checkpoint_id: whose it is.
            request: what was asked for.
            taken_out: sessions that were dropped for it, put back if it fails.
        """
        super().__init__()
        self.checkpoint_id, self.request = checkpoint_id, request
        self._taken_out = taken_out

    def succeed(self, result: Manifest) -> None:
        """It is published; what was taken out for it stays out."""
        super().succeed(result)
        self._taken_out = Nothing()

    def fail(self, error: CheckpointError) -> None:
        """It is over; what was taken out for it goes back."""
        super().fail(error)
        taken_out, self._taken_out = self._taken_out, Nothing()
        try:
            taken_out.put_back()
        except Exception:  # a hook that fails must not take the control plane with it
            logger.exception("sessions could not be put back after a failed write")


class Writer:
    """Writes commits one at a time, in the order of their snapshots."""

    def __init__(self, store: Store, settled: Callable[[Write], None]) -> None:
        """Write into `store`, and tell `settled` of each write that is over."""
        self._store, self._settled = store, settled
        self._turn = anyio.Lock()
        self._writes: OrderedDict[str, Write] = OrderedDict()

    def start(self, tasks: Background, write: Write, snapshot: StateExport, facts: Any) -> None:
        """Queue a write, and keep it for `of`."""
        self._writes[write.checkpoint_id] = write
        self._writes.move_to_end(write.checkpoint_id)
        if len(self._writes) > KEPT_WRITES:
            self._writes.popitem(last=False)
        tasks.start(self._run, write, snapshot, facts)

    def of(self, checkpoint_id: str) -> Write | None:
        """The write of one of the last 64 ids."""
        return self._writes.get(checkpoint_id)

    def forget(self, checkpoint_id: str) -> None:
        """Drop what an id wrote when it was used before, so long ago that nobody remembers it was spent."""
        self._writes.pop(checkpoint_id, None)

    async def finished(self) -> None:
        """Return when no write is under way."""
        for write in tuple(self._writes.values()):
            await write.finished()

    async def _run(self, write: Write, snapshot: StateExport, facts: Any) -> None:
        try:
            async with self._turn:
                # Abandoned only when the server ends without waiting any longer.
                manifest = await anyio.to_thread.run_sync(
                    partial(self._write, write, snapshot, facts), abandon_on_cancel=True
                )
        except Stopped:
            return
        except CheckpointError as error:
            write.fail(error)
        except Exception:  # whatever an export hook may raise while it is walked through
            logger.exception("a checkpoint could not be written")
            write.fail(InvalidCheckpointState("the sessions could not be written down"))
        else:
            write.succeed(manifest)
        self._settled(write)

    def _write(self, write: Write, snapshot: StateExport, facts: Any) -> Manifest:
        write.check()
        return self._store.write(write.request.place, write.checkpoint_id, snapshot, facts, write)
