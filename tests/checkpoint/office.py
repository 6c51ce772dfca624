"""Small servers to drive the control plane with: one of each `checkpoint_mode`."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread

from checkpoint import (
    CheckpointControl,
    Episode,
    Installation,
    LiveSession,
    Mode,
    OnCheckpoint,
    State,
    StateExport,
    TakenOut,
    Verify,
    read_episode,
)
from checkpoint.errors import SessionLimit, SessionSpent


class Hold:
    """Stops a worker thread at a place until it is let go."""

    def __init__(self) -> None:
        self._reached, self._released = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self._reached.set()
        assert self._released.wait(15)

    async def reached(self) -> None:
        assert await anyio.to_thread.run_sync(self._reached.wait, 15, abandon_on_cancel=True)

    def release(self) -> None:
        self._released.set()


async def settled() -> None:
    """Let every task that can run do so."""
    await anyio.wait_all_tasks_blocked()


class Clock:
    """Stands still unless told otherwise."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def nothing() -> None:
    """Hold nobody."""


@dataclass(frozen=True)
class Desk:
    """A session: a value, as ours are."""

    episode: Episode
    notes: tuple[str, ...] = ()
    untouched: bool = False


@dataclass
class Exporting:
    """A server that gives its sessions out and takes them back."""

    checkpoint_mode: Mode = "exported"
    checkpoint_verify: Verify = "wait"
    desks: dict[str, Desk] = field(default_factory=dict[str, Desk])
    spent: set[str] = field(default_factory=set[str])
    verified: set[str] = field(default_factory=set[str])
    base: Any = field(default_factory=lambda: {"paper": ["white", None, "yellow"]})
    limit: int = 20_000
    crashes_in: str = ""
    holds: dict[str, Callable[[], None]] = field(default_factory=dict[str, Callable[[], None]])

    def seed(self, session_id: str, rollout: str, attempt: int = 0, *notes: str) -> None:
        self.desks[session_id] = Desk(Episode(rollout, attempt), notes)

    def note(self, session_id: str, text: str) -> None:
        desk = self.desks[session_id]
        self.desks[session_id] = Desk(desk.episode, (*desk.notes, text))

    def live_sessions(self) -> Collection[LiveSession]:
        return [LiveSession(key, desk.episode, desk.untouched) for key, desk in self.desks.items()]

    def retire_session_state(self, session_id: str) -> None:
        if self.desks.pop(session_id, None) is not None:
            self.spent.add(session_id)

    def export_session_states(self, session_ids: Sequence[str]) -> StateExport:
        self._maybe_crash("export")
        held = [(key, self.desks[key]) for key in session_ids if key not in self.verified]
        return StateExport(self._states(held), {"b1": self.base})

    def _states(self, held: Sequence[tuple[str, Desk]]) -> Iterator[State]:
        for key, desk in held:
            self._maybe_crash("encode")
            yield {
                "sessionId": key,
                "episode": desk.episode.as_json(),
                "base": "b1",
                "notes": list(desk.notes),
            }

    def restore_session_states(
        self, states: Iterable[State], bases: Mapping[str, Any], attempt_step: int
    ) -> Installation:
        self._maybe_crash("build")
        built: dict[str, Desk] = {}
        for state in states:
            if bases.get(state.get("base", "")) != self.base:
                raise ValueError(f"session {state['sessionId'][:6]}: unknown base")
            notes: Any = state["notes"]
            if not isinstance(notes, list):
                raise ValueError(f"session {state['sessionId'][:6]}: notes are a list")
            episode = read_episode(state["episode"]).later(attempt_step)
            built[state["sessionId"]] = Desk(
                episode, tuple(map(str, cast("list[object]", notes))), untouched=True
            )
        return Arriving(self, built)

    def take_out_session_states(self, session_ids: Sequence[str]) -> TakenOut:
        return Leaving(self, {key: self.desks.pop(key) for key in session_ids})

    def export_server_facts(self) -> Any:
        return sorted(self.spent)

    def restore_server_facts(self, facts: Sequence[Any]) -> Installation:
        self._maybe_crash("facts")
        return Merging(self, {key for keys in facts for key in keys} - self.spent)

    def _maybe_crash(self, where: str) -> None:
        self.holds.get(where, nothing)()
        if self.crashes_in == where:
            raise RuntimeError(f"the hook crashes in {where}")

    def maybe_crash(self, where: str) -> None:
        self._maybe_crash(where)


@dataclass
class Arriving:
    server: Exporting
    built: dict[str, Desk]

    def install(self) -> None:
        self.server.maybe_crash("install")
        spent = sorted(self.built.keys() & self.server.spent)
        if spent:
            raise SessionSpent(spent)
        if len(self.server.desks) + len(self.built) > self.server.limit:
            raise SessionLimit(self.server.limit)
        self.server.desks.update(self.built)

    def discard(self) -> None:
        for key in self.built:
            self.server.desks.pop(key, None)
        self.server.maybe_crash("discard")


@dataclass
class Leaving:
    server: Exporting
    desks: dict[str, Desk]

    def put_back(self) -> None:
        self.server.maybe_crash("put back")
        for key, desk in self.desks.items():
            self.server.desks.setdefault(key, desk)


@dataclass
class Merging:
    server: Exporting
    spent: set[str]

    def install(self) -> None:
        self.server.maybe_crash("merge")
        self.server.spent |= self.spent

    def discard(self) -> None:
        self.server.spent -= self.spent


@dataclass
class Plain:
    """A server that declares a mode without hooks, or, in its own class, nothing at all."""

    checkpoint_mode: Mode
    sessions: dict[str, Episode] = field(default_factory=dict[str, Episode])

    def live_sessions(self) -> Collection[LiveSession]:
        return Live(self.sessions)

    def retire_session_state(self, session_id: str) -> None:
        self.sessions.pop(session_id, None)


class Live(Collection[LiveSession]):
    """A view: what is seen through it changes with the sessions."""

    def __init__(self, sessions: dict[str, Episode]) -> None:
        self._sessions = sessions

    def __len__(self) -> int:
        return len(self._sessions)

    def __contains__(self, session: object) -> bool:
        return session in list(self)

    def __iter__(self) -> Iterator[LiveSession]:
        return (LiveSession(key, episode) for key, episode in self._sessions.items())


class Undeclared:
    """A server that has never heard of checkpoints."""

    def __init__(self, **sessions: Episode) -> None:
        self.sessions = sessions

    def live_sessions(self) -> Collection[LiveSession]:
        return [LiveSession(key, episode) for key, episode in self.sessions.items()]

    def retire_session_state(self, session_id: str) -> None:
        self.sessions.pop(session_id, None)


@dataclass
class Office:
    """A server, its control plane, and the clock both go by."""

    server: Exporting
    control: CheckpointControl
    clock: Clock
    root: Path


def make_office(
    root: Path,
    server: Exporting | None = None,
    *,
    instance: str = "main",
    on_checkpoint: OnCheckpoint = "refuse",
) -> Office:
    server, clock = server or Exporting(), Clock()
    control = CheckpointControl(
        server, kind="office", root=root, instance=instance, now=clock, on_checkpoint=on_checkpoint
    )
    return Office(server, control, clock, root)
