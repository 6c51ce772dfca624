"""What was measured on: the machine, and the versions of what matters."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

__all__ = ["machine", "versions"]

_CPU_INFO: Final = Path("/proc/cpuinfo")
_PACKAGES: Final = ("wa-mcp", "mcp", "pandas", "numpy", "orjson", "msgspec", "uvicorn", "uvloop", "httptools")


def machine() -> dict[str, str]:
    """Describe the machine."""
    return {
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
    }


def versions() -> dict[str, str]:
    """List the versions of Python and of the packages that are installed."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def _processor() -> str:
    if _CPU_INFO.exists():
        for line in _CPU_INFO.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
