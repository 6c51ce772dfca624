"""Every operation in every phase, through the surface: who is answered, and who is refused with what."""

import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any, cast

import anyio
import pytest
from mcp import MCPError

from checkpoint import Episode
from tests.wa_mcp.controllers import Controller, controlling, timed
from wa_mcp import Runtime
from wa_mcp.hooks import SessionHooks
from wa_mcp.operations import OPERATIONS

NUMBERS = count()
PHASES = ("idle", "preparing", "prepared", "committed", "restored", "reading")
OPEN = PHASES[1:]
STORED = "stored"


class Stand:
    """A server that is brought into a phase, and out of it again."""

    def __init__(
        self, runtime: Runtime, controller: Controller, number: int, patch: pytest.MonkeyPatch
    ) -> None:
        self.runtime, self.controller, self.patch = runtime, controller, patch
        self.id, self.folder = f"checkpoint-{number}", f"folder-{number}"
        self.let_go, self.waits = threading.Event(), False

    async def enter(self, phase: str) -> None:
        """Bring it into a phase."""
        if phase != "idle":
            await getattr(self, f"_{phase}")()

    async def _preparing(self) -> None:
        call = self.runtime.control.gate.enter(Episode("busy", 0), "email_send_email")
        prepared = await self.controller.ask("checkpoint/prepare", **timed(self.id, 0.001))
        assert prepared["phase"] == "preparing"
        self.waits = True
        self.leave_call = lambda: self.runtime.control.gate.leave(call)

    async def _prepared(self) -> None:
        await self.controller.ask("checkpoint/prepare", **timed(self.id))

    async def _committed(self) -> None:
        await self._prepared()
        await self.controller.ask("checkpoint/commit", **timed(self.id, checkpointDir=self.folder))

    async def _restored(self) -> None:
        await self.controller.ask("checkpoint/restore", **timed(self.id, checkpointDir=STORED))

    leave_call: Callable[[], None] = staticmethod(lambda: None)

    async def leave(self) -> None:
        """Bring it back to idle."""
        self.let_go.set()
        self.leave_call()
        await self.controller.ask("checkpoint/resume", checkpointId=self.id, discard=True)
        self.runtime.sessions.remove([session.id for session in self.runtime.sessions.list()])
        assert await self.controller.phase() == "idle"

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[None, None]:
        """Have a restore that reads for as long as this lasts."""
        reads, rebuild = threading.Event(), SessionHooks.restore_session_states

        def slow(*given: Any) -> Any:
            reads.set()
            self.let_go.wait()
            return rebuild(*given)

        self.patch.setattr(SessionHooks, "restore_session_states", slow)
        restoring = timed(self.id, checkpointDir=STORED)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._quietly, self.controller.ask("checkpoint/restore", **restoring))
            await anyio.to_thread.run_sync(reads.wait)
            self.waits = True
            yield
            self.let_go.set()

    @asynccontextmanager
    async def standing(self, phase: str) -> AsyncGenerator[None, None]:
        """Have it in a phase for as long as this lasts."""
        if phase == "reading":
            async with self.reading():
                yield
        else:
            await self.enter(phase)
            yield
        await self.leave()

    async def _quietly(self, call: Awaitable[Any]) -> None:
        with suppress(MCPError):  # resume ends it before its time
            await call


@pytest.fixture(scope="module")
async def stored(office: Runtime) -> None:
    """A checkpoint that can be restored."""
    async with controlling(office) as controller:
        await controller.ask("checkpoint/prepare", **timed(STORED))
        await controller.ask("checkpoint/commit", **timed(STORED, checkpointDir=STORED))
        await controller.ask("checkpoint/resume", checkpointId=STORED)


@pytest.fixture
async def stand(
    office: Runtime, stored: None, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Stand, None]:
    async with controlling(office) as controller:
        yield Stand(office, controller, next(NUMBERS), monkeypatch)


def given_to(stand: Stand, operation: str, checkpoint_id: str) -> dict[str, Any]:
    """Make parameters that are good, for an operation on a checkpoint or on anything else."""
    # Who can only wait does so for a moment.
    timing = timed(checkpoint_id, 0.001 if stand.waits else 20)
    given: dict[str, dict[str, Any]] = {
        "checkpoint/prepare": timing,
        "checkpoint/commit": {**timing, "checkpointDir": stand.folder},
        "checkpoint/wait": timing,
        "checkpoint/restore": {**timing, "checkpointDir": STORED},
        "checkpoint/resume": {"checkpointId": checkpoint_id},
        "checkpoint/renew": timing,
        "checkpoint/retire": {"episodes": []},
        "checkpoint/forget": {"rolloutIds": []},
        "sessions/close": {"sessionId": "nobody-s-session-id"},
        "sessions/tables": {"sessionId": "nobody-s-session-id"},
        "sessions/import": {"states": [], "bases": {}},
        "sessions/fork": {"sessionId": "nobody-s-session-id", "count": 1},
        "sessions/rewind": {"sessionId": "nobody-s-session-id", "revision": 0},
        "sessions/history": {"sessionId": "nobody-s-session-id"},
        "sessions/diff": {"sessionId": "nobody-s-session-id"},
        "sessions/verify": {"sessionId": "nobody-s-session-id", "groundTruth": []},
    }
    return given.get(operation, {})


