"""Fork, diff, history and rewind as a controller asks for them: every way in, their limits, the gate."""

from collections.abc import AsyncGenerator
from itertools import count
from typing import Any

import anyio
import orjson
import pytest

from tests.wa_mcp.agents import MAIL, SESSION_ID, until
from tests.wa_mcp.controllers import Controller, Way, controlling, timed
from wa_mcp import Runtime, Settings, paging, session_state
from wa_mcp.session import Session

NUMBERS = count()
TREE: list[tuple[str, dict[str, Any]]] = [
    ("email_delete_email", {"email_id": "00000003"}),
    ("email_search_emails", {"query": "plan"}),
    ("calendar_update_event", {"event_id": "00000001", "field": "event_name", "new_value": "Moved"}),
    ("email_send_email", MAIL),
]
"""Three calls that change something, and one that only reads."""


def worked(runtime: Runtime, session_id: str | None = None) -> Session:
    session = runtime.sessions.seed(session_id)
    for place, (name, arguments) in enumerate(TREE):
        assert not session.call(name, arguments, call_id=f"call-{place}").outcome.is_error
    return session


@pytest.fixture
async def waiting(tmp_path: Any) -> AsyncGenerator[tuple[Runtime, Controller]]:
    """A server whose calls wait while a checkpoint is open."""
    runtime = Runtime(Settings(checkpoint_root=tmp_path, on_checkpoint="wait"))
    async with controlling(runtime) as controller:
        yield runtime, controller


async def test_a_session_is_forked_told_compared_and_taken_back(way: Way) -> None:
    number = next(NUMBERS)
    parent = worked(way.runtime, f"a-session-that-branches-{number}")
    ids = [f"branch-{place}-of-session-{number}" for place in range(2)]
    episodes = [{"rolloutId": f"branch-{number}", "attempt": attempt} for attempt in (0, 4)]
    async with way.controller() as controller:
        wish = {"sessionId": parent.id, "sessionIds": ids, "atRevision": 2, "episodes": episodes}
        forked = await controller.ask("sessions/fork", **wish)
        assert forked == {
            "sessions": [
                {
                    "sessionId": session_id,
                    "path": f"/sessions/{session_id}/mcp",
                    "url": f"https://Work.Example:8443/office/sessions/{session_id}/mcp",
                    "episode": episode,
                }
                for session_id, episode in zip(ids, episodes, strict=True)
            ]
        }
        assert await controller.ask("sessions/fork", **wish) == forked
        told = (await controller.ask("sessions/history", sessionId=ids[0]))["history"]
        assert [
            (it["revision"], it["tool"], it["arguments"], it["tables"], it["attempt"]) for it in told
        ] == [
            (1, *TREE[0], ["email.emails"], 0),
            (2, *TREE[2], ["calendar.events"], 0),
        ]
        assert all(it["when"].endswith("+00:00") for it in told)
        found = await controller.ask("sessions/diff", sessionId=ids[0], otherSessionId=parent.id)
        (added,) = found["tables"]["email.emails"]["added"]
        assert (added["row"]["subject"], added["revision"]) == (MAIL["subject"], 3)
        assert added["tool"] == "email_send_email"
        assert await controller.ask("sessions/rewind", sessionId=parent.id, revision=1) == {"revision": 1}
        found = await controller.ask("sessions/diff", sessionId=parent.id)
        (removed,) = found["tables"].pop("email.emails")["removed"]
        (place,) = way.runtime.dataset.bases["email.emails"].index["00000003"]
        assert (removed["id"], removed["label"], found) == ("00000003", place, {"tables": {}})


async def test_cells_that_were_changed_say_what_they_were_and_whose_call_it_was(
    control: Controller, runtime: Runtime
) -> None:
    session = worked(runtime)
    found = await control.ask("sessions/diff", sessionId=session.id, fromRevision=1, toRevision=2)
    (changed,) = found["tables"]["calendar.events"]["changed"]
    base = runtime.dataset.bases["calendar.events"]
    (place,) = base.index["00000001"]
    old = base.rows[place].cells[1]
    by = {"revision": 2, "tool": "calendar_update_event"}
    cells = {"event_name": {"old": old, "new": "Moved", **by}}
    assert changed == {"position": place, "label": place, "id": "00000001", "cells": cells, **by}
    assert list(found["tables"]) == ["calendar.events"]
    back = await control.ask("sessions/diff", sessionId=session.id, fromRevision=2, toRevision=1)
    (changed,) = back["tables"]["calendar.events"]["changed"]
    assert changed["cells"] == {"event_name": {"old": "Moved", "new": old, **by, "undone": True}}


