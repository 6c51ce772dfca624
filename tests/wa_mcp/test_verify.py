"""Verifies: a session is scored and ended, once, whatever else is going on."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from tests.wa_mcp.agents import MAIL, SESSION_ID, until
from tests.wa_mcp.controllers import Controller, Way, controlling, timed
from tests.wa_mcp.offices import write_dataset
from wa_mcp import Runtime, Settings, agent_server, verified, verifying
from wa_mcp.scoring import Prepared, Score
from wa_mcp.session import Session

TRUTH = [{"name": "email_send_email", "arguments": MAIL}]
BROKEN = [{"name": "email_delete_email", "arguments": {"email_id": "none"}}]
VERIFY = "sessions/verify"


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime(Settings(checkpoint_root=tmp_path))


def worked(runtime: Runtime, session_id: str | None = None, **seed: Any) -> Session:
    session = runtime.sessions.seed(session_id, **seed)
    session.call("email_search_emails", {"page": 1})
    session.call("email_send_email", {})
    session.call("email_send_email", MAIL)
    return session


async def test_every_way_in_scores_and_ends_a_session(way: Way, office: Runtime) -> None:
    session = worked(office)
    async with way.controller() as control:
        result = await control.ask(VERIFY, sessionId=session.id, groundTruth=TRUTH)
        assert result == {
            "reward": 1.0,
            "profile": "gym",
            "scored": "live",
            "tables": dict.fromkeys(result["tables"], True),
            "missing": [],
            "unexpected": [],
            "omitted": 0,
            "sideEffects": False,
            "problems": [],
            "counts": {"calls": 3, "errors": 1, "reads": 1},
            "agrees": None,
        }
        assert await control.ask(VERIFY, sessionId=session.id, groundTruth=TRUTH) == result
        assert await control.code(VERIFY, sessionId=session.id, groundTruth=[]) == "session_spent"
        assert await control.code("sessions/tables", sessionId=session.id) == "session_spent"
        assert await control.ask("sessions/close", sessionId=session.id) == {"outcome": "already_closed"}


async def test_calls_are_scored_in_place_of_the_tables_and_compared_with_them(
    control: Controller, runtime: Runtime
) -> None:
    session = worked(runtime)
    for calls, reward, agrees in (([], 0.0, False), (TRUTH, 1.0, True), ([*TRUTH, {"name": "x"}], 1.0, True)):
        result = await control.ask(
            VERIFY, sessionId=session.id, groundTruth=TRUTH, calls=calls, keep=True, profile="workbench"
        )
        assert (result["reward"], result["agrees"], result["scored"]) == (reward, agrees, "calls")
        assert result["counts"] == {"calls": len(calls), "errors": max(len(calls) - 1, 0), "reads": 0}
        assert result["profile"] == "workbench"
    assert result["problems"] == [{"position": 1, "name": "x", "reason": "There is no such tool."}]


async def test_keep_leaves_the_session_live_and_scores_it_anew(control: Controller, runtime: Runtime) -> None:
    session = worked(runtime)
    first = await control.ask(VERIFY, sessionId=session.id, groundTruth=TRUTH, keep=True)
    session.call("email_send_email", MAIL)
    second = await control.ask(VERIFY, sessionId=session.id, groundTruth=TRUTH, keep=True)
    assert (first["reward"], second["reward"], second["sideEffects"]) == (1.0, 0.0, True)
    assert second["unexpected"][0]["revision"] == 2
    last = await control.ask(VERIFY, sessionId=session.id, groundTruth=TRUTH)
    assert last == second
    assert await control.code(VERIFY, sessionId=session.id, groundTruth=TRUTH, keep=True) == "session_spent"


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"groundTruth": None},
        {"groundTruth": 5},
        {"groundTruth": "["},
        {"groundTruth": "{}"},
        {"groundTruth": BROKEN},
        {"groundTruth": [5]},
        {"groundTruth": TRUTH * 1001},
        {"groundTruth": TRUTH, "calls": 5},
        {"groundTruth": TRUTH, "calls": "{"},
        {"groundTruth": TRUTH, "calls": TRUTH * 1001},
        {"groundTruth": TRUTH, "profile": "jim"},
        {"groundTruth": TRUTH, "keep": "yes"},
        {"groundTruth": TRUTH, "items": []},
        {"groundTruth": TRUTH, "more": 1},
        {"groundTruth": [[[10**30]]]},
    ],
)
async def test_what_is_wrong_with_parameters_leaves_the_session_live(
    control: Controller, runtime: Runtime, given: dict[str, Any]
) -> None:
    session = worked(runtime)
    assert await control.code(VERIFY, sessionId=session.id, **given) == "invalid_params"
    assert runtime.sessions.list() == [session]
    assert runtime.control.gate.in_flight == set()
    assert (await control.ask(VERIFY, sessionId=session.id, groundTruth=TRUTH))["reward"] == 1.0


async def test_a_broken_ground_truth_names_its_call(control: Controller, runtime: Runtime) -> None:
    session = worked(runtime)
    number, data, text = await control.refused(VERIFY, sessionId=session.id, groundTruth=[*TRUTH, *BROKEN])
    assert (number, data["position"], data["name"]) == (-32602, 1, "email_delete_email")
    assert data["reason"] == "Email not found."
    assert "groundTruth[1]" in text


async def test_sessions_that_are_not_there_are_refused(control: Controller, runtime: Runtime) -> None:
    assert await control.code(VERIFY, sessionId=SESSION_ID, groundTruth=[]) == "session_unknown"
    assert await control.code(VERIFY, sessionId=runtime.sessions.offer(), groundTruth=[]) == "session_unknown"
    runtime.sessions.close(worked(runtime, SESSION_ID).id)
    assert await control.code(VERIFY, sessionId=SESSION_ID, groundTruth=[]) == "session_spent"


async def test_many_are_scored_in_order_and_none_touches_another(
    control: Controller, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, wrong, broken, raising = (worked(runtime).id for _ in range(4))
    fail_for(monkeypatch, 2)
    items: list[Any] = [
        {"sessionId": right, "groundTruth": TRUTH},
        {"sessionId": wrong, "groundTruth": [], "profile": None},
        {"sessionId": broken, "groundTruth": BROKEN},
        {"sessionId": raising, "groundTruth": TRUTH},
        {"sessionId": right, "groundTruth": TRUTH},
        {"sessionId": right, "groundTruth": []},
        {"groundTruth": []},
        {"sessionId": 5, "groundTruth": []},
        5,
    ]
    results = (await control.ask(VERIFY, items=items))["results"]
    assert [one["sessionId"] for one in results] == [
        right, wrong, broken, raising, right, right, None, None, None
    ]  # fmt: skip
    assert [one["result"]["reward"] for one in results if "result" in one] == [1.0, 0.0, 1.0]
    refused = [one["error"] for one in results if "error" in one]
    assert [error["code"] for error in refused] == [-32602, -32603, -32011, -32602, -32602, -32602]
    assert [error["data"] and error["data"]["code"] for error in refused] == [
        "invalid_params", None, "session_spent", "invalid_params", "invalid_params", "invalid_params"
    ]  # fmt: skip
    assert all(error["message"] for error in refused)
    assert [session.id for session in runtime.sessions.list()] == [broken]


def fail_for(monkeypatch: pytest.MonkeyPatch, *failing: int) -> None:
    """Let some scores raise, counted from 0, after parameters and ground truth were found good."""
    whole, made = Prepared.score, iter(range(100))

    def score(self: Prepared, *given: Any) -> Score:
        if next(made) in failing:
            raise RuntimeError("out of luck")
        return whole(self, *given)

    monkeypatch.setattr(Prepared, "score", score)


@contextmanager
def held(monkeypatch: pytest.MonkeyPatch) -> Generator[threading.Event, None, None]:
    """Let scores wait in their threads until the event is set."""
    whole, go = Prepared.score, threading.Event()

    def score(self: Prepared, *given: Any) -> Score:
        assert go.wait(15)
        return whole(self, *given)

    monkeypatch.setattr(Prepared, "score", score)
    try:
        yield go
    finally:
        go.set()


async def test_a_verify_that_raises_has_ended_its_session_all_the_same(
    control: Controller, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, other = worked(runtime), worked(runtime)
    fail_for(monkeypatch, 0, 1)
    number, _, text = await control.refused(VERIFY, sessionId=session.id, groundTruth=TRUTH)
    assert (number, text) == (-32603, "The verify failed; its session has ended.")
    assert await control.code(VERIFY, sessionId=session.id, groundTruth=TRUTH) == "session_spent"
    number, _, _ = await control.refused(VERIFY, sessionId=other.id, groundTruth=TRUTH, keep=True)
    assert (number, runtime.sessions.list()) == (-32603, [other])
    assert runtime.control.gate.in_flight == set()


async def test_a_checkpoint_waits_for_a_verify_and_goes_on_without_a_session_whose_verify_raised(
    control: Controller, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = worked(runtime), worked(runtime)
    prepared: dict[str, Any] = {}
    refusals: list[int] = []

    async def prepare() -> None:
        prepared.update(await control.ask("checkpoint/prepare", **timed("c1")))

    fail_for(monkeypatch, 0)
    async with anyio.create_task_group() as tasks, controlling(runtime) as another:
        with held(monkeypatch) as go:

            async def verify() -> None:
                refusals.append((await another.refused(VERIFY, sessionId=session.id, groundTruth=TRUTH))[0])

            tasks.start_soon(verify)
            await until(lambda: len(runtime.sessions) == 1)
            tasks.start_soon(prepare)
            await until(lambda: not runtime.control.gate.is_open)
            status = await control.ask("checkpoint/status")
            assert (status["phase"], status["report"]["inFlight"], prepared) == ("preparing", 1, {})
            assert status["report"]["blockers"][0]["operation"] == VERIFY
            go.set()
            await until(lambda: bool(prepared and refusals))
    assert (prepared["phase"], refusals) == ("prepared", [-32603])
    committed = await control.ask("checkpoint/commit", **timed("c1", checkpointDir="c1"))
    assert committed["manifest"]["counts"]["sessions"] == 1


async def test_while_a_checkpoint_is_open_a_verify_is_refused_or_waits_and_a_known_result_is_told(
    control: Controller, runtime: Runtime
) -> None:
    known, refusing, waiting = worked(runtime), worked(runtime), worked(runtime, on_checkpoint="wait")
    first = await control.ask(VERIFY, sessionId=known.id, groundTruth=TRUTH)
    await control.ask("checkpoint/prepare", **timed("c1"))
    assert await control.ask(VERIFY, sessionId=known.id, groundTruth=TRUTH) == first
    _, data, _ = await control.refused(VERIFY, sessionId=refusing.id, groundTruth=TRUTH)
    assert (data["code"], data["checkpointId"], data["retryAfterMs"]) == ("admission_closed", "c1", 250)
    results: list[Any] = []
    async with controlling(runtime) as another, anyio.create_task_group() as tasks:

        async def verify() -> None:
            results.append(await another.ask(VERIFY, sessionId=waiting.id, groundTruth=TRUTH))

        tasks.start_soon(verify)
        await until(lambda: runtime.control.gate.waiting == 1)
        committed = await control.ask("checkpoint/commit", **timed("c1", checkpointDir="c1"))
        assert (committed["manifest"]["counts"]["sessions"], results) == (2, [])
        await control.ask("checkpoint/resume", checkpointId="c1")
    assert results[0]["reward"] == 1.0


async def test_results_outlive_the_server_and_discard_takes_them_out_again(
    control: Controller, runtime: Runtime
) -> None:
    ended, lives = worked(runtime), worked(runtime)
    first = await control.ask(VERIFY, sessionId=ended.id, groundTruth=TRUTH)
    await control.ask("checkpoint/prepare", **timed("c1"))
    await control.ask("checkpoint/commit", **timed("c1", checkpointDir="c1"))
    after = Runtime(runtime.settings)
    async with controlling(after) as second:
        for discard in (True, False):
            await second.ask("checkpoint/restore", **timed(f"r{discard}", checkpointDir="c1"))
            assert await second.ask(VERIFY, sessionId=ended.id, groundTruth=TRUTH) == first
            await second.ask("checkpoint/resume", checkpointId=f"r{discard}", discard=discard)
            if discard:
                assert await second.code(VERIFY, sessionId=ended.id, groundTruth=TRUTH) == "session_unknown"
        assert await second.ask(VERIFY, sessionId=ended.id, groundTruth=TRUTH) == first
        assert await second.code(VERIFY, sessionId=ended.id, groundTruth=[]) == "session_spent"
        # What the session has counted since its seed is in its state.
        assert (await second.ask(VERIFY, sessionId=lives.id, groundTruth=TRUTH)) == first


async def test_a_session_of_other_data_is_scored_on_its_own(
    control: Controller, runtime: Runtime, tmp_path: Path
) -> None:
    session = worked(runtime)
    page = await control.ask("sessions/export")
    other = Runtime(Settings(data=write_dataset(tmp_path / "other"), checkpoint_root=tmp_path))
    async with controlling(other) as second:
        given = {name: page[name] for name in ("states", "bases", "facts")}
        await second.ask("sessions/import", **given)
        for calls in (None, TRUTH):
            result = await second.ask(VERIFY, sessionId=session.id, groundTruth=TRUTH, calls=calls, keep=True)
            assert (result["reward"], result["agrees"]) == (1.0, None if calls is None else True)


async def test_the_same_verify_twice_at_once_is_one(
    control: Controller, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = worked(runtime)
    results: list[Any] = []
    digested: list[bytes] = []

    def digest(text: bytes) -> Any:
        digested.append(text)
        return sha256(text)

    monkeypatch.setattr("wa_mcp.verifying.sha256", digest)
    with held(monkeypatch) as go:
        async with anyio.create_task_group() as tasks:

            async def verify() -> None:
                results.append(await runtime.verifier.verify(session.id, TRUTH))

            tasks.start_soon(verify)
            await until(lambda: len(runtime.sessions) == 0)
            # Its session has ended: nothing that an agent does now could count.
            async with Client(agent_server(runtime, session.id)) as client:
                with pytest.raises(Exception, match="This session has ended"):
                    await client.call_tool("email_send_email", MAIL)
            tasks.start_soon(verify)
            await until(lambda: len(digested) == 2)
            assert await control.code(VERIFY, sessionId=session.id, groundTruth=[]) == "session_spent"
            await control.ask("checkpoint/status")  # the loop is free
            go.set()
    assert results[0] is results[1]
    assert results[0]["reward"] == 1.0


async def test_a_caller_that_goes_away_finds_the_result_when_it_asks_again(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = worked(runtime)
    with held(monkeypatch) as go:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(runtime.verifier.verify, session.id, TRUTH)
            await until(lambda: len(runtime.sessions) == 0)
            tasks.cancel_scope.cancel()
            go.set()
    assert len(runtime.sessions.verified) == 1
    assert (await runtime.verifier.verify(session.id, TRUTH))["reward"] == 1.0
    assert runtime.control.gate.in_flight == set()


async def test_a_retired_attempt_is_not_scored(control: Controller, runtime: Runtime) -> None:
    session = worked(runtime, episode=("r", 1))
    await control.ask("checkpoint/retire", episodes=[{"rolloutId": "r", "attempt": 1}])
    assert await control.code(VERIFY, sessionId=session.id, groundTruth=TRUTH) == "stale_attempt"


async def test_a_session_that_ends_while_its_ground_truth_runs_is_not_scored(
    control: Controller, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = worked(runtime)
    whole = verifying.prepare

    def prepare(*given: Any, **more: Any) -> Prepared:
        runtime.sessions.close(session.id)
        return whole(*given, **more)

    monkeypatch.setattr(verifying, "prepare", prepare)
    assert await control.code(VERIFY, sessionId=session.id, groundTruth=TRUTH) == "session_spent"
    assert len(runtime.sessions.verified) == 0


async def test_the_last_results_are_kept(
    control: Controller, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert verified.MOST_VERIFIED == 10_000
    monkeypatch.setattr(verified, "MOST_VERIFIED", 2)
    ids = [worked(runtime).id for _ in range(3)]
    for session_id in ids:
        await control.ask(VERIFY, sessionId=session_id, groundTruth=TRUTH)
    assert await control.code(VERIFY, sessionId=ids[0], groundTruth=TRUTH) == "session_spent"
    for session_id in ids[1:]:
        assert (await control.ask(VERIFY, sessionId=session_id, groundTruth=TRUTH))["reward"] == 1.0
    monkeypatch.setattr(verified, "MOST_KEPT_BYTES", 1)
    last = worked(runtime).id
    await control.ask(VERIFY, sessionId=last, groundTruth=TRUTH)
    assert [session_id for session_id, _, _ in runtime.sessions.verified] == [last]


def test_results_that_arrive_push_out_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verified, "MOST_VERIFIED", 3)
    kept = verified.Verified()
    result = verified.Kept.of("0" * 64, {"reward": 1.0})
    for name in ("a", "b"):
        kept.keep(name, result)
    taken = kept.keep_older({"older": result, "old": result, "a": result, "younger": result})
    assert (taken, [one for one, _, _ in kept]) == (["younger"], ["younger", "a", "b"])
    kept.forget(taken)
    assert [one for one, _, _ in kept] == ["a", "b"]
