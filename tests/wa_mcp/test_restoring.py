"""Checkpoints of a whole server, through its doors: what ends, what comes back, and what is refused."""

import json
import os
import shutil
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pydantic import SecretStr

from checkpoint import Episode
from tests.conftest import http_server
from tests.wa_mcp.agents import ERAS, named, output, refusal
from tests.wa_mcp.checkpoints import ask, check_open, export, office, restore, restoring, write_checkpoint
from tests.wa_mcp.offices import SCRIPT, Call, write_dataset
from wa_mcp import Runtime, admin_server, agent_server, spent
from wa_mcp import facts as facts_module

TOKEN = "a-token-for-controllers"
IDS = [f"session-number-{number}" for number in range(3)]
EPISODES = [{"rolloutId": f"rollout-{number}", "attempt": 0} for number in range(3)]
READ: Call = ("email_search_emails", {})
DELETE: Call = ("email_delete_email", {"email_id": "1"})

NUMBERS = count()

Params = dict[str, Any]


@dataclass
class Site:
    """Fresh servers on one data set and one checkpoint root."""

    data: Path
    root: Path

    def server(self, **settings: Any) -> Runtime:
        return office(self.data, checkpoint_root=self.root, **settings)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("small") / "data")


@pytest.fixture
def site(data: Path, tmp_path: Path) -> Site:
    return Site(data, tmp_path / "checkpoints")


def about(checkpoint_id: str) -> Params:
    return {"checkpointId": checkpoint_id, "timeoutSeconds": 10}


async def seed(client: Client) -> None:
    seeds = [
        {"sessionId": session_id, "episode": episode}
        for session_id, episode in zip(IDS, EPISODES, strict=True)
    ]
    await ask(client, "sessions/seed", sessions=seeds)


async def take(client: Client, name: str, **more: Any) -> Any:
    """Take a checkpoint into a folder of its own name, and resume."""
    await ask(client, "checkpoint/prepare", **about(name))
    committed = await ask(client, "checkpoint/commit", **restoring(name, name), **more)
    await ask(client, "checkpoint/resume", checkpointId=name)
    return committed


def call(runtime: Runtime, session_id: str, tool: Call = READ, **meta: Any) -> Any:
    async def calling() -> Any:
        async with Client(agent_server(runtime, session_id)) as client:
            return await client.call_tool(*tool, meta=named(**meta))

    return calling()


async def code(answer: Any) -> str:
    """Await a refusal and give its code; how it leaves a client's context does not matter here."""
    return (await refusal(answer))[1]["code"]


async def test_a_retired_session_is_refused_is_not_made_again_and_is_in_no_checkpoint(site: Site) -> None:
    runtime = site.server()
    async with Client(admin_server(runtime)) as client, Client(agent_server(runtime, IDS[1])) as agent:
        await seed(client)
        await take(client, "c1")
        assert await ask(client, "checkpoint/retire", episodes=EPISODES[1:2]) == {"retired": EPISODES[1:2]}
        assert await code(agent.call_tool(*READ)) == "stale_attempt"
        for episode in (None, EPISODES[1], {"rolloutId": "rollout-1", "attempt": 1}):
            again = ask(client, "sessions/seed", sessionId=IDS[1], episode=episode)
            assert await code(again) == "stale_attempt"
        other = ask(client, "sessions/seed", sessionId="another-session-id", episode=EPISODES[1])
        assert await code(other) == "stale_attempt"
        exported = await ask(client, "sessions/export")
        assert [state["sessionId"] for state in exported["states"]] == [IDS[0], IDS[2]]
        await take(client, "c2")
        assert IDS[1] not in json.dumps(
            [*lines(site.root / "c2", "session"), *lines(site.root / "c2", "base")]
        )
        await ask(client, "checkpoint/forget", rolloutIds=["rollout-1"])
        assert await code(agent.call_tool(*READ)) == "session_spent"
        assert await code(ask(client, "sessions/seed", sessionId=IDS[1])) == "session_spent"
    fresh = site.server()
    async with Client(admin_server(fresh)) as client, Client(agent_server(fresh, IDS[1])) as agent:
        await ask(client, "checkpoint/restore", **restoring("c2", "r1"))
        await ask(client, "checkpoint/resume", checkpointId="r1")
        assert await code(agent.call_tool(*READ)) == "stale_attempt"
        assert await code(ask(client, "sessions/seed", sessionId=IDS[1])) == "stale_attempt"
        assert await code(ask(client, "checkpoint/restore", **restoring("c1", "r2"))) == "session_conflict"
        for session_id in (IDS[0], IDS[2]):
            await ask(client, "sessions/close", sessionId=session_id)
        assert await code(ask(client, "checkpoint/restore", **restoring("c1", "r2"))) == "session_spent"
        only = ask(
            client, "checkpoint/restore", **restoring("c1", "r2"), episodes=EPISODES[1:2], attemptStep=0
        )
        assert await code(only) == "stale_attempt"


