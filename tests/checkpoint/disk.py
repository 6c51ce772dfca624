"""The calls `checkpoint` makes to the operating system, with a fault at one of them."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import checkpoint.files
import checkpoint.store

WATCHED = ("open", "close", "mkdir", "write", "fsync", "rename", "link", "unlink", "stat")
Fault = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


class Disk:
    """Stands in for the module `os`; the call of number `at` meets `fault` instead."""

    def __init__(self, at: int, fault: Fault) -> None:
        self._at, self._fault = at, fault
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in WATCHED:
            return real

        def watched(*args: Any, **keywords: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) - 1 == self._at:
                return self._fault(real, args, keywords)
            return real(*args, **keywords)

        return watched

    def put_in(self) -> None:
        for module in (checkpoint.files, checkpoint.store):
            module.os = self  # type: ignore[attr-defined]

    @staticmethod
    def take_out() -> None:
        for module in (checkpoint.files, checkpoint.store):
            module.os = os  # type: ignore[attr-defined]


def failing(number: int, *, halfway: bool = False) -> Fault:
    """A call that fails; `halfway`, after it has done half of its work or all of it."""

    def fault(real: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if halfway:
            do_half(real, args, keywords)
        elif real is os.close:
            # A descriptor is closed even if closing fails.
            real(*args, **keywords)
        raise OSError(number, "injected")

    return fault


def killed(*, halfway: bool) -> Fault:
    """A process that is gone, before or in the midst of a call."""

    def fault(real: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if halfway:
            with suppress(OSError):
                do_half(real, args, keywords)
        os.kill(os.getpid(), signal.SIGKILL)

    return fault


def do_half(real: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    if real is os.write:
        fd, data = args
        real(fd, data[: len(data) // 2])
    elif real is os.open:
        os.close(real(*args, **keywords))
    else:
        real(*args, **keywords)
