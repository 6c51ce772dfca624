"""The controller over real servers, in memory and over HTTP."""

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client
from pydantic import SecretStr

from checkpoint import FleetError
from checkpoint.errors import InvalidCheckpointState, InvalidParams
from checkpoint.restoring import place_of
from tests.conftest import http_server
from tests.wa_mcp.agents import MAIL, over_http
from toolkits.dataset import Dataset
from wa_mcp import Controller, Endpoint, Runtime, Settings, admin_server, agent_server

TOKEN = "the-controllers-token"


class Fleet:
    """Runtimes that share a checkpoint root, and endpoints to them."""

    def __init__(self, root: Path, over_http: bool) -> None:
        self.root, self.over_http = root, over_http
        self._open = ExitStack()

    def servers(self, names: str) -> tuple[list[Runtime], list[Endpoint]]:
        runtimes = [self.runtime(name) for name in names]
        return runtimes, [self.endpoint(runtime) for runtime in runtimes]

    def runtime(self, name: str) -> Runtime:
        return Runtime(Settings(checkpoint_root=self.root, instance=name, admin_token=SecretStr(TOKEN)))

    def endpoint(self, runtime: Runtime) -> Endpoint:
        if not self.over_http:
            return Endpoint(admin_server(runtime))
        base = self._open.enter_context(http_server(runtime))
        runtime.base_url = base
        return Endpoint(base, TOKEN)

    def close(self) -> None:
        self._open.close()


