"""What tests of checkpoints share: sessions as they go out and come in, and files made by hand."""

import json
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
from mcp import Client

from checkpoint import Origin
from checkpoint.manifest import Records, encode_manifest, seal
from wa_mcp import Runtime, Settings
from wa_mcp.hooks import SessionHooks
from wa_mcp.runtime import KIND
from wa_mcp.session import Session

Json = dict[str, Any]


@dataclass
class Exported:
    """Sessions as they go out: JSON and nothing else."""

    states: list[Json]
    bases: Json

    def copy(self) -> "Exported":
        return deepcopy(self)


def export(runtime: Runtime) -> Exported:
    ids = [session.id for session in runtime.sessions.list()]
    snapshot = SessionHooks(runtime.sessions).export_session_states(ids)
    bases = orjson.loads(orjson.dumps(dict(snapshot.bases)))
    return Exported([orjson.loads(orjson.dumps(state)) for state in snapshot.states], bases)


def restore(runtime: Runtime, exported: Exported, step: int = 1) -> list[Session]:
    hooks = SessionHooks(runtime.sessions)
    hooks.restore_session_states(exported.states, exported.bases, step).install()
    return [runtime.sessions.get(state["sessionId"]) for state in exported.states]


def office(data: Path, **settings: Any) -> Runtime:
    return Runtime(Settings(data=data, **settings))


def write_checkpoint(root: Path, directory: str, exported: Exported, facts: Any = None) -> None:
    """Write a checkpoint whose files are in order, whatever they hold."""
    lines = [{"base": digest, "value": base} for digest, base in exported.bases.items()]
    lines += [{"facts": {"retired": {}, "server": None} if facts is None else facts}]
    lines += [{"session": state} for state in exported.states]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    counts = (len(data), len(exported.bases), len(exported.states))
    records = Records(sha256(data).hexdigest(), *counts)
    folder = root / directory / KIND / "main"
    folder.mkdir(parents=True)
    (folder / records.name).write_bytes(data)
    manifest = seal(Origin(KIND, "main", "exported"), directory, records)
    (folder / "manifest.json").write_bytes(encode_manifest(manifest))


async def ask(client: Client, operation: str, **params: Any) -> Any:
    result = await client.call_tool(operation.replace("/", "_"), params)
    return result.structured_content


def restoring(directory: str, checkpoint_id: str) -> Json:
    return {"checkpointId": checkpoint_id, "timeoutSeconds": 10, "checkpointDir": directory}


async def check_open(client: Client, runtime: Runtime, sessions: int) -> None:
    """Check that nothing is installed and nothing is closed: calls are answered."""
    status = await ask(client, "checkpoint/status")
    assert (status["phase"], status["checkpointId"], status["report"]["sessions"]) == ("idle", None, sessions)
    assert runtime.control.gate.is_open
    assert len(runtime.sessions) == sessions
