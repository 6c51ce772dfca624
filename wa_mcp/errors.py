"""Errors as they go over the wire: the one place that gives a number to a code.

Numbers and codes are those of the wire contract; a failure carries the facts that belong to it in `data`.
"""

from typing import Any, Final

from mcp import MCPError

from checkpoint.errors import CheckpointError

__all__ = ["CodedError", "SessionError", "failure", "invalid_params", "on_the_wire"]

_NUMBERS: Final = {
    "admission_closed": -32010,
    "session_required": -32011,
    "session_unknown": -32011,
    "session_conflict": -32011,
    "session_spent": -32011,
    "session_limit": -32011,
    "invalid_phase": -32012,
    "checkpoint_conflict": -32012,
    "stale_checkpoint": -32012,
    "restart_in_scope": -32012,
    "deadline_exceeded": -32013,
    "stale_attempt": -32014,
    "invalid_checkpoint_state": -32015,
    "invalid_params": -32602,
    "call_id_conflict": -32602,
}


class CodedError(Exception):
    """A refusal with a stable code, a sentence for people, and its facts.

    Attributes:
        code: The stable name of the reason, `data.code` on the wire.
        facts: What else `data` carries.
    """

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.code, self.facts = code, facts


class SessionError(CodedError):
    """A session that is missing, unknown, taken, ended or one too many, or an attempt that is over."""


def invalid_params(message: str, **facts: Any) -> CodedError:
    """Make the error for parameters that do not fit; the message says which, and what was expected."""
    return CodedError("invalid_params", message, **facts)


def on_the_wire(error: CodedError | CheckpointError) -> MCPError:
    """Turn a refusal into the JSON-RPC error that clients see."""
    return MCPError(code=_NUMBERS[error.code], message=str(error), data={"code": error.code, **error.facts})


def failure(message: str) -> MCPError:
    """Make the error for what is nobody's fault but ours; the message says what became of the request."""
    return MCPError(code=-32603, message=message)
