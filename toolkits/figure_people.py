"""Figures about the company directory."""

from collections import Counter

from toolkits.figure_columns import Row, listing


def people_figures(people: list[str], read: dict[str, list[Row]]) -> dict[str, str]:
    """Describe the names in the addresses `people`, and where first names turn up in `read`, all tables."""
    locals_ = [address.partition("@")[0] for address in people]
    firsts = Counter(local.partition(".")[0] for local in locals_)
    lasts = Counter(local.partition(".")[2] for local in locals_)
    return {
        "companies": listing(dict.fromkeys(address.partition("@")[2] for address in people)),
        "first names used twice": listing(first for first, count in firsts.items() if count > 1),
        "surnames used twice": listing(last for last, count in lasts.items() if count > 1 and last),
        "first names within other text": listing(_found_elsewhere(people, read)),
    }


def _found_elsewhere(people: list[str], read: dict[str, list[Row]]) -> list[str]:
    """List the first names that a search would find in text that has nothing to do with that person.

    What belongs to a person is their address and the rows that carry it: mails they sent and signed.
    """
    texts = [
        [cell.lower() for cell in row.cells.values() if cell] for table in read.values() for row in table
    ]
    joined = [("\n".join(cells), cells) for cells in texts]
    found: list[str] = []
    for address in dict.fromkeys(people):
        first, own = address.partition(".")[0].lower(), address.lower()
        if first and any(first in text and own not in cells for text, cells in joined):
            found.append(first)
    return found
