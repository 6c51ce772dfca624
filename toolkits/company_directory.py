"""The company directory: who works here, by e-mail address."""

from typing import Annotated

from toolkits.search import Search
from toolkits.tool import Arg, ToolError, tool
from toolkits.toolkit import TableField, Toolkit

__all__ = ["CompanyDirectory"]


class CompanyDirectory(Toolkit):
    """The addresses of everybody in the company."""

    name = "company_directory"
    addresses = TableField(
        "email_address",
        file="email_addresses.csv",
        titled=False,
        scored=False,
        looked_through=("email_address",),
    )

    @tool(title="Find email address")
    def find_email_address(
        self, name: Annotated[str, Arg("Part of a person's name or address, in any case.")] = ""
    ) -> list[str]:
        """Find the email addresses in the company directory that contain a name or a part of one."""
        if not name:
            raise ToolError("Name not provided.")
        found = Search(self.addresses)
        found.containing(name, "email_address")
        return [str(row.cells[0]) for row in found.rows()]
