"""Crashes and restores at random points change nothing: every session is as if nothing had happened.

The model is the undisturbed run: a workplace for each session, worked by the same calls in the same order.
"""

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from mcp import Client, MCPError

from tests.wa_mcp.agents import named, output, told
from tests.wa_mcp.offices import UNSHRUNK, Call, calls, seen, write_dataset
from toolkits.dataset import load_dataset
from toolkits.workplace import Outcome, Workplace
from wa_mcp import Runtime, Settings, admin_server, agent_server
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.replay import GroundTruthError
from wa_mcp.scoring import score

IDS = [f"session-number-{number}" for number in range(5)]
KITS = {IDS[4]: ["email", "calendar"]}
ROLLOUTS = ["rollout-0", "rollout-1", "rollout-2"]
CALL_IDS = [None, None, "call-1", "call-2", "call-3"]

session_ids = st.sampled_from(IDS)
rollouts = st.sampled_from(ROLLOUTS)
bursts = st.lists(st.tuples(st.integers(0, 4), calls, st.sampled_from(CALL_IDS)), min_size=4, max_size=10)

READ: Call = ("email_search_emails", {})


@dataclass(frozen=True)
class Lived:
    """A session of the undisturbed run.

    Attributes:
        rollout: Its rollout.
        attempt: Its attempt.
        workplace: Its tables.
        remembered: What changing calls with a call id asked, and were answered.
        untouched: Whether it came from a restore and was not called since.
    """

    rollout: str
    attempt: int
    workplace: Workplace
    remembered: dict[str, tuple[Call, Outcome, int]] = field(default_factory=dict[str, Any])
    untouched: bool = False


@dataclass(frozen=True)
class World:
    """All that a server has to remember.

    Attributes:
        live: The live sessions.
        spent: Ids that have ended, with rollout and attempt of those that were retired.
        retired: Rollouts, and the latest attempt of each that may not act.
        verified: What the verify of a session that ended with it asked, and was answered.
    """

    live: dict[str, Lived] = field(default_factory=dict[str, Lived])
    spent: dict[str, tuple[str, int] | None] = field(default_factory=dict[str, Any])
    retired: dict[str, int] = field(default_factory=dict[str, int])
    verified: dict[str, tuple[list[Any], Any]] = field(default_factory=dict[str, Any])

    def covers(self, rollout: str, attempt: int) -> bool:
        return attempt <= self.retired.get(rollout, -1)

    def refuses(self, session_id: str) -> str | None:
        """Say why a call or a seed of an id that has ended is refused, None if it has not."""
        if session_id not in self.spent:
            return None
        episode = self.spent[session_id]
        return "stale_attempt" if episode is not None and self.covers(*episode) else "session_spent"

    def restored(self, stored: "World", step: int) -> "World | str":
        """Give the world after a restore, or why it is refused."""
        arriving = {
            session_id: replace(lived, attempt=lived.attempt + step, untouched=True)
            for session_id, lived in stored.live.items()
        }
        theirs = {lived.rollout for lived in arriving.values()}
        if any(session_id in arriving or lived.rollout in theirs for session_id, lived in self.live.items()):
            return "session_conflict"
        marks = {
            rollout: max(self.retired.get(rollout, -1), stored.retired.get(rollout, -1))
            for rollout in {**self.retired, **stored.retired}
        }
        spent = {**stored.spent, **self.spent}
        after = World({**self.live, **arriving}, spent, marks, {**stored.verified, **self.verified})
        if any(after.covers(lived.rollout, lived.attempt) for lived in arriving.values()):
            return "stale_attempt"
        if arriving.keys() & self.spent.keys():
            return "session_spent"
        return replace(
            after,
            spent={one: spent[one] for one in spent if one not in after.live},
            verified={one: after.verified[one] for one in after.verified if one not in after.live},
        )


@dataclass
class Checkpoint:
    """A checkpoint that was taken: what it must hold, and where it is; inline, or none if it was torn."""

    world: World
    directory: str | None = None
    inline: dict[str, Any] | None = None
    torn: bool = False