async def test_rows_that_are_only_labelled_anew_are_said_once(control: Controller, runtime: Runtime) -> None:
    session = worked(runtime)
    found = (await control.ask("sessions/diff", sessionId=session.id))["tables"]["email.emails"]
    size = len(session.workplace.tables["email.emails"])
    assert found["relabelled"] == {"labels": [[0, size]], "revision": 3, "tool": "email_send_email"}
    assert (found["changed"], len(found["added"]), len(found["removed"])) == ([], 1, 1)


async def test_a_fork_starts_with_no_call_ids_and_an_episode_of_its_own(
    control: Controller, runtime: Runtime
) -> None:
    parent = worked(runtime)
    (forked,) = (await control.ask("sessions/fork", sessionId=parent.id, count=1))["sessions"]
    fork = runtime.sessions.get(forked["sessionId"])
    assert forked["episode"] == fork.episode.as_json() != parent.episode.as_json()
    assert (fork.state.remembered, fork.state.last_call_at, fork.revision) == ({}, None, 3)
    assert fork.workplace is parent.workplace
    assert fork.call(*TREE[3], call_id="call-3").revision == 4
    assert parent.call(*TREE[3], call_id="call-3").revision == 3


async def test_a_rewind_forgets_the_call_ids_past_it_and_only_those(
    control: Controller, runtime: Runtime
) -> None:
    session = worked(runtime)
    await control.ask("sessions/rewind", sessionId=session.id, revision=2)
    assert list(session.state.remembered) == ["call-0", "call-2"]
    assert session.call(*TREE[0], call_id="call-0").revision == 1
    assert session.call("email_send_email", {**MAIL, "body": "Another."}, call_id="call-3").revision == 3
    await control.ask("sessions/rewind", sessionId=session.id, revision=3)
    assert session.revision == 3


async def test_10_000_forks_are_made_at_once_and_answered_again(
    control: Controller, runtime: Runtime
) -> None:
    parent = worked(runtime)
    ids = [f"one-of-many-branches-{number:05}" for number in range(10_000)]
    forked = await control.ask("sessions/fork", sessionId=parent.id, sessionIds=ids)
    assert [it["sessionId"] for it in forked["sessions"]] == ids
    assert len(runtime.sessions) == 10_001
    assert {id(session.workplace) for session in runtime.sessions.list()} == {id(parent.workplace)}
    runtime.sessions.get(ids[7]).call(*TREE[3])
    parent.call(*TREE[3])
    assert await control.ask("sessions/fork", sessionId=parent.id, sessionIds=ids) == forked


TAKEN = "a-session-that-is-taken"
BAD_FORKS: dict[str, tuple[dict[str, Any], str]] = {
    "neither": ({}, "invalid_params"),
    "both": ({"count": 1, "sessionIds": [TAKEN]}, "invalid_params"),
    "none": ({"count": 0}, "invalid_params"),
    "no ids": ({"sessionIds": []}, "invalid_params"),
    "too many": ({"count": 10_001}, "invalid_params"),
    "twice": ({"sessionIds": ["a-session-named-twice"] * 2}, "invalid_params"),
    "no id": ({"sessionIds": ["no/id/of/any/session"]}, "invalid_params"),
    "a revision to come": ({"count": 1, "atRevision": 4}, "invalid_params"),
    "a revision before all": ({"count": 1, "atRevision": -1}, "invalid_params"),
    "one episode too few": (
        {"count": 2, "episodes": [{"rolloutId": "r", "attempt": 0}]},
        "invalid_params",
    ),
    "an episode that is none": (
        {"count": 1, "episodes": [{"rolloutId": "a\nb", "attempt": 0}]},
        "invalid_params",
    ),
    "a retired episode": (
        {"count": 1, "episodes": [{"rolloutId": "retired", "attempt": 0}]},
        "stale_attempt",
    ),
    "a taken id": ({"sessionIds": ["a-session-that-is-free", TAKEN]}, "session_conflict"),
    "a taken id alone": ({"sessionIds": [TAKEN]}, "session_conflict"),
    "its own id": ({"sessionIds": [SESSION_ID]}, "session_conflict"),
    "an ended id": ({"sessionIds": ["a-session-that-has-ended"]}, "session_spent"),
    "no room": ({"count": 9}, "session_limit"),
}


