"""The customer list: search, add, change and delete customers."""

import pytest

from tests.toolkits.desk import Desk, desk
from toolkits.cells import Cell

CUSTOMERS = "customer_relationship_manager.customers"
COLUMNS = (
    "customer_id", "assigned_to_email", "customer_name", "customer_email", "customer_phone",
    "last_contact_date", "product_interest", "status", "follow_up_by", "notes",
)  # fmt: skip
SEARCH = "customer_relationship_manager_search_customers"
UPDATE = "customer_relationship_manager_update_customer"
ADD = "customer_relationship_manager_add_customer"
DELETE = "customer_relationship_manager_delete_customer"
EMPTY_UPDATE = "Customer ID, field, or new value not provided."
BAD_STATUS = "Status not valid. Please choose from: 'Qualified', 'Won', 'Lost', 'Lead', 'Proposal'"
BAD_PRODUCT = (
    "Product interest not valid. Please choose from: "
    "'Software', 'Hardware', 'Services', 'Consulting', 'Training'"
)
BAD_FIELD = (
    "Field not valid. Please choose from: 'customer_name', 'assigned_to_email', 'customer_email', "
    "'customer_phone', 'last_contact_date', 'product_interest', 'status', 'notes', 'follow_up_by'"
)
ROWS = (
    ("00000004", "ada@firm.example", "Zoë (ex)", "zoe@x.example", "555", "2023-11-30", "Software", "Won",
     "2023-12-05", "a note"),
    ("00000002", "Cy@firm.example", "Yan", "", "", "2023-11-30 23:59:00", "Hardware", "Lead", "", ""),
    ("00000010", "ada@firm.example", "yana", "yana@x.example", "", "", "", "Qualified", "2023-12-01", ""),
)  # fmt: skip


@pytest.fixture
def crm() -> Desk:
    return desk({CUSTOMERS: ROWS})


def ids(found: dict[str, list[dict[str, str]]]) -> list[str]:
    return [customer["customer_id"] for customer in found["customers"]]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"customer_name": "YAN"}, ["00000002", "00000010"]),
        ({"customer_name": "ZOË ("}, ["00000004"]),
        ({"customer_name": ".*"}, []),
        ({"customer_email": "X.EXAMPLE"}, ["00000004", "00000010"]),
        ({"customer_email": "nan"}, []),
        ({"product_interest": "ware"}, ["00000004", "00000002"]),
        ({"product_interest": "none"}, []),
        ({"status": "l"}, ["00000002", "00000010"]),
        ({"assigned_to_email": "cy@"}, ["00000002"]),
        ({"assigned_to_email": "ada", "status": "won", "customer_name": None}, ["00000004"]),
        ({"assigned_to_email": "ada", "status": "lead"}, []),
        ({"last_contact_date_min": "2023-11-30"}, ["00000004", "00000002"]),
        ({"last_contact_date_max": "2023-11-30"}, ["00000004"]),
        ({"last_contact_date_min": "2023-11-30 ", "last_contact_date_max": "2023-12"}, ["00000002"]),
        ({"last_contact_date_max": "9"}, ["00000004", "00000002"]),
        ({"follow_up_by_min": "2023-12-01", "follow_up_by_max": "2023-12-05"}, ["00000004", "00000010"]),
        ({"follow_up_by_min": "2023-12-02"}, ["00000004"]),
        ({"follow_up_by_max": "nan", "last_contact_date_min": ""}, ["00000004", "00000010"]),
        ({"follow_up_by_min": "zzz"}, []),
    ],
)
def test_all_filters_must_hold_and_a_missing_cell_meets_none(
    crm: Desk, filters: dict[str, str], expected: list[str]
) -> None:
    found = crm.reads(SEARCH, **filters)
    assert (found == "No customers found.") if not expected else (ids(found) == expected)


def test_found_customers_are_whole_rows_in_pages(crm: Desk) -> None:
    found = crm.reads(SEARCH, customer_name="yan", page=2, page_size=1)
    assert found == {
        "customers": [{column: text or None for column, text in zip(COLUMNS, ROWS[2], strict=True)}],
        "pagination": {"total_customers": 2, "page": 2, "page_size": 1, "total_pages": 2},
    }
    assert ids(crm.reads(SEARCH, customer_name="yan", page=-1, page_size=1)) == ["00000002"]


@pytest.mark.parametrize(
    "filters",
    [{}, {"page": 2}, {"customer_name": "", "status": None, "follow_up_by_max": "", "page_size": 3}],
)
def test_a_search_needs_a_filter(crm: Desk, filters: dict[str, str | int | None]) -> None:
    refused = crm.refused(SEARCH, **filters)
    assert refused == "No search parameters provided. Please provide at least one parameter."


