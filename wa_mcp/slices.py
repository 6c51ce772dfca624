"""Long work on the event loop, in slices between which others have it."""

from collections.abc import AsyncGenerator, Iterable
from typing import Final, TypeVar

import anyio.lowlevel

__all__ = ["in_slices"]

T = TypeVar("T")

SLICE: Final = 100
"""Items that are worked through without a pause."""


async def in_slices(items: Iterable[T]) -> AsyncGenerator[T]:
    """Walk through many items, and let others have the event loop now and then."""
    for number, item in enumerate(items, 1):
        yield item
        if number % SLICE == 0:
            await anyio.lowlevel.checkpoint()
