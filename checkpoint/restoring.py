"""From files, or from states handed in, to sessions that are live: all of them or none."""

import hashlib
import logging
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, cast

from checkpoint.episode import Episode
from checkpoint.errors import CheckpointError, InvalidCheckpointState, SessionConflict, StaleAttempt
from checkpoint.files import Place
from checkpoint.hooks import Installation, Server, State, Together, server_facts_of
from checkpoint.jobs import Job, Stopped
from checkpoint.modes import Participation
from checkpoint.records import Contents, Permit, session_of
from checkpoint.results import Restored, RestoredSession
from checkpoint.retired import MergedMarks, Retired, read_marks
from checkpoint.store import Store
from checkpoint.stored import StoredState

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` servers that share a checkpoint out among them; `index` from 0."""

    index: int
    count: int

    def has(self, session_id: str) -> bool:
        """Whether this server takes the session."""
        return place_of(session_id, self.count) == self.index


def place_of(session_id: str, count: int) -> int:
    """Which of `count` servers, from 0, a session lives on."""
    digest = hashlib.sha256(session_id.encode()).hexdigest()
    return int(digest[:8], 16) % count


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """What makes two restores the same.

    Attributes:
        place: where from.
        episodes: which ones as stored, None for all.
        attempt_step: how much later than stored the attempts are.
        sources: the instances to read.
        shard: which part of the sessions, None for all.
    """

    place: Place
    episodes: frozenset[Episode] | None
    attempt_step: int
    sources: tuple[str, ...]
    shard: Shard | None

    @property
    def is_for_all(self) -> bool:
        """Whether every stored session was asked for."""
        return self.episodes is None and self.shard is None

    def wants(self, session_id: str, episode: Episode) -> bool:
        """Whether a stored session is one of those asked for."""
        is_named = self.episodes is None or episode in self.episodes
        return is_named and (self.shard is None or self.shard.has(session_id))


class Reading(Job[Restored]):
    """A restore that is not done yet.

    Attributes:
        waiting: how many callers await it.
    """

    def __init__(self, request: RestoreRequest) -> None:
        """Make one for a request."""
        super().__init__()
        self.request, self.waiting = request, 0


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Sessions on the point of going live.

    Attributes:
        checkpoint_id: the checkpoint they come from, empty if none.
        sessions: session id to new episode.
        marks: the retired marks that come with them.
        installation: sessions, server facts and marks.
    """

    checkpoint_id: str
    sessions: dict[str, Episode]
    marks: dict[str, int]
    installation: Installation

    def as_json(self) -> list[RestoredSession]:
        """The sessions as they are answered."""
        return [
            {"sessionId": session_id, "episode": episode.as_json()}
            for session_id, episode in self.sessions.items()
        ]


class Rebuilder:
    """Builds sessions for one server, and installs them."""

    def __init__(self, server: Server, participation: Participation, retired: Retired) -> None:
        """Work for `server`, and merge marks into `retired`."""
        self._server, self._participation, self._retired = server, participation, retired
        self._facts = server_facts_of(server)

    def read(self, store: Store, request: RestoreRequest, permit: Permit) -> Rebuilt:
        """Read, verify and build what was asked for; in a worker thread.

        Raises:
            InvalidCheckpointState: files or states are not what they should be.
        """
        permit.check()
        read = [store.read(request.place, source, permit) for source in request.sources]
        checkpoint_ids = {contents.manifest["checkpointId"] for contents in read}
        if len(checkpoint_ids) != 1:
            raise InvalidCheckpointState("the sources are not of one checkpoint")
        for contents in read:
            if contents.manifest.get("mode") != self._participation.mode:
                raise InvalidCheckpointState("the checkpoint is of a server that takes part in another way")
        states = chain.from_iterable(contents.states for contents in read)
        facts = [contents.facts for contents in read]
        permit.check()
        bases, step = _all_bases(read), request.attempt_step
        wants = None if request.is_for_all else request.wants
        return self.rebuild(states, bases, facts, step, *checkpoint_ids, wants=wants)

    def rebuild(
        self,
        states: Iterable[State],
        bases: Mapping[str, Any],
        facts: Sequence[Any],
        attempt_step: int,
        checkpoint_id: str = "",
        *,
        wants: Callable[[str, Episode], bool] | None = None,
    ) -> Rebuilt:
        """Build sessions; in a worker thread.

        Args:
            states: one mapping a session; walked through once.
            bases: what they share, by digest.
            facts: what `facts_line` made, of any number of servers.
            attempt_step: how much later than stored the attempts are.
            checkpoint_id: where they come from.
            wants: which of them to build, by session id and stored episode; None for all.

        Raises:
            InvalidCheckpointState: one does not validate.
        """
        sessions: dict[str, Episode] = {}
        coming = _wanted(states, wants, partial(_note, sessions, attempt_step))
        with refusing_invalid_states("the sessions could not be rebuilt"):
            marks, server_facts = _read_facts(facts)
            parts = [
                self._participation.rebuild(coming, bases, attempt_step),
                self._facts.restore_server_facts(server_facts),
                MergedMarks(self._retired, marks),
            ]
            for _ in coming:
                pass  # a server that did not walk through all of them has to answer for them all the same
        return Rebuilt(checkpoint_id, sessions, marks, Together(parts))

    def install(self, rebuilt: Rebuilt) -> None:
        """Make them all live; on the event loop.

        Raises:
            SessionConflict: a live session has an id or a rollout of theirs.
            StaleAttempt: one of their attempts is retired.
            CheckpointError: the server refuses them.
        """
        # No await in here: nothing comes between the checks and the installation.
        ids = rebuilt.sessions.keys()
        rollouts = {episode.rollout_id for episode in rebuilt.sessions.values()}
        in_the_way = [
            session.session_id
            for session in self._server.live_sessions()
            if session.session_id in ids or session.episode.rollout_id in rollouts
        ]
        if in_the_way:
            raise SessionConflict(in_the_way)
        # Marks that come along count as well: a session that is refused ever after is not restored.
        retired = self._retired.merged(rebuilt.marks)
        for episode in rebuilt.sessions.values():
            if retired.covers(episode):
                raise StaleAttempt(episode)
        with refusing_invalid_states("the sessions could not be installed"):
            rebuilt.installation.install()

    def facts_line(self) -> dict[str, Any]:
        """The line of server facts: retired marks, and what the server itself remembers."""
        return {"retired": dict(self._retired.marks), "server": self._facts.export_server_facts()}


def _wanted(
    states: Iterable[State],
    wants: Callable[[str, Episode], bool] | None,
    note: Callable[[State], None],
) -> Generator[State]:
    """Hand out the states that are wanted, and note each."""
    for state in states:
        if wants is None and isinstance(state, StoredState):
            yield state
            note(state)  # now that the server has read it, and it has not to be read for this alone
        elif wants is None or wants(*session_of(state)):
            note(state)
            yield state


def _note(sessions: dict[str, Episode], attempt_step: int, state: State) -> None:
    session_id, episode = session_of(state)
    if session_id in sessions:
        raise InvalidCheckpointState("a session is there twice")
    sessions[session_id] = episode.later(attempt_step)


@contextmanager
def refusing_invalid_states(what: str) -> Generator[None]:
    """Turn what hooks raise into a refusal; `what` is the sentence for an error they should not raise.

    Raises:
        InvalidCheckpointState: a hook raised something else than a CheckpointError.
    """
    try:
        yield
    except (CheckpointError, Stopped):
        raise
    except ValueError as error:
        raise InvalidCheckpointState(str(error)) from error
    except Exception as error:  # a hook that crashes refuses, and never leaves the server closed
        logger.exception("%s", what)
        raise InvalidCheckpointState(what) from error


def _all_bases(read: Sequence[Contents]) -> dict[str, Any]:
    bases: dict[str, Any] = {}
    for contents in read:
        for digest, base in contents.bases.items():
            known = bases.setdefault(digest, base)
            if known is not base and known != base:
                raise InvalidCheckpointState("the sources disagree on a base")
    return bases


def _read_facts(lines: Sequence[Any]) -> tuple[dict[str, int], list[Any]]:
    for line in lines:
        if not isinstance(line, dict) or cast("dict[str, Any]", line).keys() != {"retired", "server"}:
            raise ValueError("server facts are {retired, server}")
    marks = read_marks([line["retired"] for line in lines])
    return marks, [line["server"] for line in lines if line["server"] is not None]
