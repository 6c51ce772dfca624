"""Forks, rewinds and differences, for any calls: what each gives is what the calls gave."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wa_mcp.checkpoints import export, office, restore
from tests.wa_mcp.offices import SCRIPT, UNSHRUNK, Call, calls, seen, write_dataset
from toolkits.rewinding import workplace_at
from toolkits.workplace import Workplace
from wa_mcp import Runtime
from wa_mcp.branching import fork, read_branches
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.diffs import Difference, diff
from wa_mcp.errors import CodedError
from wa_mcp.session import Session
from wa_mcp.session_state import SessionState

pytestmark = pytest.mark.timeout(90)

PARENT = "a-session-with-branches"
MISSING = object()
"""What stands for NaN, which is not equal to itself."""

Rows = list[tuple[int, list[Any]]]
"""The rows of a table, each with its label."""

work = st.lists(calls, min_size=4, max_size=16)


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    return office(write_dataset(tmp_path_factory.mktemp("small") / "data"))


def begin(runtime: Runtime) -> Session:
    """Seed a session on a server that has none."""
    runtime.sessions.remove([session.id for session in runtime.sessions.list()])
    return runtime.sessions.seed(PARENT)


def do(session: Session, todo: Iterable[Call]) -> list[SessionState]:
    """Work a session, and give its state at each revision."""
    states = [session.state]
    for call in todo:
        session.call(*call)
        if session.revision == len(states):
            states.append(session.state)
    return states


def branch(runtime: Runtime, session_id: str, *, at: int | None = None) -> Session:
    (made,) = fork(runtime.sessions, session_id, list(read_branches(1, None, None)), at_revision=at)
    return made


def rows(workplace: Workplace) -> dict[str, Rows]:
    """Show tables row by row, NaN as something that equals itself."""
    shown: dict[str, Rows] = {}
    for name, table in workplace.tables.items():
        whole = table.whole()
        columns = [
            [MISSING if place in column["nan"] else value for place, value in enumerate(column["values"])]
            for column in whole["columns"]
        ]
        shown[name] = (
            list(zip(whole["index"], map(list, zip(*columns, strict=True)), strict=True))
            if whole["index"]
            else []
        )
    return shown


def applied(before: Workplace, differences: Iterable[Difference]) -> dict[str, Rows]:
    """Do what differences say to the tables they start from."""
    tables = rows(before)
    found: dict[tuple[str, str], list[Any]] = {}
    for name, kind, facts in differences:
        found.setdefault((name, kind), []).append(facts)
    for name, table in tables.items():
        columns = before.tables[name].spec.columns
        for facts in reversed(found.get((name, "removed"), [])):
            label, row = table.pop(facts["position"])
            assert (label, row) == (facts["label"], read(facts, columns))
        for facts in found.get((name, "added"), []):
            table.insert(facts["position"], (facts["label"], read(facts, columns)))
        for facts in found.get((name, "changed"), []):
            row = table[int(facts["position"])][1]
            for column, cell in facts["cells"].items():
                nan = cell.get("nan", [])
                old, new = (MISSING if side in nan else cell[side] for side in ("old", "new"))
                assert row[columns.index(column)] == old != new
                row[columns.index(column)] = new
        for facts in found.get((name, "relabelled"), []):
            labels = [first + step for first, length in facts["labels"] for step in range(length)]
            tables[name] = [(label, row) for label, (_, row) in zip(labels, table, strict=True)]
    return tables


def read(facts: Any, columns: Iterable[str]) -> list[Any]:
    nan = facts.get("nan", [])
    return [MISSING if column in nan else facts["row"][column] for column in columns]


def check_told(differences: Iterable[Difference], before: SessionState, after: SessionState) -> None:
    """Check that each difference names a call that did touch the table, on the right side."""
    shared = 0
    while before.history[: shared + 1] == after.history[: shared + 1] and shared < len(before.history):
        shared += 1
    for name, _, facts in differences:
        made: list[Any] = [facts, *facts.get("cells", {}).values()]
        for by in made:
            side: SessionState = before if by.get("undone") else after
            entry = side.history[int(by["revision"]) - 1]
            assert by["revision"] > shared
            assert entry.tool == by["tool"]
            assert name in entry.tables


@settings(max_examples=60, deadline=None, phases=UNSHRUNK)
@given(work, work, st.data())
def test_a_fork_and_a_rewind_give_the_tables_that_so_many_calls_gave(
    runtime: Runtime, todo: list[Call], later: list[Call], data: st.DataObject
) -> None:
    parent = begin(runtime)
    states = do(parent, todo)
    stood = parent.state
    at = data.draw(st.integers(0, len(states) - 1))
    twin = runtime.sessions.seed()
    do(twin, todo)
    made = branch(runtime, PARENT, at=at)
    twin.rewind(at)
    for session in (made, twin):
        assert seen(session.workplace) == seen(states[at].workplace)
        assert rows(session.workplace) == rows(states[at].workplace)
        assert [entry[:3] for entry in session.state.history] == [entry[:3] for entry in states[at].history]
        if at < parent.revision:  # else it is as it is now, with what was only read since
            for name in ("calls", "errors", "reads"):
                assert getattr(session.state, name) == getattr(states[at], name)
    assert parent.state is stood
    for call in later:
        assert made.call(*call).outcome == twin.call(*call).outcome
    assert seen(made.workplace) == seen(twin.workplace)
    assert parent.state is stood


@settings(max_examples=60, deadline=None, phases=UNSHRUNK)
@given(work, work, work, st.data())
def test_a_difference_done_to_the_one_gives_the_other(
    runtime: Runtime, todo: list[Call], mine: list[Call], theirs: list[Call], data: st.DataObject
) -> None:
    parent = begin(runtime)
    do(parent, todo)
    other = branch(runtime, PARENT, at=data.draw(st.integers(0, parent.revision)))
    stranger = runtime.sessions.seed()
    do(stranger, theirs)
    states = [*do(parent, mine), *do(other, theirs), stranger.state, begin(runtime).state]
    before, after = data.draw(st.sampled_from(states)), data.draw(st.sampled_from(states))
    differences = list(diff(before, after))
    assert applied(before.workplace, differences) == rows(after.workplace)
    check_told(differences, before, after)
    assert list(diff(after, after)) == []


RELABELS: list[Call] = [
    ("email_delete_email", {"email_id": "1"}),
    ("email_send_email", {"recipient": "bo@firm.example", "subject": "Plan", "body": "Later."}),
    ("email_delete_email", {"email_id": "3"}),
]


def test_a_difference_leads_from_any_revision_to_any_other_whatever_the_calls_change(
    runtime: Runtime,
) -> None:
    states = do(begin(runtime), [*SCRIPT, *RELABELS])
    assert len(states) == 1 + len(SCRIPT) + len(RELABELS)
    kinds: set[str] = set()
    for before in states:
        for after in states:
            differences = list(diff(before, after))
            assert applied(before.workplace, differences) == rows(after.workplace)
            check_told(differences, before, after)
            kinds |= {it.kind for it in differences}
    assert kinds == {"added", "removed", "changed", "relabelled"}


@settings(max_examples=30, deadline=None, phases=UNSHRUNK)
@given(work, work, work, st.data())
def test_forks_never_see_each_other_s_changes_or_their_parent_s(
    runtime: Runtime, todo: list[Call], first: list[Call], second: list[Call], data: st.DataObject
) -> None:
    parent = begin(runtime)
    do(parent, todo)
    one, two = (branch(runtime, PARENT) for _ in range(2))
    alone = runtime.sessions.seed()
    do(alone, todo)
    turns = data.draw(st.permutations([(one, call) for call in first] + [(two, call) for call in second]))
    before = {one.id: one.state, two.id: two.state}
    for session, call in turns:
        others = {it.id: it.state for it in (parent, one, two) if it is not session}
        session.call(*call)
        assert {it.id: it.state for it in (parent, one, two) if it is not session} == others
    for session in (one, two):
        for at, entry in enumerate(session.state.history[before[session.id].workplace.revision :]):
            assert entry in session.state.history, at
    assert seen(parent.workplace) == seen(alone.workplace)


@settings(max_examples=30, deadline=None, phases=UNSHRUNK)
@given(work, work, st.data())
def test_all_of_it_holds_again_after_a_restore(
    runtime: Runtime, todo: list[Call], later: list[Call], data: st.DataObject
) -> None:
    parent = begin(runtime)
    states = do(parent, todo)
    at = data.draw(st.integers(0, len(states) - 1))
    made = branch(runtime, PARENT, at=at)
    do(made, later)
    gone = {session.id: session.state for session in (parent, made)}
    exported = export(runtime)
    runtime.sessions.remove(gone)
    back = {session.id: session for session in restore(runtime, exported)}
    for session_id, state in gone.items():
        assert list(back[session_id].state.history) == list(state.history)
        assert back[session_id].state.origin == state.origin
    assert list(diff(back[PARENT].state, back[made.id].state)) == list(diff(gone[PARENT], gone[made.id]))
    again = branch(runtime, PARENT, at=at)
    back[PARENT].rewind(at)
    for session in (again, back[PARENT]):
        assert seen(session.workplace) == seen(states[at].workplace)
    for number, state in enumerate(states[: at + 1]):
        back[PARENT].rewind(at - number)
        assert seen(back[PARENT].workplace) == seen(states[at - number].workplace), state


def test_sessions_that_started_from_other_data_cannot_be_compared(
    runtime: Runtime, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = office(write_dataset(tmp_path_factory.mktemp("other") / "data", first=1))
    stranger = other.sessions.seed("a-session-of-other-data")
    stranger.call("email_delete_email", {"email_id": "2"})
    mine = begin(runtime)
    (back,) = restore(runtime, export(other))
    with pytest.raises(CodedError, match=r"company_directory\.addresses started from other data"):
        list(diff(mine.state, back.state))
    assert {it.kind for it in diff(other.sessions.seed().state, back.state)} == {"removed"}


def test_a_workplace_has_no_revisions_but_its_own(runtime: Runtime) -> None:
    session = begin(runtime)
    do(session, SCRIPT)
    for revision in (-1, session.revision + 1):
        with pytest.raises(ValueError, match=f"revision {revision} is not one of 0 to {session.revision}"):
            workplace_at(session.workplace, revision)
    assert workplace_at(session.workplace, session.revision) is session.workplace
    assert workplace_at(session.workplace, 0).tables == runtime.dataset.workplace(CATALOGUE.names).tables