class Office:
    """Servers one after another on one root, driven through their doors."""

    def __init__(self, portal: BlockingPortal, data: Path) -> None:
        self._portal = portal
        self._root = Path(mkdtemp(prefix="equivalence-", dir=data.parent))
        self._data = data
        self._doors = ExitStack()
        self.crash()

    def crash(self) -> None:
        """Throw the server away, and start a fresh one."""
        self._doors.close()
        self.runtime = Runtime(Settings(data=self._data, checkpoint_root=self._root))
        controllers, agents = Client(admin_server(self.runtime)), Client(agent_server(self.runtime))
        self._controller = self._doors.enter_context(self._portal.wrap_async_context_manager(controllers))
        self._agent = self._doors.enter_context(self._portal.wrap_async_context_manager(agents))

    def leave(self) -> None:
        """Throw the last server away, too."""
        self._doors.close()

    def tear(self, directory: str) -> None:
        """Leave a checkpoint as a server leaves it that is killed before the end."""
        (manifest,) = (self._root / directory).rglob("manifest.json")
        manifest.unlink()

    def ask(self, operation: str, **params: Any) -> Any:
        """Do an operation of the controller's; a refusal gives its code."""

        async def asking() -> Any:
            result = await self._controller.call_tool(operation.replace("/", "_"), params)
            return result.structured_content

        return self._portal.call(coded, asking)

    def call(self, session_id: str, call: Call, **meta: Any) -> Any:
        """Call a tool as the session's agent; a refusal gives its code."""

        async def calling() -> Any:
            return await self._agent.call_tool(*call, meta=named(session=session_id, **meta))

        return self._portal.call(coded, calling)


async def coded(asking: Callable[[], Awaitable[Any]]) -> Any:
    """Give the answer, or the code of a refusal."""
    try:
        return await asking()
    except MCPError as error:
        return error.data["code"]


