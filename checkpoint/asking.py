"""Asking participants: all at once, with bounded patience, never taking silence for an answer."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio

from checkpoint.participants import (
    Answer,
    AskFailed,
    FleetError,
    Nonsense,
    NoReply,
    Participant,
    Refused,
    name_of,
)

T = TypeVar("T")
logger = logging.getLogger(__name__)

Check = Callable[[Participant, Answer], None]
"""Looks at an answer; raises Nonsense if it is not one to the operation."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a participant that does not reply is asked again.

    Attributes:
        tries: how often it is asked in all.
        first_wait: seconds between the first try and the second; each wait is twice the one before.
        longest_wait: seconds a wait lasts at most.
    """

    tries: int = 6
    first_wait: float = 0.1
    longest_wait: float = 2.0

    def waits(self) -> Iterator[float]:
        """The waits between the tries, in seconds."""
        for turn in range(self.tries - 1):
            yield min(self.first_wait * 2**turn, self.longest_wait)


@dataclass(frozen=True, slots=True)
class Request:
    """An operation for one participant."""

    participant: Participant
    parameters: Mapping[str, Any]


@dataclass(slots=True)
class Outcomes:
    """What became of an operation, by name of the participant."""

    operation: str
    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    reasons: dict[str, AskFailed] = field(default_factory=dict[str, AskFailed])
    addresses: dict[str, str] = field(default_factory=dict[str, str])

    def error(self, checkpoint_id: str | None = None, outcome: str = "") -> FleetError:
        """Make the error of those that failed."""
        return FleetError(
            self.operation,
            self.reasons,
            addresses=self.addresses,
            answers=self.answers,
            checkpoint_id=checkpoint_id,
            outcome=outcome,
        )

    def require(self, checkpoint_id: str | None = None) -> dict[str, Answer]:
        """Give the answers of all.

        Raises:
            FleetError: one of them has not done it.
        """
        if self.reasons:
            raise self.error(checkpoint_id)
        return self.answers


async def ask_all(
    operation: str, requests: Sequence[Request], check: Check, within: float, patience: Patience
) -> Outcomes:
    """Have several participants do an operation at once; one that fails does not touch the others.

    Args:
        operation: its name.
        requests: whom to ask, and for what.
        check: looks at each answer.
        within: seconds each has to answer, tries and waits together.
        patience: how often one that does not reply is asked again.
    """
    outcomes = Outcomes(
        operation, addresses={name_of(it.participant): it.participant.address for it in requests}
    )
    done: dict[str, Answer] = {}

    async def one(request: Request) -> None:
        name = name_of(request.participant)
        try:
            done[name] = await ask(operation, request, check, within, patience)
        except AskFailed as error:
            outcomes.reasons[name] = error

    async with anyio.create_task_group() as tasks:
        for request in requests:
            tasks.start_soon(one, request)
    # In the order in which they were asked, whoever was faster.
    outcomes.answers = _in_order(done, outcomes.addresses)
    outcomes.reasons = _in_order(outcomes.reasons, outcomes.addresses)
    return outcomes


async def ask(operation: str, request: Request, check: Check, within: float, patience: Patience) -> Answer:
    """Have one participant do an operation; one that does not reply, or says "later", is asked again.

    Every operation may be asked for twice: the second time it answers what it answered the first time.

    Raises:
        AskFailed: it has not done it, or nobody knows.
    """
    ends_at = anyio.current_time() + within
    waits = patience.waits()
    while True:
        try:
            answer = await _ask_once(operation, request, ends_at - anyio.current_time())
        except (NoReply, Refused) as error:
            wait = next(waits, None) if isinstance(error, NoReply) else _later(error)
            if wait is None or anyio.current_time() + wait >= ends_at:
                raise
            await anyio.sleep(wait)
        else:
            check(request.participant, answer)
            return answer


def _later(error: Refused) -> float | None:
    """After how many seconds a refusal may be over: while a checkpoint is open, the server says when."""
    after = error.facts.get("retryAfterMs")
    return after / 1000 if isinstance(after, int) and after > 0 else None


async def _ask_once(operation: str, request: Request, within: float) -> Answer:
    try:
        # The participant keeps the time itself; one that does not must not hold up everybody.
        with anyio.fail_after(within):
            answer = await request.participant.ask(operation, request.parameters, within)
    except TimeoutError:
        raise NoReply(f"no answer within {within:.3g} s") from None
    except AskFailed:
        raise
    except Exception as error:  # the boundary: whatever one participant raises, the others are looked after
        logger.exception("%s of %s failed", operation, name_of(request.participant))
        raise Nonsense(f"{type(error).__name__}") from error
    if not isinstance(answer, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # it came from outside
        raise Nonsense("it is no object")
    return answer


def _in_order(by_name: dict[str, T], names: Iterable[str]) -> dict[str, T]:
    return {name: by_name[name] for name in names if name in by_name}
