"""Scores: what counts in each profile, what is told about a point lost, and that nothing can break it."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, cast

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client

from tests.toolkits.desk import workplace as made_of
from tests.wa_mcp.offices import SCRIPT, TABLES, Call, calls
from toolkits.dataset import Dataset
from toolkits.frozen_changes import frozen_change
from toolkits.rows import stored_in
from toolkits.table import Table
from toolkits.workplace import Workplace
from wa_mcp import Runtime, agent_server
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.errors import CodedError
from wa_mcp.replay import GroundTruthError
from wa_mcp.scoring import Score, score
from wa_mcp.transcripts import MOST_CALLS

Json = dict[str, Any]


@pytest.fixture(scope="module")
def fresh(dataset: Dataset) -> Workplace:
    return dataset.workplace(CATALOGUE.names)


def call(name: str, /, **arguments: Any) -> Json:
    return {"name": name, "arguments": arguments}


def mail(subject: str = "Hi", body: str = "Hello", recipient: str = "ada@example.com") -> Json:
    return call("email_send_email", recipient=recipient, subject=subject, body=body)


def delete(email_id: str = "00000003") -> Json:
    return call("email_delete_email", email_id=email_id)


def plot(last: str, value: str = "total_visits", kind: str = "bar") -> Json:
    return call(
        "analytics_create_plot", time_min="2023-11-01", time_max=last, value_to_plot=value, plot_type=kind
    )


def task(field: str, value: str, task_id: str = "00000003") -> Json:
    return call("project_management_update_task", task_id=task_id, field=field, new_value=value)


def rewards(fresh: Workplace, truth: Any, made: Any) -> tuple[float, float]:
    """Give the rewards of both profiles."""
    return score(fresh, truth, made).reward, score(fresh, truth, made, profile="workbench").reward


LEAD = {"customer_name": "N P", "assigned_to_email": "ada@example.com", "status": "Lead"}
ADD = "customer_relationship_manager_add_customer"
EVENT = {"event_name": "X", "participant_email": "ada@example.com", "event_start": "2023-12-01 13:00:00"}


@pytest.mark.parametrize(
    ("truth", "made", "gym", "workbench"),
    [
        ([mail()], [mail()], 1, 1),
        ([], [], 1, 1),
        ([mail()], [], 0, 0),
        ([], [mail()], 0, 0),
        ([mail("A"), mail("B")], [mail("B"), mail("A")], 0, 1),
        ([mail("A"), mail("B")], [mail("A"), mail("A")], 0, 0),
        ([mail(), delete()], [delete(), mail()], 0, 1),
        ([mail("HI")], [mail("hi")], 1, 1),
        ([mail(body="a\nb")], [mail(body="a\\nb")], 0, 1),
        ([mail(body="a\nb")], [mail(body="a\\Nb")], 0, 0),
        ([call(ADD, **LEAD)], [call(ADD, **LEAD, customer_phone=None, notes=None)], 1, 1),
        ([call(ADD, **LEAD)], [call(ADD, **LEAD, customer_phone="")], 0, 0),
        ([call(ADD, **LEAD)], [call(ADD, **{**LEAD, "status": "LEAD"})], 0, 0),
        ([call(ADD, **LEAD)], [call(ADD, **{**LEAD, "customer_name": "n p"})], 1, 1),
        ([plot("2023-11-30")], [plot("2023-11-29")], 0, 1),
        ([plot("2023-11-30")], [plot("2023-11-28")], 0, 0),
        ([plot("2023-11-30_x")], [plot("2023-11-29_x")], 0, 0),
        ([plot("2023-11-30")], [plot("2023-11-29", "user_engaged")], 0, 0),
        ([plot("2023-11-30"), plot("2023-11-28")], [plot("2023-11-28"), plot("2023-11-30")], 0, 1),
        ([mail()], [{**mail(), "name": "mcp__work__place__email_send_email"}], 1, 1),
        ([{**mail(), "name": "mcp__w__email_send_email"}], [mail()], 1, 1),
        ([mail()], [{**mail(), "name": "mcp__email_send_email"}], 0, 0),
        ([], [call("calendar_create_event", **EVENT, duration=30)], 1, 1),
        ([], [call("calendar_create_event", **EVENT, duration=["30"])], 1, 1),
    ],
)
def test_what_counts(fresh: Workplace, truth: list[Json], made: list[Json], gym: int, workbench: int) -> None:
    assert rewards(fresh, truth, made) == (gym, workbench)
    assert rewards(fresh, orjson.dumps(truth).decode(), orjson.dumps(made).decode()) == (gym, workbench)
    assert rewards(fresh, truth, truth) == (1, 1)


def test_none_is_nan_and_not_an_empty_text() -> None:
    row = ["00000000", "ada@x.example", "Zoe", "", "", "", "", "Won", "", ""]
    fresh = made_of({"customer_relationship_manager.customers": [row]})
    added = call(ADD, **LEAD)
    given = [call(ADD, **LEAD), call("customer_relationship_manager_delete_customer", customer_id="00000001")]
    assert score(fresh, [], given).reward == 1
    assert score(fresh, [added], [call(ADD, **LEAD, notes=" ")]).reward == 0
    table = fresh.tables["customer_relationship_manager.customers"]
    nothing, empty = (made_of_phone(fresh, cell) for cell in (None, ""))
    assert score(fresh, [], live=nothing).reward == 1, "NaN in the file, None now"
    assert score(fresh, [], live=empty).reward == 0
    assert len(table) == 1


def made_of_phone(fresh: Workplace, cell: str | None) -> Workplace:
    name = "customer_relationship_manager.customers"
    table = fresh.tables[name].set(1, (0,), "customer_phone", cell)
    return Workplace(fresh.dataset, {**fresh.tables, name: table}, 1, 1, 0)


def told(scored: Score, side: str) -> list[Json]:
    return scored.as_json()[side]


def test_every_point_lost_has_its_reason(fresh: Workplace) -> None:
    truth = [delete(), task("task_name", "New"), mail("A")]
    made = [call("email_search_emails"), task("task_name", "Old"), mail("B"), delete("00000004")]
    scored = score(fresh, truth, made)
    assert [(one["change"], one["position"], one["name"]) for one in told(scored, "missing")] == [
        ("removed", 0, "email_delete_email"),
        ("added", 2, "email_send_email"),
        ("set", 1, "project_management_update_task"),
    ]
    assert [(one["table"], one["change"], one["position"]) for one in told(scored, "unexpected")] == [
        ("email.emails", "removed", 3),
        ("email.emails", "added", 2),
        ("project_management.tasks", "set", 1),
    ]
    assert told(scored, "missing")[2]["value"] == "New"
    assert told(scored, "unexpected")[2] | {"was": ""} == {
        "table": "project_management.tasks",
        "change": "set",
        "id": "00000003",
        "column": "task_name",
        "was": "",
        "value": "Old",
        "position": 1,
        "name": "project_management_update_task",
    }
    assert scored.counts == (4, 0, 1)
    assert scored.side_effects
    assert {name for name, equal in scored.tables.items() if not equal} == {
        "email.emails",
        "project_management.tasks",
    }
    assert set(scored.tables) == {
        "email.emails",
        "calendar.events",
        "analytics.plots",
        "project_management.tasks",
        "customer_relationship_manager.customers",
    }


def test_rows_that_only_stand_elsewhere_are_told_too(fresh: Workplace) -> None:
    scored = score(fresh, [mail(), delete()], [delete(), mail()])
    (missing,), (unexpected,) = told(scored, "missing"), told(scored, "unexpected")
    assert missing["change"] == unexpected["change"] == "placed"
    assert missing["id"] == unexpected["id"]
    assert missing["label"] == unexpected["label"] + 1
    assert (missing["position"], unexpected["position"]) == (1, 1)


def test_what_is_only_left_out_is_no_side_effect(fresh: Workplace) -> None:
    scored = score(fresh, [mail(), delete()], [mail()])
    assert (scored.reward, scored.side_effects, scored.unexpected) == (0.0, False, ())


def test_live_changes_carry_the_revision_that_made_them(fresh: Workplace) -> None:
    live = fresh
    for made in (delete(), mail("A"), task("task_name", "Old"), task("task_name", "Newer")):
        live, _ = live.call(made["name"], made["arguments"])
    scored = score(fresh, [delete()], live=live)
    assert [(one["change"], one["revision"]) for one in told(scored, "unexpected")] == [
        ("added", 2),
        ("set", 4),
    ]
    assert (scored.scored, scored.counts, scored.agrees) == ("live", None, None)
    both = score(fresh, [delete()], [delete()], live=live)
    assert (both.reward, both.agrees) == (1.0, False)


def test_replay_and_live_tables_agree_only_if_nothing_tells_them_apart(fresh: Workplace) -> None:
    live, _ = fresh.call("email_send_email", mail("HI")["arguments"])
    for subject, agrees in (("HI", True), ("hi", False)):
        scored = score(fresh, [mail("Hi")], [mail(subject)], live=live)
        assert (scored.reward, scored.agrees) == (1.0, agrees)


def test_what_is_done_twice_is_unexpected_once(fresh: Workplace) -> None:
    scored = score(fresh, [mail()], [mail(), mail()], profile="workbench")
    assert (scored.missing, [one.position for one in scored.unexpected]) == ((), [1])


def test_a_row_is_told_by_the_call_that_last_touched_it(fresh: Workplace) -> None:
    event = call("calendar_create_event", **EVENT, duration="30")
    _, outcome = fresh.call(event["name"], event["arguments"])
    rename = call("calendar_update_event", event_id=outcome.value, field="event_name", new_value="Y")
    (change,) = told(score(fresh, [], [event, rename]), "unexpected")
    assert (change["change"], change["position"], change["row"]["event_name"]) == ("added", 1, "Y")


BAD_CALLS: dict[str, tuple[Any, str]] = {
    "a number": (5, "not an object"),
    "nothing": ({}, "no name"),
    "a name that is a list": ({"name": ["email_send_email"], "arguments": {}}, "no name"),
    "broken JSON": ({"name": "email_send_email", "arguments": '{"a": '}, "not JSON"),
    "NaN": ({"name": "email_search_emails", "arguments": '{"page": NaN}'}, "not JSON"),
    "deep JSON": ({"name": "email_search_emails", "arguments": "[" * 100_000}, "not JSON"),
    "a list": ({"name": "email_send_email", "arguments": [1]}, "not an object"),
    "a list in JSON": ({"name": "email_send_email", "arguments": "[1]"}, "not an object"),
    "twice JSON": ({"name": "email_send_email", "arguments": '"{}"'}, "not an object"),
    "an unknown tool": (call("email_fly"), "no such tool"),
    "a tool whose name is huge": (call("x" * 1_000_000), "no such tool"),
    "a tool that is no Unicode": (call("\ud800"), "no such tool"),
    "an unknown argument": (call("email_delete_email", email_id="1", more=1), "Unknown argument 'more'"),
    "a missing argument": (call("email_send_email", subject="Hi"), "Missing argument 'recipient'"),
    "a number for a text": (call("email_delete_email", email_id=3), "expected a value of type string"),
    "a list for a text": (call("email_delete_email", email_id=["3"]), "expected a value of type string"),
    "a text that is huge": (call("email_delete_email", email_id="3" * 100_001), "at most 100000 characters"),
    "a text that is no Unicode": (call("email_delete_email", email_id="\ud800"), "lone surrogate"),
}


@pytest.mark.parametrize(("bad", "reason"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_a_bad_call_is_skipped_and_breaks_a_ground_truth(fresh: Workplace, bad: Any, reason: str) -> None:
    scored = score(fresh, [mail()], [bad, mail()])
    assert scored.reward == 1.0
    (problem,) = scored.problems
    assert (problem.position, scored.counts) == (0, (2, 1, 0))
    assert reason in problem.reason
    assert len(orjson.dumps(scored.as_json())) < 5_000
    with pytest.raises(GroundTruthError) as caught:
        score(fresh, [mail(), bad], [mail()])
    assert caught.value.code == "invalid_params"
    assert (caught.value.facts["position"], caught.value.facts["name"]) == (1, problem.name)
    assert reason in caught.value.facts["reason"]
    assert "groundTruth[1]" in str(caught.value)
    orjson.dumps(caught.value.facts)


def test_a_call_that_fails_in_its_tool_is_an_error_and_not_skipped(fresh: Workplace) -> None:
    scored = score(fresh, [], [delete("99999999")])
    assert (scored.reward, scored.problems, scored.counts) == (1.0, (), (1, 1, 0))
    with pytest.raises(GroundTruthError, match=r"groundTruth\[0\]: email_delete_email .*Email not found"):
        score(fresh, [delete("99999999")], [])


BAD_LISTS = [
    None,
    5,
    True,
    "",
    "[",
    "{}",
    "5",
    {"name": "x"},
    b"[]",
    "[" * 100_000,
    [mail()] * (MOST_CALLS + 1),
]


@pytest.mark.parametrize("bad", BAD_LISTS)
def test_what_is_no_list_of_calls_is_an_error_before_anything_else(fresh: Workplace, bad: Any) -> None:
    with pytest.raises(CodedError, match="groundTruth: expected") as caught:
        score(fresh, bad, [])
    assert caught.value.code == "invalid_params"
    if bad is not None:
        with pytest.raises(CodedError, match="calls: expected"):
            score(fresh, [call("broken")], bad)
    with pytest.raises(CodedError, match="profile: expected gym or workbench"):
        score(fresh, bad, bad, profile="jim")


def test_as_many_calls_as_allowed_are_scored(fresh: Workplace) -> None:
    scored = score(fresh, [mail()] * MOST_CALLS, [])
    assert (len(scored.missing), scored.omitted) == (1000, 0)
    assert score(fresh, [], [mail()] * MOST_CALLS).counts == (1000, 0, 0)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
hints = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from([*CATALOGUE.tools, "mcp__x__email_send_email"]) | json_values,
        "arguments": json_values | st.text(),
        "type": st.sampled_from(["function_call", "mcp_call", "function", "message"]) | json_values,
        "role": st.sampled_from(["assistant", "user", "tool"]) | json_values,
        "function": json_values,
        "tool_calls": st.lists(json_values, max_size=3) | json_values,
        "function_call": json_values,
    },
)


@pytest.mark.timeout(90)
@settings(deadline=None, max_examples=200)
@given(truth=json_values | st.lists(hints, max_size=3), made=json_values | st.lists(hints, max_size=5))
def test_nonsense_is_scored_or_refused_and_never_crashes(truth: Any, made: Any) -> None:
    fresh = made_of()
    nothing: list[Any] = []
    for wanted in (truth, nothing):
        try:
            scored = score(fresh, wanted, made if made is not None else [])
        except CodedError as error:
            refused = error.code
        else:
            refused = None
            assert scored.reward in (0.0, 1.0)
        assert refused in (None, "invalid_params")


RESPONSES: list[Json] = [
    {"role": "user", "content": "Send two mails."},
    {"type": "reasoning", "summary": []},
    {
        "type": "function_call",
        "call_id": "c1",
        "name": "email_send_email",
        "arguments": mail("A")["arguments"],
    },
    {"type": "function_call_output", "call_id": "c1", "output": "done"},
    {
        "type": "mcp_call",
        "server_label": "w",
        "name": "email_send_email",
        "arguments": mail("B")["arguments"],
    },
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
]
CHAT: list[Json] = [
    {"role": "system", "content": "name"},
    {"role": "user", "content": "Send two mails.", "tool_calls": [{"function": mail("not a model's")}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": mail("A")},
            {"id": "2", "type": "function", "function": mail("B")},
        ],
    },
    {"role": "tool", "tool_call_id": "1", "name": "email_send_email", "content": "done"},
    {"role": "assistant", "content": "Done.", "tool_calls": None},
]


@pytest.mark.parametrize(
    "messages",
    [
        RESPONSES,
        CHAT,
        [
            {"role": "assistant", "function_call": mail("A")},
            {"role": "assistant", "function_call": mail("B")},
        ],
        [{"type": "function", "function": mail("A")}, {"type": "function", **mail("B")}],
    ],
)
def test_calls_are_taken_from_a_conversation(fresh: Workplace, messages: list[Json]) -> None:
    def with_texts(entry: Any) -> Any:
        """Write arguments as their JSON text, as the APIs do."""
        if isinstance(entry, list):
            return [with_texts(one) for one in cast("list[Any]", entry)]
        if not isinstance(entry, dict):
            return entry
        return {
            name: orjson.dumps(value).decode() if name == "arguments" else with_texts(value)
            for name, value in cast("Json", entry).items()
        }

    for given_as in (messages, with_texts(messages), orjson.dumps(messages).decode()):
        scored = score(fresh, [mail("A"), mail("B")], given_as)
        assert (scored.reward, scored.counts, scored.problems) == (1.0, (2, 0, 0), ())
    (change,) = told(score(fresh, [mail("A")], messages), "unexpected")
    assert change["position"] == 1


def test_a_ground_truth_is_no_conversation(fresh: Workplace) -> None:
    with pytest.raises(GroundTruthError):
        score(fresh, CHAT, [mail("A"), mail("B")])


def test_only_the_session_s_tools_count_and_only_its_tables(dataset: Dataset) -> None:
    fresh = dataset.workplace(["email"])
    scored = score(fresh, [], [task("task_name", "New")])
    assert (list(scored.tables), scored.reward, len(scored.problems)) == (["email.emails"], 1.0, 1)
    with pytest.raises(GroundTruthError, match="There is no such tool"):
        score(fresh, [task("task_name", "New")], [])
    hidden = score(fresh, [delete()], [delete()], tools=["email_send_email"])
    assert (hidden.reward, hidden.problems[0].reason) == (0.0, "There is no such tool.")


def test_what_can_not_be_compared_is_the_caller_s_mistake(fresh: Workplace, dataset: Dataset) -> None:
    changed, _ = fresh.call("email_delete_email", {"email_id": "00000003"})
    for mistake in (
        lambda: score(fresh, []),
        lambda: score(changed, [], []),
        lambda: score(fresh, [], live=dataset.workplace(["email"])),
        lambda: score(fresh, [], live=made_of()),
    ):
        with pytest.raises(ValueError, match=r"nothing to score|without changes|these data"):
            mistake()


def test_scoring_leaves_everything_as_it_is(fresh: Workplace) -> None:
    live, _ = fresh.call("email_delete_email", {"email_id": "00000003"})
    before = dict(live.tables), dict(fresh.tables), live.tables["email.emails"].rows
    score(fresh, [mail()], [delete(), mail()], live=live)
    assert (dict(live.tables), dict(fresh.tables), live.tables["email.emails"].rows) == before
    assert fresh.dataset.workplace(CATALOGUE.names) is fresh


def test_long_texts_and_long_lists_are_cut(fresh: Workplace) -> None:
    big = score(fresh, [], [mail(body="b" * 100_000)])
    assert len(big.unexpected[0].change.facts["row"]["body"]) == 203
    rows = [(f"{number:08}", "T", "ada@x.example", "Backlog", "", "Design") for number in range(600)]
    many = made_of({"project_management.tasks": rows})
    wrong = [task("task_name", "New", row[0]) for row in rows] + [
        task("due_date", "2", row[0]) for row in rows
    ]
    halves = [score(many, [], wrong[at : at + 600]).unexpected for at in (0, 600)]
    assert [len(half) for half in halves] == [600, 600]
    live = many
    for one in wrong:
        live, _ = live.call(one["name"], one["arguments"])
    scored = score(many, [], live=live)
    assert (len(scored.unexpected), scored.omitted) == (1000, 200)


def as_it_is(live: Workplace) -> Workplace:
    return live


def thawed(live: Workplace) -> Workplace:
    """Give the tables as a checkpoint gives them back."""
    return live._replace(tables={name: thawed_table(table) for name, table in live.tables.items()})


def thawed_table(table: Table) -> Table:
    if not table.changes:
        return table
    changes = [
        frozen_change(change, table.spec.columns).thaw(change.revision, table.spec)
        for change in table.changes
    ]
    return Table(table.base, tuple(changes), None, sum(map(stored_in, changes)))


@settings(deadline=None, max_examples=60)
@given(
    truth=st.lists(calls, max_size=4),
    made=st.lists(calls, max_size=8),
    profile=st.sampled_from(["gym", "workbench"]),
    frozen=st.booleans(),
)
def test_replay_and_live_tables_score_alike_also_after_a_restore(
    truth: list[Call], made: list[Call], profile: str, frozen: bool
) -> None:
    check_alike(made_of(TABLES), truth, made, profile, thawed if frozen else as_it_is)


def test_replay_and_live_tables_score_alike_after_every_kind_of_change() -> None:
    for profile in ("gym", "workbench"):
        for passed in (thawed, as_it_is):
            for cut in range(len(SCRIPT) + 1):
                check_alike(made_of(TABLES), SCRIPT[:cut], SCRIPT, profile, passed)


def check_alike(
    fresh: Workplace,
    truth: list[Call],
    made: list[Call],
    profile: str,
    passed: Callable[[Workplace], Workplace],
) -> None:
    clean: list[Json] = []
    state = fresh
    for name, arguments in truth:
        state, outcome = state.call(name, arguments)
        if not outcome.is_error:
            clean.append(call(name, **arguments))
    live = fresh
    for name, arguments in made:
        live, _ = live.call(name, arguments)
    live = passed(live)
    as_calls = [call(name, **arguments) for name, arguments in made]
    replayed = score(fresh, clean, as_calls, live=live, profile=profile)
    lived = score(fresh, clean, live=live, profile=profile)
    assert replayed.agrees
    assert (replayed.reward, replayed.tables) == (lived.reward, lived.tables)
    for mine, other in ((replayed.missing, lived.missing), (replayed.unexpected, lived.unexpected)):
        assert [one.change for one in mine] == [one.change for one in other]
    assert (replayed.reward == 1.0) == (not replayed.missing and not replayed.unexpected)


async def test_five_calls_are_scored_in_less_than_ten_calls_take(runtime: Runtime) -> None:
    made = [mail(), delete(), task("task_name", "New"), plot("2023-11-30"), call(ADD, **LEAD)]
    session = runtime.sessions.seed()
    fresh = session.workplace
    async with Client(agent_server(runtime, session.id)) as client:
        times: list[tuple[float, float]] = []
        for _ in range(7):
            start = perf_counter()
            for _ in range(10):
                await client.call_tool("email_send_email", mail()["arguments"])
            middle = perf_counter()
            score(fresh, made, made)
            times.append((middle - start, perf_counter() - middle))
    assert min(scoring for _, scoring in times) < min(calling for calling, _ in times)
