"""The one gate that work which changes sessions goes through."""

from collections.abc import Callable, Collection
from typing import Final, Literal

import anyio

from checkpoint.episode import Episode
from checkpoint.errors import AdmissionClosed, StaleAttempt
from checkpoint.lease import Lease, Now
from checkpoint.retired import Retired

OnCheckpoint = Literal["refuse", "wait"]
VERIFY: Final = "sessions/verify"
"""The operation that `checkpoint_verify` is about."""


class Call:
    """A call in flight; compared by identity.

    Attributes:
        episode: whose call it is.
        operation: what it does.
        started: when it was admitted, in seconds of the gate's clock.
    """

    __slots__ = ("episode", "operation", "started")

    def __init__(self, episode: Episode, operation: str, started: float) -> None:
        """Note a call down."""
        self.episode, self.operation, self.started = episode, operation, started


class _Watch:
    """Someone who waits for certain calls to leave."""

    def __init__(self, pending: set[Call]) -> None:
        self.pending, self.over = pending, anyio.Event()

    def left(self, call: Call) -> None:
        self.pending.discard(call)
        if not self.pending:
            self.over.set()


def every_call(call: Call) -> bool:
    """Holds up a checkpoint."""
    del call
    return True


def no_look() -> None:
    """Look at no lease."""


class Gate:
    """Counts calls in flight; refuses, or lets wait, while a checkpoint is open.

    For one event loop. `enter` and `leave` never await, so they need no lock and cost about a microsecond.

    Attributes:
        look: called whenever someone meets the closed gate; may open it, because a lease has ended.
        holds_up: whether a call in flight keeps a checkpoint from being prepared.
    """

    def __init__(
        self,
        now: Now,
        retired: Retired,
        *,
        on_checkpoint: OnCheckpoint = "refuse",
        wait_limit: float = 60.0,
        holds_up: Callable[[Call], bool] = every_call,
    ) -> None:
        """Make an open gate.

        Args:
            now: monotonic seconds.
            retired: the attempts that are refused whether the gate is open or not.
            on_checkpoint: what happens to a call that does not say for itself.
            wait_limit: the longest a call waits, in seconds.
            holds_up: whether a call in flight keeps a checkpoint from being prepared.
        """
        self.look: Callable[[], None] = no_look
        self.holds_up = holds_up
        self._now, self._retired = now, retired
        self._on_checkpoint: OnCheckpoint = on_checkpoint
        self._wait_limit = wait_limit
        self._closed: tuple[str, Lease] | None = None
        self._in_flight: set[Call] = set()
        self._watches: list[_Watch] = []
        self._waiting = 0
        self._stirred = anyio.Event()
        self._turns_away = False

    def enter(self, episode: Episode, operation: str) -> Call:
        """Admit a call now; give what this returns to `leave`.

        Raises:
            AdmissionClosed: a checkpoint is open.
            StaleAttempt: the attempt is retired.
        """
        # No await between the checks and the count, so no lock is needed.
        if self._closed is not None:
            self.require_open()
        if self._retired.marks and self._retired.covers(episode):
            raise StaleAttempt(episode)
        call = Call(episode, operation, self._now())
        self._in_flight.add(call)
        return call

    def leave(self, call: Call) -> None:
        """The call is done, however it ended."""
        self._in_flight.discard(call)
        for watch in self._watches:
            watch.left(call)

    def require_open(self) -> None:
        """Look at the lease; then refuse if a checkpoint is open.

        Raises:
            AdmissionClosed: a checkpoint is open.
        """
        self.look()
        if self._closed is not None:
            raise AdmissionClosed(self._closed[0])

    async def until_open(self, on_checkpoint: OnCheckpoint | None = None) -> None:
        """Return as soon as calls are admitted; `enter` right after it, without an await between, succeeds.

        Waiting does not count as being in flight. A caller whose client has gone cancels it.

        Args:
            on_checkpoint: what to do while a checkpoint is open; the gate's own setting if None.

        Raises:
            AdmissionClosed: a checkpoint is open and is not waited for, or was for as long as allowed.
        """
        if (on_checkpoint or self._on_checkpoint) == "refuse":
            return self.require_open()
        gives_up_at = self._now() + self._wait_limit
        while True:
            self.look()
            if self._closed is None:
                return None
            checkpoint_id, lease = self._closed
            left = gives_up_at - self._now()
            if not left > 0 or self._turns_away:
                raise AdmissionClosed(checkpoint_id)
            # Nobody wakes a waiter when the lease ends, so it sleeps no longer than that.
            await self._sleep(min(left, lease.left))

    async def admit(
        self, resolve: Callable[[], Episode], operation: str, on_checkpoint: OnCheckpoint | None = None
    ) -> Call:
        """Admit a call, now or when the checkpoint is over.

        Args:
            resolve: says whose call it is. Called anew after waiting: much may have changed.
            operation: what the call does.
            on_checkpoint: what to do while a checkpoint is open; the gate's own setting if None.

        Raises:
            AdmissionClosed: a checkpoint is open and is not waited for, or was for as long as allowed.
            StaleAttempt: the attempt is retired.
        """
        if self._closed is not None:
            await self.until_open(on_checkpoint)
        return self.enter(resolve(), operation)

    async def _sleep(self, seconds: float) -> None:
        self._waiting += 1
        try:
            with anyio.move_on_after(seconds):
                await self._stirred.wait()
        finally:
            self._waiting -= 1

    def close(self, checkpoint_id: str, lease: Lease) -> None:
        """Admit nothing from now on."""
        self._closed = (checkpoint_id, lease)

    def reopen(self) -> None:
        """Admit again; wakes all who wait, for admission or for calls to leave."""
        self._closed = None
        self.stir()
        for watch in self._watches:
            watch.over.set()

    def turn_away(self) -> None:
        """From now on nobody waits for admission: the server ends."""
        self._turns_away = True
        self.stir()

    def stir(self) -> None:
        """Let those who wait for admission look again how long they may sleep."""
        self._stirred.set()
        self._stirred = anyio.Event()

    async def left(self, waited_for: Callable[[Call], bool]) -> None:
        """Return when the calls of now that are waited for have left, or when the gate opens: look again."""
        pending = {call for call in self._in_flight if waited_for(call)}
        if not pending:
            return
        watch = _Watch(pending)
        self._watches.append(watch)
        try:
            await watch.over.wait()
        finally:
            self._watches.remove(watch)

    @property
    def in_flight(self) -> Collection[Call]:
        """The calls that were admitted and have not left."""
        return self._in_flight

    @property
    def blockers(self) -> list[Call]:
        """The calls in flight that keep a checkpoint from being prepared, the oldest first."""
        return sorted(filter(self.holds_up, self._in_flight), key=lambda call: call.started)

    @property
    def is_drained(self) -> bool:
        """Whether no call in flight keeps a checkpoint from being prepared."""
        return not any(map(self.holds_up, self._in_flight))

    @property
    def is_open(self) -> bool:
        """Whether calls are admitted."""
        return self._closed is None

    @property
    def waiting(self) -> int:
        """How many calls wait for admission; none of them is in flight."""
        return self._waiting
