"""One session: a private workplace, who may call it, and what it remembers of its calls.

A session's state is a value: a call puts a new state in the place of the old one, between which there is no
await, so a call is atomic and needs no lock.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic, time
from typing import Any, Final, NamedTuple

import orjson

from checkpoint import Episode, LiveSession, OnCheckpoint
from toolkits.workplace import Outcome, Workplace, unknown_tool
from wa_mcp.errors import CodedError, invalid_params

__all__ = [
    "LONGEST_CALL_ID",
    "MOST_REMEMBERED",
    "Answer",
    "OnCheckpoint",
    "Remembered",
    "Session",
    "SessionState",
    "capture_key",
    "check_text",
]

MOST_REMEMBERED: Final = 256
"""Changing calls that a session remembers by their call ids."""

LONGEST_CALL_ID: Final = 128


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
        number: Its place among all sessions of the registry, in the order in which they came.
        entry: What a checkpoint sees of it before it looks at its state; kept, since it looks at all of them
            at once.
    """

    state: SessionState
    touched: float
    number: int
    entry: LiveSession

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
        if self.entry.untouched:
            self.entry = self.entry._replace(untouched=False)
        if call_id is not None:
            check_text("callId", call_id, LONGEST_CALL_ID)
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
        known = self.state.workplace.dataset.catalogue.tools.get(tool)
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


def check_text(name: str, text: Any, longest: int) -> None:
    """Refuse what is not 1 to `longest` printable characters, as `invalid_params`."""
    if not isinstance(text, str) or not 1 <= len(text) <= longest or not text.isprintable():
        raise invalid_params(f"{name} must be 1 to {longest} printable characters.")


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
