"""Fleets in memory: real control planes behind participants that can be made to fail at any step."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from checkpoint import (
    Answer,
    CheckpointControl,
    CheckpointError,
    Coordinator,
    Kind,
    NoReply,
    Patience,
    Refused,
    Shard,
    read_episode,
)
from tests.checkpoint.office import Clock, Exporting

AT_ONCE = Patience(tries=3, first_wait=0.0, longest_wait=0.0)
"""Asks again without waiting."""


@dataclass
class Fault:
    """What happens to an operation instead; `times` is how often, and then it works."""

    what: str
    times: int = 1_000_000


@dataclass
class Member:
    """A participant: an office with a control plane, behind a connection that may be bad.

    `asked` has every operation that arrived, `within` how long each was given.
    """

    kind: Kind
    instance: str
    root: Path
    server: Exporting = field(default_factory=Exporting)
    clock: Clock = field(default_factory=Clock)
    faults: dict[str, Fault] = field(default_factory=dict[str, Fault])
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])
    log: list[str] = field(default_factory=list[str])
    within: list[float] = field(default_factory=list[float])
    hung: anyio.Event = field(default_factory=anyio.Event)

    def __post_init__(self) -> None:
        self.control = CheckpointControl(
            self.server, kind=self.kind, root=self.root, instance=self.instance, now=self.clock
        )

    @property
    def name(self) -> str:
        return f"{self.kind}/{self.instance}"

    @property
    def address(self) -> str:
        return f"{self.instance}.example"

    @property
    def is_open(self) -> bool:
        return self.control.gate.is_open and self.control.status()["phase"] == "idle"

    async def ask(self, operation: str, parameters: Mapping[str, Any], within: float) -> Answer:
        self.within.append(within)
        what = self._fault(operation)
        if what == "down":
            raise NoReply("connection refused")
        if what == "slow":
            self.hung.set()
            await anyio.sleep_forever()
        if what == "crashes":
            raise ZeroDivisionError
        self.asked.append((operation, dict(parameters)))
        self.log.append(f"{operation} {self.instance}")
        if what == "nonsense":
            return {"hello": "world"}
        if what == "list":
            return [1]  # type: ignore[return-value]
        try:
            answer = await self._do(operation, parameters)
        except CheckpointError as error:
            raise Refused(str(error), code=error.code, facts=error.facts) from None
        if what == "lost":
            raise NoReply("the reply was lost")
        return answer

    def _fault(self, operation: str) -> str:
        fault = self.faults.get(operation)
        if fault is None or not fault.times:
            return ""
        fault.times -= 1
        return fault.what

    async def _do(self, operation: str, parameters: Mapping[str, Any]) -> Answer:
        given = dict(parameters)
        if operation == "checkpoint/status":
            return self.control.status()
        if operation == "checkpoint/retire":
            return await self.control.retire([read_episode(it) for it in given["episodes"]])
        if operation == "checkpoint/forget":
            return await self.control.forget(given["rolloutIds"])
        method = getattr(self.control, operation.removeprefix("checkpoint/"))
        return await method(**_as_python(given))


def _as_python(given: dict[str, Any]) -> dict[str, Any]:
    names = {
        "checkpointId": "checkpoint_id",
        "timeoutSeconds": "timeout_seconds",
        "checkpointDir": "checkpoint_dir",
        "attemptStep": "attempt_step",
    }
    python = {names.get(name, name): value for name, value in given.items()}
    if "episodes" in python:
        python["episodes"] = [read_episode(episode) for episode in python["episodes"]]
    if "shard" in python:
        python["shard"] = Shard(**python["shard"])
    return python


def members(root: Path, *names: str) -> list[Member]:
    """Make members such as `environment/a`, all with a log in common."""
    log: list[str] = []
    made: list[Member] = []
    for name in names:
        kind, _, instance = name.rpartition("/")
        made.append(Member(Kind(kind or "environment"), instance, root, log=log))
    return made


def coordinator(fleet: list[Member], **options: Any) -> Coordinator:
    given: dict[str, Any] = {"timeout_seconds": 10.0, "reply_within": 5.0, "patience": AT_ONCE}
    return Coordinator(fleet, **{**given, **options})


@asynccontextmanager
async def running(fleet: list[Member], **options: Any) -> AsyncGenerator[Coordinator]:
    """Run the control planes of a fleet."""
    for member in fleet:
        await member.control.__aenter__()
    try:
        yield coordinator(fleet, **options)
    finally:
        for member in fleet:
            await member.control.__aexit__(None, None, None)


def seed(fleet: list[Member], each: int = 3) -> None:
    """Seed sessions with a note in each."""
    for member in fleet:
        for number in range(each):
            session = f"{member.instance}-session-{number}"
            member.server.seed(session, f"{member.instance}-rollout-{number}", 0, "before the cut")


def notes(fleet: list[Member]) -> dict[str, tuple[int, tuple[str, ...]]]:
    """What lives where: session id to attempt and notes."""
    return {
        session: (desk.episode.attempt, desk.notes)
        for member in fleet
        for session, desk in member.server.desks.items()
    }