@pytest.mark.parametrize(("wish", "code"), BAD_FORKS.values(), ids=BAD_FORKS)
async def test_a_fork_that_cannot_be_made_makes_none(wish: dict[str, Any], code: str) -> None:
    runtime = Runtime(Settings(max_sessions=10))
    worked(runtime, SESSION_ID)
    runtime.sessions.seed(TAKEN)
    runtime.sessions.close(runtime.sessions.seed("a-session-that-has-ended").id)
    async with controlling(runtime) as control:
        await control.ask("checkpoint/retire", episodes=[{"rolloutId": "retired", "attempt": 1}])
        assert await control.code("sessions/fork", sessionId=SESSION_ID, **wish) == code
    assert {session.id for session in runtime.sessions.list()} == {SESSION_ID, TAKEN}


async def test_ids_of_another_fork_are_a_conflict(control: Controller, runtime: Runtime) -> None:
    parent, other = worked(runtime), worked(runtime)
    ids = ["a-fork-of-one-of-the-two"]
    wish: dict[str, Any] = {"sessionId": parent.id, "sessionIds": ids, "atRevision": 1}
    await control.ask("sessions/fork", **wish)
    assert await control.code("sessions/fork", **{**wish, "sessionId": other.id}) == "session_conflict"
    assert await control.code("sessions/fork", **{**wish, "atRevision": 2}) == "session_conflict"
    episodes = [{"rolloutId": "another", "attempt": 0}]
    assert await control.code("sessions/fork", **wish, episodes=episodes) == "session_conflict"
    more = {**wish, "sessionIds": [*ids, "a-fork-that-is-not-there-yet"]}
    assert await control.code("sessions/fork", **more) == "session_conflict"


async def test_a_revision_that_is_not_there_is_refused_with_those_that_are(
    control: Controller, runtime: Runtime
) -> None:
    session = worked(runtime)
    data = {"code": "invalid_params", "oldestRevision": 0, "latestRevision": 3}
    for operation, given in (
        ("sessions/rewind", {"revision": 4}),
        ("sessions/fork", {"count": 1, "atRevision": 4}),
        ("sessions/diff", {"fromRevision": 4}),
        ("sessions/diff", {"toRevision": 4}),
    ):
        number, facts, sentence = await control.refused(operation, sessionId=session.id, **given)
        assert (number, facts) == (-32602, data)
        assert "revision 4" in sentence
    assert session.revision == 3


async def test_long_lists_come_in_pages(control: Controller, runtime: Runtime) -> None:
    session = worked(runtime)

    async def pages(operation: str, **given: Any) -> list[dict[str, Any]]:
        page = await control.ask(operation, sessionId=session.id, limit=1, **given)
        read = [page]
        while "nextCursor" in page:
            given["cursor"] = page["nextCursor"]
            page = await control.ask(operation, sessionId=session.id, limit=1, **given)
            read.append(page)
        return read

    told = await pages("sessions/history")
    assert [it["revision"] for page in told for it in page["history"]] == [1, 2, 3]
    assert all(len(page["history"]) == 1 for page in told)
    found = await pages("sessions/diff", toRevision=3)
    whole = await control.ask("sessions/diff", sessionId=session.id)
    shown: list[tuple[str, str, Any]] = []
    for page in found:
        for name, kinds in page["tables"].items():
            for kind, entries in kinds.items():
                shown += [(name, kind, facts) for facts in (entries if kind != "relabelled" else [entries])]
    assert len(shown) == len(found) == 4
    assert {(name, kind) for name, kind, _ in shown} == {
        ("email.emails", "removed"),
        ("email.emails", "added"),
        ("email.emails", "relabelled"),
        ("calendar.events", "changed"),
    }
    for name, kind, facts in shown:
        known = whole["tables"][name][kind]
        assert facts == known or facts in known


async def test_pages_of_a_difference_are_of_the_revisions_of_the_first(
    control: Controller, runtime: Runtime
) -> None:
    session = worked(runtime)
    first = await control.ask("sessions/diff", sessionId=session.id, limit=1)
    session.call("email_delete_email", {"email_id": "00000007"})
    rest = await control.ask("sessions/diff", sessionId=session.id, cursor=first["nextCursor"])
    assert [row["id"] for row in first["tables"]["email.emails"]["removed"]] == ["00000003"]
    assert rest["tables"]["email.emails"]["removed"] == []
    session.rewind(1)
    code = await control.code("sessions/diff", sessionId=session.id, cursor=first["nextCursor"])
    assert code == "invalid_params"