class Equivalence(RuleBasedStateMachine):
    portal: BlockingPortal
    data: Path

    def __init__(self) -> None:
        super().__init__()
        self.office = Office(self.portal, self.data)
        self.fresh = load_dataset(self.data, CATALOGUE)
        self.world = World()
        self.checkpoints: list[Checkpoint] = []
        self.unwatched: list[tuple[str, Checkpoint]] = []
        self.number = 0

    def teardown(self) -> None:
        self.office.leave()

    def new_id(self) -> str:
        self.number += 1
        return f"checkpoint-{self.number}"

    @initialize()
    def start_with_four_sessions(self) -> None:
        for number in (0, 1, 2, 4):
            self.seed(IDS[number], number % 3, 0)

    @rule(session_id=session_ids, rollout=st.integers(0, 2), attempt=st.integers(0, 2))
    def seed(self, session_id: str, rollout: int, attempt: int) -> None:
        episode = (ROLLOUTS[rollout], attempt)
        answer = self.office.ask(
            "sessions/seed",
            sessionId=session_id,
            episode={"rolloutId": episode[0], "attempt": attempt},
            toolkits=KITS.get(session_id),
        )
        live = self.world.live.get(session_id)
        if refused := self.world.refuses(session_id):
            assert answer == refused
        elif live is not None:
            same = live.rollout == episode[0]
            expected = "stale_attempt" if same and attempt < live.attempt else "session_conflict"
            if episode == (live.rollout, live.attempt):
                assert answer["sessionId"] == session_id
            else:
                assert answer == expected
        elif self.world.covers(*episode):
            assert answer == "stale_attempt"
        else:
            assert answer["episode"] == {"rolloutId": episode[0], "attempt": attempt}
            workplace = self.fresh.workplace(KITS.get(session_id, CATALOGUE.names))
            self.world.live[session_id] = Lived(*episode, workplace)

    @rule(
        session_id=session_ids,
        call=calls,
        call_id=st.sampled_from(CALL_IDS),
        zombie=st.sampled_from([0, 0, 1]),
    )
    def call(self, session_id: str, call: Call, call_id: str | None, zombie: int) -> None:
        live = self.world.live.get(session_id)
        attempt = max(live.attempt - zombie, 0) if live is not None else 0
        meta = {"attempt": attempt} | ({} if call_id is None else {"callId": call_id})
        answer = self.office.call(session_id, call, **meta)
        if live is None:
            assert answer == (self.world.refuses(session_id) or "session_unknown")
        elif attempt != live.attempt or self.world.covers(live.rollout, live.attempt):
            assert answer == "stale_attempt"
        else:
            self.check_answer(session_id, live, call, call_id, answer)

    @rule(todo=bursts)
    def work(self, todo: list[tuple[int, Call, str | None]]) -> None:
        for who, call, call_id in todo:
            if self.world.live:
                self.call(list(self.world.live)[who % len(self.world.live)], call, call_id, 0)

    @rule(before=bursts, between=bursts, after=bursts, background=st.booleans(), step=st.integers(0, 2))
    def die_and_come_back(
        self,
        before: list[tuple[int, Call, str | None]],
        between: list[tuple[int, Call, str | None]],
        after: list[tuple[int, Call, str | None]],
        background: bool,
        step: int,
    ) -> None:
        """Work, take a checkpoint, work on, die, come back, ask again what was asked, and work on."""
        self.work(before)
        self.checkpoint(background, None, READ)
        self.work(between)
        self.crash(torn=False)
        self.restore(0, step, discard=False, call=READ, closed=None)
        for session_id, live in list(self.world.live.items()):
            for call_id, (call, _, _) in live.remembered.items():
                self.call(session_id, call, call_id, 0)
        self.work(after)

    def check_answer(
        self, session_id: str, live: Lived, call: Call, call_id: str | None, answer: Any
    ) -> None:
        known = None if call_id is None else live.remembered.get(call_id)
        after = replace(live, untouched=False)
        if known is not None and asked(known[0]) != asked(call):
            assert answer == "call_id_conflict"
        elif known is not None:
            check_outcome(answer, known[1], known[2], live.attempt)
        else:
            if CATALOGUE.tools[call[0]].toolkit in KITS.get(session_id, CATALOGUE.names):
                workplace, outcome = live.workplace.call(*call)
            else:
                workplace, outcome = live.workplace, Outcome(f"Unknown tool: '{call[0]}'.", is_error=True)
            check_outcome(answer, outcome, workplace.revision, live.attempt)
            after = replace(after, workplace=workplace)
            if call_id is not None and outcome.changed:
                entry = (call, outcome, workplace.revision)
                after = replace(after, remembered={**live.remembered, call_id: entry})
        self.world.live[session_id] = after

    @rule(session_id=session_ids)
    def close(self, session_id: str) -> None:
        answer = self.office.ask("sessions/close", sessionId=session_id)
        if session_id in self.world.live:
            self.end(session_id)
            assert answer == {"outcome": "closed"}
        elif session_id in self.world.spent:
            assert answer == {"outcome": "already_closed"}
        else:
            assert answer == "session_unknown"

    @rule(session_id=session_ids, call=calls, keep=st.booleans())
    def verify(self, session_id: str, call: Call, keep: bool) -> None:
        truth = [{"name": call[0], "arguments": call[1]}]
        answer = self.office.ask("sessions/verify", sessionId=session_id, groundTruth=truth, keep=keep)
        live = self.world.live.get(session_id)
        if live is None:
            kept = None if keep else self.world.verified.get(session_id)
            if kept is not None and kept[0] == truth:
                assert answer == kept[1]
            else:
                assert answer == (self.world.refuses(session_id) or "session_unknown")
        elif self.world.covers(live.rollout, live.attempt):
            assert answer == "stale_attempt"
        else:
            self.check_score(session_id, live, truth, answer, keep=keep)

    def check_score(self, session_id: str, live: Lived, truth: list[Any], answer: Any, *, keep: bool) -> None:
        fresh = self.fresh.workplace(KITS.get(session_id, CATALOGUE.names))
        try:
            expected = score(fresh, truth, live=live.workplace).as_json()
        except GroundTruthError:
            assert answer == "invalid_params"
            return
        assert answer["counts"]["calls"] >= live.workplace.revision
        assert {**answer, "counts": None} == expected
        if not keep:
            self.end(session_id)
            self.world.verified[session_id] = truth, answer

    def end(self, session_id: str) -> None:
        del self.world.live[session_id]
        self.world.spent[session_id] = None

    @rule(rollout=rollouts, attempt=st.integers(0, 3))
    def retire(self, rollout: str, attempt: int) -> None:
        episode = {"rolloutId": rollout, "attempt": attempt}
        assert self.office.ask("checkpoint/retire", episodes=[episode]) == {"retired": [episode]}
        self.world.retired[rollout] = max(attempt, self.world.retired.get(rollout, -1))
        for session_id, live in list(self.world.live.items()):
            if self.world.covers(live.rollout, live.attempt):
                del self.world.live[session_id]
                self.world.spent[session_id] = (live.rollout, live.attempt)

    @rule(rollout=rollouts)
    def forget(self, rollout: str) -> None:
        known = self.world.retired.pop(rollout, None) is not None
        answer = self.office.ask("checkpoint/forget", rolloutIds=[rollout])
        assert answer == {"forgotten": [rollout] if known else []}

    @rule(background=st.booleans(), only=st.sampled_from([None, None, 0, 1, 2]), call=calls)
    def checkpoint(self, background: bool, only: int | None, call: Call) -> None:
        checkpoint_id = self.new_id()
        prepared = self.office.ask("checkpoint/prepare", checkpointId=checkpoint_id, timeoutSeconds=60)
        assert prepared["phase"] == "prepared"
        for session_id in self.world.live:
            assert self.office.call(session_id, call) == "admission_closed"
        scope = {
            (live.rollout, live.attempt)
            for live in self.world.live.values()
            if only is None or live.rollout == ROLLOUTS[only]
        }
        episodes = [{"rolloutId": rollout, "attempt": attempt} for rollout, attempt in sorted(scope)]
        named_episodes = {} if only is None else {"episodes": episodes}
        params = {"checkpointId": checkpoint_id, "timeoutSeconds": 60, "checkpointDir": checkpoint_id}
        committed = self.office.ask("checkpoint/commit", **params, background=background, **named_episodes)
        inside = {
            session_id: live
            for session_id, live in self.world.live.items()
            if (live.rollout, live.attempt) in scope
        }
        self.take(Checkpoint(replace(copied(self.world), live=inside), checkpoint_id))
        self.world = replace(
            self.world,
            live={one: live for one, live in self.world.live.items() if one in inside or not live.untouched},
        )
        resumed = self.office.ask("checkpoint/resume", checkpointId=checkpoint_id)
        if background:
            assert committed == {"phase": "committed", "writing": True}
            self.unwatched.append((checkpoint_id, self.checkpoints[-1]))
        else:
            assert committed["manifest"]["counts"]["sessions"] == len(inside)
            assert resumed == {"phase": "idle", "published": True}

    def take(self, checkpoint: Checkpoint) -> None:
        self.checkpoints.append(checkpoint)

    @rule()
    def export(self) -> None:
        inline = self.office.ask("sessions/export")
        assert "nextCursor" not in inline
        self.take(Checkpoint(copied(self.world), inline=inline))

    @rule()
    def prepare_and_think_better_of_it(self) -> None:
        checkpoint_id = self.new_id()
        self.office.ask("checkpoint/prepare", checkpointId=checkpoint_id, timeoutSeconds=60)
        resumed = self.office.ask("checkpoint/resume", checkpointId=checkpoint_id)
        assert resumed == {"phase": "idle", "published": False}

    @rule(torn=st.booleans())
    def crash(self, torn: bool) -> None:
        for checkpoint_id, checkpoint in self.unwatched:
            waited = self.office.ask("checkpoint/wait", checkpointId=checkpoint_id, timeoutSeconds=60)
            assert waited["manifest"]["counts"]["sessions"] == len(checkpoint.world.live)
            if torn:
                self.office.tear(checkpoint_id)
                checkpoint.torn = True
        self.unwatched = []
        self.office.crash()
        self.world = World()

    @precondition(lambda self: self.checkpoints)
    @rule(
        which=st.integers(0, 9),
        step=st.integers(0, 3),
        discard=st.booleans(),
        call=calls,
        closed=st.none() | session_ids,
    )
    def restore(self, which: int, step: int, discard: bool, call: Call, closed: str | None) -> None:
        stored = self.checkpoints[-1 - which % len(self.checkpoints)]
        before = copied(self.world)
        after = "invalid_checkpoint_state" if stored.torn else before.restored(copied(stored.world), step)
        if stored.inline is not None:
            answer = self.office.ask(
                "sessions/import",
                **{key: stored.inline[key] for key in ("states", "bases", "facts")},
                attemptStep=step,
            )
            self.check_restored(stored, after, answer)
            return
        for checkpoint_id, _ in self.unwatched:
            self.office.ask("checkpoint/wait", checkpointId=checkpoint_id, timeoutSeconds=60)
        checkpoint_id = self.new_id()
        params = {"checkpointId": checkpoint_id, "timeoutSeconds": 60, "checkpointDir": stored.directory}
        answer = self.office.ask("checkpoint/restore", **params, attemptStep=step)
        self.check_restored(stored, after, answer)
        if isinstance(after, str):
            return
        for session_id in stored.world.live:
            assert self.office.call(session_id, call) == "admission_closed"
        if closed is not None:
            self.close(closed)
        self.office.ask("checkpoint/resume", checkpointId=checkpoint_id, discard=discard)
        if discard:
            self.world = before
            if closed in before.live:
                self.end(closed)

    def check_restored(self, stored: Checkpoint, after: World | str, answer: Any) -> None:
        if isinstance(after, str):
            assert answer == after
            return
        assert answer["restored"] == [
            {
                "sessionId": session_id,
                "episode": {"rolloutId": live.rollout, "attempt": after.live[session_id].attempt},
            }
            for session_id, live in stored.world.live.items()
        ]
        self.world = after

    @invariant()
    def every_session_is_as_if_nothing_had_happened(self) -> None:
        listed = self.office.ask("sessions/list")["sessions"]
        assert {one["sessionId"]: (one["episode"], one["revision"]) for one in listed} == {
            session_id: ({"rolloutId": live.rollout, "attempt": live.attempt}, live.workplace.revision)
            for session_id, live in self.world.live.items()
        }
        sessions = self.office.runtime.sessions
        for session_id, live in self.world.live.items():
            assert seen(sessions.get(session_id).workplace) == seen(live.workplace)
        status = self.office.ask("checkpoint/status")
        assert (status["phase"], status["checkpointId"]) == ("idle", None)
        assert status["retiredRollouts"] == sorted(self.world.retired)


def asked(call: Call) -> Any:
    return call[0], {name: value for name, value in call[1].items() if value is not None}


def check_outcome(answer: Any, outcome: Outcome, revision: int, attempt: int) -> None:
    assert (output(answer), answer.is_error) == (outcome.value, outcome.is_error)
    assert [told(answer, name) for name in ("revision", "attempt", "changed")] == [
        revision,
        attempt,
        list(outcome.changed),
    ]


def copied(world: World) -> World:
    """Copy what a world holds; what is in it never changes."""
    return World(dict(world.live), dict(world.spent), dict(world.retired), dict(world.verified))


@pytest.mark.timeout(120)
def test_crashes_and_restores_at_random_points_change_nothing(tmp_path: Path) -> None:
    data = write_dataset(tmp_path / "data")
    with start_blocking_portal() as portal:

        class Machine(Equivalence):
            pass

        Machine.portal, Machine.data = portal, data
        run_state_machine_as_test(
            Machine,
            settings=settings(max_examples=25, stateful_step_count=25, deadline=None, phases=UNSHRUNK),
        )
