"""A stdio server of many sessions, each call naming its own, that tells their digests when asked.

Run by the parity tests as a process of its own: `python -m tests.parity.stdio_server DATA SESSIONS`.
"""

import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.types import RequestParams

from tests.parity.rows_state import changed_digests
from wa_mcp import Runtime, Settings, agent_server

DIGESTS = "test/digests"


async def serve(runtime: Runtime) -> None:
    async def tell(_context: ServerRequestContext[Any, Any], _params: RequestParams) -> dict[str, Any]:
        return {"digests": [changed_digests(session.workplace.tables) for session in runtime.sessions.list()]}

    server = agent_server(runtime)
    server.add_request_handler(DIGESTS, RequestParams, tell)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def session_id(number: int) -> str:
    return f"parity-session-{number:04}"


if __name__ == "__main__":
    data, count = sys.argv[1:]
    office = Runtime(Settings(data=Path(data)))
    for number in range(int(count)):
        office.sessions.seed(session_id(number))
    anyio.run(serve, office)
