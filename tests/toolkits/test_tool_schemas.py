"""What every tool advertises, and what a toolkit must say of its tools to be made at all."""

from typing import Annotated, Any

import pytest
from jsonschema import Draft202012Validator

from toolkits.tool import Arg, Change, ToolError, tool
from toolkits.toolkit import TableField, Toolkit
from toolkits.workplace import Catalogue
from wa_mcp.catalogue import CATALOGUE

EXPECTED = {
    "company_directory_find_email_address": ("", "name"),
    "email_get_email_information_by_id": ("email_id field", ""),
    "email_search_emails": ("", "query date_min date_max page page_size"),
    "email_send_email": ("recipient subject body", ""),
    "email_delete_email": ("email_id", ""),
    "email_forward_email": ("email_id recipient", ""),
    "email_reply_email": ("email_id body", ""),
    "calendar_get_event_information_by_id": ("event_id field", ""),
    "calendar_search_events": ("", "query time_min time_max page page_size"),
    "calendar_create_event": ("event_name participant_email event_start duration", ""),
    "calendar_delete_event": ("event_id", ""),
    "calendar_update_event": ("event_id field new_value", ""),
    "analytics_get_visitor_information_by_id": ("visitor_id", ""),
    "analytics_create_plot": ("time_min time_max value_to_plot plot_type", ""),
    "analytics_total_visits_count": ("", "time_min time_max"),
    "analytics_engaged_users_count": ("", "time_min time_max"),
    "analytics_traffic_source_count": ("", "time_min time_max traffic_source"),
    "analytics_get_average_session_duration": ("", "time_min time_max"),
    "project_management_get_task_information_by_id": ("task_id field", ""),
    "project_management_search_tasks": ("", "task_name assigned_to_email list_name due_date board"),
    "project_management_create_task": ("task_name assigned_to_email list_name due_date board", ""),
    "project_management_delete_task": ("task_id", ""),
    "project_management_update_task": ("task_id field new_value", ""),
    "customer_relationship_manager_search_customers": (
        "",
        "customer_name customer_email product_interest status assigned_to_email last_contact_date_min "
        "last_contact_date_max follow_up_by_min follow_up_by_max page page_size",
    ),
    "customer_relationship_manager_update_customer": ("customer_id field new_value", ""),
    "customer_relationship_manager_add_customer": (
        "customer_name assigned_to_email status",
        "customer_email customer_phone last_contact_date product_interest notes follow_up_by",
    ),
    "customer_relationship_manager_delete_customer": ("customer_id", ""),
}
INTEGERS = {
    "page": {"type": "integer", "default": 1},
    "page_size": {"type": "integer", "minimum": 1, "default": 5},
}


def kind(name: str) -> str:
    """Say from the method's verb what a tool does to its table."""
    verb = CATALOGUE.tools[name].method.partition("_")[0]
    return {"send": "adds", "forward": "adds", "reply": "adds", "create": "adds", "add": "adds"}.get(
        verb, verb
    )


def test_there_are_exactly_the_27_tools_of_the_contract() -> None:
    assert list(CATALOGUE.tools) == list(EXPECTED)
    assert len(EXPECTED) == 27


@pytest.mark.parametrize("name", EXPECTED)
def test_a_schema_names_every_argument_its_type_and_whether_it_is_required(name: str) -> None:
    schema = CATALOGUE.tools[name].schema
    Draft202012Validator.check_schema(schema)
    required, optional = (names.split() for names in EXPECTED[name])
    assert set(schema) == {"type", "properties", "required", "additionalProperties"}
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema["required"] == required
    assert list(schema["properties"]) == required + optional
    for argument, described in schema["properties"].items():
        facts = dict(described)
        assert len(facts.pop("description")) > 10
        assert facts == INTEGERS.get(argument, {"type": "string"})


