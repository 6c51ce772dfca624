"""What a server's process sets up for itself: descriptors, the garbage collector, and its HTTP protocol."""

import gc
import resource
from importlib.util import find_spec
from typing import Any

__all__ = ["http_protocol", "raise_descriptors", "tame_collector"]


def raise_descriptors() -> None:
    """Allow this process as many open files and connections as the system lets it have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def tame_collector() -> None:
    """Take what lives now out of the collector's sight, and let it look through everything less often.

    Sessions are freed by their reference counts; looking through twenty thousand of them takes seconds.
    """
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)


def http_protocol() -> Any:
    """Give uvicorn's HTTP protocol: the fast one, with limits, where httptools is installed; else h11."""
    if find_spec("httptools") is None:
        return "h11"
    from wa_mcp.http_protocol import LimitedProtocol  # httptools may be missing

    return LimitedProtocol
