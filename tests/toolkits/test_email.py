"""The mailbox: look up, search, send, delete, forward, reply."""

import pytest

from tests.toolkits.desk import NOW, Desk, bundled_desk, desk
from toolkits.cells import NAN
from toolkits.dataset import Dataset

EMAILS = "email.emails"
COLUMNS = "email_id, inbox/outbox, sender/recipient, subject, sent_datetime, body"
MAILS = (
    ("00000007", "inbox", "Ada.Byron@firm.example", "Budget", "2023-11-01 09:00:00", "The figures for Q4"),
    ("00000003", "outbox", "cy@firm.example", "Re: budget", "2023-11-02 00:00:00", "C++ (a+b)? 100%"),
    ("00000009", "inbox", "dora@firm.example", "Lunch", "2023-11-02 23:59:59", ""),
    ("00000001", "inbox", "", "", "2023-11-03 08:00:00", "Ærø, straße"),
    ("00000005", "inbox", "no address", "Spam", "2023-11-02 23:59:59", "win"),
)


@pytest.fixture
def mail() -> Desk:
    return desk({EMAILS: MAILS})


def ids(found: dict[str, list[dict[str, str]]]) -> list[str]:
    return [email["email_id"] for email in found["emails"]]


@pytest.mark.parametrize(("field", "value"), [*zip(COLUMNS.split(", "), MAILS[0], strict=True)])
def test_every_field_of_a_mail_can_be_read_as_stored(mail: Desk, field: str, value: str) -> None:
    got = mail.reads("email_get_email_information_by_id", email_id="00000007", field=field)
    assert got == {field: value}


def test_an_empty_cell_reads_as_null(mail: Desk) -> None:
    got = mail.reads("email_get_email_information_by_id", email_id="00000009", field="body")
    assert got == {"body": None}


@pytest.mark.parametrize(
    ("email_id", "field", "answer"),
    [
        ("", "", "Email ID not provided."),
        ("00000007", "", "Field not provided."),
        ("99999999", "nope", "Email not found."),
        ("7", "body", "Email not found."),
        (" 00000007", "body", "Email not found."),
        ("00000007", "nope", f"Field 'nope' not found. Available fields: {COLUMNS}"),
        ("00000007", "Body", f"Field 'Body' not found. Available fields: {COLUMNS}"),
    ],
)
def test_a_lookup_checks_the_id_the_field_the_mail_and_the_column_in_this_order(
    mail: Desk, email_id: str, field: str, answer: str
) -> None:
    assert mail.refused("email_get_email_information_by_id", email_id=email_id, field=field) == answer


def test_a_search_without_filters_shows_all_mails_newest_first_and_ties_in_table_order(mail: Desk) -> None:
    found = mail.reads("email_search_emails")
    assert ids(found) == ["00000001", "00000009", "00000005", "00000003", "00000007"]
    assert found["pagination"] == {"total_emails": 5, "page": 1, "page_size": 5, "total_pages": 1}
    assert found["emails"][0] == {
        "email_id": "00000001",
        "inbox/outbox": "inbox",
        "sender/recipient": None,
        "subject": None,
        "sent_datetime": "2023-11-03 08:00:00",
        "body": "Ærø, straße",
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("BUDGET", ["00000003", "00000007"]),
        ("figures byron BUD", ["00000007"]),
        ("budget\u2003figures\n", ["00000007"]),
        ("budgetthe", []),
        ("budget nope", []),
        ("budget budget budget", ["00000003", "00000007"]),
        ("c++", ["00000003"]),
        ("(a+b)?", ["00000003"]),
        ("100%", ["00000003"]),
        (".*", []),
        ("ÆRØ", ["00000001"]),
        ("nan", []),
        ("None", []),
        ("inbox", []),
        ("2023-11-01", []),
        ("00000007", []),
        ("   ", ["00000001", "00000009", "00000005", "00000003", "00000007"]),
    ],
)
def test_every_word_of_a_query_must_occur_literally_in_subject_body_or_address(
    mail: Desk, query: str, expected: list[str]
) -> None:
    found = mail.reads("email_search_emails", query=query)
    assert (found == "No emails found.") if not expected else (ids(found) == expected)


