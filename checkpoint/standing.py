"""Where a server stands: its phase, the open checkpoint, its lease, and the ids that are spent."""

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from checkpoint.admission import Gate
from checkpoint.errors import CheckpointConflict, InvalidPhase, StaleCheckpoint
from checkpoint.hooks import Installation, undo
from checkpoint.jobs import Write
from checkpoint.lease import Lease, Now
from checkpoint.phase import Event, Operation, Phase, Reply, after, discards, drains, reply_to
from checkpoint.restoring import Reading, RestoreRequest
from checkpoint.results import Prepared, Report, Restored

SPENT_IDS: Final = 64
logger = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Opened:
    """The one checkpoint that is open.

    Attributes:
        checkpoint_id: its id.
        lease: how long it stays open.
        prepared: the first answer of prepare, once drained.
        write: the commit, unless it failed in the foreground.
        reading: the restore that is not done yet.
        restored: the restore that is done: what was asked for, and the first answer.
        installed: what is taken out again with discard.
    """

    checkpoint_id: str
    lease: Lease
    prepared: Prepared | None = None
    write: Write | None = None
    reading: Reading | None = None
    restored: tuple[RestoreRequest, Restored] | None = None
    installed: list[Installation] = field(default_factory=list[Installation])


class Standing:
    """Changes of state. None of its methods awaits, so it needs no lock.

    Attributes:
        phase: the phase, as of the last look.
        opened: the open checkpoint, as of the last look.
    """

    def __init__(self, gate: Gate, now: Now, *, grace: float, report: Callable[[], Report]) -> None:
        """Stand idle.

        Args:
            gate: closed while a checkpoint is open.
            now: monotonic seconds.
            grace: seconds a lease lasts on top of every timeout.
            report: how far the server is.
        """
        self.phase = Phase.IDLE
        self.opened: Opened | None = None
        self._gate, self._now, self._grace, self._report = gate, now, grace, report
        self._spent: OrderedDict[str, None] = OrderedDict()

    def look(self) -> None:
        """Notice that the lease has ended, or that the last call has left."""
        opened = self.opened
        if opened is None:
            return
        if opened.lease.is_over:
            self.end(Event.LEASE_OVER, discard=True)
        elif drains(self.phase) and self._gate.is_drained:
            self.go(Event.DRAINED)
            report = self._report()
            opened.prepared = {
                "phase": self.phase.value,
                "checkpointId": opened.checkpoint_id,
                "report": report,
            }

    def require(self, checkpoint_id: str) -> None:
        """Refuse an id that is not to be talked about.

        Raises:
            StaleCheckpoint: it was resumed already.
            CheckpointConflict: another one is open.
        """
        self.look()
        if checkpoint_id in self._spent:
            raise StaleCheckpoint(checkpoint_id)
        if self.opened is not None and self.opened.checkpoint_id != checkpoint_id:
            raise CheckpointConflict(self.opened.checkpoint_id)

    def reply(self, operation: Operation, checkpoint_id: str | None = None) -> Reply:
        """How to answer an operation now. The order of checks is the same for all of them.

        Raises:
            StaleCheckpoint: the id was resumed already.
            CheckpointConflict: another one is open.
            InvalidPhase: the operation has no answer in this phase.
        """
        self.look()
        if checkpoint_id is not None:
            self.require(checkpoint_id)
        reading = self.opened is not None and self.opened.reading is not None
        reply = reply_to(operation, self.phase, reading=reading)
        if reply is None:
            raise InvalidPhase(operation, self.phase)
        return reply

    def open(self, checkpoint_id: str, timeout: float) -> Opened:
        """Take the id and close admission."""
        lease = Lease(self._now, timeout=timeout, grace=self._grace)
        self.opened = Opened(checkpoint_id, lease)
        self._gate.close(checkpoint_id, lease)
        return self.opened

    def renew(self, timeout: float) -> Opened:
        """Hear from the controller of the open checkpoint."""
        assert self.opened is not None
        if self.opened.lease.renew(timeout):
            # Those who wait for admission sleep until the lease ends, and it ends earlier now.
            self._gate.stir()
        return self.opened

    def go(self, event: Event) -> None:
        """Follow an arrow."""
        self.phase = after(self.phase, event)

    def give_up(self) -> None:
        """Close without spending the id: a restore has failed."""
        self.opened = None
        self._gate.reopen()

    def end(self, event: Event, *, discard: bool) -> None:
        """Go back to idle, spend the id and reopen admission.

        Args:
            event: RESUME or LEASE_OVER.
            discard: whether what a restore installed is taken out again.
        """
        assert self.opened is not None
        opened, is_restored = self.opened, discards(self.phase)
        if opened.reading is None:
            self.go(event)
        self.opened = None
        self.spend(opened.checkpoint_id)
        try:
            over = StaleCheckpoint(opened.checkpoint_id)
            if opened.reading is not None:
                opened.reading.stop(over)
            if opened.write is not None and not opened.write.request.background:
                opened.write.stop(over)
            if discard and is_restored:
                undo(opened.installed)
        except Exception:  # a hook that fails must not leave the server closed
            logger.exception("restored sessions could not be taken out")
        finally:
            self._gate.reopen()

    def resume(self, checkpoint_id: str, *, discard: bool) -> None:
        """End the checkpoint; an id that was never open is spent, so that a late prepare is refused."""
        if self.opened is None:
            self.spend(checkpoint_id)
        else:
            self.end(Event.RESUME, discard=discard)

    def spend(self, checkpoint_id: str) -> None:
        """From now on the id is stale."""
        self._spent[checkpoint_id] = None
        if len(self._spent) > SPENT_IDS:
            self._spent.popitem(last=False)

    def is_spent(self, checkpoint_id: str) -> bool:
        """Whether the id was resumed, or its lease ended."""
        self.look()
        return checkpoint_id in self._spent

    def is_open(self, checkpoint_id: str) -> bool:
        """Whether this is the open checkpoint, as of the last look."""
        return self.opened is not None and self.opened.checkpoint_id == checkpoint_id

    def phase_of(self, opened: Opened) -> Phase:
        """The phase a checkpoint is in: idle once it is over."""
        return self.phase if self.opened is opened else Phase.IDLE
