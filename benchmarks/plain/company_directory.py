"""Plain company directory."""

from pathlib import Path
from typing import Any

import pandas as pd

__all__ = ["CompanyDirectory"]


class CompanyDirectory:
    """The addresses of one session, read from their file."""

    def __init__(self, folder: Path) -> None:
        self.addresses = pd.read_csv(folder / "email_addresses.csv", dtype=str)

    def find_email_address(self, name: str = "") -> Any:
        """Find the addresses that hold a name."""
        if not name:
            return "Name not provided."
        addresses = self.addresses["email_address"]
        return addresses[addresses.str.contains(name, case=False, na=False, regex=False)].tolist()
