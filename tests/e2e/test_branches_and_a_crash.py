"""Forks and rewinds of a real server that is killed: a fresh one has the same past, and its agents go on."""

import signal
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.e2e.test_crash import Place, about, agent, answers, controller, take, work
from tests.wa_mcp.agents import output
from tests.wa_mcp.checkpoints import ask
from tests.wa_mcp.offices import ADA, SCRIPT, Call

pytestmark = pytest.mark.timeout(120)

PARENT = "a-session-that-is-forked-0001"
FORKS = [f"a-fork-of-that-session-{number:03}" for number in range(3)]
ANOTHER: Call = ("email_send_email", {"recipient": ADA, "subject": "Anew", "body": "After the rewind."})


async def past_of(client: Client, session_id: str) -> tuple[Any, Any]:
    """Give a session's history, without when it was, and its tables."""
    told = (await ask(client, "sessions/history", sessionId=session_id))["history"]
    assert all(entry.pop("when") for entry in told)
    return told, (await ask(client, "sessions/tables", sessionId=session_id))["tables"]


async def test_after_a_kill_forks_and_rewound_sessions_have_their_past_and_go_on(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.server() as server:
        place.keep(server)
        async with controller(server) as client:
            url = (await ask(client, "sessions/seed", sessionId=PARENT))["url"]
            async with agent(url, "auto") as office:
                first = await work(office, SCRIPT)
                forked = await ask(client, "sessions/fork", sessionId=PARENT, sessionIds=FORKS, atRevision=3)
                await ask(client, "sessions/rewind", sessionId=PARENT, revision=5)
                anew = await office.call_tool(*ANOTHER, meta={"dev.wa-mcp/callId": "call-6"})
            async with agent(forked["sessions"][0]["url"], "auto") as office:
                await work(office, SCRIPT[4:6], first=4)
            known = {session_id: await past_of(client, session_id) for session_id in (PARENT, *FORKS)}
            difference = await ask(client, "sessions/diff", sessionId=PARENT, otherSessionId=FORKS[0])
            await take(client, "cut")
            await ask(client, "checkpoint/resume", checkpointId="cut")
            await ask(client, "sessions/rewind", sessionId=PARENT, revision=0)  # and lost with the server
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(60)
    with place.server() as server:
        async with controller(server) as client:
            await ask(client, "checkpoint/restore", **about("back", "cut"))
            await ask(client, "checkpoint/resume", checkpointId="back")
            assert {it: await past_of(client, it) for it in (PARENT, *FORKS)} == known
            assert difference == await ask(client, "sessions/diff", sessionId=PARENT, otherSessionId=FORKS[0])
            async with agent(url, "auto") as office:
                again = await work(office, SCRIPT[:5])
                assert answers(again) == answers(first[:5])
                repeated = await office.call_tool(*ANOTHER, meta={"dev.wa-mcp/callId": "call-6"})
                assert answers([repeated]) == answers([anew])
            same = await ask(client, "sessions/fork", sessionId=PARENT, sessionIds=FORKS, atRevision=3)
            assert [it["sessionId"] for it in same["sessions"]] == FORKS
            assert await ask(client, "sessions/rewind", sessionId=PARENT, revision=3) == {"revision": 3}
            assert (await past_of(client, PARENT))[1] == known[FORKS[1]][1]
            async with agent(url, "auto") as office:
                assert output(await office.call_tool(*SCRIPT[3])) == output(first[3])
