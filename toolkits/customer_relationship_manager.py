"""The customer list: search, add, change and delete customers."""

from typing import Annotated, Any, Final

from toolkits.search import Search, page_of
from toolkits.tool import Arg, Change, ToolError, tool
from toolkits.toolkit import Page, PageSize, TableField, Toolkit, check_effort, next_id, one_of

__all__ = ["CustomerRelationshipManager"]

CustomerId = Annotated[str, Arg("Id of the customer, 8 digits.")]
Lowest = Annotated[str, Arg("Earliest date to include, YYYY-MM-DD.")]
Highest = Annotated[str, Arg("Latest date to include, YYYY-MM-DD; a cell with a time of day is later.")]

_STATUSES: Final = ("Qualified", "Won", "Lost", "Lead", "Proposal")
_PRODUCTS: Final = ("Software", "Hardware", "Services", "Consulting", "Training")
_ADDRESSES: Final = ("customer_email", "assigned_to_email")


class CustomerRelationshipManager(Toolkit):
    """The customer list: one row a customer."""

    name = "customer_relationship_manager"
    customers = TableField(
        "customer_id", "assigned_to_email", "customer_name", "customer_email", "customer_phone",
        "last_contact_date", "product_interest", "status", "follow_up_by", "notes",
        file="customer_relationship_manager_data.csv", key="customer_id",
        looked_through=(
            "customer_name", "customer_email", "product_interest", "status", "assigned_to_email",
        ),
        bounded=("last_contact_date", "follow_up_by"),
    )  # fmt: skip

    @tool(title="Search customers")
    def search_customers(
        self,
        customer_name: Annotated[str, Arg("Part of the customer's name, in any case.")] = "",
        customer_email: Annotated[str, Arg("Part of the customer's address, in any case.")] = "",
        product_interest: Annotated[str, Arg("Part of the product's name, in any case.")] = "",
        status: Annotated[str, Arg("Part of the status, in any case.")] = "",
        assigned_to_email: Annotated[str, Arg("Part of the address of who looks after them.")] = "",
        last_contact_date_min: Lowest = "",
        last_contact_date_max: Highest = "",
        follow_up_by_min: Lowest = "",
        follow_up_by_max: Highest = "",
        page: Page = 1,
        page_size: PageSize = 5,
    ) -> dict[str, Any] | str:
        """Search the customer list; every filter given must hold."""
        parts = {
            "customer_name": customer_name,
            "customer_email": customer_email,
            "product_interest": product_interest,
            "status": status,
            "assigned_to_email": assigned_to_email,
        }
        bounds = {
            "last_contact_date": (last_contact_date_min, last_contact_date_max),
            "follow_up_by": (follow_up_by_min, follow_up_by_max),
        }
        if not any(parts.values()) and not any(map(any, bounds.values())):
            raise ToolError("No search parameters provided. Please provide at least one parameter.")
        check_effort(self.customers, parts.values())
        found = Search(self.customers)
        for column, part in parts.items():
            if part:
                found.containing(part, column)
        for column, (lowest, highest) in bounds.items():
            if lowest or highest:
                found.within(column, lowest, highest)
        return page_of(found, "customers", page, page_size) if found else "No customers found."

    @tool(title="Update customer", destructive=True, idempotent=True)
    def update_customer(
        self,
        customer_id: CustomerId,
        field: Annotated[
            str,
            Arg(
                "Column to set: customer_name, assigned_to_email, customer_email, customer_phone, "
                "last_contact_date, product_interest, status, notes or follow_up_by."
            ),
        ],
        new_value: Annotated[str, Arg("New value; dates as YYYY-MM-DD.")],
    ) -> Change:
        """Change one field of one customer."""
        if not customer_id or not field or not new_value:
            raise ToolError("Customer ID, field, or new value not provided.")
        _check(field, new_value)
        positions = self._all(customer_id)
        if field not in self.customers.spec.position or field == "customer_id":
            raise ToolError(
                "Field not valid. Please choose from: 'customer_name', 'assigned_to_email', "
                "'customer_email', 'customer_phone', 'last_contact_date', 'product_interest', 'status', "
                "'notes', 'follow_up_by'"
            )
        value = new_value.lower() if field in _ADDRESSES else new_value
        return self.customers.set(self.revision, positions, field, value), "Customer updated successfully."

    @tool(title="Add customer")
    def add_customer(
        self,
        customer_name: Annotated[str, Arg("Name of the customer.")],
        assigned_to_email: Annotated[str, Arg("Address of who looks after the customer.")],
        status: Annotated[str, Arg("Status: Qualified, Won, Lost, Lead or Proposal.")],
        customer_email: Annotated[str | None, Arg("Address of the customer.")] = None,
        customer_phone: Annotated[str | None, Arg("Phone number of the customer.")] = None,
        last_contact_date: Annotated[str | None, Arg("Day of the last contact, YYYY-MM-DD.")] = None,
        product_interest: Annotated[
            str | None, Arg("Product: Software, Hardware, Services, Consulting or Training.")
        ] = None,
        notes: Annotated[str, Arg("Notes on the customer.")] = "",
        follow_up_by: Annotated[str | None, Arg("Day to follow up by, YYYY-MM-DD.")] = None,
    ) -> Change:
        """Add a customer and answer the new id."""
        if not customer_name or not assigned_to_email or not status:
            raise ToolError("Please provide all required fields: customer_name, assigned_to_email, status.")
        new_id = next_id(self.customers)
        email = customer_email.lower() if customer_email else customer_email
        cells = (
            new_id, assigned_to_email.lower(), customer_name, email, customer_phone,
            last_contact_date, product_interest, status, follow_up_by, notes,
        )  # fmt: skip
        return self.customers.append(self.revision, cells), new_id

    @tool(title="Delete customer", destructive=True)
    def delete_customer(self, customer_id: CustomerId) -> Change:
        """Delete one customer."""
        if not customer_id:
            raise ToolError("Customer ID not provided.")
        table = self.customers.drop(self.revision, self._all(customer_id))
        return table, "Customer deleted successfully."

    def _all(self, customer_id: str) -> tuple[int, ...]:
        positions = self.customers.find(customer_id)
        if not positions:
            raise ToolError("Customer not found.")
        return positions


def _check(field: str, value: str) -> None:
    if field == "status":
        one_of(
            value,
            _STATUSES,
            "Status not valid. Please choose from: 'Qualified', 'Won', 'Lost', 'Lead', 'Proposal'",
        )
    if field == "product_interest":
        one_of(
            value,
            _PRODUCTS,
            "Product interest not valid. Please choose from: "
            "'Software', 'Hardware', 'Services', 'Consulting', 'Training'",
        )
