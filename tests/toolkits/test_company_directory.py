"""The company directory: who works here, by address."""

import pytest

from tests.toolkits.desk import Desk, bundled_desk, desk
from toolkits.dataset import Dataset

FIND = "company_directory_find_email_address"
ADDRESSES = ("Ada.Byron@firm.example", "cy+dev@firm.example", "", "bo.adams@firm.example", "ÅSA@firm.example")


@pytest.fixture
def directory() -> Desk:
    return desk({"company_directory.addresses": [(address,) for address in ADDRESSES]})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ada", ["Ada.Byron@firm.example", "bo.adams@firm.example"]),
        ("BYRON", ["Ada.Byron@firm.example"]),
        ("+", ["cy+dev@firm.example"]),
        ("cy.dev", []),
        ("åsa", ["ÅSA@firm.example"]),
        ("nan", []),
        (" ", []),
        ("@firm.example", [address for address in ADDRESSES if address]),
    ],
)
def test_addresses_that_contain_the_name_come_in_file_order(
    directory: Desk, name: str, expected: list[str]
) -> None:
    assert directory.reads(FIND, name=name) == expected


@pytest.mark.parametrize("arguments", [{}, {"name": ""}, {"name": None}])
def test_a_name_must_be_given_although_the_schema_does_not_require_it(
    directory: Desk, arguments: dict[str, str | None]
) -> None:
    assert directory.refused(FIND, **arguments) == "Name not provided."


def test_an_empty_directory_finds_nobody() -> None:
    assert desk().reads(FIND, name="ada") == []


def test_everybody_of_the_bundled_directory_is_found(dataset: Dataset) -> None:
    office = bundled_desk(dataset)
    assert office.reads(FIND, name="@") == office.column("company_directory.addresses", "email_address")
    assert len(office.reads(FIND, name="@")) == 20
