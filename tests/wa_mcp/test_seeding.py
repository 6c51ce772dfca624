"""Seeding: the same again is the same session, and everything that does not fit is refused with its code."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from checkpoint import Episode
from tests.wa_mcp.agents import MAIL, SESSION_ID
from wa_mcp import Runtime, Settings, spent
from wa_mcp.errors import CodedError
from wa_mcp.seeding import new_session_id
from wa_mcp.session import Session, capture_key


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(CodedError) as caught:
        call()
    return caught.value.code


def test_a_session_made_by_the_server_has_an_id_that_cannot_be_guessed(runtime: Runtime) -> None:
    ids = {runtime.sessions.seed().id for _ in range(100)}
    assert len(ids) == 100
    assert {len(session_id) for session_id in ids} == {43}


def test_a_session_s_path_is_where_an_agent_finds_it(runtime: Runtime) -> None:
    assert runtime.sessions.seed(SESSION_ID).path == f"/sessions/{SESSION_ID}/mcp"


def test_without_an_episode_it_is_made_from_the_id(runtime: Runtime) -> None:
    expected = sha256(SESSION_ID.encode()).hexdigest()[:16]
    assert runtime.sessions.seed(SESSION_ID).episode == Episode(expected, 0)


def test_the_capture_key_names_the_attempt_from_the_second_on() -> None:
    assert capture_key(Episode("rollout", 0)) == "rollout"
    assert capture_key(Episode("rollout", 2)) == "rollout-a2"


def test_the_repr_of_a_session_does_not_give_its_id_away(runtime: Runtime) -> None:
    assert SESSION_ID not in repr(runtime.sessions.seed(SESSION_ID))


@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"toolkits": ["email", "calendar"]},
        {"tools": ["email_send_email"]},
        {"toolkits": ["email"], "tools": ["email_send_email"], "episode": ("rollout", 3)},
    ],
)
def test_the_same_seed_again_answers_the_same_session(runtime: Runtime, wish: dict[str, Any]) -> None:
    session = runtime.sessions.seed(SESSION_ID, **wish)
    session.call("email_send_email", MAIL)
    assert runtime.sessions.seed(SESSION_ID, **wish) is session
    assert session.revision == 1
    assert len(runtime.sessions) == 1


def test_the_order_and_the_repetition_of_names_do_not_matter(runtime: Runtime) -> None:
    session = runtime.sessions.seed(SESSION_ID, toolkits=["calendar", "email", "email"])
    assert session.state.toolkits == ("email", "calendar")
    assert runtime.sessions.seed(SESSION_ID, toolkits=["email", "calendar"]) is session


def test_an_episode_counts_only_when_it_is_given(runtime: Runtime) -> None:
    session = runtime.sessions.seed(SESSION_ID, episode=("rollout", 2))
    assert runtime.sessions.seed(SESSION_ID) is session


@pytest.mark.parametrize(
    ("again", "code"),
    [
        ({"episode": ("rollout", 1)}, "stale_attempt"),
        ({"episode": ("rollout", 3)}, "session_conflict"),
        ({"episode": ("another", 2)}, "session_conflict"),
        ({"episode": ("another", 1)}, "session_conflict"),
        ({"toolkits": ["email"]}, "session_conflict"),
        ({"toolkits": ["email"], "episode": ("rollout", 1)}, "session_conflict"),
        ({"tools": ["email_send_email"]}, "session_conflict"),
    ],
)
def test_another_seed_of_a_live_id_is_refused(runtime: Runtime, again: dict[str, Any], code: str) -> None:
    session = runtime.sessions.seed(SESSION_ID, episode=("rollout", 2))
    before = session.state
    assert code_of(lambda: runtime.sessions.seed(SESSION_ID, **again)) == code
    assert session.state is before


@pytest.mark.parametrize(
    "wish",
    [
        {"session_id": ""},
        {"session_id": "fifteen-letters"},
        {"session_id": "x" * 129},
        {"session_id": "with a space in it"},
        {"session_id": "with/a/slash/in/it"},
        {"session_id": "with-a-letter-\u00e9"},
        {"session_id": "with-a-new-line-\n"},
        {"toolkits": []},
        {"toolkits": ["mail"]},
        {"toolkits": "email"},
        {"toolkits": ["email\ud800"]},
        {"tools": []},
        {"tools": ["email_send"]},
        {"toolkits": ["calendar"], "tools": ["email_send_email"]},
        {"episode": ("", 0)},
        {"episode": ("x" * 129, 0)},
        {"episode": ("a\nb", 0)},
        {"episode": ("\ud800", 0)},
        {"episode": ("rollout", -1)},
        {"episode": ("rollout", True)},
        {"episode": ("rollout", 1.0)},
        {"episode": ("rollout", 2**53 + 1)},
        {"on_checkpoint": "ignore"},
    ],
    ids=ascii,
)
def test_a_wish_that_does_not_fit_is_refused(runtime: Runtime, wish: dict[str, Any]) -> None:
    assert code_of(lambda: runtime.sessions.seed(**wish)) == "invalid_params"
    assert len(runtime.sessions) == 0


@pytest.mark.parametrize("session_id", ["x" * 16, "x" * 128, "ABC-xyz_0123456789"])
def test_an_id_at_the_limits_is_taken(runtime: Runtime, session_id: str) -> None:
    assert runtime.sessions.seed(session_id).id == session_id


def test_the_refusal_of_a_name_says_which_there_are(runtime: Runtime) -> None:
    with pytest.raises(CodedError, match=r"'mail' is not one of company_directory, email, calendar"):
        runtime.sessions.seed(toolkits=["mail"])


def test_a_closed_session_is_gone_and_its_id_spent(runtime: Runtime) -> None:
    runtime.sessions.seed(SESSION_ID)
    assert runtime.sessions.close(SESSION_ID) == "closed"
    assert runtime.sessions.close(SESSION_ID) == "already_closed"
    assert runtime.sessions.list() == []
    assert code_of(lambda: runtime.sessions.get(SESSION_ID)) == "session_spent"
    assert code_of(lambda: runtime.sessions.seed(SESSION_ID)) == "session_spent"


def test_no_id_that_is_made_looks_like_an_option_of_a_command() -> None:
    assert not any(new_session_id().startswith("-") for _ in range(1000))


def test_an_id_that_never_was_is_unknown(runtime: Runtime) -> None:
    assert code_of(lambda: runtime.sessions.get(SESSION_ID)) == "session_unknown"
    assert code_of(lambda: runtime.sessions.close(SESSION_ID)) == "session_unknown"


def test_the_last_spent_ids_are_kept_and_no_more(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    assert spent.MOST_SPENT == 100_000
    monkeypatch.setattr(spent, "MOST_SPENT", 2)
    first, second, third = (runtime.sessions.seed().id for _ in range(3))
    for session_id in (first, second, third):
        runtime.sessions.close(session_id)
    assert code_of(lambda: runtime.sessions.get(first)) == "session_unknown"
    assert code_of(lambda: runtime.sessions.get(second)) == "session_spent"
    assert code_of(lambda: runtime.sessions.get(third)) == "session_spent"


def test_more_sessions_than_may_live_are_refused() -> None:
    registry = Runtime(Settings(max_sessions=2)).sessions
    first, _ = registry.seed(SESSION_ID), registry.seed()
    with pytest.raises(CodedError, match="2 sessions may live at once") as caught:
        registry.seed()
    assert (caught.value.code, caught.value.facts) == ("session_limit", {"limit": 2})
    assert registry.seed(SESSION_ID) is first
    registry.close(SESSION_ID)
    registry.seed()
    assert len(registry) == 2


def test_an_idle_session_makes_room_when_the_server_is_full() -> None:
    registry = Runtime(Settings(max_sessions=1, idle_after=60)).sessions
    idle = registry.seed()
    idle.touched -= 60
    registry.seed(SESSION_ID)
    assert [session.id for session in registry.list()] == [SESSION_ID]
    assert code_of(lambda: registry.get(idle.id)) == "session_spent"


def test_the_sweep_takes_idle_sessions_and_no_others() -> None:
    registry = Runtime(Settings(idle_after=60)).sessions
    idle, busy, fresh = registry.seed(), registry.seed(), registry.seed()
    idle.touched -= 60
    busy.touched -= 60
    busy.call("email_search_emails", {})
    assert registry.sweep() == 1
    assert registry.list() == [busy, fresh]


def test_an_answer_given_again_keeps_a_session_from_the_sweep() -> None:
    registry = Runtime(Settings(idle_after=60)).sessions
    session = registry.seed()
    session.call("email_send_email", MAIL, call_id="once")
    session.touched -= 60
    session.call("email_send_email", MAIL, call_id="once")
    assert registry.sweep() == 0


def test_without_an_idle_time_nothing_is_swept(runtime: Runtime) -> None:
    session = runtime.sessions.seed()
    session.touched -= 1e9
    assert runtime.sessions.sweep() == 0
    assert runtime.sessions.list() == [session]


def test_an_offered_id_is_in_no_list_or_count_until_its_first_use(runtime: Runtime) -> None:
    session_id = runtime.sessions.offer()
    assert (len(runtime.sessions), runtime.sessions.list()) == (0, [])
    session = runtime.sessions.get(session_id)
    assert session.id == session_id
    assert runtime.sessions.list() == [session]
    assert runtime.sessions.get(session_id) is session


def test_an_offered_id_may_be_seeded_as_one_likes(runtime: Runtime) -> None:
    session_id = runtime.sessions.offer()
    session = runtime.sessions.seed(session_id, toolkits=["email"])
    assert runtime.sessions.get(session_id) is session


def test_an_offered_id_is_spent_once_its_session_has_ended(runtime: Runtime) -> None:
    session_id = runtime.sessions.offer()
    runtime.sessions.get(session_id)
    runtime.sessions.close(session_id)
    assert code_of(lambda: runtime.sessions.get(session_id)) == "session_spent"


def test_an_offer_can_be_withdrawn_before_its_first_use(runtime: Runtime) -> None:
    session_id = runtime.sessions.offer()
    assert runtime.sessions.close(session_id) == "closed"
    assert code_of(lambda: runtime.sessions.get(session_id)) == "session_spent"


def test_an_offered_session_stays_on_offer_while_the_server_is_full() -> None:
    registry = Runtime(Settings(max_sessions=1)).sessions
    session_id, other = registry.offer(), registry.seed()
    assert code_of(lambda: registry.get(session_id)) == "session_limit"
    registry.close(other.id)
    assert registry.get(session_id).id == session_id


def test_the_list_is_oldest_first(runtime: Runtime) -> None:
    made = [runtime.sessions.seed() for _ in range(5)]
    assert runtime.sessions.list() == made


def counts(session: Session) -> tuple[int, int, int, int]:
    return session.state.calls, session.state.errors, session.state.reads, session.revision


def test_calls_errors_reads_and_changes_are_counted(runtime: Runtime) -> None:
    session = runtime.sessions.seed(toolkits=["email"])
    assert session.state.last_call_at is None
    assert counts(session) == (0, 0, 0, 0)
    session.call("email_search_emails", {})
    assert counts(session) == (1, 0, 1, 0)
    session.call("email_send_email", MAIL)
    assert counts(session) == (2, 0, 1, 1)
    session.call("email_send_email", {})
    session.call("calendar_search_events", {})
    session.call("no_such_tool", None)
    assert counts(session) == (5, 3, 1, 1)
    assert session.state.last_call_at is not None
    assert session.state.last_call_at >= session.state.seeded_at


def test_a_change_to_the_value_that_was_there_counts(runtime: Runtime) -> None:
    session = runtime.sessions.seed()
    found = session.call("customer_relationship_manager_search_customers", {"status": "Lead"}).outcome.value
    change = {"customer_id": found["customers"][0]["customer_id"], "field": "status", "new_value": "Lead"}
    answer = session.call("customer_relationship_manager_update_customer", change)
    assert (answer.revision, answer.outcome.changed) == (1, ("customer_relationship_manager.customers",))
