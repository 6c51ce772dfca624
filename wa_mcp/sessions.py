"""Sessions: private workplaces by id, seeded, worked, listed and closed.

A session's state is a value: a call puts a new state in the place of the old one, between which there is no
await, so a call is atomic and needs no lock.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_urlsafe
from string import ascii_letters, digits
from time import monotonic, time
from typing import Any, Final, Literal, NamedTuple

import orjson

from toolkits.dataset import Dataset
from toolkits.workplace import Outcome, Workplace, unknown_tool
from wa_mcp.errors import CodedError, SessionError, invalid_params

__all__ = [
    "MOST_ATTEMPTS",
    "Answer",
    "Episode",
    "OnCheckpoint",
    "Session",
    "SessionState",
    "Sessions",
    "capture_key",
]

OnCheckpoint = Literal["refuse", "wait"]

MOST_REMEMBERED: Final = 256
"""Changing calls that a session remembers by their call ids."""

MOST_SPENT: Final = 100_000
"""Closed session ids that the server keeps refusing."""

LONGEST_CALL_ID: Final = 128
LONGEST_ROLLOUT_ID: Final = 128
MOST_ATTEMPTS: Final = 2**53

_ID_LETTERS: Final = frozenset(ascii_letters + digits + "_-")


class Episode(NamedTuple):
    """Which rollout a session belongs to, and which attempt at it."""

    rollout_id: str
    attempt: int


def capture_key(episode: Episode) -> str:
    """Name an episode in reports: the rollout, and `-aN` from the first repeated attempt on."""
    return f"{episode.rollout_id}-a{episode.attempt}" if episode.attempt else episode.rollout_id


class Answer(NamedTuple):
    """What a tool call came to, in which session state.

    Attributes:
        outcome: The tool's answer.
        revision: The session's revision after the call; for a repeated call, after the first time.
        attempt: The session's attempt.
    """

    outcome: Outcome
    revision: int
    attempt: int


class Remembered(NamedTuple):
    """A changing call that carried a call id: a digest of what was asked, and what came of it."""

    asked: bytes
    outcome: Outcome
    revision: int


class SessionState(NamedTuple):
    """Everything that a session is; never written into, only replaced.

    Attributes:
        session_id: The agent's only credential.
        episode: The rollout and attempt it belongs to.
        toolkits: Names of its toolkits, in the catalogue's order.
        tools: The tools it may see, None for all of its toolkits.
        require_attempt: Whether calls must name an attempt.
        on_checkpoint: What its calls do while a checkpoint is open; None is the server's default.
        workplace: Its tables.
        seeded_at: When it was seeded, in seconds since 1970.
        last_call_at: When it was last called, in seconds since 1970, or None.
        calls: Tool calls so far, failed ones included.
        errors: Tool calls that failed.
        reads: Tool calls that only read.
        remembered: Changing calls by call id, oldest first.
    """

    session_id: str
    episode: Episode
    toolkits: tuple[str, ...]
    tools: tuple[str, ...] | None
    require_attempt: bool
    on_checkpoint: OnCheckpoint | None
    workplace: Workplace
    seeded_at: float
    last_call_at: float | None = None
    calls: int = 0
    errors: int = 0
    reads: int = 0
    remembered: Mapping[str, Remembered] = {}


@dataclass(slots=True)
class Session:
    """A live session: a handle on its current state.

    Attributes:
        state: What the session is now.
        touched: When it was seeded or last called, on the monotonic clock.
    """

    state: SessionState
    touched: float

    @property
    def id(self) -> str:
        """The session's id: who has it can work the session."""
        return self.state.session_id

    @property
    def path(self) -> str:
        """Where the session is, below the server's URL."""
        return f"/sessions/{self.state.session_id}/mcp"

    @property
    def episode(self) -> Episode:
        """The rollout and attempt that the session belongs to."""
        return self.state.episode

    @property
    def revision(self) -> int:
        """How many calls have changed something."""
        return self.state.workplace.revision

    @property
    def workplace(self) -> Workplace:
        """The session's tables as they are now."""
        return self.state.workplace

    def __repr__(self) -> str:
        """Say which session it is, without giving its id away."""
        return f"<Session {self.id[:4]}... revision {self.revision}>"

    def call(self, name: str, arguments: Mapping[str, Any] | None, *, call_id: str | None = None) -> Answer:
        """Call a tool; a call id that changed something before answers what it answered then.

        Never raises for bad tool input: the outcome says what was wrong.

        Raises:
            CodedError: `call_id_conflict`, the call id stands for another call; `invalid_params`.
        """
        # No await from here to the new state, so no lock is needed.
        state = self.state
        self.touched = monotonic()
        if call_id is not None:
            _check_text("callId", call_id, LONGEST_CALL_ID)
            if (known := state.remembered.get(call_id)) is not None:
                return self._again(call_id, known, name, arguments)
        if self.sees(name):
            workplace, outcome = state.workplace.call(name, arguments)
        else:
            workplace, outcome = state.workplace, Outcome(unknown_tool(name), is_error=True)
        remembered = state.remembered
        if call_id is not None and outcome.changed:
            known = Remembered(_asked(name, arguments), outcome, workplace.revision)
            remembered = _with_newest(remembered, call_id, known)
        self.state = state._replace(
            workplace=workplace,
            last_call_at=time(),
            calls=state.calls + 1,
            errors=state.errors + outcome.is_error,
            reads=state.reads + (not outcome.is_error and not outcome.changed),
            remembered=remembered,
        )
        return Answer(outcome, workplace.revision, state.episode.attempt)

    def sees(self, tool: str) -> bool:
        """Say whether the session has this tool."""
        known = self.state.workplace.catalogue.tools.get(tool)
        if known is None or known.toolkit not in self.state.toolkits:
            return False
        return self.state.tools is None or tool in self.state.tools

    def _again(
        self, call_id: str, known: Remembered, name: str, arguments: Mapping[str, Any] | None
    ) -> Answer:
        if _asked(name, arguments) != known.asked:
            raise CodedError(
                "call_id_conflict", "This callId stands for another call. Use a new one.", callId=call_id
            )
        return Answer(known.outcome, known.revision, self.state.episode.attempt)


