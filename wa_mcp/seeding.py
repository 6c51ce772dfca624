"""What a seed asks for, checked and put in order before a session is looked for or made."""

from collections.abc import Sequence
from hashlib import sha256
from secrets import token_urlsafe
from string import ascii_letters, digits
from typing import Any, Final, NamedTuple

from checkpoint import MOST_ATTEMPTS, Episode, OnCheckpoint
from toolkits.workplace import Catalogue
from wa_mcp.errors import SessionError, invalid_params
from wa_mcp.session import check_text
from wa_mcp.session_state import SessionState

__all__ = [
    "LONGEST_ROLLOUT_ID",
    "MOST_ATTEMPTS",
    "Seed",
    "check_same_episode",
    "check_session_id",
    "default_episode",
    "is_session_id",
    "new_session_id",
    "read_episode_of",
    "read_seed",
]

LONGEST_ROLLOUT_ID: Final = 128

_ID_LETTERS: Final = f"{ascii_letters}{digits}_-".encode()


class Seed(NamedTuple):
    """A session that somebody wants.

    Attributes:
        session_id: Its id; None for one that the server makes.
        episode: Its rollout and attempt; None for the one that goes with its id.
        toolkits: Names of its toolkits, in the catalogue's order.
        tools: The tools it may see, in the catalogue's order; None for all of its toolkits.
        require_attempt: Whether calls must name an attempt.
        on_checkpoint: What its calls do while a checkpoint is open; None is the server's default.
    """

    session_id: str | None
    episode: Episode | None
    toolkits: tuple[str, ...]
    tools: tuple[str, ...] | None
    require_attempt: bool
    on_checkpoint: OnCheckpoint | None

    def check_same(self, state: SessionState) -> None:
        """Refuse to answer with a live session that is not what is asked for.

        Raises:
            SessionError: `session_conflict`, or `stale_attempt` where a later attempt has the session.
        """
        if (state.toolkits, state.tools) != (self.toolkits, self.tools):
            raise SessionError("session_conflict", "This id has a session with other toolkits or tools.")
        if self.episode is not None:
            check_same_episode(self.episode, state.episode)


def check_same_episode(wanted: Episode, found: Episode) -> None:
    """Refuse to answer with a live session of another episode than the one that is asked for.

    Raises:
        SessionError: `session_conflict`, or `stale_attempt` where a later attempt has the session.
    """
    if wanted == found:
        return
    if wanted.rollout_id == found.rollout_id and wanted.attempt < found.attempt:
        raise SessionError(
            "stale_attempt",
            "A later attempt has this session.",
            attempt=wanted.attempt,
            current=found.attempt,
        )
    raise SessionError("session_conflict", "This id has a session of another episode.")


def read_seed(
    catalogue: Catalogue,
    session_id: str | None,
    episode: Episode | tuple[str, int] | None,
    toolkits: Sequence[str] | None,
    tools: Sequence[str] | None,
    require_attempt: bool,
    on_checkpoint: OnCheckpoint | None,
) -> Seed:
    """Check what a seed asks for.

    Raises:
        CodedError: `invalid_params`; the message says which parameter, and what was expected.
    """
    if session_id is not None:
        check_session_id(session_id)
    if on_checkpoint not in (None, "refuse", "wait"):
        raise invalid_params(f"onCheckpoint must be refuse or wait, not {ascii(on_checkpoint)[:40]}.")
    kits = catalogue.names if toolkits is None else _in_order("toolkits", toolkits, catalogue.names)
    allowed = None
    if tools is not None:
        known = tuple(tool.name for tool in catalogue.tools.values() if tool.toolkit in kits)
        allowed = _in_order("tools", tools, known)
    wanted = None if episode is None else read_episode_of(*episode)
    return Seed(session_id, wanted, kits, allowed, require_attempt, on_checkpoint)


def default_episode(session_id: str) -> Episode:
    """Name the episode of a session for which none was given."""
    return Episode(sha256(session_id.encode()).hexdigest()[:16], 0)


def new_session_id() -> str:
    """Make an id that nobody can guess; none begins with a hyphen, as options of a command do."""
    while (made := token_urlsafe(32)).startswith("-"):
        pass
    return made


def is_session_id(text: str) -> bool:
    """Say whether a text can be a session's id."""
    if not (16 <= len(text) <= 128 and text.isascii()):
        return False
    return not text.encode().translate(None, _ID_LETTERS)


def check_session_id(session_id: str) -> None:
    """Refuse what cannot be a session's id, as `invalid_params`."""
    if not is_session_id(session_id):
        raise invalid_params("sessionId must be 16 to 128 of A-Z a-z 0-9 _ and -.")


def _in_order(parameter: str, names: Sequence[str], known: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        raise invalid_params(f"{parameter} must name at least one, or not be given.")
    for name in names:
        if name not in known:
            raise invalid_params(f"{parameter}: {ascii(name)[:60]} is not one of {', '.join(known)}.")
    return tuple(name for name in known if name in names)


def read_episode_of(rollout_id: str, attempt: Any) -> Episode:
    """Make an episode of a rollout's id and an attempt; refuse what is none, as `invalid_params`."""
    check_text("rolloutId", rollout_id, LONGEST_ROLLOUT_ID)
    if isinstance(attempt, bool) or not isinstance(attempt, int) or not 0 <= attempt <= MOST_ATTEMPTS:
        raise invalid_params("attempt must be a whole number from 0.")
    return Episode(rollout_id, attempt)
