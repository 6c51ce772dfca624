"""How long a checkpoint stays open without a word from its controller."""

from collections.abc import Callable

Now = Callable[[], float]
"""A monotonic clock, in seconds."""


class Lease:
    """Ends `timeout + grace` seconds after the controller's last call.

    There is no timer: whoever comes by looks at it.
    """

    def __init__(self, now: Now, *, timeout: float, grace: float) -> None:
        """Start the lease.

        Args:
            now: monotonic seconds.
            timeout: what the controller gave its first call, in seconds.
            grace: seconds on top of every timeout.
        """
        self._now, self._grace = now, grace
        self._ends_at = now() + timeout + grace

    def renew(self, timeout: float) -> bool:
        """Count from now on again.

        Returns:
            Whether it now ends earlier than it would have.
        """
        before, self._ends_at = self._ends_at, self._now() + timeout + self._grace
        return self._ends_at < before

    @property
    def left(self) -> float:
        """Seconds until it ends, 0 when it is over."""
        return max(0.0, self._ends_at - self._now())

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return not self._now() < self._ends_at
