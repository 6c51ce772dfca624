"""What `wa-mcp ctl` does: each verb one function, from what was asked for to what is answered."""

import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import orjson

from checkpoint import Episode, Published
from wa_mcp.controller import Controller
from wa_mcp.showing import Advance

__all__ = [
    "Done", "ItemsError", "checkpoint", "commit", "prepare", "restore", "resume", "retire",
    "seed", "sessions", "status", "verify",
]  # fmt: skip

AT_ONCE: Final = 1000
"""Sessions after which is said how far it is."""


class ItemsError(ValueError):
    """A file that does not hold what it should; the message says where and why."""


@dataclass(frozen=True)
class Done:
    """What a verb came to.

    Attributes:
        answer: The whole answer, JSON-able.
        complaint: Why it failed all the same, empty if it did not.
    """

    answer: Any
    complaint: str = ""


async def status(fleet: Controller, _: Namespace, __: Advance) -> Done:
    """Say where each server stands."""
    return Done(await fleet.status())


async def seed(fleet: Controller, asked: Namespace, advance: Advance) -> Done:
    """Seed so many sessions."""
    count: int = asked.count
    seeded: list[dict[str, Any]] = []
    while len(seeded) < count:
        advance(f"seeded {len(seeded)} of {count}", len(seeded), count)
        seeded += await fleet.seed(min(AT_ONCE, count - len(seeded)), timeout_seconds=asked.timeout)
    return Done({"sessions": seeded})


async def sessions(fleet: Controller, _: Namespace, advance: Advance) -> Done:
    """List the live sessions, each with the server that has it."""
    listed: list[dict[str, Any]] = []
    async for session in fleet.sessions():
        listed.append({**session, "instance": fleet.instance(session["sessionId"])})
        if not len(listed) % AT_ONCE:
            advance(f"read {len(listed)}", len(listed), None)
    return Done({"sessions": listed})


async def prepare(fleet: Controller, asked: Namespace, advance: Advance) -> Done:
    """Close admission, or wait on for what is being prepared."""
    advance("waiting for calls in flight", 0, None)
    prepared = await fleet.prepare(asked.id, timeout_seconds=asked.timeout)
    if prepared["ready"]:
        return Done(prepared)
    return Done(prepared, _not_ready(prepared))


async def commit(fleet: Controller, asked: Namespace, advance: Advance) -> Done:
    """Write and publish what is prepared."""
    advance("writing", 0, None)
    published = await fleet.commit(asked.id, asked.folder, timeout_seconds=asked.timeout)
    return Done(None if published is None else _published(published))


async def resume(fleet: Controller, asked: Namespace, _: Advance) -> Done:
    """Let calls in again."""
    return Done(await fleet.resume(asked.id, discard=asked.discard))


async def retire(fleet: Controller, asked: Namespace, advance: Advance) -> Done:
    """Retire attempts; where none is named, the one that is live.

    Raises:
        ItemsError: A rollout has no live session.
    """
    named: list[tuple[str, int | None]] = asked.episodes
    live: dict[str, int] = {}
    if any(attempt is None for _, attempt in named):
        advance("looking for live attempts", 0, None)
        async for session in fleet.sessions():
            episode = session["episode"]
            rollout, attempt = episode["rolloutId"], episode["attempt"]
            live[rollout] = max(attempt, live.get(rollout, 0))
    if unknown := [rollout for rollout, attempt in named if attempt is None and rollout not in live]:
        raise ItemsError(f"{unknown[0]!r} has no live session; say which attempt with {unknown[0]}:ATTEMPT")
    episodes = [Episode(rollout, live[rollout] if attempt is None else attempt) for rollout, attempt in named]
    advance("waiting for their calls", 0, None)
    return Done({"retired": await fleet.retire(episodes, timeout_seconds=asked.timeout)})


async def verify(fleet: Controller, asked: Namespace, advance: Advance) -> Done:
    """Score the sessions of a file."""
    items = read_items(asked.file)
    results: list[dict[str, Any]] = []
    for start in range(0, len(items), AT_ONCE):
        advance(f"scored {start} of {len(items)}", start, len(items))
        results += await fleet.verify(items[start : start + AT_ONCE], timeout_seconds=asked.timeout)
    errors = [result["error"]["message"] for result in results if "error" in result]
    complaint = f"{len(errors)} of {len(results)} were not scored: {errors[0]}" if errors else ""
    return Done({"results": results}, complaint)


async def checkpoint(fleet: Controller, asked: Namespace, advance: Advance) -> Done:
    """Take a checkpoint from the first step to the last."""
    advance("waiting for calls in flight", 0, None)
    async with fleet.checkpoint(asked.folder, timeout_seconds=asked.timeout) as cut:
        advance("writing", 0, None)
    assert cut.published is not None
    return Done({**_published(cut.published), "pauseSeconds": cut.pause_seconds})


async def restore(fleet: Controller, asked: Namespace, advance: Advance) -> Done:
    """Restore a checkpoint and let calls in."""
    advance("restoring", 0, None)
    restored = await fleet.restore(asked.folder, timeout_seconds=asked.timeout)
    answer = {
        "checkpointId": restored.checkpoint_id,
        "source": _published(restored.source),
        "attemptStep": restored.attempt_step,
        "restored": restored.sessions,
    }
    return Done(answer)


def read_items(file: Path) -> list[dict[str, Any]]:
    """Read what to score: a JSON list, `{"items": list}`, one object, or an object a line; `-` reads input.

    Raises:
        ItemsError: It is something else.
        OSError: It cannot be read.
    """
    data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        content: Any = orjson.loads(data)
    except orjson.JSONDecodeError:
        found = _read_lines(file, data)
    else:
        listed: Any = content
        if isinstance(content, dict):
            fields = cast("dict[str, Any]", content)
            listed = fields.get("items", [fields])
        if not isinstance(listed, list):
            raise ItemsError(f"{file}: expected a list of items")
        found = [(f"item {place}", item) for place, item in enumerate(cast("list[Any]", listed), start=1)]
    for where, item in found:
        if not _is_item(item):
            raise ItemsError(f"{file}, {where}: expected an object with sessionId and groundTruth")
    return [item for _, item in found]


def _read_lines(file: Path, data: bytes) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found.append((f"line {number}", orjson.loads(line)))
        except orjson.JSONDecodeError as error:
            raise ItemsError(f"{file}, line {number}: not JSON: {error}") from None
    return found


def _is_item(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    fields = cast("dict[str, Any]", item)
    return isinstance(fields.get("sessionId"), str) and "groundTruth" in fields


def _published(published: Published) -> dict[str, Any]:
    return {
        **published.as_json(),
        "directory": str(published.directory),
        "sessions": published.sessions,
    }


def _not_ready(prepared: Mapping[str, Any]) -> str:
    count = sum(answer["report"]["blockerCount"] for answer in prepared["participants"].values())
    checkpoint_id = prepared["checkpointId"]
    return (
        f"not ready: {count} call(s) in flight; `prepare {checkpoint_id}` waits on, "
        f"`resume {checkpoint_id}` lets calls in again"
    )
