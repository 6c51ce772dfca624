"""Mail: look up, search, send, delete, forward, reply."""

from datetime import datetime, time
from typing import Annotated, Any, Final

from toolkits.cells import Cell, is_missing, lowered, read_moment, wire
from toolkits.search import Search, page_of
from toolkits.table import Row, Table
from toolkits.tool import Arg, Change, InputError, ToolError, tool
from toolkits.toolkit import Page, PageSize, TableField, Toolkit, check_effort, next_id

__all__ = ["Email"]

EmailId = Annotated[str, Arg("Id of the email, as the search shows it.")]
Recipient = Annotated[str, Arg("Address to send to, such as name@company.example.")]
Body = Annotated[str, Arg("Text of the email.")]

MOST_WORDS: Final = 100
"""Different words that one search may ask for."""

_SENDER, _SUBJECT, _BODY = 2, 3, 5


class Email(Toolkit):
    """The mailbox: what came in and what was sent."""

    name = "email"
    emails = TableField(
        "email_id", "inbox/outbox", "sender/recipient", "subject", "sent_datetime", "body",
        file="emails.csv", key="email_id", times=frozenset({"sent_datetime"}),
        latest_first="sent_datetime", words=("subject", "body", "sender/recipient"),
    )  # fmt: skip

    @tool(title="Get email information")
    def get_email_information_by_id(
        self,
        email_id: EmailId,
        field: Annotated[str, Arg("Column to read, such as subject, body or sent_datetime.")],
    ) -> dict[str, Any]:
        """Read one field of one email."""
        if not email_id:
            raise ToolError("Email ID not provided.")
        if not field:
            raise ToolError("Field not provided.")
        row = self._first(email_id)
        if field not in self.emails.spec.position:
            available = ", ".join(self.emails.spec.columns)
            raise ToolError(f"Field '{field}' not found. Available fields: {available}")
        return {field: wire(row.cells[self.emails.spec.position[field]])}

    @tool(title="Search emails")
    def search_emails(
        self,
        query: Annotated[str, Arg("Words that must all occur in subject, body or address.")] = "",
        date_min: Annotated[str, Arg("First day to include, YYYY-MM-DD.")] = "",
        date_max: Annotated[str, Arg("Last day to include, YYYY-MM-DD.")] = "",
        page: Page = 1,
        page_size: PageSize = 5,
    ) -> dict[str, Any] | str:
        """Search the mailbox, inbox and outbox, by words and by days; newest first."""
        first, last = _day("date_min", date_min, time.min), _day("date_max", date_max, time.max)
        words = _words(query)
        check_effort(self.emails, words)
        found = Search(self.emails)
        for word in sorted(words, key=len, reverse=True):  # few mails have a long word
            found.with_word(word)
        if first or last:
            found.between(first, last)
        return page_of(found, "emails", page, page_size) if found else "No emails found."

    @tool(title="Send email")
    def send_email(
        self,
        recipient: Recipient,
        subject: Annotated[str, Arg("Subject line.")],
        body: Body,
    ) -> Change:
        """Send an email to one recipient."""
        if not recipient or not subject or not body:
            raise ToolError("Recipient, subject, or body not provided.")
        return self._send(recipient, subject, body), "Email sent successfully."

    @tool(title="Delete email", destructive=True)
    def delete_email(self, email_id: EmailId) -> Change:
        """Delete one email."""
        if not email_id:
            raise ToolError("Email ID not provided.")
        return self.emails.drop(self.revision, self._all(email_id)), "Email deleted successfully."

    @tool(title="Forward email")
    def forward_email(self, email_id: EmailId, recipient: Recipient) -> Change:
        """Forward one email to another recipient, its subject marked with FW."""
        if not email_id or not recipient:
            raise ToolError("Email ID or recipient not provided.")
        _check_address(recipient)
        row = self._first(email_id)
        table = self._send(recipient, f"FW: {_shown(row.cells[_SUBJECT])}", row.cells[_BODY])
        return table, "Email forwarded successfully."

    @tool(title="Reply to email")
    def reply_email(self, email_id: EmailId, body: Body) -> Change:
        """Reply to the sender of one email, the subject marked with RE."""
        if not email_id or not body:
            raise ToolError("Email ID or body not provided.")
        row = self._first(email_id)
        table = self._send(_shown(row.cells[_SENDER]), f"RE: {_shown(row.cells[_SUBJECT])}", body)
        return table, "Email replied successfully."

    def _all(self, email_id: str) -> tuple[int, ...]:
        positions = self.emails.find(email_id)
        if not positions:
            raise ToolError("Email not found.")
        return positions

    def _first(self, email_id: str) -> Row:
        return self.emails.rows[self._all(email_id)[0]]

    def _send(self, recipient: str, subject: str, body: Cell) -> Table:
        _check_address(recipient)
        new_id = next_id(self.emails, padded=False)
        cells = (new_id, "outbox", recipient.lower(), subject, self.facts.now, body)
        return self.emails.append(self.revision, cells)


def _words(query: str) -> list[str]:
    """List the different words of a query; each costs a pass through every mail, so there is a limit."""
    words = list(dict.fromkeys(lowered(query).split()))
    if len(words) > MOST_WORDS:
        raise InputError(
            f"Argument 'query': expected at most {MOST_WORDS} different words, got {len(words)} words."
        )
    return words


def _check_address(address: str) -> None:
    if "@" not in address or "." not in address:
        raise ToolError("Invalid recipient email address.")


def _shown(cell: Cell) -> str:
    return "" if is_missing(cell) else str(cell)


def _day(argument: str, text: str, time: time) -> datetime | None:
    """Read a bound: the day that it lies on, at this time."""
    if not text:
        return None
    moment = read_moment(text)
    if moment is None:
        raise ToolError(f"Invalid {argument} format. Expected YYYY-MM-DD.")
    return datetime.combine(moment, time)
