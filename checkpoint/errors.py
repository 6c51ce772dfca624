"""Everything that can be refused, each with a stable code and the facts that belong to it.

No wire numbers here: whoever serves the operations maps `code` to its own protocol in one place.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from checkpoint.episode import Episode

NAMED_AT_MOST: Final = 10
"""How many session ids an error names; the rest are only counted."""

RETRY_AFTER_MS: Final = 250


class CheckpointError(Exception):
    """A refusal a caller can act on.

    Attributes:
        code: stable identifier of the kind of refusal, for programs.
    """

    code: ClassVar[str] = "checkpoint_error"

    @property
    def facts(self) -> dict[str, object]:
        """What belongs to the error beside its sentence, JSON-able, keys in camelCase."""
        return {}


class AdmissionClosed(CheckpointError):
    """Work that changes sessions was asked for while a checkpoint is open."""

    code = "admission_closed"

    def __init__(self, checkpoint_id: str, *, retry_after_ms: int = RETRY_AFTER_MS) -> None:
        """Name the open checkpoint and when to try again, in milliseconds."""
        super().__init__(f"a checkpoint is being taken; try again in {retry_after_ms} ms")
        self.checkpoint_id, self.retry_after_ms = checkpoint_id, retry_after_ms

    @property
    def facts(self) -> dict[str, object]:
        """The open checkpoint and when to try again."""
        return {"checkpointId": self.checkpoint_id, "retryAfterMs": self.retry_after_ms}


class _SessionsRefused(CheckpointError):
    sentence: ClassVar[str] = ""

    def __init__(self, session_ids: Sequence[str]) -> None:
        """Name the sessions."""
        super().__init__(f"{len(session_ids)} {self.sentence}")
        self.session_ids = tuple(session_ids)

    @property
    def facts(self) -> dict[str, object]:
        """How many sessions, and the first few of their ids."""
        return {"count": len(self.session_ids), "sessionIds": list(self.session_ids[:NAMED_AT_MOST])}


class SessionConflict(_SessionsRefused):
    """Live sessions have an id or a rollout of those that should be installed."""

    code = "session_conflict"
    sentence = "live session(s) have an id or a rollout of the checkpoint"


class SessionSpent(_SessionsRefused):
    """Sessions that should be installed were closed here for good."""

    code = "session_spent"
    sentence = "session(s) of the checkpoint were closed here for good"


class SessionLimit(CheckpointError):
    """More sessions than the server may hold."""

    code = "session_limit"

    def __init__(self, limit: int) -> None:
        """Name the limit."""
        super().__init__(f"the server holds at most {limit} sessions")
        self.limit = limit

    @property
    def facts(self) -> dict[str, object]:
        """The limit."""
        return {"limit": self.limit}


class InvalidPhase(CheckpointError):
    """The operation has no answer in the phase the server is in."""

    code = "invalid_phase"

    def __init__(self, operation: str, phase: str) -> None:
        """Name the operation and the phase it met."""
        super().__init__(f"{operation} is not possible in phase {phase}")
        self.operation, self.phase = operation, phase

    @property
    def facts(self) -> dict[str, object]:
        """The operation and the phase it met."""
        return {"operation": self.operation, "phase": self.phase}


class CheckpointConflict(CheckpointError):
    """Another checkpoint is open, or this one with other parameters."""

    code = "checkpoint_conflict"

    def __init__(self, open_id: str, *, reason: str = "another checkpoint is open") -> None:
        """Name the open checkpoint."""
        super().__init__(reason)
        self.open_id = open_id

    @property
    def facts(self) -> dict[str, object]:
        """The checkpoint that is open."""
        return {"checkpointId": self.open_id}


class StaleCheckpoint(CheckpointError):
    """The checkpoint was resumed already, or its lease ended."""

    code = "stale_checkpoint"

    def __init__(self, checkpoint_id: str) -> None:
        """Name the checkpoint that is over."""
        super().__init__("the checkpoint was resumed already, or its lease ended")
        self.checkpoint_id = checkpoint_id

    @property
    def facts(self) -> dict[str, object]:
        """The checkpoint that is over."""
        return {"checkpointId": self.checkpoint_id}


class RestartInScope(CheckpointError):
    """A commit names episodes this server can only start again."""

    code = "restart_in_scope"

    def __init__(self, episodes: Sequence[Episode]) -> None:
        """Name the episodes."""
        super().__init__(f"{len(episodes)} episode(s) in scope can only be restarted, not checkpointed")
        self.episodes = tuple(episodes)

    @property
    def facts(self) -> dict[str, object]:
        """The episodes."""
        return {"episodes": [episode.as_json() for episode in self.episodes]}


class DeadlineExceeded(CheckpointError):
    """The operation took longer than its caller allows; what it waited for may go on."""

    code = "deadline_exceeded"

    def __init__(self, operation: str, *, timeout_seconds: float) -> None:
        """Name the operation and how long it was given, in seconds."""
        super().__init__(f"{operation} was not done within {timeout_seconds:g} s")
        self.operation, self.timeout_seconds = operation, timeout_seconds

    @property
    def facts(self) -> dict[str, object]:
        """The operation and how long it was given, in seconds."""
        return {"operation": self.operation, "timeoutSeconds": self.timeout_seconds}


class StaleAttempt(CheckpointError):
    """An attempt that is retired, superseded or not named though it must be.

    Raised by the gate for retired attempts; a server raises it for the other two.
    """

    code = "stale_attempt"

    def __init__(self, episode: Episode, *, reason: str = "the attempt is retired") -> None:
        """Name the episode the call was for."""
        super().__init__(reason)
        self.episode = episode

    @property
    def facts(self) -> dict[str, object]:
        """The episode the call was for."""
        return {"episode": self.episode.as_json()}


class InvalidCheckpointState(CheckpointError):
    """Missing, torn, altered or foreign files, or a state that does not validate."""

    code = "invalid_checkpoint_state"

    def __init__(self, reason: str) -> None:
        """Say why."""
        super().__init__(reason)
        self.reason = reason

    @property
    def facts(self) -> dict[str, object]:
        """Why."""
        return {"reason": self.reason}


class InvalidParams(CheckpointError):
    """A parameter no phase accepts."""

    code = "invalid_params"

    def __init__(self, reason: str) -> None:
        """Say why."""
        super().__init__(reason)
        self.reason = reason

    @property
    def facts(self) -> dict[str, object]:
        """Why."""
        return {"reason": self.reason}


class CallIdConflict(CheckpointError):
    """A call id came again with another tool or other arguments."""

    code = "call_id_conflict"

    def __init__(self, call_id: str) -> None:
        """Name the call id."""
        super().__init__("the call id was used for another call")
        self.call_id = call_id

    @property
    def facts(self) -> dict[str, object]:
        """The call id."""
        return {"callId": self.call_id}