@pytest.fixture(params=[False, True], ids=["memory", "http"])
def fleet(
    request: pytest.FixtureRequest, tmp_path: Path, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> Generator[Fleet, None, None]:
    """A maker of servers on the bundled data, reached in memory and over HTTP."""

    def loaded(*_: object) -> Dataset:
        return dataset

    monkeypatch.setattr("wa_mcp.runtime.load_dataset", loaded)
    made = Fleet(tmp_path / "root", request.param)
    yield made
    made.close()


@asynccontextmanager
async def agent(
    controller: Controller, runtimes: Sequence[Runtime], session_id: str
) -> AsyncGenerator[Client]:
    """Connect the agent of a session, in memory or where the controller says."""
    runtime = {it.settings.instance: it for it in runtimes}[controller.instance(session_id)]
    try:
        url = controller.url(session_id)
    except ValueError:
        async with Client(agent_server(runtime, session_id)) as client:
            yield client
    else:
        async with over_http(url, "auto") as client:
            yield client


async def work(controller: Controller, runtimes: Sequence[Runtime], session_id: str) -> int:
    async with agent(controller, runtimes, session_id) as client:
        result = await client.call_tool("email_send_email", MAIL)
    return (result.meta or {})["dev.wa-mcp/revision"]


async def test_a_checkpoint_of_two_servers_comes_back_in_fresh_ones(fleet: Fleet) -> None:
    runtimes, endpoints = fleet.servers("ba")
    async with Controller(endpoints) as controller:
        assert controller.instances == ["a", "b"]
        seeded = await controller.seed([{"toolkits": ["email"]} for _ in range(6)])
        ids = [one["sessionId"] for one in seeded]
        assert [await work(controller, runtimes, one) for one in ids] == [1] * 6
        async with controller.checkpoint(fleet.root / "step-1") as cut:
            pass
        assert cut.published is not None
        assert cut.published.sessions == 6
        assert {it.control.status()["phase"] for it in runtimes} == {"idle"}
        assert await work(controller, runtimes, ids[0]) == 2
    fresh, endpoints = fleet.servers("ab")
    async with Controller(endpoints) as controller:
        back = await controller.restore(fleet.root / "step-1")
        assert sorted(session["sessionId"] for session in back.sessions) == sorted(ids)
        assert {session["episode"]["attempt"] for session in back.sessions} == {1}
        assert [await work(controller, fresh, one) for one in ids] == [2] * 6


@pytest.mark.parametrize(("before", "after"), [("a", "abc"), ("abc", "ab")])
async def test_sessions_are_found_again_on_more_servers_and_on_fewer(
    fleet: Fleet, before: str, after: str
) -> None:
    runtimes, endpoints = fleet.servers(before)
    async with Controller(endpoints) as controller:
        ids = [one["sessionId"] for one in await controller.seed(12)]
        for one in ids[:4]:
            await work(controller, runtimes, one)
        async with controller.checkpoint(fleet.root / "cut"):
            pass
    fresh, endpoints = fleet.servers(after)
    async with Controller(endpoints) as controller:
        await controller.restore(fleet.root / "cut")
        assert sum(len(runtime.sessions) for runtime in fresh) == 12
        assert [await work(controller, fresh, one) for one in ids[:5]] == [2, 2, 2, 2, 1]


async def test_seeds_are_placed_by_their_ids_and_all_answered_in_order(fleet: Fleet) -> None:
    runtimes, endpoints = fleet.servers("cab")
    async with Controller(endpoints) as controller:
        named = [{"sessionId": f"a-session-of-mine-{n:03}", "toolkits": ["email"]} for n in range(40)]
        seeded = await controller.seed(named)
        assert [one["sessionId"] for one in seeded] == [one["sessionId"] for one in named]
        assert await controller.seed(named) == seeded
        one = await controller.seed({"episode": {"rolloutId": "r1", "attempt": 3}})
        assert one["episode"] == {"rolloutId": "r1", "attempt": 3}
        assert len((await controller.seed())["sessionId"]) > 32
        assert len(await controller.seed(3000)) == 3000
        assert await controller.seed([]) == []
        listed = [session["sessionId"] async for session in controller.sessions()]
    homes = {runtime.settings.instance: runtime for runtime in runtimes}
    assert len(set(listed)) == 3042 == sum(len(runtime.sessions) for runtime in runtimes)
    for session_id in listed:
        home = homes["abc"[place_of(session_id, 3)]]
        assert home.sessions.live([session_id])
    assert (one["url"] == controller_url(endpoints, one["sessionId"])) or not fleet.over_http


def controller_url(endpoints: list[Endpoint], session_id: str) -> str:
    in_order = [endpoints[1], endpoints[2], endpoints[0]]
    return f"{in_order[place_of(session_id, 3)].base}/sessions/{session_id}/mcp"


async def test_a_seed_waits_while_a_checkpoint_is_taken(fleet: Fleet) -> None:
    runtimes, endpoints = fleet.servers("ab")
    async with (
        Controller(endpoints) as controller,
        anyio.create_task_group() as tasks,
        controller.checkpoint(fleet.root / "cut") as cut,
    ):
        tasks.start_soon(controller.seed, 8)
        await anyio.wait_all_tasks_blocked()
    assert cut.published is not None
    assert cut.published.sessions == 0
    assert sum(len(runtime.sessions) for runtime in runtimes) == 8


async def test_a_seed_that_one_server_refuses_says_which(fleet: Fleet) -> None:
    _, endpoints = fleet.servers("ab")
    async with Controller(endpoints) as controller:
        with pytest.raises(FleetError, match=r"environment/[ab] \(.*\): toolkits: 'cooking' is not one of"):
            await controller.seed({"toolkits": ["cooking"]})


async def test_the_steps_can_be_driven_one_by_one(fleet: Fleet) -> None:
    runtimes, endpoints = fleet.servers("ab")
    async with Controller(endpoints) as controller:
        await controller.seed([{"episode": {"rolloutId": f"r{n}", "attempt": 0}} for n in range(8)])
        prepared = await controller.prepare()
        assert prepared["ready"]
        cut = prepared["checkpointId"]
        assert {status["phase"] for status in (await controller.status()).values()} == {"prepared"}
        assert set(await controller.renew(cut, timeout_seconds=300)) == {"environment/a", "environment/b"}
        published = await controller.commit(cut, fleet.root / "cut", episodes=[("r1", 0), ("r2", 0)])
        assert published is not None
        assert published.sessions == 2
        await controller.resume(cut)
        assert await controller.retire([{"rolloutId": "r1", "attempt": 0}]) == [
            {"rolloutId": "r1", "attempt": 0}
        ]
        assert sum(len(runtime.sessions) for runtime in runtimes) == 7
        assert await controller.forget(["r1"]) == ["r1"]
        second = (await controller.prepare("my-own-id"))["checkpointId"]
        assert await controller.commit(second, fleet.root / "second", background=True) is None
        await controller.resume(second)
        assert (await controller.wait(second, fleet.root / "second")).sessions == 7


async def test_a_restore_can_be_looked_at_and_taken_back(fleet: Fleet) -> None:
    _, endpoints = fleet.servers("ab")
    async with Controller(endpoints) as controller:
        await controller.seed(4)
        async with controller.checkpoint(fleet.root / "cut"):
            pass
    fresh, endpoints = fleet.servers("ab")
    async with Controller(endpoints) as controller:
        back = await controller.restore(fleet.root / "cut", resume=False)
        assert {status["phase"] for status in (await controller.status()).values()} == {"restored"}
        await controller.resume(back.checkpoint_id, discard=True)
        assert sum(len(runtime.sessions) for runtime in fresh) == 0
        back = await controller.restore(fleet.root / "cut")
        assert (back.attempt_step, len(back.sessions)) == (2, 4)


async def test_a_restore_that_one_server_refuses_restores_nothing_anywhere(fleet: Fleet) -> None:
    _, endpoints = fleet.servers("ab")
    async with Controller(endpoints) as controller:
        ids = [one["sessionId"] for one in await controller.seed(10)]
        in_b = next(one for one in ids if controller.instance(one) == "b")
        async with controller.checkpoint(fleet.root / "cut"):
            pass
    fresh, endpoints = fleet.servers("ab")
    fresh[1].sessions.seed(in_b)
    async with Controller(endpoints) as controller:
        with pytest.raises(FleetError, match=r"environment/b \(.*\): 1 live session.* nothing is restored"):
            await controller.restore(fleet.root / "cut")
        assert [len(runtime.sessions) for runtime in fresh] == [0, 1]
        assert {runtime.control.status()["phase"] for runtime in fresh} == {"idle"}
        fresh[1].sessions.remove([in_b])
        assert len((await controller.restore(fleet.root / "cut")).sessions) == 10


async def test_a_folder_that_was_never_published_is_no_checkpoint(fleet: Fleet) -> None:
    _, endpoints = fleet.servers("ab")
    async with Controller(endpoints) as controller:
        await controller.seed(4)
        async with controller.checkpoint(fleet.root / "cut"):
            pass
        (fleet.root / "cut/checkpoint.json").unlink()
        with pytest.raises(InvalidCheckpointState, match="there is no checkpoint: a file"):
            await controller.restore(fleet.root / "cut")


async def test_two_servers_of_one_name_are_refused(fleet: Fleet) -> None:
    _, endpoints = fleet.servers("aa")
    with pytest.raises(InvalidParams, match="twice there: environment/a"):
        async with Controller(endpoints):
            raise AssertionError("it must not come so far")


async def test_an_in_memory_server_is_an_endpoint_as_it_is(tmp_path: Path, runtime: Runtime) -> None:
    async with Controller([admin_server(runtime)]) as controller:
        session = await controller.seed()
        assert controller.instance(session["sessionId"]) == "main"
        with pytest.raises(ValueError, match="public_url"):
            controller.url(session["sessionId"])
    async with Controller(
        [Endpoint(admin_server(runtime), public_url="https://office.example/a/")]
    ) as controller:
        assert controller.url("x" * 20) == f"https://office.example/a/sessions/{'x' * 20}/mcp"
