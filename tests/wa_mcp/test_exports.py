"""Exports and imports inline: pages of one moment, asked for again at will; taken in all or none."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import orjson
import pytest

from tests.wa_mcp.agents import MAIL, SESSION_ID
from tests.wa_mcp.controllers import Controller, controlling, timed
from wa_mcp import Runtime, Settings, exports

SMALL = 4096
Page = dict[str, Any]


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    assert exports.LARGEST_PAGE == 16 * 1024 * 1024
    monkeypatch.setattr(exports, "LARGEST_PAGE", SMALL)


@pytest.fixture
def busy(runtime: Runtime) -> list[str]:
    """Sessions that have worked."""
    made = [runtime.sessions.seed(toolkits=["email"]) for _ in range(30)]
    for session in made:
        session.call("email_send_email", MAIL, call_id="once")
    return [session.id for session in made]


async def pages(control: Controller, first: Page) -> list[Page]:
    """Follow the cursors."""
    found = [first]
    while "nextCursor" in found[-1]:
        found.append(await control.ask("sessions/export", cursor=found[-1]["nextCursor"]))
    return found


def joined(found: list[Page]) -> Page:
    """Put pages together, as an import takes them."""
    return {
        "states": [state for page in found for state in page["states"]],
        "bases": {digest: base for page in found for digest, base in page["bases"].items()},
        "facts": found[0]["facts"],
    }


async def test_an_export_of_many_pages_is_that_of_one(
    control: Controller, busy: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = await control.ask("sessions/export")
    assert "nextCursor" not in whole
    assert [state["sessionId"] for state in whole["states"]] == busy
    monkeypatch.setattr(exports, "LARGEST_PAGE", SMALL)
    found = await pages(control, await control.ask("sessions/export"))
    assert len(found) > 5
    assert joined(found) == whole
    for page in found:
        entries = len(page["states"]) + len(page["bases"])
        assert len(orjson.dumps(page)) <= SMALL or entries == 1
        assert entries


@pytest.mark.usefixtures("small_pages")
async def test_the_facts_take_their_room_on_a_page(
    control: Controller, runtime: Runtime, busy: list[str]
) -> None:
    for _ in range(20):
        runtime.sessions.close(runtime.sessions.seed().id)
    found = await pages(control, await control.ask("sessions/export", sessionIds=busy))
    assert all(page["facts"] == found[0]["facts"] for page in found)
    assert all(len(orjson.dumps(page)) <= SMALL for page in found if page["states"][1:])


@pytest.mark.usefixtures("small_pages")
async def test_all_pages_are_of_the_moment_of_the_first(
    control: Controller, runtime: Runtime, busy: list[str]
) -> None:
    first = await control.ask("sessions/export")
    for session in runtime.sessions.list():
        session.call("email_send_email", MAIL)
    runtime.sessions.close(busy[-1])
    runtime.sessions.seed()
    states = joined(await pages(control, first))["states"]
    assert [(state["sessionId"], state["revision"]) for state in states] == [(one, 1) for one in busy]


@pytest.mark.usefixtures("small_pages", "busy")
async def test_a_page_whose_answer_was_lost_can_be_asked_for_again(control: Controller) -> None:
    first = await control.ask("sessions/export")
    cursor = first["nextCursor"]
    second = await control.ask("sessions/export", cursor=cursor)
    assert await control.ask("sessions/export", cursor=cursor) == second
    third = await control.ask("sessions/export", cursor=second["nextCursor"])
    assert await control.ask("sessions/export", cursor=second["nextCursor"]) == third
    assert await control.code("sessions/export", cursor=cursor) == "invalid_params"
    assert await control.ask("sessions/export", cursor=second["nextCursor"]) == third
    *_, last = await pages(control, third)
    assert last["states"]


@pytest.mark.usefixtures("small_pages", "busy")
async def test_a_page_that_comes_later_cannot_be_asked_for_early(control: Controller) -> None:
    name, _, number = (await control.ask("sessions/export"))["nextCursor"].partition(".")
    assert await control.code("sessions/export", cursor=f"{name}.{int(number) + 1}") == "invalid_params"
    assert (await control.ask("sessions/export", cursor=f"{name}.{number}"))["nextCursor"]


@pytest.mark.usefixtures("small_pages", "busy")
async def test_the_oldest_of_too_many_exports_is_given_up(control: Controller) -> None:
    cursors = [(await control.ask("sessions/export"))["nextCursor"] for _ in range(exports.MOST_OPEN + 1)]
    number, data, sentence = await control.refused("sessions/export", cursor=cursors[0])
    assert (number, data) == (-32602, {"code": "invalid_params"})
    assert "start a new one" in sentence
    for cursor in cursors[1:]:
        await control.ask("sessions/export", cursor=cursor)


@pytest.mark.usefixtures("small_pages")
async def test_an_export_of_one_page_gives_no_other_up(control: Controller, busy: list[str]) -> None:
    cursor = (await control.ask("sessions/export"))["nextCursor"]
    for _ in range(exports.MOST_OPEN + 1):
        assert "nextCursor" not in await control.ask("sessions/export", sessionIds=[])
    assert (await control.ask("sessions/export", cursor=cursor))["bases"]


async def test_a_session_named_twice_is_exported_once_and_an_unknown_one_refused(
    control: Controller, busy: list[str]
) -> None:
    exported = await control.ask("sessions/export", sessionIds=[busy[3], busy[1], busy[3]])
    assert [state["sessionId"] for state in exported["states"]] == [busy[3], busy[1]]
    assert (
        await control.code("sessions/export", sessionIds=[busy[0], "nobody-s-session-id"])
        == "session_unknown"
    )


@pytest.mark.parametrize("phase", ["prepared", "committed"])
async def test_an_export_is_answered_while_a_checkpoint_is_open(
    control: Controller, busy: list[str], phase: str
) -> None:
    await control.ask("checkpoint/prepare", **timed("one"))
    if phase == "committed":
        await control.ask("checkpoint/commit", **timed("one", checkpointDir="x"))
    assert len((await control.ask("sessions/export"))["states"]) == len(busy)
    assert await control.phase() == phase


def another_format(page: Page) -> None:
    page["states"][-1]["format"] = 1


def a_session_twice(page: Page) -> None:
    page["states"].append(page["states"][0])


def a_base_missing(page: Page) -> None:
    page["bases"].popitem()


def a_base_altered(page: Page) -> None:
    next(base for base in page["bases"].values() if "index" in base)["index"][0] += 1


def a_table_of_no_toolkit(page: Page) -> None:
    page["states"][-1]["history"][-1]["table"] = "calendar.events"


def a_change_of_no_kind(page: Page) -> None:
    page["states"][-1]["history"][-1]["change"]["kind"] = "burn"


def an_id_that_no_agent_can_name(page: Page) -> None:
    page["states"][-1]["sessionId"] = "with/a/slash/and a space"


def facts_of_another_kind(page: Page) -> None:
    page["facts"] = {"retired": {}}


@pytest.mark.parametrize(
    "spoil",
    [
        another_format, a_session_twice, a_base_missing, a_base_altered, a_table_of_no_toolkit,
        a_change_of_no_kind, an_id_that_no_agent_can_name, facts_of_another_kind,
    ],
)  # fmt: skip
async def test_an_import_with_one_fault_takes_nothing_in_and_a_good_one_works_then(
    control: Controller, busy: list[str], spoil: Callable[[Page], None]
) -> None:
    exported = await control.ask("sessions/export")
    spoilt = deepcopy(exported)
    spoil(spoilt)
    other = Runtime(Settings())
    async with controlling(other) as receiving:
        number, data, _ = await receiving.refused("sessions/import", **spoilt)
        assert (number, data["code"], data.keys()) == (-32015, "invalid_checkpoint_state", {"code", "reason"})
        assert (len(other.sessions), other.sessions.spent, other.control.gate.is_open) == (0, {}, True)
        restored = (await receiving.ask("sessions/import", **exported))["restored"]
    assert [session["sessionId"] for session in restored] == busy
    assert [session.revision for session in other.sessions.list()] == [1] * len(busy)


async def test_an_imported_session_goes_on_where_it_was(control: Controller, busy: list[str]) -> None:
    exported = await control.ask("sessions/export", sessionIds=busy[:1])
    other = Runtime(Settings())
    async with controlling(other) as receiving:
        await receiving.ask("sessions/import", **exported, attemptStep=0)
        assert (await receiving.ask("sessions/export")) == exported
    answer = other.sessions.get(busy[0]).call("email_send_email", MAIL, call_id="once")
    assert answer.revision == 1


async def test_in_restored_an_import_is_taken_out_with_the_rest(
    control: Controller, runtime: Runtime, busy: list[str]
) -> None:
    exported = await control.ask("sessions/export")
    other = Runtime(Settings(checkpoint_root=runtime.settings.checkpoint_root))
    kept = await control.ask("sessions/seed", sessionId=SESSION_ID)
    await control.ask("checkpoint/prepare", **timed("one"))
    await control.ask("checkpoint/commit", **timed("one", checkpointDir="x", episodes=[kept["episode"]]))
    async with controlling(other) as receiving:
        for discard in (True, False):
            checkpoint_id = f"with-discard-{discard}"
            await receiving.ask("checkpoint/restore", **timed(checkpoint_id, checkpointDir="x"))
            await receiving.ask("sessions/import", **exported)
            assert len(other.sessions) == len(busy) + 1
            await receiving.ask("checkpoint/resume", checkpointId=checkpoint_id, discard=discard)
            assert len(other.sessions) == (0 if discard else len(busy) + 1)
            assert other.sessions.spent == {}