def lines(directory: Path, kind: str) -> list[Any]:
    """Read the records of a checkpoint: those of one kind."""
    (records,) = directory.rglob("records-*.jsonl")
    read = [json.loads(line) for line in records.read_bytes().splitlines()]
    return [line for line in read if kind in line]


async def test_a_session_that_is_gone_before_the_snapshot_is_left_out_and_the_others_go_on(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = site.server()
    give = runtime.sessions.live

    def without_the_second(session_ids: Any) -> Any:
        return [session for session in give(session_ids) if session.id != IDS[1]]

    async with Client(admin_server(runtime)) as client:
        await seed(client)
        before = await call(runtime, IDS[0], DELETE, callId="call-1")
        with monkeypatch.context() as patch:
            patch.setattr(runtime.sessions, "live", without_the_second)
            committed = await take(client, "c1")
        assert committed["manifest"]["counts"]["sessions"] == 2
        assert not (await call(runtime, IDS[1], DELETE)).is_error
    fresh = site.server()
    async with Client(admin_server(fresh)) as client:
        restored = await ask(client, "checkpoint/restore", **restoring("c1", "r1"))
        assert [one["sessionId"] for one in restored["restored"]] == [IDS[0], IDS[2]]
        await ask(client, "checkpoint/resume", checkpointId="r1")
    assert output(await call(fresh, IDS[0], DELETE, callId="call-1")) == output(before)
    assert (await call(fresh, IDS[0], DELETE)).is_error


@pytest.mark.parametrize("steps", [(1, 2), (1, 1), (0, 3)])
async def test_a_zombie_of_an_earlier_restore_is_refused(site: Site, steps: tuple[int, int]) -> None:
    """Two servers go on from one checkpoint: an agent of the first life must not act in the second."""
    async with Client(admin_server(site.server())) as client:
        await seed(client)
        await take(client, "c1")
    for step in steps:
        runtime = site.server()
        async with Client(admin_server(runtime)) as client, Client(agent_server(runtime, IDS[0])) as agent:
            restored = await ask(client, "checkpoint/restore", **restoring("c1", "r1"), attemptStep=step)
            assert {one["episode"]["attempt"] for one in restored["restored"]} == {step}
            await ask(client, "checkpoint/resume", checkpointId="r1")
            for attempt in range(5):
                calling = agent.call_tool(*READ, meta=named(attempt=attempt))
                if attempt == step:
                    assert not (await calling).is_error
                else:
                    assert await code(calling) == "stale_attempt"


async def test_restoring_twice_in_one_server_needs_the_first_life_to_be_gone(site: Site) -> None:
    runtime = site.server()
    async with Client(admin_server(runtime)) as client, Client(agent_server(runtime, IDS[0])) as agent:
        write_checkpoint(site.root, "c1", export(await seeded(site)))
        await ask(client, "checkpoint/restore", **restoring("c1", "r1"), attemptStep=1)
        await ask(client, "checkpoint/resume", checkpointId="r1")
        await agent.call_tool(*DELETE, meta=named(attempt=1))
        again = ask(client, "checkpoint/restore", **restoring("c1", "r2"), attemptStep=2)
        assert await code(again) == "session_conflict"
        await check_open(client, runtime, 3)
        assert not (await agent.call_tool(*READ, meta=named(attempt=1))).is_error


async def seeded(site: Site) -> Runtime:
    runtime = site.server()
    async with Client(admin_server(runtime)) as client:
        await seed(client)
    for tool in SCRIPT:
        assert not runtime.sessions.get(IDS[1]).call(*tool).outcome.is_error
    return runtime


@pytest.mark.parametrize("ended", [False, True])
async def test_discard_takes_out_what_was_restored_and_imported_whatever_became_of_it(
    site: Site, ended: bool
) -> None:
    source = await seeded(site)
    source.sessions.close(source.sessions.seed("a-session-closed-earlier").id)
    source.sessions.retired.retire(Episode("rollout-9", 4))
    async with Client(admin_server(source)) as client:
        await take(client, "c1")
        more = await ask(client, "sessions/export")
    for number, state in enumerate(more["states"]):
        state |= {
            "sessionId": f"imported-session-{number}",
            "episode": {"rolloutId": f"i{number}", "attempt": 0},
        }
    runtime = site.server()
    async with Client(admin_server(runtime)) as client:
        for checkpoint_id in ("r1", "r2"):
            await ask(client, "checkpoint/restore", **restoring("c1", checkpoint_id))
            await ask(client, "sessions/import", **{key: more[key] for key in ("states", "bases", "facts")})
            if ended:
                for session_id in (IDS[0], "imported-session-1"):
                    await ask(client, "sessions/close", sessionId=session_id)
            await ask(client, "checkpoint/resume", checkpointId=checkpoint_id, discard=True)
            await check_open(client, runtime, 0)
            assert runtime.control.facts() == {"retired": {}, "server": {"spent": [], "verified": []}}
        await ask(client, "sessions/seed", sessionId="a-session-closed-earlier")


async def test_discard_gives_back_the_spent_ids_that_others_had_pushed_out(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (spent, facts_module):
        monkeypatch.setattr(module, "MOST_SPENT", 3)
    source, runtime = site.server(), site.server()
    for number in range(3):
        for one, name in ((source, "source"), (runtime, "server")):
            one.sessions.close(one.sessions.seed(f"a-session-of-{name}-{number}").id)
    async with Client(admin_server(source)) as client:
        await take(client, "c1")
    before = runtime.control.facts()
    async with Client(admin_server(runtime)) as client:
        await ask(client, "checkpoint/restore", **restoring("c1", "r1"))
        assert runtime.control.facts() == source.control.facts()
        await ask(client, "checkpoint/resume", checkpointId="r1", discard=True)
    assert runtime.control.facts() == before


SPENT: Params = {"spent": []}
BAD_FACTS: dict[str, Any] = {
    "no object": [],
    "nothing of the kind": {},
    "an attempt that is huge": {"retired": {"r": 10**30}, "server": SPENT},
    "an attempt just past the last": {"retired": {"r": 2**53 + 1}, "server": SPENT},
    "an attempt that is true": {"retired": {"r": True}, "server": SPENT},
    "a spent id of a huge attempt": {
        "retired": {},
        "server": {"spent": [[IDS[0], {"rolloutId": "r", "attempt": 10**30}]]},
    },
    "a spent id that is none": {"retired": {}, "server": {"spent": [["short", None]]}},
    "a spent id that is no Unicode": {"retired": {}, "server": {"spent": [["session-\ud800-number", None]]}},
    "a spent id alone": {"retired": {}, "server": {"spent": [IDS[0]]}},
    "spent ids that are no list": {"retired": {}, "server": {"spent": {}}},
    "a result without its reward": {"retired": {}, "server": {**SPENT, "verified": [[IDS[0], "0" * 64, {}]]}},
    "a result of another reward": {
        "retired": {},
        "server": {**SPENT, "verified": [[IDS[0], "0" * 64, {"reward": 2.0}]]},
    },
    "a result of no digest": {
        "retired": {},
        "server": {**SPENT, "verified": [[IDS[0], "0", {"reward": 1.0}]]},
    },
    "results that are no list": {"retired": {}, "server": {**SPENT, "verified": {}}},
    "something more": {"retired": {}, "server": {"spent": [], "more": 1}},
}


@pytest.mark.parametrize("facts", BAD_FACTS.values(), ids=BAD_FACTS)
async def test_facts_that_do_not_validate_are_refused_and_the_next_checkpoint_can_be_written(
    site: Site, facts: Any
) -> None:
    runtime = site.server()
    exported = export(await seeded(site))
    write_checkpoint(site.root, "bad", exported, facts)
    async with Client(admin_server(runtime)) as client:
        restored = ask(client, "checkpoint/restore", **restoring("bad", "r1"))
        assert await code(restored) == "invalid_checkpoint_state"
        if isinstance(facts, dict):
            given: Params = {"states": exported.states, "bases": exported.bases, "facts": facts}
            assert await code(ask(client, "sessions/import", **given)) == "invalid_checkpoint_state"
        await check_open(client, runtime, 0)
        restore(runtime, exported)
        assert (await take(client, "good"))["manifest"]["counts"]["sessions"] == 3


# Files that are damaged: what is done to the folder of a checkpoint, which holds another one beside it.
Damage = Callable[[Path, Path], None]


def records_of(folder: Path) -> Path:
    (records,) = folder.glob("records-*.jsonl")
    return records


def flipped(name: str, place: float) -> Damage:
    """Flip a bit at a place from 0 to 1."""

    def damage(folder: Path, _: Path) -> None:
        file = next(folder.glob(name))
        content = bytearray(file.read_bytes())
        content[int(place * (len(content) - 1))] ^= 1
        file.write_bytes(content)

    return damage


def cut(name: str, keep: float) -> Damage:
    def damage(folder: Path, _: Path) -> None:
        file = next(folder.glob(name))
        content = file.read_bytes()
        file.write_bytes(content[: int(keep * len(content))])

    return damage


def gone(name: str) -> Damage:
    return lambda folder, _: next(folder.glob(name)).unlink()


def swapped_manifest(folder: Path, other: Path) -> None:
    shutil.copy(other / "manifest.json", folder)


def swapped_records(folder: Path, other: Path) -> None:
    shutil.copy(records_of(other), records_of(folder))


def linked_out(folder: Path, other: Path) -> None:
    outside = folder.parents[3] / "outside"
    shutil.move(folder, outside)
    folder.symlink_to(outside)
    del other


def a_folder(folder: Path, _: Path) -> None:
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").mkdir()


def a_pipe(folder: Path, _: Path) -> None:
    file = records_of(folder)
    file.unlink()
    os.mkfifo(file)


def of_another_instance(folder: Path, _: Path) -> None:
    folder.rename(folder.parent / "other")


DAMAGES: dict[str, Damage] = {
    "no manifest": gone("manifest.json"),
    "no records": gone("records-*"),
    "a manifest that is empty": cut("manifest.json", 0),
    "a manifest that is torn": cut("manifest.json", 0.6),
    "records that are empty": cut("records-*", 0),
    "records that are torn": cut("records-*", 0.6),
    "a bit of the manifest": flipped("manifest.json", 0.5),
    "the last bit of the manifest": flipped("manifest.json", 1),
    "the first bit of the records": flipped("records-*", 0),
    "a bit of the records": flipped("records-*", 0.9),
    "another manifest": swapped_manifest,
    "other records": swapped_records,
    "a link out of the root": linked_out,
    "a folder for a file": a_folder,
    "a pipe for a file": a_pipe,
    "another instance": of_another_instance,
}


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with two checkpoints."""
    root = tmp_path_factory.mktemp("whole") / "checkpoints"
    runtime = office(data)
    for session_id in IDS:
        runtime.sessions.seed(session_id)
    write_checkpoint(root, "other", export(runtime))
    for tool in SCRIPT:
        runtime.sessions.get(IDS[0]).call(*tool)
    write_checkpoint(root, "c1", export(runtime))
    return root


@pytest.fixture(scope="module")
def online(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Runtime, str, Path]]:
    """One server over HTTP that meets all the damage, with its URL and its root."""
    root = tmp_path_factory.mktemp("online") / "checkpoints"
    runtime = office(data, checkpoint_root=root, admin_token=SecretStr(TOKEN))
    with http_server(runtime) as url:
        yield runtime, url, root


@pytest.fixture(params=ERAS)
async def controller(
    request: pytest.FixtureRequest, online: tuple[Runtime, str, Path]
) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(
            streamable_http_client(f"{online[1]}/admin/mcp", http_client=http), mode=request.param
        ) as client,
    ):
        yield client


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_damaged_files_are_refused_with_a_reason_and_the_server_stays_open(
    whole: Path, online: tuple[Runtime, str, Path], controller: Client, damage: Damage
) -> None:
    runtime, _, root = online
    shutil.rmtree(root, ignore_errors=True)
    shutil.rmtree(root.parent / "outside", ignore_errors=True)
    shutil.copytree(whole, root)
    places = [root / name / "environment" / "main" for name in ("c1", "other")]
    damage(places[0], places[1])
    checkpoint_id = f"restore-{next(NUMBERS)}"
    restore = ask(controller, "checkpoint/restore", **restoring("c1", checkpoint_id))
    number, data, message = await refusal(restore)
    assert (number, data["code"]) == (-32015, "invalid_checkpoint_state")
    assert data["reason"] == message != ""
    assert str(root) not in message
    await check_open(controller, runtime, 0)
    restored = await ask(controller, "checkpoint/restore", **restoring("other", checkpoint_id))
    assert [one["sessionId"] for one in restored["restored"]] == IDS
    await ask(controller, "checkpoint/resume", checkpointId=checkpoint_id, discard=True)
    await check_open(controller, runtime, 0)