INVALID, CLOSED = "invalid_phase", "admission_closed"
EXPECTED: dict[str, dict[str, str]] = {
    # What is not here is answered with a result; idle, preparing, prepared, committed, restored, reading.
    "checkpoint/prepare": {"restored": INVALID, "reading": INVALID},
    "checkpoint/commit": dict.fromkeys(("idle", "preparing", "restored", "reading"), INVALID),
    "checkpoint/wait": dict.fromkeys(("idle", "preparing", "prepared", "restored", "reading"), INVALID),
    "checkpoint/restore": {
        **dict.fromkeys(("preparing", "prepared", "committed"), INVALID),
        "reading": "deadline_exceeded",  # waits on
    },
    "checkpoint/renew": {"idle": INVALID},
    "checkpoint/retire": dict.fromkeys(OPEN, INVALID),
    "checkpoint/forget": dict.fromkeys(OPEN, INVALID),
    "sessions/import": dict.fromkeys(("preparing", "prepared", "committed", "reading"), INVALID),
    "sessions/seed": dict.fromkeys(OPEN, CLOSED),
    "sessions/verify": {"idle": "session_unknown", **dict.fromkeys(OPEN, CLOSED)},
    "sessions/fork": {"idle": "session_unknown", **dict.fromkeys(OPEN, CLOSED)},
    "sessions/rewind": {"idle": "session_unknown", **dict.fromkeys(OPEN, CLOSED)},
    # Answered in every phase; there is no such session.
    "sessions/history": dict.fromkeys(PHASES, "session_unknown"),
    "sessions/diff": dict.fromkeys(PHASES, "session_unknown"),
    "sessions/close": dict.fromkeys(PHASES, "session_unknown"),
    "sessions/tables": dict.fromkeys(PHASES, "session_unknown"),
}
NAMES_A_CHECKPOINT = [name for name, it in OPERATIONS.items() if "checkpointId" in it.schema["properties"]]
REFUSALS: dict[str, tuple[int, set[str]]] = {
    # The number of each code, and the facts that belong to it.
    INVALID: (-32012, {"operation", "phase"}),
    "checkpoint_conflict": (-32012, {"checkpointId"}),
    "stale_checkpoint": (-32012, {"checkpointId"}),
    CLOSED: (-32010, {"checkpointId", "retryAfterMs"}),
    "deadline_exceeded": (-32013, {"operation", "timeoutSeconds"}),
    "session_unknown": (-32011, set()),
    "answered": (0, set()),
}
COMES_TO = {
    ("checkpoint/prepare", "idle"): "prepared",
    ("checkpoint/commit", "prepared"): "committed",
    ("checkpoint/restore", "idle"): "restored",
    **dict.fromkeys([("checkpoint/resume", phase) for phase in PHASES], "idle"),
}


async def outcome(stand: Stand, operation: str, checkpoint_id: str) -> str:
    """Ask for an operation; give the code of its refusal and check the facts, or `answered`."""
    number, data = 0, cast("dict[str, Any]", {"code": "answered"})
    try:
        await stand.controller.ask(operation, **given_to(stand, operation, checkpoint_id))
    except MCPError as error:
        number, data = error.code, error.data
    assert (number, data.keys() - {"code"}) == REFUSALS[data["code"]]
    return data["code"]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("phase", PHASES)
async def test_an_operation_is_answered_in_its_phases_and_refused_in_all_others(
    stand: Stand, phase: str, operation: str
) -> None:
    if phase == "reading":
        async with stand.reading():
            got = await outcome(stand, operation, stand.id)
            status = await stand.controller.ask("checkpoint/status")
        is_over = operation == "checkpoint/resume"
        assert (status["phase"], status["checkpointId"]) == ("idle", None if is_over else stand.id)
    else:
        await stand.enter(phase)
        got = await outcome(stand, operation, stand.id)
        assert await stand.controller.phase() == COMES_TO.get((operation, phase), phase)
    await stand.leave()
    assert got == EXPECTED.get(operation, {}).get(phase, "answered")


@pytest.mark.parametrize("phase", OPEN)
async def test_while_one_checkpoint_is_open_another_is_a_conflict(stand: Stand, phase: str) -> None:
    async def ask_all() -> None:
        for operation in NAMES_A_CHECKPOINT:
            assert (operation, await outcome(stand, operation, "y" + stand.id)) == (
                operation,
                "checkpoint_conflict",
            )
        assert (await stand.controller.ask("checkpoint/status"))["checkpointId"] == stand.id

    async with stand.standing(phase):
        await ask_all()


@pytest.mark.parametrize("phase", PHASES)
async def test_a_checkpoint_that_was_resumed_is_stale_whatever_is_open(stand: Stand, phase: str) -> None:
    over = "z" + stand.id
    await stand.controller.ask("checkpoint/resume", checkpointId=over)

    async def ask_all() -> None:
        for operation in NAMES_A_CHECKPOINT:
            expected = "answered" if operation == "checkpoint/resume" else "stale_checkpoint"
            assert (operation, await outcome(stand, operation, over)) == (operation, expected)

    async with stand.standing(phase):
        await ask_all()
