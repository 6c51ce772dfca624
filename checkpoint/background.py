"""Tasks that outlive the call that started them."""

from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import anyio.abc


class Background:
    """A task group that is there before it runs, so that those who start tasks can be given it early."""

    _tasks: anyio.abc.TaskGroup

    async def open(self) -> None:
        """Be ready to start tasks."""
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()

    def start(self, function: Callable[..., Coroutine[Any, Any, None]], *arguments: object) -> None:
        """Run a function that never raises."""
        self._tasks.start_soon(function, *arguments)

    async def close(self) -> None:
        """Cancel what runs still, and wait for it to notice.

        An error that ends the server is not told to the group: it would come out as a group of one, or be
        swallowed together with the tasks that are cancelled.
        """
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)
