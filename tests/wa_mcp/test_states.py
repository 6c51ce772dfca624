"""Sessions as JSON and back: what comes back is what went out; what does not validate is refused."""

import gc
import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

import orjson
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mcp import Client

from checkpoint import StoredObject, StoredState
from checkpoint.errors import CheckpointError
from tests.wa_mcp.agents import refusal
from tests.wa_mcp.checkpoints import (
    Exported,
    Json,
    ask,
    check_open,
    export,
    office,
    restore,
    restoring,
    write_checkpoint,
)
from tests.wa_mcp.offices import SCRIPT, UNSHRUNK, Call, calls, seen, write_dataset
from toolkits.cells import is_nan
from toolkits.dataset import BUNDLED
from toolkits.workplace import MOST_CHANGES
from wa_mcp import Runtime, admin_server
from wa_mcp.branching import fork, read_branches
from wa_mcp.hooks import SessionHooks
from wa_mcp.session import Session
from wa_mcp.states import LARGE, MANY

pytestmark = pytest.mark.timeout(90)

IDS = [f"session-number-{number}" for number in range(3)]
MAILS = "email.emails"
OPTIONS: list[dict[str, Any]] = [
    {},
    {"toolkits": ["email", "calendar"], "episode": ("rollout", 3), "on_checkpoint": "wait"},
    {"tools": ["email_send_email", "email_forward_email"], "require_attempt": True},
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("small") / "data")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("other") / "data", now="2024-02-29 08:00:00", first=1)


def worked(data: Path) -> Runtime:
    """Make three sessions, the second of which has been worked."""
    runtime = office(data)
    for session_id in IDS:
        runtime.sessions.seed(session_id)
    for number, call in enumerate(SCRIPT):
        answer = runtime.sessions.get(IDS[1]).call(*call, call_id=f"call-{number}")
        assert not answer.outcome.is_error, answer
    runtime.sessions.get(IDS[1]).call("email_search_emails", {})
    runtime.sessions.get(IDS[1]).call("email_delete_email", {"email_id": "none"})
    return runtime


def check_equal(after: Session, before: Session) -> None:
    assert seen(after.workplace) == seen(before.workplace)
    for name, table in after.workplace.tables.items():
        expected = before.workplace.tables[name]
        assert table.whole() == expected.whole()
    kept = (
        "session_id",
        "toolkits",
        "tools",
        "require_attempt",
        "on_checkpoint",
        "seeded_at",
        "last_call_at",
    )
    for name in (*kept, "calls", "errors", "reads", "remembered", "origin"):
        assert getattr(after.state, name) == getattr(before.state, name), name
    assert list(after.state.history) == list(before.state.history)
    assert list(after.state.remembered) == list(before.state.remembered)


work = st.lists(
    st.tuples(calls, st.sampled_from([None, None, "call-1", "call-2", "call-3"])), min_size=8, max_size=25
)


def do(session: Session, todo: list[tuple[Call, str | None]]) -> list[Any]:
    """Work a session; a call id that stands for another call already is left out."""
    asked: dict[str, Call] = {}
    answers: list[Any] = []
    for call, call_id in todo:
        if call_id is not None and asked.setdefault(call_id, call) != call:
            call_id = None
        answers.append(session.call(*call, call_id=call_id))
    return answers


@pytest.fixture(scope="module")
def offices(small: Path, other: Path) -> list[Runtime]:
    """Two servers on the same data, and one on other data."""
    return [office(small), office(small), office(other)]


@settings(max_examples=50, deadline=None, phases=UNSHRUNK)
@given(st.sampled_from(OPTIONS), work, st.lists(calls, max_size=12), st.integers(0, 5))
def test_a_session_that_comes_back_is_the_session_that_went_out(
    offices: list[Runtime],
    options: Json,
    todo: list[tuple[Call, str | None]],
    later: list[Call],
    step: int,
) -> None:
    for one in offices:
        one.sessions.remove(IDS)
    runtime, *targets = offices
    before = runtime.sessions.seed(IDS[0], **options)
    do(before, todo)
    exported = export(runtime)
    for target in targets:
        (after,) = restore(target, exported.copy(), step)
        check_equal(after, before)
        assert after.episode == before.episode.later(step)
        (state,) = export(target).states
        assert state == {**exported.states[0], "episode": after.episode.as_json()}
        assert export(target).bases == exported.bases
    for call in later:
        expected = before.call(*call).outcome
        assert [target.sessions.get(IDS[0]).call(*call).outcome for target in targets] == [expected] * 2
    for target in targets:
        assert seen(target.sessions.get(IDS[0]).workplace) == seen(before.workplace)


def test_the_frames_that_come_back_are_equal_to_the_dtype_and_the_label(small: Path) -> None:
    runtime = worked(small)
    for after in restore(office(small), export(runtime)):
        for name, table in runtime.sessions.get(after.id).workplace.tables.items():
            pd.testing.assert_frame_equal(after.workplace.tables[name].frame, table.frame)


