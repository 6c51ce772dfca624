"""Write the golden files anew after a change that is meant: `python -m tests.golden.write`; read the diff."""

import json
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from wa_mcp import Runtime, Settings, admin_server, agent_server

TOOLS = Path(__file__).parent / "tools.json"
OPERATIONS = Path(__file__).parent / "operations.json"


async def advertised(client: Client) -> list[dict[str, Any]]:
    """List everything that `tools/list` says of each tool, as it goes over the wire."""
    listed = (await client.list_tools()).tools
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]


async def write() -> None:
    runtime = Runtime(Settings())
    async with Client(agent_server(runtime, runtime.sessions.seed().id)) as client:
        _write(TOOLS, await advertised(client))
    async with Client(admin_server(runtime)) as client:
        _write(OPERATIONS, await advertised(client))


def _write(file: Path, tools: list[dict[str, Any]]) -> None:
    file.write_text(json.dumps(tools, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    anyio.run(write)
