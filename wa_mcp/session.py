"""One session: a private workplace, who may call it, and what it remembers of its calls.

A session's state is a value: a call puts a new state in the place of the old one, between which there is no
await, so a call is atomic and needs no lock.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, NamedTuple

from checkpoint import Episode, LiveSession, OnCheckpoint
from toolkits.workplace import Outcome, Workplace, unknown_tool
from wa_mcp.errors import CodedError, invalid_params
from wa_mcp.session_state import SessionState, given_of, state_after, state_at

__all__ = [
    "LONGEST_CALL_ID",
    "Answer",
    "OnCheckpoint",
    "Session",
    "capture_key",
    "check_text",
]

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
            if (revision := state.remembered.get(call_id)) is not None:
                return self._again(call_id, revision, name, arguments)
        if self.sees(name):
            workplace, outcome = state.workplace.call(name, arguments)
        else:
            workplace, outcome = state.workplace, Outcome(unknown_tool(name), is_error=True)
        self.state = state_after(state, name, arguments, call_id, workplace, outcome)
        return Answer(outcome, workplace.revision, state.episode.attempt)

    def rewind(self, revision: int) -> None:
        """Go back to how it was after so many changes; what came after them is forgotten.

        Raises:
            CodedError: `invalid_params`, it has not come to that revision.
        """
        self.state = state_at(self.state, revision)
        self.touched = monotonic()
        if self.entry.untouched:
            self.entry = self.entry._replace(untouched=False)

    def sees(self, tool: str) -> bool:
        """Say whether the session has this tool."""
        known = self.state.workplace.dataset.catalogue.tools.get(tool)
        if known is None or known.toolkit not in self.state.toolkits:
            return False
        return self.state.tools is None or tool in self.state.tools

    def _again(self, call_id: str, revision: int, name: str, arguments: Mapping[str, Any] | None) -> Answer:
        first = self.state.history[revision - 1]
        if (first.tool, first.arguments) != (name, given_of(arguments)):
            raise CodedError(
                "call_id_conflict", "This callId stands for another call. Use a new one.", callId=call_id
            )
        outcome = Outcome(first.output, changed=first.tables)
        return Answer(outcome, revision, self.state.episode.attempt)


def check_text(name: str, text: Any, longest: int) -> None:
    """Refuse what is not 1 to `longest` printable characters, as `invalid_params`."""
    if not isinstance(text, str) or not 1 <= len(text) <= longest or not text.isprintable():
        raise invalid_params(f"{name} must be 1 to {longest} printable characters.")
