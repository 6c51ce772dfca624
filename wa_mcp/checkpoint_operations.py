"""What a controller can do with checkpoints."""

from collections.abc import Mapping
from typing import Any

from checkpoint import Shard
from wa_mcp.operations import operation
from wa_mcp.parameters import (
    CommitParams,
    EpisodeParam,
    ForgetParams,
    NoParams,
    PrepareParams,
    RestoreParams,
    ResumeParams,
    RetireParams,
    TimedParams,
)
from wa_mcp.runtime import Runtime

__all__: list[str] = []


@operation("checkpoint/status", "Show where the server stands", reads=True)
async def status(runtime: Runtime, params: NoParams) -> Mapping[str, Any]:
    """Say which phase the server is in, which checkpoint is open, for how long, and what holds it up."""
    del params
    return runtime.control.status()


@operation("checkpoint/prepare", "Prepare a checkpoint")
async def prepare(runtime: Runtime, params: PrepareParams) -> Mapping[str, Any]:
    """Refuse calls, or let them wait, and wait for those in flight."""
    return await runtime.control.prepare(params.checkpoint_id, params.timeout_seconds)


@operation("checkpoint/commit", "Write a checkpoint")
async def commit(runtime: Runtime, params: CommitParams) -> Mapping[str, Any]:
    """Take a snapshot of all sessions, or those of some episodes, and write it to disk."""
    return await runtime.control.commit(
        params.checkpoint_id,
        params.timeout_seconds,
        params.checkpoint_dir,
        _episodes(params.episodes),
        background=params.background or False,
    )


@operation("checkpoint/wait", "Wait for a write")
async def wait(runtime: Runtime, params: TimedParams) -> Mapping[str, Any]:
    """Wait for a background write, and answer its manifest or why it failed."""
    return await runtime.control.wait(params.checkpoint_id, params.timeout_seconds)


@operation("checkpoint/restore", "Restore a checkpoint")
async def restore(runtime: Runtime, params: RestoreParams) -> Mapping[str, Any]:
    """Read a checkpoint and make all its sessions live, or none; calls are let in again by resume."""
    shard = None if params.shard is None else Shard(params.shard.index, params.shard.count)
    restored = await runtime.control.restore(
        params.checkpoint_id,
        params.timeout_seconds,
        params.checkpoint_dir,
        _episodes(params.episodes),
        attempt_step=params.attempt_step,
        sources=params.sources,
        shard=shard,
    )
    runtime.on_restored()
    return restored


@operation("checkpoint/resume", "Let calls in again")
async def resume(runtime: Runtime, params: ResumeParams) -> Mapping[str, Any]:
    """End a checkpoint, whatever it is doing, and let calls in again."""
    return await runtime.control.resume(params.checkpoint_id, discard=params.discard or False)


@operation("checkpoint/renew", "Extend the lease")
async def renew(runtime: Runtime, params: TimedParams) -> Mapping[str, Any]:
    """Keep a checkpoint open for longer."""
    return await runtime.control.renew(params.checkpoint_id, params.timeout_seconds)


@operation("checkpoint/retire", "Retire attempts")
async def retire(runtime: Runtime, params: RetireParams) -> Mapping[str, Any]:
    """Refuse attempts, and earlier ones, from now on; wait for their calls and drop their sessions."""
    return await runtime.control.retire([episode.episode() for episode in params.episodes])


@operation("checkpoint/forget", "Forget rollouts")
async def forget(runtime: Runtime, params: ForgetParams) -> Mapping[str, Any]:
    """Drop the marks of rollouts that are over for good."""
    return await runtime.control.forget(params.rollout_ids)


def _episodes(given: list[EpisodeParam] | None) -> list[Any] | None:
    return None if given is None else [episode.episode() for episode in given]
