"""Participants that are asked together, kind by kind, and let go again whatever happens."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import anyio

from checkpoint import answers
from checkpoint.asking import Check, Outcomes, Patience, Request, ask_all
from checkpoint.checks import check_timeout
from checkpoint.errors import InvalidParams
from checkpoint.participants import Answer, Kind, Participant, Refused, name_of
from checkpoint.phase import Operation

PREPARE_ORDER: Final = tuple(Kind)


class Fleet:
    """The participants, how they are asked, and how they are opened again.

    Attributes:
        participants: who takes part, sorted by kind and instance.
        timeout: seconds an operation gets that is not told otherwise.
        reply_within: seconds on top of that in which a reply must be there; also what a resume gets that must
            happen although something went wrong.
        patience: how often a participant that does not reply is asked again.
    """

    def __init__(
        self,
        participants: Iterable[Participant],
        *,
        timeout_seconds: float = 60.0,
        reply_within: float = 10.0,
        patience: Patience | None = None,
    ) -> None:
        """Ask these participants.

        Raises:
            InvalidParams: there is none, two have the same kind and instance, or a timeout is no time.
        """
        check_timeout(timeout_seconds)
        check_timeout(reply_within)
        order = {kind: place for place, kind in enumerate(Kind)}
        self.participants: Final = tuple(sorted(participants, key=lambda it: (order[it.kind], it.instance)))
        self.timeout, self.reply_within = timeout_seconds, reply_within
        self.patience: Final = patience or Patience()
        # Checkpoints that a participant may not know to be over, and whether they are to be discarded.
        self._unheard: dict[str, bool] = {}
        names = [name_of(participant) for participant in self.participants]
        if not names:
            raise InvalidParams("a fleet has at least one server")
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InvalidParams(
                f"each server needs an instance name of its own; twice there: {', '.join(twice)}"
            )

    async def asked(
        self,
        participants: Sequence[Participant],
        operation: str,
        parameters: Mapping[str, Any],
        check: Check,
        within: float | None = None,
    ) -> Outcomes:
        """Ask several at once for the same.

        Args:
            participants: whom.
            operation: for what.
            parameters: with what.
            check: looks at each answer.
            within: seconds the operation itself may take, None for one that takes no time of its own.
        """
        requests = [Request(participant, parameters) for participant in participants]
        patient_for = self.timeout if within is None else within + self.reply_within
        return await ask_all(operation, requests, check, patient_for, self.patience)

    def stages(self, order: Sequence[Kind]) -> list[list[Participant]]:
        """The participants kind by kind; a kind that nobody is of is left out."""
        staged = [[it for it in self.participants if it.kind == kind] for kind in order]
        return [stage for stage in staged if stage]

    def given(self, timeout_seconds: float | None) -> float:
        """The seconds that an operation gets.

        Raises:
            InvalidParams: it is no time.
        """
        if timeout_seconds is None:
            return self.timeout
        check_timeout(timeout_seconds)
        return timeout_seconds

    async def resume(
        self, checkpoint_id: str, *, discard: bool = False, outcome: str = ""
    ) -> dict[str, Answer]:
        """Open admission again, in the order opposite to prepare; whoever fails, the others are opened.

        Args:
            checkpoint_id: the open checkpoint, or one that is over.
            discard: take out again what a restore has installed.
            outcome: what an error says about how things stand.

        Raises:
            FleetError: a participant did not say that it is open; the lease of its checkpoint opens it.
        """
        outcomes = await self._resume(checkpoint_id, self.timeout, discard=discard)
        if outcomes.reasons:
            raise outcomes.error(checkpoint_id, outcome)
        return outcomes.answers

    async def release(self, checkpoint_id: str, *, discard: bool = False) -> None:
        """Resume after something went wrong: also when cancelled, for a bounded time, raising nothing.

        Whoever did not answer is told again before anything else is begun: it may have missed it.
        """
        self._unheard[checkpoint_id] = discard
        # Each kind has so much time, and there is a little for what is not waiting.
        with anyio.move_on_after(self.reply_within * (len(Kind) + 1), shield=True):
            outcomes = await self._resume(checkpoint_id, self.reply_within, discard=discard)
            # Who refuses has heard it.
            if all(isinstance(why, Refused) for why in outcomes.reasons.values()):
                self._unheard.pop(checkpoint_id, None)

    async def release_old(self) -> None:
        """Release again what somebody may not have heard of."""
        for checkpoint_id, discard in tuple(self._unheard.items()):
            await self.release(checkpoint_id, discard=discard)

    async def _resume(self, checkpoint_id: str, within: float, *, discard: bool) -> Outcomes:
        parameters: dict[str, Any] = {"checkpointId": checkpoint_id}
        if discard:
            parameters["discard"] = True
        whole = Outcomes(Operation.RESUME)
        for stage in self.stages(tuple(reversed(PREPARE_ORDER))):
            requests = [Request(participant, parameters) for participant in stage]
            part = await ask_all(Operation.RESUME, requests, answers.resumed, within, self.patience)
            whole.answers |= part.answers
            whole.reasons |= part.reasons
            whole.addresses |= part.addresses
        return whole
