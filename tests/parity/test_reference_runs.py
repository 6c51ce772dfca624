"""The reference's recorded runs, replayed through real MCP clients, end in the recorded tables."""

import json
import os
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Request, RequestParams, RequestParamsMeta, Result

from tests.conftest import http_server
from tests.parity.rows_state import changed_digests, digests
from tests.parity.stdio_server import DIGESTS, session_id
from wa_mcp import Runtime, Settings, agent_server

# Hundreds of runs a test: what is waited for is a client that hangs, not a machine that is busy.
pytestmark = pytest.mark.timeout(180)

RUNS = ("example", "rollouts_recorded", "ground_truth_three_domains", "fuzz_sample")
ERAS = ("auto", "legacy")
SESSION = "dev.wa-mcp/session"

Run = dict[str, Any]


def runs(reference: Path, name: str) -> list[Run]:
    lines = (reference / "trajectories" / f"{name}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def office(reference: Path) -> Runtime:
    return Runtime(Settings(data=reference / "csv_data"))


async def replay(client: Client, run: Run, meta: RequestParamsMeta | None = None) -> None:
    for call, expected in zip(run["calls"], run["outputs"], strict=True):
        result = await client.call_tool(call["name"], call["arguments"], meta=meta)
        assert result.structured_content == {"output": expected}, (run["id"], call)
        text = expected if isinstance(expected, str) else compact(expected)
        assert [block.text for block in result.content if block.type == "text"] == [text]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_the_untouched_tables_are_the_reference_s(office: Runtime, reference: Path) -> None:
    recorded = json.loads((reference / "pristine_digests.json").read_text())
    assert digests(office.dataset.workplace(office.dataset.catalogue.names).tables) == recorded


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", RUNS)
async def test_a_run_in_memory_ends_as_recorded(
    office: Runtime, reference: Path, name: str, era: str
) -> None:
    for run in runs(reference, name):
        session = office.sessions.seed()
        async with Client(agent_server(office, session.id), mode=era) as client:
            await replay(client, run)
        assert changed_digests(session.workplace.tables) == run["rows_state"], run["id"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", RUNS)
async def test_a_run_over_http_ends_as_recorded(
    office: Runtime, reference: Path, name: str, era: str
) -> None:
    async with httpx2.AsyncClient() as http:
        with http_server(office) as url:
            for run in runs(reference, name):
                session = office.sessions.seed()
                transport = streamable_http_client(url + session.path, http_client=http)
                async with Client(transport, mode=era) as client:
                    await replay(client, run)
                assert changed_digests(session.workplace.tables) == run["rows_state"], run["id"]


@pytest.mark.parametrize("era", ERAS)
async def test_all_runs_over_stdio_end_as_recorded(reference: Path, era: str) -> None:
    recorded = [run for name in RUNS for run in runs(reference, name)]
    async with Client(stdio(reference, len(recorded)), mode=era) as client:
        for number, run in enumerate(recorded):
            await replay(client, run, cast("RequestParamsMeta", {SESSION: session_id(number)}))
        told = await client.session.send_request(
            Request[RequestParams, str](method=DIGESTS, params=RequestParams()), Told
        )
    assert told.digests == [run["rows_state"] for run in recorded]


class Told(Result):
    digests: list[dict[str, str]]


def stdio(reference: Path, sessions: int) -> AbstractAsyncContextManager[Any]:
    arguments = ["-m", "tests.parity.stdio_server", str(reference / "csv_data"), str(sessions)]
    return stdio_client(StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ)))
