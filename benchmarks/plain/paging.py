"""Pages of what a search found."""

from typing import Any

import pandas as pd

__all__ = ["paged"]


def paged(found: pd.DataFrame, items: str, page: int, page_size: int) -> dict[str, Any]:
    """Show one page of the rows that were found, and how many there are."""
    pages = -(-len(found) // page_size)
    page = min(max(page, 1), pages)
    start = (page - 1) * page_size
    return {
        items: found.iloc[start : start + page_size].to_dict(orient="records"),
        "pagination": {
            f"total_{items}": len(found),
            "page": page,
            "page_size": page_size,
            "total_pages": pages,
        },
    }
