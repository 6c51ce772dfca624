"""Whatever comes in is answered in words or refused in words, changes nothing, and never breaks anything."""

import math
from typing import Any, cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.toolkits.desk import Desk, desk, strict_json
from toolkits.tool import LARGEST_INTEGER, LONGEST_TEXT, InputError, Tool
from wa_mcp.catalogue import CATALOGUE

TOOLS = list(CATALOGUE.tools.values())
BY_NAME = pytest.mark.parametrize("name", CATALOGUE.tools)
TABLES = {
    "email.emails": [("00000001", "inbox", "ada@firm.example", "Hi", "2023-11-01 09:00:00", "a" * 50)],
    "calendar.events": [("00000001", "Board", "ada@firm.example", "2023-11-01 09:00:00", "30")],
    "analytics.visits": [("2023-11-01", "0001", "2", "9", "direct", "True")],
    "project_management.tasks": [("00000001", "Fix", "ada@firm.example", "Backlog", "2023-11-30", "Design")],
    "customer_relationship_manager.customers": [
        ("00000001", "ada@firm.example", "Zoë", "", "", "2023-11-30", "Software", "Won", "", "note")
    ],
    "company_directory.addresses": [("ada@firm.example",)],
}
LONE = "\ud800"
PATTERN = "(((((a+)+)+$"
KINDS: dict[str, tuple[Any, ...]] = {
    "string": (7, 7.5, True, [], ["x"], {}, {"x": 1}),
    "integer": ("1", "", 1.5, True, False, [], {}),
}
SAID = {
    int: "an integer",
    float: "a number",
    bool: "a boolean",
    str: "a string",
    list: "an array",
    dict: "an object",
}


@pytest.fixture
def office() -> Desk:
    return desk(TABLES)


def properties(tool: Tool) -> dict[str, dict[str, Any]]:
    return tool.schema["properties"]


def valid(tool: Tool) -> dict[str, Any]:
    """Give every argument of a tool a value that its schema allows."""
    return {name: "x" if said["type"] == "string" else 1 for name, said in properties(tool).items()}


@BY_NAME
def test_a_required_argument_left_out_or_null_is_named(office: Desk, name: str) -> None:
    tool = CATALOGUE.tools[name]
    for argument in tool.schema["required"]:
        expected = f"Missing argument '{argument}': expected a value of type string, got none."
        left_out = {other: value for other, value in valid(tool).items() if other != argument}
        assert office.refused(name, **left_out) == expected
        assert office.refused(name, **{**left_out, argument: None}) == expected
    if tool.schema["required"]:
        assert office.call(name, None) == office.call(name, {})
        assert office.call(name, None).is_error


@BY_NAME
def test_null_counts_as_not_given_for_every_optional_argument(office: Desk, name: str) -> None:
    tool = CATALOGUE.tools[name]
    required = dict.fromkeys(tool.schema["required"], "x")
    nulls = dict.fromkeys([*(set(valid(tool)) - set(required)), "unknown"])
    assert desk(TABLES).call(name, {**required, **nulls}) == office.call(name, required)


@BY_NAME
@pytest.mark.parametrize("junk", ["", "junk", {"a": [{"b": [LONE]}]}, [[[[0]]]], 2**60, math.nan, True])
def test_an_unknown_argument_is_named_with_those_there_are(office: Desk, name: str, junk: Any) -> None:
    tool = CATALOGUE.tools[name]
    refused = office.refused(name, **valid(tool), nope=junk)
    assert refused == f"Unknown argument 'nope': {name} takes {', '.join(map(repr, valid(tool)))}."


@pytest.mark.parametrize("argument", ["", LONE, "ä\n", "x" * 100_000, "Email_id", "email_id "])
def test_an_unknown_name_is_quoted_short_and_in_ascii(office: Desk, argument: str) -> None:
    refused = office.refused("email_delete_email", **{argument: "x"})
    assert refused.isascii()
    assert refused.endswith(": email_delete_email takes 'email_id'.")
    assert len(refused) < 200


@BY_NAME
def test_a_wrong_type_is_named_with_what_was_expected_and_what_came(office: Desk, name: str) -> None:
    tool = CATALOGUE.tools[name]
    for argument, said in properties(tool).items():
        for value in KINDS[said["type"]]:
            refused = office.refused(name, **{**valid(tool), argument: value})
            came = SAID[type(value)]
            assert refused == f"Argument '{argument}': expected a value of type {said['type']}, got {came}."


@BY_NAME
def test_texts_too_long_or_with_lone_surrogates_are_refused(office: Desk, name: str) -> None:
    tool = CATALOGUE.tools[name]
    for argument, said in properties(tool).items():
        if said["type"] == "string":
            refused = office.refused(name, **{**valid(tool), argument: "é" * 100_001})
            assert (
                refused
                == f"Argument '{argument}': expected at most 100000 characters, got 100001 characters."
            )
            for text in (LONE, f"a{LONE}b", "\udfff"):
                refused = office.refused(name, **{**valid(tool), argument: text})
                assert (
                    refused
                    == f"Argument '{argument}': expected Unicode text, got a text with a lone surrogate."
                )


FILTERS = {
    "email_search_emails": {"query": "a"},
    "calendar_search_events": {"query": "a"},
    "customer_relationship_manager_search_customers": {"customer_name": "z"},
}


