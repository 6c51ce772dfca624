"""What a checkpoint holds of the reference's recorded runs is small."""

import json
from pathlib import Path

import orjson
import pytest

from wa_mcp import Runtime, Settings
from wa_mcp.hooks import SessionHooks

RUNS = ("example", "rollouts_recorded", "ground_truth_three_domains")
A_SESSION = 1024
A_CHANGE = 400


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("with_call_ids", [False, True])
def test_sessions_take_at_most_a_kilobyte_each_and_400_bytes_for_each_change(
    reference: Path, name: str, with_call_ids: bool
) -> None:
    """All together do; one alone may take more only for the text that it stored itself."""
    runtime = Runtime(Settings(data=reference / "csv_data"))
    taken = allowed = 0
    for line in (reference / "trajectories" / f"{name}.jsonl").read_text().splitlines():
        session = runtime.sessions.seed()
        for number, call in enumerate(json.loads(line)["calls"]):
            call_id = f"toolu_{number:024}" if with_call_ids else None
            session.call(call["name"], call["arguments"], call_id=call_id)
        (state,) = SessionHooks(runtime.sessions).export_session_states([session.id]).states
        size = len(orjson.dumps({"session": state})) + 1
        room = A_SESSION + A_CHANGE * session.workplace.changes
        assert size - session.workplace.stored <= room, json.loads(line)["id"]
        taken, allowed = taken + size, allowed + room
    assert taken <= allowed
