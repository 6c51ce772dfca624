"""Operations on sessions: seeds all or none, lists while sessions come and go, tables whole."""

from collections.abc import Callable
from math import isnan
from typing import Any

import pytest

from tests.wa_mcp.agents import SESSION_ID
from tests.wa_mcp.controllers import Controller, controlling, timed
from wa_mcp import Runtime, Settings

IDS = [f"session-in-a-list-{number:05}" for number in range(10_000)]


async def test_10_000_sessions_are_seeded_at_once(control: Controller, runtime: Runtime) -> None:
    wanted = [{"sessionId": session_id, "toolkits": ["email"]} for session_id in IDS]
    seeded = (await control.ask("sessions/seed", sessions=wanted))["sessions"]
    assert [session["sessionId"] for session in seeded] == IDS
    assert (await control.ask("checkpoint/status"))["report"]["sessions"] == 10_000
    again = (await control.ask("sessions/seed", sessions=wanted))["sessions"]
    assert again == seeded
    assert len(runtime.sessions) == 10_000


async def test_each_entry_of_a_list_is_a_seed_of_its_own(control: Controller) -> None:
    wanted: list[dict[str, Any]] = [
        {},
        {"toolkits": ["calendar", "email"]},
        {"tools": ["email_send_email"], "requireAttempt": True},
        {"sessionId": SESSION_ID, "episode": {"rolloutId": "r", "attempt": 4}, "onCheckpoint": "wait"},
    ]
    seeded = (await control.ask("sessions/seed", sessions=wanted))["sessions"]
    assert [session["toolkits"] for session in seeded[1:2]] == [["email", "calendar"]]
    assert [session["tools"] for session in seeded] == [None, None, ["email_send_email"], None]
    assert seeded[3]["episode"] == {"rolloutId": "r", "attempt": 4}
    assert len({session["sessionId"] for session in seeded}) == 4


async def test_many_sessions_are_closed_at_once(control: Controller, runtime: Runtime) -> None:
    ids = [runtime.sessions.seed().id for _ in range(3)]
    wanted = [{"sessionId": session_id} for session_id in [*ids, ids[0], "nobody-s-session-id"]]
    closed = await control.ask("sessions/close", sessions=wanted)
    assert [it["outcome"] for it in closed["sessions"]] == [*["closed"] * 3, "already_closed", "unknown"]
    assert [it["sessionId"] for it in closed["sessions"]] == [it["sessionId"] for it in wanted]
    assert len(runtime.sessions) == 0
    assert await control.code("sessions/close", sessionId=ids[0], sessions=wanted) == "invalid_params"


async def test_the_same_session_twice_in_a_list_is_one(control: Controller, runtime: Runtime) -> None:
    seeded = (await control.ask("sessions/seed", sessions=[{"sessionId": SESSION_ID}] * 2))["sessions"]
    assert seeded[0] == seeded[1]
    assert len(runtime.sessions) == 1


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"sessionId": "taken-by-another-0001", "toolkits": ["email"]}, "session_conflict"),
        ({"sessionId": SESSION_ID, "tools": ["email_send_email"]}, "session_conflict"),
        ({"sessionId": SESSION_ID, "episode": {"rolloutId": "r", "attempt": 0}}, "session_conflict"),
        ({"sessionId": "closed-by-somebody-01"}, "session_spent"),
        ({"episode": {"rolloutId": "retired", "attempt": 1}}, "stale_attempt"),
        (
            {"sessionId": "of-attempt-two-000001", "episode": {"rolloutId": "two", "attempt": 1}},
            "stale_attempt",
        ),
        ({"toolkits": ["mail"]}, "invalid_params"),
    ],
)
async def test_one_entry_that_is_refused_refuses_the_list(
    control: Controller, runtime: Runtime, entry: dict[str, Any], code: str
) -> None:
    runtime.sessions.seed("taken-by-another-0001")
    runtime.sessions.seed("of-attempt-two-000001", episode=("two", 2))
    await control.ask("sessions/seed", sessionId="closed-by-somebody-01")
    await control.ask("sessions/close", sessionId="closed-by-somebody-01")
    await control.ask("checkpoint/retire", episodes=[{"rolloutId": "retired", "attempt": 1}])
    offered = runtime.sessions.offer()
    before = runtime.sessions.list()
    sessions = [{"sessionId": offered}, {"sessionId": SESSION_ID}, entry, {}]
    assert await control.code("sessions/seed", sessions=sessions) == code
    assert runtime.sessions.list() == before
    assert runtime.sessions.peek(offered) is None


async def test_a_list_that_does_not_fit_is_refused_whole() -> None:
    runtime = Runtime(Settings(max_sessions=3))
    async with controlling(runtime) as control:
        number, data, _ = await control.refused("sessions/seed", sessions=[{}] * 4)
        assert (number, data) == (-32011, {"code": "session_limit", "limit": 3})
        assert len(runtime.sessions) == 0
        await control.ask("sessions/seed", sessions=[{}] * 3)


async def listed(
    control: Controller, limit: int, after_page: Callable[[int], None] | None = None
) -> list[str]:
    """List all sessions page by page; `after_page` is called between two, with how many there were so far."""
    found: list[str] = []
    given: dict[str, Any] = {"limit": limit}
    while True:
        page = await control.ask("sessions/list", **given)
        assert len(page["sessions"]) <= limit
        found += [session["sessionId"] for session in page["sessions"]]
        if "nextCursor" not in page:
            return found
        given["cursor"] = page["nextCursor"]
        if after_page is not None:
            after_page(len(found))


@pytest.mark.parametrize("limit", [1, 3, 4, 8, 9])
async def test_a_list_goes_on_page_by_page(control: Controller, runtime: Runtime, limit: int) -> None:
    made = [runtime.sessions.seed().id for _ in range(8)]
    assert await listed(control, limit) == made


