"""Every refusal has a stable code and the facts that belong to it."""

import inspect

import orjson
import pytest

from checkpoint import Episode, errors, read_episode, shortened
from checkpoint.errors import CheckpointError

EPISODE = Episode("r", 1)
REFUSALS: list[tuple[CheckpointError, str, dict[str, object]]] = [
    (CheckpointError("?"), "checkpoint_error", {}),
    (errors.AdmissionClosed("c"), "admission_closed", {"checkpointId": "c", "retryAfterMs": 250}),
    (errors.SessionConflict(["s"]), "session_conflict", {"count": 1, "sessionIds": ["s"]}),
    (errors.SessionSpent(["s"] * 11), "session_spent", {"count": 11, "sessionIds": ["s"] * 10}),
    (errors.SessionLimit(7), "session_limit", {"limit": 7}),
    (errors.InvalidPhase("o", "p"), "invalid_phase", {"operation": "o", "phase": "p"}),
    (errors.CheckpointConflict("c"), "checkpoint_conflict", {"checkpointId": "c"}),
    (errors.StaleCheckpoint("c"), "stale_checkpoint", {"checkpointId": "c"}),
    (errors.RestartInScope([EPISODE]), "restart_in_scope", {"episodes": [EPISODE.as_json()]}),
    (
        errors.DeadlineExceeded("o", timeout_seconds=2),
        "deadline_exceeded",
        {"operation": "o", "timeoutSeconds": 2},
    ),
    (errors.StaleAttempt(EPISODE), "stale_attempt", {"episode": EPISODE.as_json()}),
    (errors.InvalidCheckpointState("why"), "invalid_checkpoint_state", {"reason": "why"}),
    (errors.InvalidParams("why"), "invalid_params", {"reason": "why"}),
    (errors.CallIdConflict("k"), "call_id_conflict", {"callId": "k"}),
]


@pytest.mark.parametrize(("error", "code", "facts"), REFUSALS, ids=[code for _, code, _ in REFUSALS])
def test_a_refusal_says_its_code_and_its_facts(
    error: CheckpointError, code: str, facts: dict[str, object]
) -> None:
    assert (error.code, error.facts) == (code, facts)
    assert orjson.loads(orjson.dumps(error.facts)) == facts
    assert str(error)


def test_no_refusal_is_missing_here() -> None:
    public = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, CheckpointError) and not name.startswith("_")
    }
    assert public == {type(error).__name__ for error, _, _ in REFUSALS}


def test_an_episode_is_read_back_as_it_was_written() -> None:
    assert read_episode(EPISODE.as_json()) == EPISODE
    assert EPISODE.later(2) == Episode("r", 3)


def test_a_session_id_is_never_said_whole() -> None:
    assert shortened("0123456789abcdef") == "012345..."