@pytest.mark.parametrize(
    ("date_min", "date_max", "expected"),
    [
        ("2023-11-02", "2023-11-02", ["00000009", "00000005", "00000003"]),
        ("2023-11-02 23:00:00", "2023-11-02T00:00", ["00000009", "00000005", "00000003"]),
        ("2023-11-03", "", ["00000001"]),
        ("", "2023-11-01", ["00000007"]),
        ("2023-11-03", "2023-11-01", []),
        ("2023-11-04", None, []),
    ],
)
def test_bounds_are_inclusive_whole_days(
    mail: Desk, date_min: str, date_max: str | None, expected: list[str]
) -> None:
    found = mail.reads("email_search_emails", date_min=date_min, date_max=date_max)
    assert (found == "No emails found.") if not expected else (ids(found) == expected)


def test_a_mail_without_a_time_is_oldest_and_within_no_bounds() -> None:
    mail = desk({EMAILS: [("1", "inbox", "a@b.c", "s", "", "b"), *MAILS]})
    assert ids(mail.reads("email_search_emails", page=2)) == ["1"]
    assert "1" not in ids(mail.reads("email_search_emails", date_min="0001-01-01", page_size=9))


def test_bounds_are_checked_before_the_search_and_date_min_first(mail: Desk) -> None:
    refused = mail.refused("email_search_emails", query="nope", date_min="soon", date_max="later")
    assert refused == "Invalid date_min format. Expected YYYY-MM-DD."
    refused = mail.refused("email_search_emails", query="nope", date_min="", date_max=" ")
    assert refused == "Invalid date_max format. Expected YYYY-MM-DD."


@pytest.mark.parametrize(
    ("page", "shown", "expected"),
    [
        (1, 1, ["00000001", "00000009"]),
        (2, 2, ["00000005", "00000003"]),
        (3, 3, ["00000007"]),
        (4, 3, ["00000007"]),
        (0, 1, ["00000001", "00000009"]),
        (-3, 1, ["00000001", "00000009"]),
    ],
)
def test_a_page_is_clamped_to_what_there_is(mail: Desk, page: int, shown: int, expected: list[str]) -> None:
    found = mail.reads("email_search_emails", page=page, page_size=2)
    assert ids(found) == expected
    assert found["pagination"] == {"total_emails": 5, "page": shown, "page_size": 2, "total_pages": 3}


def test_a_sent_mail_goes_last_with_the_next_id_unpadded_and_all_rows_are_relabelled(mail: Desk) -> None:
    mail.changes("email_delete_email", email_id="00000003")
    assert mail.labels(EMAILS) == [0, 2, 3, 4]
    sent = mail.changes("email_send_email", recipient="Bo@Firm.EXAMPLE", subject=" Hi ", body="X\r\n")
    assert sent == "Email sent successfully."
    assert mail.rows(EMAILS)[-1] == ("10", "outbox", "bo@firm.example", " Hi ", NOW, "X\r\n")
    assert mail.labels(EMAILS) == [0, 1, 2, 3, 4]


def test_the_first_mail_of_an_empty_mailbox_has_id_1() -> None:
    mail = desk()
    assert mail.reads("email_search_emails") == "No emails found."
    mail.changes("email_send_email", recipient="a@b.c", subject="s", body="b")
    assert mail.rows(EMAILS) == [("1", "outbox", "a@b.c", "s", NOW, "b")]
    assert mail.labels(EMAILS) == [0]


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (("", "s", "b"), "Recipient, subject, or body not provided."),
        (("nobody", "", "b"), "Recipient, subject, or body not provided."),
        (("nobody", "s", ""), "Recipient, subject, or body not provided."),
        (("nobody", "s", "b"), "Invalid recipient email address."),
        (("a@b", "s", "b"), "Invalid recipient email address."),
        (("a.b", "s", "b"), "Invalid recipient email address."),
    ],
)
def test_a_send_checks_for_empty_values_before_the_address(
    mail: Desk, arguments: tuple[str, str, str], answer: str
) -> None:
    recipient, subject, body = arguments
    assert mail.refused("email_send_email", recipient=recipient, subject=subject, body=body) == answer


def test_an_address_needs_only_an_at_sign_and_a_dot(mail: Desk) -> None:
    mail.changes("email_send_email", recipient=".@", subject=" ", body=" ")
    assert mail.rows(EMAILS)[-1][2:] == (".@", " ", NOW, " ")