def test_the_script_makes_every_kind_of_change_and_of_empty_cell(small: Path) -> None:
    (state,) = [state for state in export(worked(small)).states if state["revision"]]
    changes = [entry["change"] for entry in state["history"]]
    assert {change["kind"] for change in changes} == {"append", "drop", "set"}
    appended = [change for change in changes if change["kind"] == "append"]
    assert {change.get("label") for change in appended} == {None, 0}
    assert any(change.get("nan") for change in appended)
    assert any(None in change["cells"] and "nan" not in change for change in appended)
    assert [entry["callId"] for entry in state["history"]] == [f"call-{n}" for n in range(len(SCRIPT))]


def test_bases_are_shared_where_the_data_set_is_the_same(small: Path, other: Path) -> None:
    exported = export(worked(small))
    here, elsewhere = office(small), office(other)
    for session in restore(here, exported):
        assert session.workplace.dataset is here.dataset
        for name, table in session.workplace.tables.items():
            assert table.base is here.dataset.bases[name]
            assert table.changes or table is here.dataset.bases[name].table
    first, *rest = restore(elsewhere, exported)
    assert first.workplace.dataset is not elsewhere.dataset
    assert all(session.workplace.dataset is first.workplace.dataset for session in rest)
    more = exported.copy()
    for number, state in enumerate(more.states):
        state |= {"sessionId": f"another-session-{number}"}
    assert all(session.workplace.dataset is first.workplace.dataset for session in restore(elsewhere, more))


def test_rows_that_no_change_touches_are_those_of_the_base(small: Path) -> None:
    here = office(small)
    for session in restore(here, export(worked(small))):
        for name, table in session.workplace.tables.items():
            theirs, rows = here.dataset.bases[name].places, table.rows
            assert table.rows is rows
            assert {theirs[row] for row in rows if row in theirs} == set(theirs.values()) - table.overlay.gone
            assert len({id(row) for row in rows} - set(map(id, theirs))) == len(table.overlay.own)


def test_sessions_of_other_data_keep_their_clock_and_tables_beside_those_of_the_server(
    small: Path, other: Path
) -> None:
    runtime = office(other)
    restore(runtime, export(worked(small)))
    runtime.sessions.seed("a-session-of-its-own")
    mail = {"recipient": "a@b.c", "subject": "s", "body": "b"}
    sent: dict[str, Any] = {}
    for session_id in (IDS[0], "a-session-of-its-own"):
        session = runtime.sessions.get(session_id)
        session.call("email_send_email", mail)
        sent[session_id] = (
            len(session.workplace.tables[MAILS]),
            session.workplace.tables[MAILS].rows[-1].cells[4],
        )
    assert sent == {
        IDS[0]: (4, "2023-11-30 23:59:00"),
        "a-session-of-its-own": (3, "2024-02-29 08:00:00"),
    }
    exported = export(runtime)
    assert len({state["dataSet"] for state in exported.states}) == 2
    third = office(BUNDLED)
    for after in restore(third, exported):
        check_equal(after, runtime.sessions.get(after.id))


LONG = "\u0130" * 99_990 + "@x.y"  # a letter that is two in lower case


@pytest.mark.parametrize(
    "todo",
    [
        [
            ("email_send_email", {"recipient": LONG, "subject": "x" * 100_000, "body": "\u20ac" * 100_000}),
            *[
                ("email_forward_email", {"email_id": str(number), "recipient": LONG})
                for number in range(4, 8)
            ],
            ("email_reply_email", {"email_id": "4", "body": "b"}),
        ],
        [
            (
                "analytics_create_plot",
                {
                    "time_min": "1" * 100_000,
                    "time_max": "2" * 100_000,
                    "value_to_plot": "total_visits",
                    "plot_type": "bar",
                },
            )
        ],
        [
            (
                "calendar_update_event",
                {"event_id": "00000000", "field": "participant_email", "new_value": LONG},
            )
        ],
    ],
    ids=["mail", "plot", "event"],
)
def test_texts_as_long_as_tools_make_them_come_back(small: Path, todo: list[Call]) -> None:
    runtime = office(small)
    before = runtime.sessions.seed(IDS[0])
    for call in todo:
        assert not before.call(*call).outcome.is_error
    (after,) = restore(office(small), export(runtime))
    check_equal(after, before)


def test_a_session_as_full_as_may_be_comes_back(small: Path) -> None:
    runtime = office(small)
    before = runtime.sessions.seed(IDS[0])
    call = ("calendar_update_event", {"event_id": "00000000", "field": "duration", "new_value": "5"})
    for _ in range(MOST_CHANGES):
        before.call(*call)
    assert before.call(*call).outcome.is_error
    (after,) = restore(office(small), export(runtime))
    check_equal(after, before)
    assert after.call(*call).outcome == before.call(*call).outcome


