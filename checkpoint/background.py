"""Tasks that outlive the call that started them."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final


class Background:
    """Tasks of one event loop.

    They are the loop's own and no task group's: a write outlives the operation that began it, the client that
    asked for it and, for a server in memory, any scope that a group could be entered in.
    """

    def __init__(self) -> None:
        """Start with none."""
        self._tasks: Final[set[asyncio.Task[None]]] = set()

    def start(self, function: Callable[..., Coroutine[Any, Any, None]], *arguments: object) -> None:
        """Run a function that never raises."""
        task = asyncio.get_running_loop().create_task(function(*arguments))
        self._tasks.add(task)  # the loop itself keeps no reference
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Cancel what runs still, and wait for it to notice."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
