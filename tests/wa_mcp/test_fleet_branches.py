"""Forks, differences, history and rewinds through the controller library, of one server and of several."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from checkpoint import FleetError, Patience
from checkpoint.errors import InvalidParams
from tests.conftest import http_server
from tests.wa_mcp.agents import MAIL
from tests.wa_mcp.bad_servers import Proxy, listening
from toolkits.dataset import Dataset
from wa_mcp import Controller, Endpoint, Runtime, Settings, admin_server, branch_operations
from wa_mcp.session import Session


@pytest.fixture
def runtimes(dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Runtime]:
    """Three servers on the bundled data."""

    def loaded(*_: object) -> Dataset:
        return dataset

    monkeypatch.setattr("wa_mcp.runtime.load_dataset", loaded)
    return [Runtime(Settings(checkpoint_root=tmp_path / "root", instance=name)) for name in "abc"]


@pytest.fixture
async def fleet(runtimes: list[Runtime]) -> AsyncGenerator[Controller]:
    async with Controller([admin_server(runtime) for runtime in runtimes]) as controller:
        yield controller


def found(runtimes: list[Runtime], session_id: str) -> Session:
    (session,) = [it for runtime in runtimes for it in runtime.sessions.live([session_id])]
    return session


async def worked(fleet: Controller, runtimes: list[Runtime]) -> Session:
    """Seed a session and send three mails from it."""
    session = found(runtimes, (await fleet.seed())["sessionId"])
    for number in range(3):
        session.call("email_send_email", {**MAIL, "subject": f"Mail {number}"})
    return session


async def test_forks_live_where_every_controller_looks_for_them(
    fleet: Controller, runtimes: list[Runtime]
) -> None:
    parent = await worked(fleet, runtimes)
    forks = await fleet.fork(parent.id, 20, at_revision=2)
    for fork in forks:
        assert fleet.instance(fork["sessionId"]) == fleet.instance(parent.id)
        assert (await fleet.tables(fork["sessionId"]))["revision"] == 2
    assert len({fork["sessionId"] for fork in forks}) == 20
    (one,) = await fleet.fork(parent.id, episodes=[{"rolloutId": "branch", "attempt": 3}])
    assert one["episode"] == {"rolloutId": "branch", "attempt": 3}
    two = [{"rolloutId": "branches", "attempt": attempt} for attempt in (0, 1)]
    assert [it["episode"] for it in await fleet.fork(parent.id, episodes=two)] == two
    ids = [fork["sessionId"] for fork in forks]
    assert await fleet.fork(parent.id, session_ids=ids, at_revision=2) == forks


async def test_forks_come_back_with_the_others_on_fewer_servers(
    fleet: Controller, runtimes: list[Runtime], tmp_path: Path
) -> None:
    parent = await worked(fleet, runtimes)
    (fork,) = await fleet.fork(parent.id, at_revision=1)
    folder = tmp_path / "root/cut"
    async with fleet.checkpoint(folder):
        pass
    fresh = Runtime(Settings(checkpoint_root=tmp_path / "root"))
    async with Controller([admin_server(fresh)]) as later:
        await later.restore(folder)
        told = await later.history(fork["sessionId"])
        assert [it["arguments"]["subject"] for it in told] == ["Mail 0"]
        tables = await later.diff(fork["sessionId"], other_session_id=parent.id)
        subjects = [it["row"]["subject"] for it in tables["email.emails"]["added"]]
        assert subjects == ["Mail 1", "Mail 2"]
        assert await later.rewind(parent.id, 1) == 1
        assert await later.diff(fork["sessionId"], other_session_id=parent.id) == {}


async def test_all_pages_are_read(
    fleet: Controller, runtimes: list[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = await worked(fleet, runtimes)
    parent.call("email_delete_email", {"email_id": "00000003"})
    whole = await fleet.diff(parent.id, from_revision=1, to_revision=4)
    told = await fleet.history(parent.id)
    monkeypatch.setattr(branch_operations, "LISTED", 1)
    assert await fleet.diff(parent.id, from_revision=1, to_revision=4) == whole
    assert await fleet.history(parent.id) == told
    assert [it["revision"] for it in told] == [1, 2, 3, 4]
    assert {kind: len(rows) for kind, rows in whole["email.emails"].items()} == {
        "added": 2, "removed": 1, "changed": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    "given",
    [
        {"count": 0},
        {"count": 10_001},
        {"count": 1, "session_ids": ["x" * 20]},
        {"count": "3"},
        {"session_ids": []},
        {"session_ids": ["\ud800"]},
    ],
)
async def test_numbers_of_forks_that_cannot_be_are_refused(
    fleet: Controller, runtimes: list[Runtime], given: dict[str, Any]
) -> None:
    parent = await worked(fleet, runtimes)
    with pytest.raises(InvalidParams):
        await fleet.fork(parent.id, **given)


async def test_what_is_no_session_s_id_is_refused_before_any_server_is_asked(fleet: Controller) -> None:
    for asking in (fleet.history, fleet.diff, fleet.fork, fleet.tables):
        with pytest.raises(InvalidParams, match="is no session's id"):
            await asking("\ud800")


async def test_forks_are_closed_wherever_they_live_and_say_what_they_were_forked_from(
    fleet: Controller, runtimes: list[Runtime]
) -> None:
    parent = await worked(fleet, runtimes)
    forks = [it["sessionId"] for it in await fleet.fork(parent.id, 5, at_revision=2)]
    listed = {it["sessionId"]: it.get("forkedFrom") async for it in fleet.sessions()}
    origin = {"sessionId": parent.id, "revision": 2}
    assert listed == {parent.id: None, **dict.fromkeys(forks, origin)}
    others = [it["sessionId"] for it in await fleet.seed(9)]
    assert await fleet.close([*forks, *others]) == dict.fromkeys([*forks, *others], "closed")
    assert await fleet.close([forks[0], "nobody-s-session-id"]) == {
        forks[0]: "already_closed", "nobody-s-session-id": "unknown",
    }  # fmt: skip
    assert [it["sessionId"] async for it in fleet.sessions()] == [parent.id]


async def test_what_would_need_two_servers_is_refused(fleet: Controller, runtimes: list[Runtime]) -> None:
    parent = await worked(fleet, runtimes)
    ids = [it["sessionId"] for it in await fleet.seed(30)]
    elsewhere = next(it for it in ids if fleet.instance(it) != fleet.instance(parent.id))
    with pytest.raises(InvalidParams, match="different servers"):
        await fleet.diff(parent.id, other_session_id=elsewhere)
    with pytest.raises(InvalidParams, match="1 of them are placed on another server"):
        await fleet.fork(parent.id, session_ids=[elsewhere])


async def test_a_refusal_says_which_server_and_why(fleet: Controller, runtimes: list[Runtime]) -> None:
    parent = await worked(fleet, runtimes)
    with pytest.raises(FleetError, match="There is no revision 9: this session has 0 to 3"):
        await fleet.rewind(parent.id, 9)


@asynccontextmanager
async def lossy(runtime: Runtime) -> AsyncGenerator[tuple[Proxy, Controller]]:
    """A controller of a server behind a proxy that can lose replies."""
    with http_server(runtime) as base:
        proxy = Proxy(base)
        async with (
            listening(proxy.answer) as address,
            Controller(
                [Endpoint(address, runtime.admin_token)], patience=Patience(first_wait=0.0)
            ) as controller,
        ):
            yield proxy, controller


@pytest.mark.parametrize("operation", ["fork", "rewind", "history", "diff"])
async def test_a_reply_that_was_lost_is_asked_for_again_and_nothing_is_done_twice(
    runtimes: list[Runtime], operation: str
) -> None:
    runtime, *_ = runtimes
    async with lossy(runtime) as (proxy, controller):
        parent = await worked(controller, runtimes)
        proxy.losing, proxy.times = f"sessions/{operation}", 1
        if operation == "fork":
            assert len(await controller.fork(parent.id, 5)) == 5
        elif operation == "rewind":
            assert await controller.rewind(parent.id, 1) == 1
        else:
            assert await getattr(controller, operation)(parent.id)
    assert (proxy.times, proxy.seen.count(f"sessions/{operation}")) == (0, 2)
    assert len(runtime.sessions) == (6 if operation == "fork" else 1)
    assert parent.revision == (1 if operation == "rewind" else 3)