def test_a_session_with_many_changes_is_made_before_a_call_could_wait_for_it(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime, todo = office(small), [(MANY, "5"), (MANY + 1, "5"), (3, "x" * (LARGE // 3))]
    for session_id, (count, name) in zip(IDS, todo, strict=True):
        before = runtime.sessions.seed(session_id)
        for _ in range(count):
            change = {"event_id": "00000000", "field": "event_name", "new_value": name}
            assert not before.call("calendar_update_event", change).outcome.is_error
    few, many, large = restore(office(small), export(runtime))
    for name in ("wa_mcp.histories.thaw_entries", "wa_mcp.histories._tables", "toolkits.table._rows"):
        monkeypatch.delattr(name)
    for session, count in ((many, MANY + 1), (large, 3)):
        assert len(session.state.history[:]) == count
        assert [len(table) for table in session.workplace.tables.values()]
    with pytest.raises(NameError):
        few.state.history[0]


# What does not validate: what is altered, and what the refusal says.
Alter = Callable[[Json, Json], None]


def at(form: Any, *path: Any) -> Any:
    for step in path:
        form = form[step]
    return form


def put(*path: Any, value: Any) -> Alter:
    """Alter the worked session's state at a place."""

    def alter(state: Json, _: Json) -> None:
        at(state, *path[:-1])[path[-1]] = value

    return alter


def drop(*path: Any) -> Alter:
    def alter(state: Json, _: Json) -> None:
        del at(state, *path[:-1])[path[-1]]

    return alter


def called(state: Json, change: Json, times: int = 1) -> None:
    """Put calls that changed the mails behind all others."""
    entry = {"tool": "email_send_email", "arguments": {}, "at": 1e9, "table": MAILS, "change": change}
    state["history"] += [entry] * times
    state["revision"] += times
    state["calls"] += times


def change_of(change: Json) -> Alter:
    return lambda state, _: called(state, change)


def in_base(table: str, *path: Any, value: Any) -> Alter:
    """Alter a base of the worked session's data set."""

    def alter(state: Json, bases: Json) -> None:
        digest = bases[state["dataSet"]]["tables"][table]
        at(bases[digest], *path[:-1])[path[-1]] = value

    return alter


def with_base(table: str, form: Any) -> Alter:
    return lambda state, bases: bases.update({bases[state["dataSet"]]["tables"][table]: form})


def nan_in_base(state: Json, bases: Json) -> None:
    column = bases[bases[state["dataSet"]]["tables"][MAILS]]["columns"][5]
    column["values"][column["nan"][0]] = float("nan")


def in_dataset(*path: Any, value: Any) -> Alter:
    def alter(state: Json, bases: Json) -> None:
        at(bases[state["dataSet"]], *path[:-1])[path[-1]] = value

    return alter


def without_base(state: Json, bases: Json) -> None:
    del bases[bases[state["dataSet"]]["tables"][MAILS]]


def without_dataset(state: Json, bases: Json) -> None:
    named = bases.pop(state["dataSet"])
    for digest in named["tables"].values():
        del bases[digest]


def twice(*path: Any) -> Alter:
    return lambda state, _: at(state, *path).append(deepcopy(at(state, *path)[-1]))


def of_another_table(state: Json, _: Json) -> None:
    called(state, {"kind": "set", "rows": [0], "column": "subject", "value": ""})
    state["history"][-1]["table"] = "calendar.events"


def too_many_changes(state: Json, _: Json) -> None:
    called(state, {"kind": "set", "rows": [0], "column": "subject", "value": ""}, MOST_CHANGES)


def too_much_text(state: Json, _: Json) -> None:
    called(state, {"kind": "set", "rows": [0], "column": "subject", "value": "x" * 100_000}, 170)


def counts_that_fall_later(state: Json, _: Json) -> None:
    state["history"][2]["reads"] = 2
    state["history"][3]["reads"] = 1


MAIL_CELLS = ["9", "inbox", "a@b.c", "s", "2023-11-01 09:00:00", "b"]
SESSION = "session sessio...: "
LONE = "\ud800"
NO_UNICODE = "it holds text that is no Unicode"
IN_MAILS = rf"{SESSION}history\[8\]: "

INVALID: dict[str, tuple[Alter, str]] = {
    "no format": (drop("format"), f"{SESSION}Object missing required field `format`"),
    "another format": (put("format", value=2), f"{SESSION}format: it is of format 2, and .* reads format 3"),
    "another format with other names": (
        lambda state, _: state.update(format=9, more=1),
        f"{SESSION}format: it is of format 9, and .* reads format 3",
    ),
    "a format that is huge": (put("format", value=10**30), f"{SESSION}format: it is of format 10+, and"),
    "a format that only looks right": (put("format", value=True), f"{SESSION}format: "),
    "an unknown name": (put("more", value=1), f"{SESSION}Object contains unknown field `more`"),
    "a session id that is no Unicode": (
        put("sessionId", value=LONE * 16),
        r"^session \\ud800.*\.\.\.: (it holds text|sessionId)",
    ),
    "a session id with a slash": (put("sessionId", value="session/number-1"), f"{SESSION}sessionId: "),
    "a session id that is long": (put("sessionId", value="s" * 129), "session ssssss...: sessionId: "),
    "a rollout id that is empty": (put("episode", "rolloutId", value=""), f"{SESSION}episode.rolloutId: "),
    "a rollout id that prints badly": (
        put("episode", "rolloutId", value="a\nb"),
        f"{SESSION}episode.rolloutId: ",
    ),
    "an attempt that is huge": (put("episode", "attempt", value=2**53 + 1), f"{SESSION}.*attempt"),
    "the last attempt there can be": (put("episode", "attempt", value=2**53), f"{SESSION}.*attempt"),
    "no toolkits": (put("toolkits", value=[]), f"{SESSION}toolkits: "),
    "an unknown toolkit": (put("toolkits", 1, value="fax"), f"{SESSION}toolkits: "),
    "a toolkit twice": (twice("toolkits"), f"{SESSION}toolkits: "),
    "a toolkit missing": (
        drop("toolkits", 1),
        rf"{SESSION}history\[0\]: table 'email\.emails' is not one of its toolkits'",
    ),
    "an unknown tool": (put("tools", value=["email_shred"]), f"{SESSION}tools: "),
    "no tools": (put("tools", value=[]), f"{SESSION}tools: "),
    "an odd answer to checkpoints": (put("onCheckpoint", value="crash"), f"{SESSION}onCheckpoint: "),
    "a revision before its changes": (put("revision", value=3), f"{SESSION}history: 8 calls for revision 3"),
    "a revision that is huge": (put("revision", value=10**30), f"{SESSION}revision: "),
    "a revision that is true": (put("revision", value=True), f"{SESSION}revision: "),
    "a time that is NaN": (put("seededAt", value=float("nan")), f"{SESSION}seededAt: "),
    "a time that no calendar knows": (put("seededAt", value=1e300), f"{SESSION}seededAt: "),
    "a last call that no calendar knows": (put("lastCallAt", value=253402300800), f"{SESSION}lastCallAt: "),
    "calls that are less than none": (put("calls", value=-1), f"{SESSION}calls: "),
    "an output that is no Unicode": (put("history", 0, "output", value=[LONE]), SESSION + NO_UNICODE),
    "an output that is huge": (
        put("history", 1, "output", value={"a": 2**53}),
        rf"{SESSION}history\[1\]: output: ",
    ),
    "a call id that is long": (
        put("history", 0, "callId", value="c" * 129),
        rf"{SESSION}history\[0\]: callId: ",
    ),
    "a call id that prints badly": (
        put("history", 0, "callId", value="a\nb"),
        rf"{SESSION}history\[0\]: callId: ",
    ),
    "a history that is short": (lambda state, _: state["history"].pop(), f"{SESSION}history: 7 calls"),
    "a history that is long": (twice("history"), f"{SESSION}history: 9 calls"),
    "a call that changed nothing": (
        drop("history", 0, "change"),
        rf"{SESSION}history\[0\]: Object missing required field `change`",
    ),
    "an argument that is a list": (
        put("history", 0, "arguments", "email_id", value=["1"]),
        rf"{SESSION}history\[0\]\.arguments\[\.\.\.\]: Expected `str`",
    ),
    "an argument that is stored nowhere": (
        put("history", 0, "storedAt", value={"body": 6}),
        rf"{SESSION}history\[0\]: storedAt: argument 'body'",
    ),
    "an argument that is stored before the first place": (
        put("history", 0, "storedAt", value={"body": -1}),
        rf"{SESSION}history\[0\]: storedAt: argument 'body'",
    ),
    "an argument that is stored and no text": (
        put("history", 2, "storedAt", value={"event": 0}),
        rf"{SESSION}history\[2\]: storedAt: argument 'event'",
    ),
    "an argument that is said twice": (
        put("history", 3, "arguments", "participant_email", value="ada@firm.example"),
        rf"{SESSION}history\[3\]: storedAt: argument 'participant_email'",
    ),
    "an argument that is no Unicode": (
        put("history", 0, "arguments", "email_id", value=LONE),
        SESSION + NO_UNICODE,
    ),
    "an argument that is no number": (
        put("history", 0, "arguments", "email_id", value=float("nan")),
        rf"{SESSION}history\[0\]\.arguments",
    ),
    "a call after the end of time": (put("history", 0, "at", value=1e300), rf"{SESSION}history\[0\]: at: "),
    "an entry that is no object": (put("history", 0, value=[]), rf"{SESSION}history\[0\]: Expected `object`"),
    "an entry with another name": (
        put("history", 0, "more", value=1),
        rf"{SESSION}history\[0\]: Object contains unknown field `more`",
    ),
    "an entry with a long name": (
        put("history", 2, "m" * 400, value=1),
        rf"{SESSION}history\[2\]: Object contains unknown field `mmm",
    ),
    "an entry with a name that looks like a place": (
        put("history", 2, " - at `$.episode", value=1),
        rf"{SESSION}history\[2\]: Object contains unknown field ` - at",
    ),
    "a tool without a name": (put("history", 0, "tool", value=""), rf"{SESSION}history\[0\]: tool: "),
    "an attempt that is said again": (
        put("history", 0, "attempt", value=0),
        rf"{SESSION}history\[0\]: attempt: ",
    ),
    "errors that are true": (put("history", 0, "errors", value=True), rf"{SESSION}history\[0\]\.errors: "),
    "counts that fall later": (
        counts_that_fall_later,
        rf"{SESSION}history\[3\]: errors or reads become fewer",
    ),
    "counts that fall": (put("history", 0, "errors", value=5), f"{SESSION}history: errors or reads"),
    "counts above the session's": (
        put("history", 7, "reads", value=99),
        f"{SESSION}history: errors or reads",
    ),
    "an origin that is no session": (
        put("origin", value={"sessionId": "short", "revision": 0}),
        f"{SESSION}origin.sessionId: ",
    ),
    "an argument that is too long": (
        put("history", 0, "arguments", "email_id", value="x" * 100_001),
        rf"{SESSION}history\[0\]: argument 'email_id'",
    ),
    "an argument that is a huge number": (
        put("history", 0, "arguments", "email_id", value=2**53 + 1),
        rf"{SESSION}history\[0\]\.arguments",
    ),
    "a call id without an output": (
        drop("history", 0, "output"),
        rf"{SESSION}history\[0\]: (output|callId): ",
    ),
    "an output without a call id": (
        drop("history", 0, "callId"),
        rf"{SESSION}history\[0\]: (output|callId): ",
    ),
    "more calls than were counted": (
        put("calls", value=99),
        f"{SESSION}calls: they are not as many",
    ),
    "an unknown data set": (
        put("dataSet", value="0" * 64),
        f"{SESSION}data set 000000000000: it is not there",
    ),
    "a data set that is not there": (without_dataset, f"{SESSION}data set .*: it is not there"),
    "an unknown table": (
        put("history", 0, "table", value="email.faxes"),
        rf"{SESSION}history\[0\]: table 'email\.faxes' is not one of its toolkits'",
    ),
    "a change of another table": (of_another_table, IN_MAILS + "'subject' is not a column"),
    "a change that is none": (change_of({}), rf"{SESSION}history\[8\]\.change: .*`kind`"),
    "a change of an unknown kind": (change_of({"kind": "burn"}), rf"{SESSION}history\[8\]\.change\.kind: "),
    "a change of two kinds": (
        change_of({"kind": "drop", "rows": [0], "column": "subject"}),
        rf"{SESSION}history\[8\]\.change: Object contains unknown field `column`",
    ),
    "a row that is not there": (
        change_of({"kind": "drop", "rows": [0, 3]}),
        IN_MAILS + "there is no row 3",
    ),
    "a row that is not there to be set": (
        change_of({"kind": "set", "rows": [3], "column": "subject", "value": ""}),
        IN_MAILS + "there is no row 3",
    ),
    "a row before the first to be set": (
        change_of({"kind": "set", "rows": [-1], "column": "subject", "value": ""}),
        IN_MAILS + "positions",
    ),
    "rows that descend, to be set": (
        change_of({"kind": "set", "rows": [1, 0], "column": "subject", "value": ""}),
        IN_MAILS + "positions",
    ),
    "no rows to be set": (
        change_of({"kind": "set", "rows": [], "column": "subject", "value": ""}),
        IN_MAILS + "positions",
    ),
    "rows that descend": (change_of({"kind": "drop", "rows": [1, 0]}), IN_MAILS),
    "rows that are none": (change_of({"kind": "drop", "rows": []}), IN_MAILS),
    "a row before the first": (change_of({"kind": "drop", "rows": [-1]}), IN_MAILS),
    "an unknown column": (change_of({"kind": "set", "rows": [0], "column": "fax", "value": ""}), IN_MAILS),
    "a new id for a row": (
        change_of({"kind": "set", "rows": [0], "column": "email_id", "value": "1"}),
        IN_MAILS,
    ),
    "a number in a cell": (
        change_of({"kind": "set", "rows": [0], "column": "subject", "value": 1}),
        rf"{SESSION}history\[8\]\.change\.value: Expected ",
    ),
    "a row that is true": (
        change_of({"kind": "drop", "rows": [True]}),
        rf"{SESSION}history\[8\]\.change\.rows",
    ),
    "a text that is no Unicode": (
        change_of({"kind": "set", "rows": [0], "column": "subject", "value": LONE}),
        SESSION + NO_UNICODE,
    ),
    "a value beside NaN": (
        change_of({"kind": "set", "rows": [0], "column": "subject", "value": "x", "nan": [0]}),
        IN_MAILS,
    ),
    "cells that are too few": (
        change_of({"kind": "append", "cells": MAIL_CELLS[:5]}),
        IN_MAILS,
    ),
    "an id that is no number": (
        change_of({"kind": "append", "cells": ["\u0661", *MAIL_CELLS[1:]]}),
        IN_MAILS,
    ),
    "an id that is empty": (
        change_of({"kind": "append", "cells": [None, *MAIL_CELLS[1:]], "nan": [0]}),
        IN_MAILS,
    ),
    "a place of NaN past the end": (
        change_of({"kind": "append", "cells": MAIL_CELLS, "nan": [6]}),
        IN_MAILS,
    ),
    "no places of NaN": (
        change_of({"kind": "append", "cells": MAIL_CELLS, "nan": []}),
        IN_MAILS,
    ),
    "a place of NaN twice": (
        change_of({"kind": "append", "cells": [*MAIL_CELLS[:5], None], "nan": [5, 5]}),
        IN_MAILS,
    ),
    "a label that is huge": (change_of({"kind": "append", "cells": MAIL_CELLS, "label": 10**20}), IN_MAILS),
    "a label that is true": (
        change_of({"kind": "append", "cells": MAIL_CELLS, "label": True}),
        rf"{SESSION}history\[8\]\.change\.label: ",
    ),
    "a label that is null": (
        change_of({"kind": "append", "cells": MAIL_CELLS, "label": None}),
        rf"{SESSION}history\[8\]\.change\.label: ",
    ),
    "a bool in a column of texts that is set": (
        change_of({"kind": "set", "rows": [0], "column": "subject", "value": True}),
        IN_MAILS + "column 'subject'",
    ),
    "a bool in a column of texts": (
        change_of({"kind": "append", "cells": [*MAIL_CELLS[:5], True], "label": 0}),
        IN_MAILS,
    ),
    "too many changes": (too_many_changes, f"{SESSION}it holds more changes than a session may"),
    "too much text": (too_much_text, f"{SESSION}it holds more changes than a session may"),
    "a base that is not there": (without_base, r"table 'email\.emails': its base is not there"),
    "a base that is null": (with_base(MAILS, None), r"table email\.emails: expected an object"),
    "a base of no data set": (lambda _, bases: bases.update(x={}), "base x is of no data set"),
    "a base that is altered": (
        in_base(MAILS, "columns", 3, "values", 0, value="Plot"),
        r"table email\.emails: the base is not what its digest was made of",
    ),
    "a base whose NaN is None": (
        in_base(MAILS, "columns", 5, "nan", value=[]),
        r"table email\.emails: the base is not what its digest was made of",
    ),
    "a base with other labels": (
        in_base(MAILS, "index", value=[0, 1, 3]),
        r"table email\.emails: the base is not what its digest was made of",
    ),
    "a base with a label that is true": (
        in_base(MAILS, "index", value=[0, True, 2]),
        r"table email\.emails: label: expected a whole number",
    ),
    "columns of unequal length": (
        in_base(MAILS, "columns", 3, "values", value=["Plan"]),
        r"table email\.emails: column 'subject' has 1 values for 3 row labels",
    ),
    "a column missing": (
        in_base(MAILS, "columns", value=[]),
        r"table email\.emails: expected 6 columns, got 0",
    ),
    "a column of another name": (
        in_base(MAILS, "columns", 3, "name", value="topic"),
        r"table email\.emails: expected the column 'subject'",
    ),
    "a column of another dtype": (
        in_base(MAILS, "columns", 3, "dtype", value="str"),
        r"table email\.emails: column 'subject': expected dtype object",
    ),
    "an id in a base that is no number": (
        in_base(MAILS, "columns", 0, "values", 0, value="one"),
        r"table email\.emails: column 'email_id': not an id",
    ),
    "a data set with another clock": (
        in_dataset("facts", "now", value="2024-01-01 00:00:00"),
        "data set .*: the data set is not what its digest was made of",
    ),
    "a data set without a clock": (in_dataset("facts", "now", value="noon"), "data set .*: facts: "),
    "a data set without facts": (in_dataset("facts", value={}), "data set .*: "),
    "a data set with a table more": (in_dataset("tables", "email.faxes", value="0"), "table 'email.faxes': "),
    "a data set without its tables": (in_dataset("tables", value=None), "a data set does not say"),
}
# What no JSON holds, so that it can come through the hook only.
NO_JSON: dict[str, tuple[Alter, str]] = {
    "an output that is NaN": (
        put("history", 0, "output", value=float("nan")),
        rf"{SESSION}history\[0\]: (output|callId): ",
    ),
    "an output that is larger still": (
        put("history", 1, "output", value=10**30),
        rf"{SESSION}history\[1\]: output: ",
    ),
    "a value that is NaN by itself": (
        change_of({"kind": "set", "rows": [0], "column": "subject", "value": float("nan")}),
        rf"{SESSION}history\[8\]\.change\.value: ",
    ),
    "a base with NaN for null": (nan_in_base, r"table email\.emails: column 'body'"),
    "an output that is a set": (
        put("history", 1, "output", value={1, 2}),
        rf"{SESSION}history\[1\]: output: ",
    ),
    "an output that is anything": (
        put("history", 1, "output", value=object()),
        f"{SESSION}it holds what is no",
    ),
    "an output with a number as a name": (
        put("history", 1, "output", value={1: 2}),
        rf"{SESSION}history\[1\]: output: ",
    ),
}
EVERY = {**INVALID, **NO_JSON}


@pytest.fixture(scope="module")
def good(small: Path) -> Exported:
    return export(worked(small))


def stored(state: Json) -> StoredState:
    return StoredState(memoryview(json.dumps(state).encode()))


def as_stored(base: Any) -> Any:
    return StoredObject(memoryview(orjson.dumps(base))) if isinstance(base, dict) else base


@pytest.mark.parametrize(("alter", "why"), INVALID.values(), ids=INVALID)
def test_what_does_not_validate_is_refused_for_the_same_reason_out_of_a_file(
    small: Path, good: Exported, alter: Alter, why: str
) -> None:
    runtime, bad = office(small), altered(good, alter)
    # What is no JSON at all, or does not say whose it is, is refused as that.
    with pytest.raises((ValueError, CheckpointError), match=f"{why}|not JSON|which attempt"):
        SessionHooks(runtime.sessions).restore_session_states(
            map(stored, bad.states), {digest: as_stored(base) for digest, base in bad.bases.items()}, 1
        )


def test_an_argument_may_have_a_name_as_long_as_a_text(small: Path, good: Exported) -> None:
    """A session that was taken in must not be refused once there is more of it."""
    exported = good.copy()
    exported.states[1]["history"][0]["arguments"]["x" * 1000] = ""
    for output in ("short", "y" * 100_000):
        exported.states[1]["history"][0]["output"] = output
        runtime = office(small)
        restore(runtime, exported, 0)
        assert export(runtime).states == exported.states


def altered(good: Exported, alter: Alter) -> Exported:
    exported = good.copy()
    alter(exported.states[1], exported.bases)
    return exported


@pytest.mark.parametrize(("alter", "why"), EVERY.values(), ids=EVERY)
def test_what_does_not_validate_is_refused_by_the_hook_and_nothing_is_built(
    small: Path, good: Exported, alter: Alter, why: str
) -> None:
    runtime = office(small)
    with pytest.raises(ValueError, match=why):
        restore(runtime, altered(good, alter))
    assert len(runtime.sessions) == 0
    restore(runtime, good)
    assert len(runtime.sessions) == 3


@pytest.mark.parametrize(("alter", "why"), INVALID.values(), ids=INVALID)
async def test_what_does_not_validate_is_refused_by_import_and_restore_and_nothing_is_installed(
    small: Path, tmp_path: Path, good: Exported, alter: Alter, why: str
) -> None:
    runtime = office(small, checkpoint_root=tmp_path)
    bad = altered(good, alter)
    runtime.sessions.seed("a-session-of-its-own")
    async with runtime.control, Client(admin_server(runtime)) as client:
        code, data, message = await refusal(
            ask(client, "sessions/import", states=bad.states, bases=bad.bases)
        )
        assert (code, data["code"]) == (-32015, "invalid_checkpoint_state"), message
        await check_open(client, runtime, 1)
        write_checkpoint(tmp_path, "bad", bad)
        code, data, message = await refusal(ask(client, "checkpoint/restore", **restoring("bad", "c1")))
        assert (code, data["code"]) == (-32015, "invalid_checkpoint_state"), message
        await check_open(client, runtime, 1)
        write_checkpoint(tmp_path, "good", good)
        answer = await ask(client, "checkpoint/restore", **restoring("good", "c1"))
        assert [one["sessionId"] for one in answer["restored"]] == IDS
        await ask(client, "checkpoint/resume", checkpointId="c1")
        await check_open(client, runtime, 4)


def test_a_cell_that_was_set_to_nan_or_to_none_comes_back_as_that(small: Path, good: Exported) -> None:
    exported, set_mail = good.copy(), {"kind": "set", "rows": [0], "value": None}
    called(exported.states[1], {**set_mail, "column": "subject", "nan": [0]})
    called(exported.states[1], {**set_mail, "column": "body"})
    runtime = office(small)
    restore(runtime, exported, 0)
    table = runtime.sessions.get(IDS[1]).workplace.tables[MAILS]
    assert is_nan(table.column("subject")[0])
    assert table.column("body")[0] is None
    assert export(runtime).states == exported.states


def test_a_fork_goes_out_without_the_call_ids_and_answers_of_its_parent(small: Path) -> None:
    runtime = worked(small)
    (made,) = fork(runtime.sessions, IDS[1], [*read_branches(None, ["a-fork-of-the-second"], None)])
    exported = export(runtime)
    assert all(entry["callId"] and "output" in entry for entry in exported.states[1]["history"])
    assert not any("callId" in entry or "output" in entry for entry in exported.states[-1]["history"])
    *_, after = restore(office(small), exported)
    check_equal(after, made)


# A fuzzer: any node of the JSON replaced, deleted or doubled.
JUNK: list[Any] = [
    None, True, False, 0, 1, -1, 2.5, 2**53, 2**53 + 1, 10**30, float("nan"), "", "x", LONE, "0", "NaN", [],
    [0], [None], {}, {"a": 1}, {"tables": {}}, "\u0661",
]  # fmt: skip


def places(form: Any) -> Iterator[tuple[Any, Any]]:
    """Give every node: what it is in, and where."""
    if isinstance(form, dict | list):
        entries = cast("Any", form)
        for key in keys(entries):
            yield entries, key
            yield from places(entries[key])


def mutate(draw: st.DataObject, form: Any) -> None:
    inside, key = draw.draw(st.sampled_from(list(places(form))), label="place")
    how = draw.draw(st.sampled_from(["replace", "delete", "double", "swap"]), label="how")
    if how == "replace":
        inside[key] = deepcopy(draw.draw(st.sampled_from(JUNK), label="junk"))
    elif how == "delete":
        del inside[key]
    elif how == "swap":
        other = draw.draw(st.sampled_from(keys(inside)))
        inside[key], inside[other] = inside[other], inside[key]
    elif isinstance(inside, list):
        cast("list[Any]", inside).insert(key, inside[key])
    else:
        inside[key + "x"] = inside[key]


def keys(form: Any) -> list[Any]:
    return list(cast("Json", form)) if isinstance(form, dict) else list(range(len(form)))


def exact(states: list[Json]) -> str:
    """Write states down so that true is not 1; a time may be a whole number."""
    for state in states:
        for name in ("seededAt", "lastCallAt"):
            if type(state[name]) is int:
                state[name] = float(state[name])
        for entry in state["history"]:
            entry["at"] = float(entry["at"])
    return json.dumps(states, sort_keys=True)


@settings(max_examples=300, deadline=None, phases=UNSHRUNK)
@given(st.data())
def test_a_mutated_state_is_refused_with_a_reason_or_comes_back_as_it_is(
    empty: Runtime, good: Exported, draw: st.DataObject
) -> None:
    """The states are mutated more often than the bases, whose digests find everything."""
    bad = good.copy()
    for _ in range(draw.draw(st.integers(1, 2))):
        mutate(draw, draw.draw(st.sampled_from([bad.states, bad.states[1:2], bad.bases])))
    forms = cast("list[Any]", bad.states)
    ids = [str(cast("Json", form).get("sessionId")) for form in forms if isinstance(form, dict)]
    assume(len(set(ids)) == len(ids))  # a session that is there twice is refused before the hook is asked
    hooks = SessionHooks(empty.sessions)
    try:
        hooks.restore_session_states(bad.states, bad.bases, 0).install()
    except ValueError as error:
        refused = error
        assert len(empty.sessions) == 0
    else:
        refused = None
    if refused is not None:
        assert type(refused) is ValueError
        assert str(refused)
        return
    back = export(empty)
    empty.sessions.remove([session.id for session in empty.sessions.list()])
    assert exact(back.states) == exact(bad.states)
    assert all(bad.bases[digest] == base for digest, base in back.bases.items())


@settings(max_examples=300, deadline=None, phases=UNSHRUNK)
@given(st.data())
def test_any_bytes_in_the_place_of_a_state_are_refused_with_a_reason_or_read_as_they_are(
    empty: Runtime, good: Exported, draw: st.DataObject
) -> None:
    """As they come out of files: the collector runs in between, since it is not ours that decodes them."""
    line = orjson.dumps(good.states[1])
    start = draw.draw(st.integers(0, len(line)))
    end = draw.draw(st.integers(start, min(start + 40, len(line))))
    other = draw.draw(st.sampled_from(TORN) | st.binary(max_size=8))
    changed = line[:start] + other + line[end:]
    hooks = SessionHooks(empty.sessions)
    try:
        hooks.restore_session_states([StoredState(memoryview(changed))], good.bases, 0).install()
    except (ValueError, CheckpointError) as error:
        refused = error
    else:
        refused = None
    gc.collect(0)
    states = export(empty).states
    empty.sessions.remove([session.id for session in empty.sessions.list()])
    if refused is not None:
        assert str(refused)
        assert states == []
        return
    (state,) = states
    assert exact([state]) == exact([orjson.loads(changed)])


TORN = [
    b"", b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"null", b"true", b"0", b"-1", b"1e9", b"\xff",
    b"\\ud800", b"\\u0000", b'""', b"{}", b"[]", b"[[", b'"kind":"drop",', b'"rows":[0],', b"9" * 30,
    b"[" * 2000,
]  # fmt: skip


def test_the_collector_walks_over_what_reads_and_writes_states() -> None:
    """A decoder whose types the collector stumbles over would end the process."""
    for _ in range(3):
        gc.collect()


@pytest.fixture(scope="module")
def empty(small: Path) -> Runtime:
    return office(small)