@pytest.mark.parametrize("name", FILTERS)
def test_pages_are_whole_numbers_that_every_json_reader_keeps(office: Desk, name: str) -> None:
    filters = FILTERS[name]
    first = office.reads(name, **filters)
    for page in (1.0, 0, 0.0, -3, -3.0, 2**53, -(2**53)):
        assert office.reads(name, **filters, page=page) == first
    assert office.reads(name, **filters, page_size=5.0) == first
    paging = office.reads(name, **filters, page=9.0, page_size=2.0)["pagination"]
    assert [type(number) for number in paging.values()] == [int] * 4
    for argument in ("page", "page_size"):
        for value in (2**60, -(2**60), 1e300, -1e300, 10**5000):
            refused = office.refused(name, **filters, **{argument: value})
            outside = "expected an integer from -2^53 to 2^53, got one outside of that."
            assert refused == f"Argument '{argument}': {outside}"
        for value in (math.nan, math.inf, -math.inf, 1.5):
            refused = office.refused(name, **filters, **{argument: value})
            assert refused == f"Argument '{argument}': expected a value of type integer, got a number."
    for size in (0, -1, 0.0, -1.0, -0.0):
        refused = office.refused(name, **filters, page_size=size)
        assert refused == f"Argument 'page_size': expected an integer of at least 1, got {size}."


SEARCHES = {
    "company_directory_find_email_address": ["name"],
    "email_search_emails": ["query"],
    "calendar_search_events": ["query"],
    "project_management_search_tasks": ["task_name", "list_name", "due_date", "board"],
    "customer_relationship_manager_search_customers": [
        "customer_name", "customer_email", "product_interest", "status", "assigned_to_email",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_takes_patterns_and_texts_of_any_size_literally(office: Desk, name: str) -> None:
    nothing = office.reads(name, **{SEARCHES[name][0]: "qqqq"})
    texts = (
        PATTERN,
        "(",
        "[",
        "\\",
        "a" * 100_000,
        "(a+)+$" * 16_000,
        ".*",
        "\0",
        "%",
        "C++",
        "qq " * 33_000,
    )
    for argument in SEARCHES[name]:
        for text in texts:
            assert office.reads(name, **{argument: text}) == nothing


@pytest.mark.parametrize(
    "name", ["", "nope", "Email_delete_email", "email.delete_email", LONE, "x" * 1000, "ä"]
)
def test_an_unknown_tool_is_named_short_and_in_ascii(office: Desk, name: str) -> None:
    refused = office.refused(name, email_id="00000001")
    assert refused == f"Unknown tool: {name[:60]!a}."


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from([LONE, "x" * 100_001]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
words = st.sampled_from([
    "", " ", "00000001", "0001", "99999999", "x", "body", "board", "status", "Won", "Design", "Backlog",
    "ada@firm.example", "2023-11-01", "2023-11-01 09:00:00", "30", "total_visits", "bar",
    "event_start", PATTERN,
])  # fmt: skip
numbers = st.integers(-3, 9) | st.sampled_from([5.0, -0.0, 2**53, 2**60, math.nan, math.inf, True])


@st.composite
def arguments_of(draw: st.DrawFn, tool: Tool) -> dict[str, Any]:
    """Draw arguments of which most are right, so that both sides of every check are met."""
    drawn: dict[str, Any] = {}
    for name, said in properties(tool).items():
        right = words if said["type"] == "string" else numbers
        wanted = name in tool.schema["required"] or draw(st.booleans())
        if wanted and draw(st.integers(0, 19)):
            drawn[name] = draw(right if draw(st.integers(0, 14)) else json_values)
    if not draw(st.integers(0, 19)):
        drawn[draw(st.text(max_size=4))] = draw(json_values)
    return drawn


def storable(value: Any) -> bool:
    """Say whether a value that the schema allows is one that can be kept and sent."""
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT and not any("\ud800" <= letter <= "\udfff" for letter in value)
    return not isinstance(value, int | float) or abs(value) <= LARGEST_INTEGER


@pytest.mark.timeout(60)
def test_every_tool_takes_exactly_what_its_schema_allows() -> None:
    seen = {"taken": 0, "refused": 0}

    @settings(max_examples=500)
    @given(st.sampled_from(TOOLS).flatmap(lambda tool: st.tuples(st.just(tool), arguments_of(tool))))
    @example((CATALOGUE.tools["email_search_emails"], {"page": 5.0, "page_size": 2**53}))
    @example((CATALOGUE.tools["email_search_emails"], {"page": True}))
    def check(call: tuple[Tool, dict[str, Any]]) -> None:
        tool, arguments = call
        given = {name: value for name, value in arguments.items() if value is not None}
        # The stubs of jsonschema leave open what a schema is.
        fits = cast("Any", Draft202012Validator(tool.schema)).is_valid(given)
        fits = fits and all(map(storable, given.values()))
        seen["taken" if fits else "refused"] += 1
        office = desk(TABLES)
        outcome = office.call(tool.name, arguments)
        strict_json(outcome.value)
        if fits:
            tool.read(arguments)
            assert "failed; nothing was changed" not in str(outcome.value)
        else:
            with pytest.raises(InputError) as refused:
                tool.read(arguments)
            assert outcome == (str(refused.value), True, ())
            assert any(name in outcome.value for name in (*tool.parameters, "Unknown argument"))

    check()
    assert min(seen.values()) > 100
