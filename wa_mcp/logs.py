"""Logging for the command: to standard error, and without any session's id."""

import logging
import sys
from string import ascii_letters, digits
from typing import Final

__all__ = ["Redacted", "log_to_stderr", "redact"]

_PLACE: Final = "/sessions/"
_ID_LETTERS: Final = frozenset(ascii_letters + digits + "_-%")
_SHOWN: Final = 4


def redact(text: str) -> str:
    """Shorten every session id in a path to its first 4 letters: an id is the agent's only credential."""
    head, *rest = text.split(_PLACE)
    return head + "".join(_PLACE + _shortened(part) for part in rest)


def _shortened(text: str) -> str:
    length = next((at for at, letter in enumerate(text) if letter not in _ID_LETTERS), len(text))
    return text[:_SHOWN] + "..." + text[length:] if length > _SHOWN else text


class Redacted(logging.Formatter):
    """A formatter through which no whole session id passes, whoever logs it."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record, then shorten the ids in it."""
        return redact(super().format(record))


def log_to_stderr(level: str) -> None:
    """Send all logs to standard error; standard output belongs to people and to the stdio transport."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Redacted("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # The SDK tells of every request, which at thousands a second is noise.
    logging.getLogger("mcp").setLevel(max(logging.WARNING, logging.getLogger().level))
