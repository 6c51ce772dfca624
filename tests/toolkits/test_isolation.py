"""Workplaces share their bases and nothing else."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolkits.desk import workplace
from toolkits.workplace import Outcome, Workplace
from wa_mcp.catalogue import CATALOGUE

ids = st.sampled_from(["1", "2", "00000000", "00000001", "1000", "99999999"])
texts = st.sampled_from(["", "x", "Ada", "a@b.c", "2023-11-01", "30", "Won", "Design", "ada@firm.example"])
fields = st.sampled_from(["board", "duration", "status", "notes", "event_start", "subject", "nope"])


def argument(name: str) -> st.SearchStrategy[Any]:
    if name.endswith("_id"):
        return ids
    if name.startswith("page"):
        return st.integers(1, 3)
    return fields if name == "field" else texts


def call_of(name: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    schema = CATALOGUE.tools[name].schema
    given = {argument_name: argument(argument_name) for argument_name in schema["properties"]}
    required = {argument_name: given.pop(argument_name) for argument_name in schema["required"]}
    return st.tuples(st.just(name), st.fixed_dictionaries(required, optional=given))


calls = st.sampled_from(list(CATALOGUE.tools)).flatmap(call_of)
START = workplace(
    {
        "email.emails": [("999", "inbox", "a@b.c", "x", "2023-11-01", "x")],
        "calendar.events": [("00000001", "x", "p", "2023-11-01", "30")],
        "project_management.tasks": [("00000001", "x", "ada@firm.example", "Backlog", "", "Design")],
        "customer_relationship_manager.customers": [("00000001", "a", "x", "", "", "", "", "Won", "", "")],
    }
)


def state(workplace: Workplace) -> Any:
    return workplace.revision, {
        name: (list(table.labels), table.whole(), table.changes) for name, table in workplace.tables.items()
    }


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), calls), min_size=5, max_size=30))
def test_workplaces_worked_in_turns_equal_each_worked_alone(
    turns: list[tuple[int, tuple[str, dict[str, Any]]]],
) -> None:
    together = [START] * 4
    answers: list[tuple[int, Outcome]] = []
    for who, (name, arguments) in turns:
        together[who], outcome = together[who].call(name, arguments)
        answers.append((who, outcome))
    for who in range(4):
        alone, outcomes = START, list[Outcome]()
        for name, arguments in (call for turn, call in turns if turn == who):
            alone, outcome = alone.call(name, arguments)
            outcomes.append(outcome)
        assert outcomes == [outcome for turn, outcome in answers if turn == who]
        assert state(alone) == state(together[who])