async def test_a_list_without_a_limit_has_a_thousand_a_page(control: Controller, runtime: Runtime) -> None:
    made = [runtime.sessions.seed().id for _ in range(1001)]
    page = await control.ask("sessions/list")
    assert [session["sessionId"] for session in page["sessions"]] == made[:1000]
    rest = await control.ask("sessions/list", cursor=page["nextCursor"])
    assert [session["sessionId"] for session in rest["sessions"]] == made[1000:]
    assert "nextCursor" not in rest


async def test_no_session_that_stays_is_missed_while_others_come_and_go(
    control: Controller, runtime: Runtime
) -> None:
    made = [runtime.sessions.seed().id for _ in range(9)]
    came: list[str] = []

    def turn(so_far: int) -> None:
        for place in (so_far - 1, so_far):
            if place < len(made):
                runtime.sessions.close(made[place])
                came.append(runtime.sessions.seed().id)

    found = await listed(control, 2, after_page=turn)
    assert len(set(found)) == len(found)
    assert set(found) >= {session.id for session in runtime.sessions.list()}


async def test_sessions_that_were_away_for_a_while_are_missed_on_no_page(
    control: Controller, runtime: Runtime
) -> None:
    first = [runtime.sessions.seed().id for _ in range(3)]
    taken = runtime.sessions.remove(first)
    later = [runtime.sessions.seed().id for _ in range(3)]
    runtime.sessions.add(taken)
    assert await listed(control, 2) == first + later


async def test_a_listed_session_shows_when_it_was_seeded_and_called(
    control: Controller, runtime: Runtime
) -> None:
    await control.ask("sessions/seed", sessionId=SESSION_ID, toolkits=["email"])
    (before,) = (await control.ask("sessions/list"))["sessions"]
    assert set(before) == {"sessionId", "episode", "revision", "toolkits", "seededAt", "lastCallAt", "calls"}
    assert (before["lastCallAt"], before["calls"], before["revision"]) == (None, 0, 0)
    runtime.sessions.get(SESSION_ID).call("email_search_emails", {})
    (after,) = (await control.ask("sessions/list"))["sessions"]
    assert (after["calls"], after["revision"]) == (1, 0)
    assert after["lastCallAt"] >= after["seededAt"] == before["seededAt"]


def is_nan(cell: Any) -> bool:
    return isinstance(cell, float) and isnan(cell)


async def test_tables_go_out_whole_with_nan_and_none_apart(control: Controller, runtime: Runtime) -> None:
    session = runtime.sessions.seed(SESSION_ID)
    customers = session.workplace.tables["customer_relationship_manager.customers"]
    somebody = {
        "customer_name": "Ada",
        "status": "Lead",
        "assigned_to_email": customers.column("assigned_to_email")[0],
    }
    session.call("customer_relationship_manager_add_customer", somebody)
    gone = {"email_id": session.workplace.tables["email.emails"].column("email_id")[0]}
    session.call("email_delete_email", gone)
    shown = await control.ask("sessions/tables", sessionId=SESSION_ID)
    assert shown["revision"] == session.revision == 2
    assert set(shown["tables"]) == set(session.workplace.tables)
    empty: list[tuple[bool, bool]] = []
    for name, table in session.workplace.tables.items():
        frame: Any = table.frame
        whole = shown["tables"][name]
        assert whole["index"] == frame.index.tolist()
        assert [column["name"] for column in whole["columns"]] == frame.columns.tolist()
        for column in whole["columns"]:
            cells: list[Any] = frame[column["name"]].tolist()
            assert column["dtype"] == str(frame[column["name"]].dtype)
            assert column["nan"] == [place for place, cell in enumerate(cells) if is_nan(cell)]
            assert column["values"] == [None if is_nan(cell) else cell for cell in cells]
            empty += [(None in cells, column["nan"] != [])]
    assert {(True, True), (False, False)} <= set(empty)


async def test_looking_at_an_offered_session_does_not_make_it(control: Controller, runtime: Runtime) -> None:
    offered = runtime.sessions.offer()
    assert await control.code("sessions/tables", sessionId=offered) == "session_unknown"
    assert await control.code("sessions/export", sessionIds=[offered]) == "session_unknown"
    assert (await control.ask("sessions/list"))["sessions"] == []
    assert len(runtime.sessions) == 0
    assert await control.ask("sessions/close", sessionId=offered) == {"outcome": "closed"}


async def test_closing_is_answered_while_a_checkpoint_is_open(control: Controller, runtime: Runtime) -> None:
    runtime.sessions.seed(SESSION_ID)
    await control.ask("checkpoint/prepare", **timed("one"))
    assert await control.ask("sessions/close", sessionId=SESSION_ID) == {"outcome": "closed"}
    assert await control.ask("sessions/close", sessionId=SESSION_ID) == {"outcome": "already_closed"}
    assert await control.code("sessions/close", sessionId="never-was-a-session") == "session_unknown"


async def test_a_seed_is_refused_while_a_checkpoint_is_open(control: Controller, runtime: Runtime) -> None:
    await control.ask("sessions/seed", sessionId=SESSION_ID)
    await control.ask("checkpoint/prepare", **timed("one"))
    closed = {"code": "admission_closed", "checkpointId": "one", "retryAfterMs": 250}
    wishes: list[dict[str, Any]] = [
        {},
        {"sessionId": SESSION_ID},
        {"sessions": [{}, {}]},
        {"onCheckpoint": "refuse"},
    ]
    for wish in wishes:
        assert (await control.refused("sessions/seed", **wish))[:2] == (-32010, closed)
    assert len(runtime.sessions) == 1