@pytest.mark.parametrize("operation", ["sessions/history", "sessions/diff"])
async def test_a_cursor_of_a_past_that_was_rewound_is_refused_though_no_time_went_by(
    control: Controller, runtime: Runtime, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_state, "time", lambda: 1.0)
    session = runtime.sessions.seed()
    for number in range(1, 7):
        session.call("email_delete_email", {"email_id": f"{number:08}"})
    first = await control.ask(operation, sessionId=session.id, limit=3)
    session.rewind(0)
    for number in range(11, 17):
        session.call("email_delete_email", {"email_id": f"{number:08}"})
    number, _, sentence = await control.refused(operation, sessionId=session.id, cursor=first["nextCursor"])
    assert number == -32602
    assert "rewound" in sentence


async def test_a_call_id_is_known_again_after_a_rewind_however_many_came_after_it(
    control: Controller, runtime: Runtime
) -> None:
    session = runtime.sessions.seed()
    first = session.call(*TREE[3], call_id="call-0")
    for number in range(1, 301):
        session.call(*TREE[3], call_id=f"call-{number}")
    assert "call-0" not in session.state.remembered
    await control.ask("sessions/rewind", sessionId=session.id, revision=1)
    assert session.call(*TREE[3], call_id="call-0") == first
    assert session.revision == 1


async def test_forks_are_answered_again_when_their_parent_has_ended_or_was_rewound(
    control: Controller, runtime: Runtime
) -> None:
    parent = worked(runtime)
    wish = {"sessionId": parent.id, "sessionIds": ["a-fork-that-is-asked-for-twice"], "atRevision": 2}
    forked = await control.ask("sessions/fork", **wish)
    parent.rewind(1)
    assert await control.ask("sessions/fork", **wish) == forked
    runtime.sessions.close(parent.id)
    assert await control.ask("sessions/fork", **wish) == forked
    another = {**wish, "sessionIds": ["a-fork-that-was-not-made-yet"]}
    assert await control.code("sessions/fork", **another) == "session_spent"


async def test_a_fork_of_an_earlier_attempt_is_stale_once_its_fork_has_a_later_one(
    control: Controller, runtime: Runtime
) -> None:
    parent = worked(runtime, SESSION_ID)
    ids, episodes = ["a-fork-that-comes-back-later"], [{"rolloutId": "branch", "attempt": 0}]
    wish: dict[str, Any] = {"sessionId": parent.id, "sessionIds": ids, "episodes": episodes}
    await control.ask("sessions/fork", **wish)
    exported = await control.ask("sessions/export")
    runtime.sessions.remove([*ids, SESSION_ID])
    await control.ask("sessions/import", **exported)
    assert await control.code("sessions/fork", **wish) == "stale_attempt"


async def test_idle_sessions_make_room_for_forks_and_who_is_forked_is_not_idle() -> None:
    runtime = Runtime(Settings(max_sessions=4, idle_after=0.05))
    parent = worked(runtime)
    for _ in range(3):
        runtime.sessions.seed()
    await anyio.sleep(0.06)
    async with controlling(runtime) as control:
        await control.ask("sessions/fork", sessionId=parent.id, count=2)
    assert len(runtime.sessions) == 3
    assert runtime.sessions.live([parent.id])


async def test_a_rewind_that_is_refused_is_none(control: Controller, runtime: Runtime) -> None:
    session = worked(runtime)
    session.entry = session.entry._replace(untouched=True)
    assert await control.code("sessions/rewind", sessionId=session.id, revision=4) == "invalid_params"
    assert session.entry.untouched


async def test_a_page_holds_only_so_many_bytes(
    control: Controller, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "LARGEST_LOAD", 2000)
    session = runtime.sessions.seed()
    for size in (10, 10, 5000, 10, 1200, 1200):
        session.call("email_send_email", {**MAIL, "body": "x" * size})
    page: dict[str, Any] = {"nextCursor": None}
    told: list[list[int]] = []
    while "nextCursor" in page:
        page = await control.ask("sessions/history", sessionId=session.id, cursor=page["nextCursor"])
        told.append([it["revision"] for it in page["history"]])
        assert len(page["history"]) == 1 or len(orjson.dumps(page)) < 2500
    assert told == [[1, 2], [3], [4, 5], [6]]


