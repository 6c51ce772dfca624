"""The version of the installed distribution."""

from importlib.metadata import version
from typing import Final

__all__ = ["VERSION"]

VERSION: Final = version("wa-mcp")
