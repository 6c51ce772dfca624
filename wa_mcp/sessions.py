"""The registry of sessions: who lives, who is spent. Nothing in it awaits, so nothing in it needs a lock."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from operator import attrgetter
from time import monotonic, time
from typing import Final, Literal

from checkpoint import Episode, LiveSession, Retired
from checkpoint.errors import StaleAttempt
from toolkits.workplace import Dataset
from wa_mcp.errors import SessionError
from wa_mcp.seeding import Seed, default_episode, new_session_id, read_seed
from wa_mcp.session import OnCheckpoint, Session
from wa_mcp.session_state import SessionState
from wa_mcp.spent import Spent
from wa_mcp.verified import Verified

__all__ = ["Sessions"]


class Sessions:
    """The registry.

    Args:
        dataset: What every session starts from.
        most: Sessions that may live at once.
        idle_after: Seconds without a call after which a session may be swept; 0 for never.

    Attributes:
        retired: Attempts that may not act any more.
        spent: Ids of sessions that have ended, oldest first, with the episode of those that were retired.
        verified: Results of the verifies that ended sessions.
    """

    def __init__(self, dataset: Dataset, *, most: int, idle_after: float = 0.0) -> None:
        self.dataset: Final = dataset
        self.most: Final = most
        self.retired: Final = Retired()
        self.spent: Final = Spent()
        self.verified: Final = Verified()
        self._idle_after: Final = idle_after
        self._live: Final[dict[str, Session]] = {}
        self._offered: Final[set[str]] = set()
        self._numbers: Final = count(1)

    def __len__(self) -> int:
        """Count the live sessions."""
        return len(self._live)

    def seed(
        self,
        session_id: str | None = None,
        *,
        episode: Episode | tuple[str, int] | None = None,
        toolkits: Sequence[str] | None = None,
        tools: Sequence[str] | None = None,
        require_attempt: bool = False,
        on_checkpoint: OnCheckpoint | None = None,
    ) -> Session:
        """Give a private workplace to an agent; the same seed again answers the same session.

        Args:
            session_id: 16 to 128 of `A-Z a-z 0-9 _ -`; made by the server when not given.
            episode: Rollout and attempt; made from the id when not given.
            toolkits: Names of toolkits, all when not given.
            tools: The tools it may see, all of its toolkits when not given.
            require_attempt: Refuse calls that name no attempt.
            on_checkpoint: `refuse` or `wait` while a checkpoint is open; the server's default when not given.

        Raises:
            SessionError: `session_conflict`, `session_spent`, `session_limit` or `stale_attempt`.
            CodedError: `invalid_params`.
            StaleAttempt: The attempt is retired.
        """
        catalogue = self.dataset.catalogue
        seed = read_seed(catalogue, session_id, episode, toolkits, tools, require_attempt, on_checkpoint)
        return self.seed_all([seed])[0]

    def seed_all(self, seeds: Sequence[Seed]) -> list[Session]:
        """Give a workplace to each, all of them or none; a seed of a live session answers that session.

        Raises:
            SessionError: As `seed`.
            StaleAttempt: An attempt is retired.
        """
        if self.is_full(len(seeds)):
            self.sweep()
        fresh: dict[str, Session] = {}
        answer: list[Session] = []
        for seed in seeds:
            known = None if seed.session_id is None else self.known(seed.session_id, fresh)
            if known is None:
                known = self._make(seed)
                fresh[known.id] = known
            else:
                seed.check_same(known.state)
                self.check_retired(known.episode)
            answer.append(known)
        self.go_live(fresh)
        return answer

    def go_live(self, fresh: Mapping[str, Session]) -> None:
        """Make sessions live, by id, all of them or none; nobody else has their ids.

        Raises:
            SessionError: `session_limit`.
        """
        self.check_room(len(fresh))
        # From here on nothing can fail: all of them become live, or none has.
        self._offered.difference_update(fresh)
        self._live.update(fresh)

    def known(self, session_id: str, fresh: Mapping[str, Session] = {}) -> Session | None:
        """Find a session that lives, or is about to; None where there is none.

        Raises:
            SessionError: `session_spent`, it has ended.
            StaleAttempt: It was retired.
        """
        if session_id in self.spent:
            self.spent.refuse(session_id, self.retired)
        return self._live.get(session_id) or fresh.get(session_id)

    def _make(self, seed: Seed) -> Session:
        session_id = seed.session_id or new_session_id()
        episode = seed.episode or default_episode(session_id)
        self.check_retired(episode)
        state = SessionState(
            session_id,
            episode,
            seed.toolkits,
            seed.tools,
            seed.require_attempt,
            seed.on_checkpoint,
            self.dataset.workplace(seed.toolkits),
            seeded_at=time(),
        )
        return self.handle(state)

    def handle(self, state: SessionState, *, restored: bool = False) -> Session:
        """Make the handle of a session that is not live yet."""
        entry = LiveSession(state.session_id, state.episode, restored)
        return Session(state, monotonic(), next(self._numbers), entry)

    def offer(self) -> str:
        """Make an id whose session is made by its first request; until then it is in no list or count."""
        session_id = new_session_id()
        self._offered.add(session_id)
        return session_id

    def peek(self, session_id: str) -> Session | None:
        """Find a live session; None for one that was offered and has not been called yet.

        Raises:
            SessionError: `session_spent` for one that has ended, `session_unknown` for any other id.
            StaleAttempt: It was retired.
        """
        session = self._live.get(session_id)
        if session is None and session_id not in self._offered:
            if session_id in self.spent:
                self.spent.refuse(session_id, self.retired)
            raise SessionError(
                "session_unknown", "There is no such session. Check the URL, or seed a session."
            )
        return session

    def get(self, session_id: str) -> Session:
        """Find a live session, or make the one that was offered.

        Raises:
            SessionError: `session_spent` for one that has ended, `session_unknown` for any other id.
            StaleAttempt: It was retired.
        """
        return self.peek(session_id) or self.seed(session_id)

    def shown(self, session_id: str) -> Session:
        """Find a live session to look at; looking makes none of one that was offered.

        Raises:
            SessionError: `session_spent` for one that has ended, `session_unknown` for any other id.
            StaleAttempt: It was retired.
        """
        session = self.peek(session_id)
        if session is None:
            raise SessionError("session_unknown", "This session was offered, and nobody has called it yet.")
        return session

    def find(self, session_id: str, attempts: Sequence[int] = ()) -> Session:
        """Find a live session for a call that names these attempts.

        Raises:
            SessionError: As `get`; `stale_attempt` if an attempt named is not the session's, or none is named
                and the session requires one.
            StaleAttempt: It was retired.
        """
        session = self.get(session_id)
        current = session.state.episode.attempt
        for attempt in attempts:
            if attempt != current:
                raise SessionError(
                    "stale_attempt", "This attempt is not the session's.", attempt=attempt, current=current
                )
        if session.state.require_attempt and not attempts:
            raise SessionError("stale_attempt", "This session answers only calls that name its attempt.")
        return session

    def close(self, session_id: str) -> Literal["closed", "already_closed"]:
        """End a session, or one only offered, and drop its state; its id stays spent.

        Raises:
            SessionError: `session_unknown` for an id that never was.
        """
        if self._live.pop(session_id, None) is None and session_id not in self._offered:
            if session_id in self.spent:
                return "already_closed"
            raise SessionError("session_unknown", "There is no such session.")
        self._offered.discard(session_id)
        self.spent.add(session_id)
        return "closed"

    def retire(self, session_id: str) -> None:
        """Drop a session whose attempt is retired; one that does not live is no error."""
        session = self._live.pop(session_id, None)
        if session is not None:
            self.spent.add(session_id, session.episode)

    def list(self) -> list[Session]:
        """List the live sessions, in the order in which they came."""
        return list(self._live.values())

    def live(self, session_ids: Iterable[str]) -> "list[Session]":
        """List those of these sessions that live."""
        return [found for session_id in session_ids if (found := self._live.get(session_id)) is not None]

    def add(self, sessions: Iterable[Session]) -> None:
        """Make sessions live, those that come back in their old places; nobody else has their ids."""
        ordered = sorted([*self._live.values(), *sessions], key=attrgetter("number"))
        self._live.clear()
        self._live.update({session.id: session for session in ordered})

    def remove(self, session_ids: Iterable[str]) -> "list[Session]":
        """Take sessions out without spending their ids, and give those that lived."""
        return [found for one in session_ids if (found := self._live.pop(one, None)) is not None]

    def sweep(self) -> int:
        """Close the sessions that have been idle for too long, and count them."""
        if not self._idle_after:
            return 0
        latest = monotonic() - self._idle_after
        idle = [session for session in self._live.values() if session.touched <= latest]
        for session in idle:
            self.close(session.id)
        return len(idle)

    def is_full(self, more: int) -> bool:
        """Say whether so many sessions more could not live at once."""
        return len(self._live) + more > self.most

    def check_room(self, more: int) -> None:
        """Refuse more sessions than may live at once.

        Raises:
            SessionError: `session_limit`.
        """
        if self.is_full(more):
            raise SessionError(
                "session_limit", f"{self.most} sessions may live at once. Close some first.", limit=self.most
            )

    def check_retired(self, episode: Episode) -> None:
        """Refuse an episode whose attempt may not act any more.

        Raises:
            StaleAttempt: It is retired.
        """
        if self.retired.covers(episode):
            raise StaleAttempt(episode)
