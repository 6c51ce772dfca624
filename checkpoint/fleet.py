"""Participants that are asked together, kind by kind."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from checkpoint.asking import Check, Outcomes, Patience, Request, ask_all
from checkpoint.checks import check_timeout
from checkpoint.errors import InvalidParams
from checkpoint.participants import Kind, Participant, name_of

PREPARE_ORDER: Final = tuple(Kind)


class Fleet:
    """The participants, and how they are asked: one that does not reply is asked again, with patience.

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
