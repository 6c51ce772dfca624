"""Run the benchmarks and print their tables: `python -m benchmarks`."""

import platform
from importlib.metadata import version

import anyio

from benchmarks.pause import pause


def main() -> None:
    """Print what was measured, and on what."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("wa-mcp", "mcp", "pandas", "orjson"))
    print(f"Python {platform.python_version()} on {platform.machine()}; {versions}\n")
    print("\n".join(anyio.run(pause)))


if __name__ == "__main__":
    main()
