"""Why something failed, in one plain line."""

from typing import cast

from wa_mcp.logs import redact

__all__ = ["plain_reason"]


def plain_reason(raised: BaseException) -> str:
    """Give the reason of an error, out of the groups it may have come in, without whole session ids."""
    error = raised
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return redact(" ".join(str(error).split()) or type(error).__name__)