class Sessions:
    """The registry: who lives, who is spent.

    Args:
        dataset: What every session starts from.
        most: Sessions that may live at once.
        idle_after: Seconds without a call after which a session may be swept; 0 for never.
    """

    def __init__(self, dataset: Dataset, *, most: int, idle_after: float = 0.0) -> None:
        self.dataset: Final = dataset
        self._most: Final = most
        self._idle_after: Final = idle_after
        self._live: dict[str, Session] = {}
        self._spent: OrderedDict[str, None] = OrderedDict()
        self._offered: set[str] = set()

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
        """
        if session_id is not None:
            _check_id(session_id)
        wanted = None if episode is None else _episode(*episode)
        kits = self._toolkits(toolkits)
        allowed = self._tools(kits, tools)
        if on_checkpoint not in (None, "refuse", "wait"):
            raise invalid_params(f"onCheckpoint must be refuse or wait, not {ascii(on_checkpoint)[:40]}.")
        if session_id is not None and (known := self._live.get(session_id)) is not None:
            return _same(known, kits, allowed, wanted)
        self._check_room(session_id)
        session_id = token_urlsafe(32) if session_id is None else session_id
        state = SessionState(
            session_id=session_id,
            episode=wanted or _default_episode(session_id),
            toolkits=kits,
            tools=allowed,
            require_attempt=require_attempt,
            on_checkpoint=on_checkpoint,
            workplace=self.dataset.workplace(kits),
            seeded_at=time(),
        )
        self._offered.discard(session_id)
        session = self._live[session_id] = Session(state, monotonic())
        return session

    def offer(self) -> str:
        """Make an id whose session is made by its first request; until then it is in no list or count."""
        session_id = token_urlsafe(32)
        self._offered.add(session_id)
        return session_id

    def get(self, session_id: str) -> Session:
        """Find a live session.

        Raises:
            SessionError: `session_spent` for one that has ended, `session_unknown` for any other id.
        """
        session = self._live.get(session_id)
        if session is not None:
            return session
        if session_id in self._offered:
            return self.seed(session_id)
        if session_id in self._spent:
            raise SessionError("session_spent", "This session has ended. Ask the controller for a new one.")
        raise SessionError("session_unknown", "There is no such session. Check the URL, or seed a session.")

    def find(self, session_id: str, attempts: Sequence[int] = ()) -> Session:
        """Find a live session for a call that names these attempts.

        Raises:
            SessionError: As `get`; `stale_attempt` if an attempt named is not the session's, or none is named
                and the session requires one.
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
            if session_id in self._spent:
                return "already_closed"
            raise SessionError("session_unknown", "There is no such session.")
        self._offered.discard(session_id)
        self._spend(session_id)
        return "closed"

    def list(self) -> list[Session]:
        """List the live sessions, oldest first."""
        return list(self._live.values())

    def sweep(self) -> int:
        """Close the sessions that have been idle for too long, and count them."""
        if not self._idle_after:
            return 0
        latest = monotonic() - self._idle_after
        idle = [session_id for session_id, session in self._live.items() if session.touched <= latest]
        for session_id in idle:
            self.close(session_id)
        return len(idle)

    def _spend(self, session_id: str) -> None:
        self._spent[session_id] = None
        if len(self._spent) > MOST_SPENT:
            self._spent.popitem(last=False)

    def _check_room(self, session_id: str | None) -> None:
        if session_id in self._spent:
            raise SessionError("session_spent", "A session with this id has ended. Use another id.")
        if len(self._live) >= self._most:
            self.sweep()
        if len(self._live) >= self._most:
            raise SessionError(
                "session_limit", f"{self._most} sessions live already. Close some first.", limit=self._most
            )

    def _toolkits(self, names: Sequence[str] | None) -> tuple[str, ...]:
        known = self.dataset.catalogue.names
        if names is None:
            return known
        _check_names("toolkits", names, known)
        return tuple(name for name in known if name in names)

    def _tools(self, toolkits: tuple[str, ...], names: Sequence[str] | None) -> tuple[str, ...] | None:
        if names is None:
            return None
        known = [tool.name for tool in self.dataset.catalogue.tools.values() if tool.toolkit in toolkits]
        _check_names("tools", names, known)
        return tuple(name for name in known if name in names)


