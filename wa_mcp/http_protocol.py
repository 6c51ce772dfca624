"""uvicorn's fast HTTP protocol, with limits on what a client may send before its request has a head.

Imported only where httptools is installed; h11, which serves otherwise, has limits of its own.
"""

import asyncio
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["LimitedProtocol"]

LARGEST_HEAD: Final = 512 * 1024
"""Bytes that a request's first line and headers may have together; more than what is read at a time."""

HEAD_WITHIN: Final = 60.0
"""Seconds in which they must be there."""


class LimitedProtocol(HttpToolsProtocol):
    """Closes a connection that sends too much, or takes too long, before a request has a head."""

    head_size = 0
    in_head = True
    clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Wait for the head of this request."""
        self._wait_for_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self.in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Count what belongs to a head that is not there yet."""
        super().data_received(data)
        if self.in_head:
            self.head_size += len(data)
            if self.head_size > LARGEST_HEAD:
                self.transport.close()

    def _wait_for_head(self) -> None:
        self._stop_waiting()
        self.in_head, self.head_size = True, 0
        self.clock = self.loop.call_later(HEAD_WITHIN, self.transport.close)

    def _stop_waiting(self) -> None:
        if self.clock is not None:
            self.clock.cancel()
            self.clock = None
