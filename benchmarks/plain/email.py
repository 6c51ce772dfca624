"""Plain mail: a search looks at one row after the other."""

from pathlib import Path
from typing import Any, Final

import pandas as pd

from benchmarks.plain.paging import paged

__all__ = ["Email"]

NOW: Final = "2023-11-30 23:59:00"


class Email:
    """The mailbox of one session, read from its file."""

    def __init__(self, folder: Path) -> None:
        self.emails = pd.read_csv(folder / "emails.csv", dtype=str)

    def get_email_information_by_id(self, email_id: str, field: str) -> Any:
        """Read one field of one email."""
        found = self.emails[self.emails["email_id"] == email_id]
        if found.empty:
            return "Email not found."
        if field not in found.columns:
            return "Field not found."
        return {field: found.iloc[0][field]}

    def search_emails(
        self, query: str = "", date_min: str = "", date_max: str = "", page: int = 1, page_size: int = 5
    ) -> Any:
        """Find emails that hold all words, newest first."""
        words = query.lower().split()

        def matches(email: "pd.Series[Any]") -> bool:
            text = f"{email['subject']} {email['body']} {email['sender/recipient']}".lower()
            return all(word in text for word in words)

        found = self.emails[self.emails.apply(matches, axis=1)]
        if date_min:
            found = found[pd.to_datetime(found["sent_datetime"]).dt.date >= pd.Timestamp(date_min).date()]
        if date_max:
            found = found[pd.to_datetime(found["sent_datetime"]).dt.date <= pd.Timestamp(date_max).date()]
        if found.empty:
            return "No emails found."
        found = found.sort_values("sent_datetime", ascending=False, kind="stable")
        return paged(found, "emails", page, page_size)

    def send_email(self, recipient: str, subject: str, body: str) -> Any:
        """Put an email into the outbox."""
        if not recipient or not subject or not body:
            return "Recipient, subject, or body not provided."
        if "@" not in recipient or "." not in recipient:
            return "Invalid recipient email address."
        sent = {
            "email_id": str(int(self.emails["email_id"].max()) + 1),
            "inbox/outbox": "outbox",
            "sender/recipient": recipient.lower(),
            "subject": subject,
            "sent_datetime": NOW,
            "body": body,
        }
        self.emails = pd.concat([self.emails, pd.DataFrame([sent])], ignore_index=True)
        return "Email sent successfully."

    def delete_email(self, email_id: str) -> Any:
        """Delete one email."""
        found = self.emails[self.emails["email_id"] == email_id]
        if found.empty:
            return "Email not found."
        self.emails = self.emails.drop(found.index)
        return "Email deleted successfully."

    def forward_email(self, email_id: str, recipient: str) -> Any:
        """Send an email on to somebody else."""
        found = self.emails[self.emails["email_id"] == email_id]
        if found.empty:
            return "Email not found."
        email = found.iloc[0]
        answer = self.send_email(recipient, f"FW: {email['subject']}", email["body"])
        return "Email forwarded successfully." if answer == "Email sent successfully." else answer

    def reply_email(self, email_id: str, body: str) -> Any:
        """Answer an email."""
        found = self.emails[self.emails["email_id"] == email_id]
        if found.empty:
            return "Email not found."
        email = found.iloc[0]
        answer = self.send_email(email["sender/recipient"], f"RE: {email['subject']}", body)
        return "Email replied successfully." if answer == "Email sent successfully." else answer