def _check_id(session_id: str) -> None:
    if not 16 <= len(session_id) <= 128 or not _ID_LETTERS.issuperset(session_id):
        raise invalid_params("sessionId must be 16 to 128 of A-Z a-z 0-9 _ and -.")


def _check_text(name: str, text: Any, longest: int) -> None:
    if not isinstance(text, str) or not 1 <= len(text) <= longest or not text.isprintable():
        raise invalid_params(f"{name} must be 1 to {longest} printable characters.")


def _check_names(parameter: str, names: Sequence[str], known: Sequence[str]) -> None:
    if not names:
        raise invalid_params(f"{parameter} must name at least one, or not be given.")
    for name in names:
        if name not in known:
            raise invalid_params(f"{parameter}: {ascii(name)[:60]} is not one of {', '.join(known)}.")


def _episode(rollout_id: str, attempt: Any) -> Episode:
    _check_text("rolloutId", rollout_id, LONGEST_ROLLOUT_ID)
    if isinstance(attempt, bool) or not isinstance(attempt, int) or not 0 <= attempt <= MOST_ATTEMPTS:
        raise invalid_params("attempt must be a whole number from 0.")
    return Episode(rollout_id, attempt)


def _default_episode(session_id: str) -> Episode:
    return Episode(sha256(session_id.encode()).hexdigest()[:16], 0)


def _same(
    known: Session, toolkits: tuple[str, ...], tools: tuple[str, ...] | None, episode: Episode | None
) -> Session:
    """Answer a seed of a live id with the session, if it asks for the same."""
    state = known.state
    if (state.toolkits, state.tools) != (toolkits, tools):
        raise SessionError("session_conflict", "This id has a session with other toolkits or tools.")
    if episode is None or episode == state.episode:
        return known
    if episode.rollout_id == state.episode.rollout_id and episode.attempt < state.episode.attempt:
        raise SessionError(
            "stale_attempt", "A later attempt has this session.", attempt=episode.attempt,
            current=state.episode.attempt,
        )  # fmt: skip
    raise SessionError("session_conflict", "This id has a session of another episode.")


def _asked(name: str, arguments: Mapping[str, Any] | None) -> bytes:
    """Digest a call; an argument that is null counts as not given."""
    given = {key: value for key, value in (arguments or {}).items() if value is not None}
    try:
        text = orjson.dumps([name, given], option=orjson.OPT_SORT_KEYS)
    except TypeError:  # not storable, so it never was a call that changed something
        return b""
    return sha256(text).digest()


def _with_newest(
    remembered: Mapping[str, Remembered], call_id: str, known: Remembered
) -> dict[str, Remembered]:
    kept = {**remembered, call_id: known}
    if len(kept) > MOST_REMEMBERED:
        del kept[next(iter(kept))]
    return kept
