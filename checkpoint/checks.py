"""Parameters that no phase accepts."""

from collections.abc import Sequence
from typing import Final

from checkpoint.errors import InvalidParams
from checkpoint.files import check_name

LONGEST_TIMEOUT: Final = 3600.0
"""Seconds."""
LONGEST_ID: Final = 256
# Far beyond any use, and far from where JSON numbers stop being exact.
LARGEST_STEP: Final = 1_000_000
MOST_SOURCES: Final = 10_000


def check_timeout(seconds: float) -> None:
    """Refuse a timeout that is not above 0 and at most an hour; a NaN too.

    Raises:
        InvalidParams: it is not.
    """
    if not 0 < seconds <= LONGEST_TIMEOUT:
        raise InvalidParams("timeoutSeconds is above 0 and at most 3600")


def check_id(checkpoint_id: str) -> None:
    """Refuse a checkpoint id that could not be written down.

    Raises:
        InvalidParams: it is empty, longer than 256 characters, or not printable.
    """
    if not 0 < len(checkpoint_id) <= LONGEST_ID or not checkpoint_id.isprintable():
        raise InvalidParams("checkpointId is 1 to 256 printable characters")


def check_step(step: int) -> int:
    """Give back an attempt step. 0 restores an attempt as itself.

    Raises:
        InvalidParams: it is below 0, or absurd.
    """
    if not 0 <= step <= LARGEST_STEP:
        raise InvalidParams("attemptStep is 0 to 1000000")
    return step


def check_sources(sources: Sequence[str] | None, own: str) -> tuple[str, ...]:
    """The instances to read, this server's own if none are named.

    Raises:
        InvalidParams: the list is empty, names one twice, or what cannot be one.
    """
    if sources is None:
        return (own,)
    named = tuple(check_name(source, "a source") for source in sources[: MOST_SOURCES + 1])
    if not 0 < len(named) <= MOST_SOURCES or len(set(named)) != len(named):
        raise InvalidParams("sources names 1 to 10000 instances, each once")
    return named


def check_shard(index: int, count: int) -> None:
    """Refuse a shard that is none of `count`.

    Raises:
        InvalidParams: it is.
    """
    if not 0 <= index < count:
        raise InvalidParams("shard has an index from 0 up, below its count")