@pytest.mark.parametrize(
    ("operation", "cursor"),
    [
        ("sessions/history", ""),
        ("sessions/history", "x"),
        ("sessions/history", "-1"),
        ("sessions/history", "1"),
        ("sessions/history", "1.2"),
        ("sessions/history", "9.0"),
        ("sessions/history", "\u0663"),
        ("sessions/history", "0." + "9" * 20),
        ("sessions/diff", "1"),
        ("sessions/diff", "0.0.9.0.0"),
        ("sessions/diff", "0.0.3.1.0"),
        ("sessions/diff", "0.0.0.0.1"),
        ("sessions/diff", "0.0.0.0." + "9" * 20),
    ],
)
async def test_a_cursor_that_no_page_had_is_refused(
    control: Controller, runtime: Runtime, operation: str, cursor: str
) -> None:
    session = worked(runtime)
    assert await control.code(operation, sessionId=session.id, cursor=cursor) == "invalid_params"


async def test_a_cursor_of_other_revisions_than_asked_for_is_refused(
    control: Controller, runtime: Runtime
) -> None:
    session = worked(runtime)
    given = {"sessionId": session.id, "fromRevision": 1, "toRevision": 3}
    assert await control.code("sessions/diff", **given, cursor="0.0.3.0.1") == "invalid_params"
    assert await control.code("sessions/diff", **given, cursor="1.0.2.0.1") == "invalid_params"


async def test_sessions_that_cannot_be_compared_are_refused(control: Controller, runtime: Runtime) -> None:
    session, few = worked(runtime), runtime.sessions.seed(toolkits=["email"])
    given = {"sessionId": session.id, "otherSessionId": few.id}
    assert await control.code("sessions/diff", **given) == "invalid_params"
    given["otherSessionId"] = "nobody-s-session-id"
    assert await control.code("sessions/diff", **given) == "session_unknown"
    given = {"sessionId": session.id, "otherSessionId": session.id}
    assert await control.ask("sessions/diff", **given) == {"tables": {}}
    assert await control.code("sessions/diff", **given, toRevision=1) == "invalid_params"


async def test_while_a_checkpoint_is_open_what_reads_is_answered(
    control: Controller, runtime: Runtime
) -> None:
    session = worked(runtime)
    await control.ask("checkpoint/prepare", **timed("open"))
    assert len((await control.ask("sessions/history", sessionId=session.id))["history"]) == 3
    assert (await control.ask("sessions/diff", sessionId=session.id))["tables"]
    for operation, given in (("fork", {"count": 1}), ("rewind", {"revision": 0})):
        number, data, _ = await control.refused(f"sessions/{operation}", sessionId=session.id, **given)
        assert (number, data["code"], data["checkpointId"]) == (-32010, "admission_closed", "open")
    assert (len(runtime.sessions), session.revision) == (1, 3)


@pytest.mark.parametrize(
    ("operation", "given"), [("sessions/fork", {"count": 2}), ("sessions/rewind", {"revision": 1})]
)
async def test_where_calls_wait_for_a_checkpoint_to_end_so_do_these(
    waiting: tuple[Runtime, Controller], operation: str, given: dict[str, Any]
) -> None:
    runtime, control = waiting
    session = worked(runtime)
    await control.ask("checkpoint/prepare", **timed("open"))
    answers: list[dict[str, Any]] = []

    async def ask() -> None:
        answers.append(await control.ask(operation, sessionId=session.id, **given))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await until(lambda: runtime.control.gate.waiting > 0)
        assert (answers, len(runtime.sessions), session.revision) == ([], 1, 3)
        await control.ask("checkpoint/resume", checkpointId="open")
    assert len(answers) == 1
    assert (len(runtime.sessions), session.revision) in [(3, 3), (1, 1)]


async def test_a_rewound_session_is_no_longer_untouched_since_its_restore(
    control: Controller, runtime: Runtime
) -> None:
    session = worked(runtime, SESSION_ID)
    exported = await control.ask("sessions/export", sessionIds=[session.id])
    runtime.sessions.remove([session.id])
    await control.ask("sessions/import", **exported)
    back = runtime.sessions.get(SESSION_ID)
    assert back.entry.untouched
    await control.ask("sessions/rewind", sessionId=SESSION_ID, revision=2)
    assert not back.entry.untouched
    assert back.revision == 2
