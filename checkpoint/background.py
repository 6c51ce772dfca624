"""Tasks that outlive the call that started them."""

from collections.abc import Callable, Coroutine
from types import TracebackType
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

    async def close(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Cancel what runs still, and wait for it to notice."""
        self._tasks.cancel_scope.cancel()
        if isinstance(error, Exception):
            # It passes by as it is, rather than in a group of one.
            kind = error = trace = None
        return await self._tasks.__aexit__(kind, error, trace)