def test_a_deleted_mail_is_gone_and_the_others_keep_their_labels(mail: Desk) -> None:
    assert mail.changes("email_delete_email", email_id="00000009") == "Email deleted successfully."
    assert mail.refused("email_delete_email", email_id="00000009") == "Email not found."
    assert mail.refused("email_delete_email", email_id="") == "Email ID not provided."
    assert mail.labels(EMAILS) == [0, 1, 3, 4]
    assert "00000009" not in mail.column(EMAILS, "email_id")


def test_a_forward_sends_the_same_body_under_a_marked_subject(mail: Desk) -> None:
    done = mail.changes("email_forward_email", email_id="00000003", recipient="Bo@firm.example")
    assert done == "Email forwarded successfully."
    assert mail.rows(EMAILS)[-1] == (
        "10", "outbox", "bo@firm.example", "FW: Re: budget", NOW, "C++ (a+b)? 100%",
    )  # fmt: skip
    mail.changes("email_forward_email", email_id="10", recipient="bo@firm.example")
    assert mail.rows(EMAILS)[-1][3] == "FW: FW: Re: budget"
    assert mail.labels(EMAILS) == list(range(7))


def test_an_empty_body_is_forwarded_as_it_is(mail: Desk) -> None:
    mail.changes("email_forward_email", email_id="00000009", recipient="bo@firm.example")
    assert mail.rows(EMAILS)[-1][5] is NAN


@pytest.mark.parametrize(
    ("email_id", "recipient", "answer"),
    [
        ("", "nobody", "Email ID or recipient not provided."),
        ("99999999", "", "Email ID or recipient not provided."),
        ("99999999", "nobody", "Invalid recipient email address."),
        ("99999999", "a@b.c", "Email not found."),
    ],
)
def test_a_forward_checks_for_empty_values_then_the_address_then_the_mail(
    mail: Desk, email_id: str, recipient: str, answer: str
) -> None:
    assert mail.refused("email_forward_email", email_id=email_id, recipient=recipient) == answer


def test_a_reply_goes_to_the_other_party_also_for_sent_mails(mail: Desk) -> None:
    assert mail.changes("email_reply_email", email_id="00000007", body="ok") == "Email replied successfully."
    assert mail.rows(EMAILS)[-1] == ("10", "outbox", "ada.byron@firm.example", "RE: Budget", NOW, "ok")
    mail.changes("email_reply_email", email_id="00000003", body="ok")
    assert mail.rows(EMAILS)[-1] == ("11", "outbox", "cy@firm.example", "RE: Re: budget", NOW, "ok")
    assert mail.labels(EMAILS) == list(range(7))


@pytest.mark.parametrize(
    ("email_id", "body", "answer"),
    [
        ("", "b", "Email ID or body not provided."),
        ("99999999", "", "Email ID or body not provided."),
        ("99999999", "b", "Email not found."),
        ("00000001", "b", "Invalid recipient email address."),
        ("00000005", "b", "Invalid recipient email address."),
    ],
)
def test_a_reply_checks_for_empty_values_then_the_mail_then_its_address(
    mail: Desk, email_id: str, body: str, answer: str
) -> None:
    assert mail.refused("email_reply_email", email_id=email_id, body=body) == answer


def test_mails_that_share_an_id_read_as_the_first_and_are_deleted_together(dataset: Dataset) -> None:
    mail = bundled_desk(dataset)
    for number in range(503):
        mail.changes("email_send_email", recipient="a@b.c", subject=f"s{number}", body=f"b{number}")
    assert mail.column(EMAILS, "email_id")[-4:] == ["999", "1000", "1000", "1000"]
    got = mail.reads("email_get_email_information_by_id", email_id="1000", field="subject")
    assert got == {"subject": "s500"}
    mail.changes("email_forward_email", email_id="1000", recipient="a@b.c")
    assert mail.rows(EMAILS)[-1][3] == "FW: s500"
    mail.changes("email_reply_email", email_id="1000", body="b")
    assert mail.rows(EMAILS)[-1][:4] == ("1000", "outbox", "a@b.c", "RE: s500")
    mail.changes("email_delete_email", email_id="1000")
    assert mail.column(EMAILS, "email_id")[-1] == "999"
    assert mail.labels(EMAILS) == list(range(1000))
    mail.changes("email_send_email", recipient="a@b.c", subject="s", body="b")
    assert mail.column(EMAILS, "email_id")[-1] == "1000"
