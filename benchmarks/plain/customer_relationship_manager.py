"""Plain customer list: masks over the columns."""

from pathlib import Path
from typing import Any, Final

import pandas as pd

from benchmarks.plain.paging import paged

__all__ = ["CustomerRelationshipManager"]

_STATUSES: Final = ("Qualified", "Won", "Lost", "Lead", "Proposal")


class CustomerRelationshipManager:
    """The customer list of one session, read from its file."""

    def __init__(self, folder: Path) -> None:
        self.customers = pd.read_csv(folder / "customer_relationship_manager_data.csv", dtype=str)

    def search_customers(
        self,
        customer_name: str = "",
        customer_email: str = "",
        product_interest: str = "",
        status: str = "",
        assigned_to_email: str = "",
        last_contact_date_min: str = "",
        last_contact_date_max: str = "",
        follow_up_by_min: str = "",
        follow_up_by_max: str = "",
        page: int = 1,
        page_size: int = 5,
    ) -> Any:
        """Find the customers for which every filter given holds."""
        parts = {
            "customer_name": customer_name,
            "customer_email": customer_email,
            "product_interest": product_interest,
            "status": status,
            "assigned_to_email": assigned_to_email,
        }
        customers = self.customers
        for column, part in parts.items():
            if part:
                customers = customers[customers[column].str.contains(part, case=False, na=False, regex=False)]
        if last_contact_date_min:
            customers = customers[customers["last_contact_date"] >= last_contact_date_min]
        if last_contact_date_max:
            customers = customers[customers["last_contact_date"] <= last_contact_date_max]
        if follow_up_by_min:
            customers = customers[customers["follow_up_by"] >= follow_up_by_min]
        if follow_up_by_max:
            customers = customers[customers["follow_up_by"] <= follow_up_by_max]
        if customers.empty:
            return "No customers found."
        return paged(customers, "customers", page, page_size)

    def update_customer(self, customer_id: str, field: str, new_value: str) -> Any:
        """Change one field of one customer."""
        if field == "status" and new_value not in _STATUSES:
            return "Status not valid."
        if customer_id not in self.customers["customer_id"].values:
            return "Customer not found."
        if field in ("customer_email", "assigned_to_email"):
            new_value = new_value.lower()
        self.customers.loc[self.customers["customer_id"] == customer_id, field] = new_value
        return "Customer updated successfully."

    def add_customer(
        self,
        customer_name: str,
        assigned_to_email: str,
        status: str,
        customer_email: str | None = None,
        customer_phone: str | None = None,
        last_contact_date: str | None = None,
        product_interest: str | None = None,
        notes: str = "",
        follow_up_by: str | None = None,
    ) -> Any:
        """Put a customer onto the list."""
        customer_id = str(int(self.customers["customer_id"].max()) + 1).zfill(8)
        customer = {
            "customer_id": customer_id,
            "assigned_to_email": assigned_to_email.lower(),
            "customer_name": customer_name,
            "customer_email": customer_email.lower() if customer_email else customer_email,
            "customer_phone": customer_phone,
            "last_contact_date": last_contact_date,
            "product_interest": product_interest,
            "status": status,
            "follow_up_by": follow_up_by,
            "notes": notes,
        }
        self.customers = pd.concat([self.customers, pd.DataFrame([customer])], ignore_index=True)
        return customer_id

    def delete_customer(self, customer_id: str) -> Any:
        """Delete one customer."""
        if customer_id not in self.customers["customer_id"].values:
            return "Customer not found."
        self.customers = self.customers[self.customers["customer_id"] != customer_id].copy()
        return "Customer deleted successfully."