@pytest.mark.parametrize("name", EXPECTED)
def test_a_tool_says_in_words_what_it_does_and_in_marks_what_it_may_do(name: str) -> None:
    made = CATALOGUE.tools[name]
    assert made.name == name == f"{made.toolkit}_{made.method}"
    assert made.title
    assert made.description.endswith(".")
    assert "\n" not in made.description
    does = kind(name)
    assert made.changes is (does in {"adds", "update", "delete"})
    assert made.destructive is (does in {"update", "delete"})
    assert made.idempotent is (does not in {"adds", "delete"})


def test_titles_and_descriptions_tell_the_tools_apart() -> None:
    tools = CATALOGUE.tools.values()
    assert len({made.title for made in tools}) == len({made.description for made in tools}) == 27


def test_a_catalogue_gives_the_layouts_of_the_named_toolkits() -> None:
    specs = list(CATALOGUE.specs(["analytics", "email"]))
    assert [spec.name for spec in specs] == ["analytics.visits", "analytics.plots", "email.emails"]
    assert [spec.dtype(column) for spec in specs[:1] for column in spec.columns] == ["object"] * 5 + ["bool"]


def test_a_tool_without_a_description_is_refused_when_its_class_is_made() -> None:
    with pytest.raises(TypeError, match="silent_act has no docstring"):

        class Silent(Toolkit):  # pyright: ignore[reportUnusedClass]
            name = "silent"

            @tool(title="Act")
            def act(self) -> str:
                raise AssertionError


def test_a_description_of_nothing_but_spaces_is_none() -> None:
    def act(self: Toolkit) -> str:
        raise AssertionError

    act.__doc__ = "  \n "
    with pytest.raises(TypeError, match="has no docstring"):
        type("Blank", (Toolkit,), {"name": "blank", "act": tool(title="Act")(act)})


@pytest.mark.parametrize(
    ("hint", "why"),
    [
        (str, "annotate it with Arg"),
        (None, "annotate it with Arg"),
        (Annotated[str, "some words"], "annotate it with Arg"),
        (Annotated[str, Arg("")], "annotate it with Arg"),
        (Annotated[float, Arg("A number.")], "must be str or int"),
        (Annotated[bool, Arg("Yes or no.")], "must be str or int"),
        (Annotated[str | int, Arg("Either.")], "must be str or int"),
        (Annotated[list[str], Arg("Several.")], "must be str or int"),
        (Annotated[dict[str, int] | None, Arg("An object.")], "must be str or int"),
    ],
)
def test_a_parameter_that_the_schema_cannot_say_is_refused_when_the_class_is_made(
    hint: Any, why: str
) -> None:
    def act(self: Toolkit, given: Any) -> str:
        """Act on what is given."""
        raise AssertionError

    act.__annotations__["given"] = hint
    if hint is None:
        del act.__annotations__["given"]
    with pytest.raises(TypeError, match=f"odd_act: parameter 'given' .*{why}"):
        type("Odd", (Toolkit,), {"name": "odd", "act": tool(title="Act")(act)})


class Counter(Toolkit):
    """A toolkit of a test's own."""

    name = "counter"
    marks = TableField("mark")

    @tool(title="Make a mark", idempotent=True)
    def mark(
        self,
        text: Annotated[str | None, Arg("What to write.")] = None,
        times: Annotated[int | None, Arg("How often.", minimum=0)] = None,
    ) -> Change:
        """Make a mark
        on the slate.
        """
        raise ToolError(f"{text} {times}")

    def helper(self) -> str:
        raise AssertionError


def test_signature_and_docstring_make_the_tool() -> None:
    catalogue = Catalogue((Counter,))
    made = catalogue.tools["counter_mark"]
    assert list(catalogue.tools) == ["counter_mark"]
    assert made.description == "Make a mark on the slate."
    assert (made.title, made.changes, made.destructive, made.idempotent) == ("Make a mark", True, False, True)
    assert made.schema == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to write."},
            "times": {"type": "integer", "description": "How often.", "minimum": 0},
        },
        "required": [],
        "additionalProperties": False,
    }
    assert [spec.name for spec in Counter.specs] == ["counter.marks"]
    assert Counter.marks.spec.columns == ("mark",)
