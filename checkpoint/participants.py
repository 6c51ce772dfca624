"""Who takes part in a checkpoint of several servers, and what can go wrong when one of them is asked."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Final, Protocol

Answer = Mapping[str, Any]
"""What an operation answers, JSON-able: see `results`."""


class Kind(StrEnum):
    """What a participant is to the others; in the order in which they are prepared."""

    ENVIRONMENT = "environment"
    MODEL = "model"
    AGENT = "agent"
    RESOURCES = "resources"


CALLERS_FIRST: Final = (Kind.AGENT, Kind.ENVIRONMENT, Kind.MODEL, Kind.RESOURCES)
"""An agent calls environments and models, an environment may ask a model to judge; resources call nobody."""


class Participant(Protocol):
    """One server of a fleet, however it is reached."""

    @property
    def kind(self) -> Kind:
        """What it is to the others."""
        ...

    @property
    def instance(self) -> str:
        """Its name among those of its kind."""
        ...

    @property
    def address(self) -> str:
        """Where it is, for people."""
        ...

    async def ask(self, operation: str, parameters: Mapping[str, Any], within: float) -> Answer:
        """Have it do an operation, once.

        Args:
            operation: its name, such as `checkpoint/prepare`.
            parameters: as the operation takes them, JSON-able.
            within: seconds it has to answer.

        Raises:
            NoReply: it may have done it or not.
            Refused: it has not, and says why.
            Nonsense: it answered, but not to this.
        """
        ...


def name_of(participant: Participant) -> str:
    """What a participant is called in answers, such as `environment/main`: its folder in a checkpoint."""
    return f"{participant.kind}/{participant.instance}"


class AskFailed(Exception):
    """A participant did not do what it was asked for.

    Attributes:
        code: stable identifier of the kind of failure, for programs.
        facts: what belongs to it beside its sentence, JSON-able.
    """

    def __init__(self, message: str, *, code: str, facts: Mapping[str, Any] | None = None) -> None:
        """Say why."""
        super().__init__(message)
        self.code, self.facts = code, dict(facts or {})


class NoReply(AskFailed):
    """It could not be reached, or the reply was lost on the way: nobody knows whether it was done."""

    def __init__(self, reason: str) -> None:
        """Say what happened to the reply."""
        super().__init__(reason, code="no_reply")


class Refused(AskFailed):
    """It refuses, with a code and facts of its own."""


class Nonsense(AskFailed):
    """What it answers is not what the operation answers."""

    def __init__(self, reason: str) -> None:
        """Say what is wrong with the answer."""
        super().__init__(f"its answer makes no sense: {reason}", code="nonsense")


class FleetError(Exception):
    """An operation that not every server did; the message names each server that did not, and its reason.

    Attributes:
        code: stable identifier of the kind of failure, for programs.
        operation: what was asked for.
        reasons: name of the participant to why it failed.
        answers: name of the participant to its answer, of those that did it.
        checkpoint_id: the checkpoint it was about, None if none.
    """

    code: ClassVar[str] = "fleet_failed"

    def __init__(
        self,
        operation: str,
        reasons: Mapping[str, AskFailed],
        *,
        addresses: Mapping[str, str] | None = None,
        answers: Mapping[str, Answer] | None = None,
        checkpoint_id: str | None = None,
        outcome: str = "",
    ) -> None:
        """Collect the reasons.

        Args:
            operation: what was asked for.
            reasons: name of the participant to why it failed.
            addresses: name of the participant to where it is.
            answers: what the others answered.
            checkpoint_id: the checkpoint it was about.
            outcome: how things stand now, in words.
        """
        where = addresses or {}
        told = [
            f"{name} ({where[name]}): {why}" if name in where else f"{name}: {why}"
            for name, why in reasons.items()
        ]
        super().__init__("; ".join([f"{operation} failed: {told[0]}", *told[1:], *filter(None, [outcome])]))
        self.operation, self.reasons = operation, dict(reasons)
        self.answers, self.checkpoint_id = dict(answers or {}), checkpoint_id

    @property
    def facts(self) -> dict[str, object]:
        """What belongs to the error beside its sentence, JSON-able, keys in camelCase."""
        return {
            "operation": self.operation,
            "checkpointId": self.checkpoint_id,
            "reasons": {
                name: {"code": why.code, "message": str(why), **why.facts}
                for name, why in self.reasons.items()
            },
        }


class NotReady(FleetError):
    """Calls in flight did not end in time, so there is no checkpoint.

    Attributes:
        blockers: what is in flight: `{participant, episode, operation, seconds}`.
    """

    code = "not_ready"

    def __init__(self, checkpoint_id: str, participants: Mapping[str, str], blockers: list[Any]) -> None:
        """Name the participants that are not ready, with the reason of each, and what holds them up."""
        reasons = {name: AskFailed(why, code=self.code) for name, why in participants.items()}
        super().__init__("checkpoint/prepare", reasons, checkpoint_id=checkpoint_id)
        self.blockers = blockers

    @property
    def facts(self) -> dict[str, object]:
        """The reasons, and what is in flight."""
        return {**super().facts, "blockers": self.blockers}