@pytest.mark.parametrize(
    ("field", "given", "stored"),
    [
        ("customer_name", " Name ", " Name "),
        ("assigned_to_email", "Not An Address", "not an address"),
        ("customer_email", "Zoe@X.Example", "zoe@x.example"),
        ("customer_phone", "+1 (2)", "+1 (2)"),
        ("last_contact_date", "Today", "Today"),
        ("product_interest", "Training", "Training"),
        ("status", "Proposal", "Proposal"),
        ("follow_up_by", "Soon", "Soon"),
        ("notes", "N", "N"),
    ],
)
def test_an_update_sets_one_cell_and_keeps_all_labels(crm: Desk, field: str, given: str, stored: str) -> None:
    crm.changes(DELETE, customer_id="00000004")
    before = crm.rows(CUSTOMERS)
    done = crm.changes(UPDATE, customer_id="00000010", field=field, new_value=given)
    assert done == "Customer updated successfully."
    row = list(before[1])
    row[COLUMNS.index(field)] = stored
    assert crm.rows(CUSTOMERS) == [before[0], tuple(row)]
    assert crm.labels(CUSTOMERS) == [1, 2]


@pytest.mark.parametrize(
    ("customer_id", "field", "value", "answer"),
    [
        ("", "status", "x", EMPTY_UPDATE),
        ("4", "", "x", EMPTY_UPDATE),
        ("4", "status", "", EMPTY_UPDATE),
        ("4", "status", "won", BAD_STATUS),
        ("4", "product_interest", "Soft", BAD_PRODUCT),
        ("4", "nope", "x", "Customer not found."),
        ("00000004", "nope", "x", BAD_FIELD),
        ("00000004", "customer_id", "00000005", BAD_FIELD),
        ("00000004", "Status", "x", BAD_FIELD),
    ],
)
def test_an_update_checks_the_value_the_customer_and_the_column_in_this_order(
    crm: Desk, customer_id: str, field: str, value: str, answer: str
) -> None:
    assert crm.refused(UPDATE, customer_id=customer_id, field=field, new_value=value) == answer


def added(crm: Desk, **optional: str | None) -> dict[str, Cell]:
    crm.changes(ADD, customer_name="N", assigned_to_email="a", status="s", **optional)
    return dict(zip(COLUMNS, crm.rows(CUSTOMERS)[-1], strict=True))


def test_a_customer_added_goes_last_with_a_padded_id_and_all_rows_are_relabelled(crm: Desk) -> None:
    crm.changes(DELETE, customer_id="00000002")
    assert crm.labels(CUSTOMERS) == [0, 2]
    given = {
        "customer_name": " Émile ",
        "assigned_to_email": "ADA",
        "status": "not a status",
        "customer_email": "E@X",
        "customer_phone": "1",
        "last_contact_date": "D1",
        "product_interest": "not a product",
        "notes": "Some",
        "follow_up_by": "D2",
    }
    assert crm.changes(ADD, **given) == "00000011"
    assert crm.rows(CUSTOMERS)[-1] == (
        "00000011", "ada", " Émile ", "e@x", "1", "D1", "not a product", "not a status", "D2", "Some",
    )  # fmt: skip
    assert crm.labels(CUSTOMERS) == [0, 1, 2]


def test_an_optional_value_not_given_is_none_and_notes_are_empty(crm: Desk) -> None:
    optional = ("customer_email", "customer_phone", "last_contact_date", "product_interest", "follow_up_by")
    expected = {**dict.fromkeys(optional), "notes": ""}
    not_given = added(crm)
    assert {name: not_given[name] for name in expected} == expected
    null = added(crm, **dict.fromkeys(expected))
    assert {name: null[name] for name in expected} == expected
    empty = added(crm, **dict.fromkeys(expected, ""))
    assert {name: empty[name] for name in expected} == dict.fromkeys(expected, "")


def test_an_empty_list_gives_the_first_customer_id_zero() -> None:
    crm = desk()
    assert crm.reads(SEARCH, customer_name="x") == "No customers found."
    assert added(crm)["customer_id"] == "00000000"
    assert added(crm)["customer_id"] == "00000001"


@pytest.mark.parametrize("empty", ["customer_name", "assigned_to_email", "status"])
def test_an_add_needs_its_three_required_values(crm: Desk, empty: str) -> None:
    given = {"customer_name": "n", "assigned_to_email": "a", "status": "s", empty: ""}
    refused = crm.refused(ADD, **given)
    assert refused == "Please provide all required fields: customer_name, assigned_to_email, status."


def test_a_deleted_customer_is_gone_and_the_others_keep_their_labels(crm: Desk) -> None:
    assert crm.changes(DELETE, customer_id="00000002") == "Customer deleted successfully."
    assert crm.labels(CUSTOMERS) == [0, 2]
    assert crm.refused(DELETE, customer_id="00000002") == "Customer not found."
    assert crm.refused(DELETE, customer_id="") == "Customer ID not provided."


def test_customers_that_share_an_id_are_changed_together() -> None:
    crm = desk({CUSTOMERS: [("99999999", *ROWS[0][1:]), ROWS[1]]})
    assert added(crm)["customer_id"] == "100000000"
    assert added(crm)["customer_id"] == "100000000"
    crm.changes(UPDATE, customer_id="100000000", field="notes", new_value="both")
    assert crm.column(CUSTOMERS, "notes")[-2:] == ["both", "both"]
    crm.changes(DELETE, customer_id="100000000")
    assert crm.column(CUSTOMERS, "customer_id") == ["99999999", "00000002"]
