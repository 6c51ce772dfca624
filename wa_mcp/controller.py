"""The controller: one object that drives a fleet of servers as if they were one."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from os import PathLike
from types import TracebackType
from typing import Any

from checkpoint import (
    Answer,
    Coordinator,
    Cut,
    Episode,
    EpisodeJson,
    FleetPrepared,
    FleetRestored,
    Patience,
    Published,
    read_episode,
    restore_checkpoint,
    take_checkpoint,
)
from checkpoint.dances import new_id
from wa_mcp.endpoints import Peer
from wa_mcp.fleet_branches import FleetBranches
from wa_mcp.joining import join

__all__ = ["Controller"]

Folder = str | PathLike[str]
EpisodeLike = Episode | tuple[str, int] | Mapping[str, Any]
"""An episode: `Episode("r1", 0)`, `("r1", 0)` or `{"rolloutId": "r1", "attempt": 0}`."""


class Controller(FleetBranches):
    """Drives servers as if they were one: `async with Controller([Endpoint(url, token), ...]) as fleet:`.

    A session lives on the server that its id places it on, in the order of the servers' instance names; so
    every controller of the same servers agrees on where. Every operation opens a connection of its own; where
    a reply is lost it is asked for again, and none waits for ever.

    Times are in seconds. `FleetError` names every server that failed, and why; `CheckpointError` is about
    parameters and files. Both have a `code` and `facts`.

    Args:
        endpoints: The servers: endpoints, URLs, or `admin_server` objects in memory.
        timeout_seconds: What an operation gets that is not told otherwise.
        reply_within: Time on top of that in which a reply must be there.
        patience: How often a server that does not reply is asked again.
    """

    async def __aenter__(self) -> "Controller":
        """Ask every server who it is.

        Raises:
            FleetError: One does not answer, or refuses the token.
            InvalidParams: Two have the same instance name, or there is none.
        """
        self._peers = [Peer(endpoint) for endpoint in self._endpoints]
        try:
            await join(self._peers, self._timeout, self._patience or Patience())
            self._coordinator = Coordinator(
                self._peers,
                timeout_seconds=self._timeout,
                reply_within=self._reply_within,
                patience=self._patience,
            )
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections; nothing on the servers changes."""
        await self._close()

    async def status(self) -> dict[str, Answer]:
        """Say where each server stands; keys are such as `environment/main`.

        Raises:
            FleetError: One does not answer; `answers` has what the others say.
        """
        return await self._fleet.status()

    async def prepare(
        self, checkpoint_id: str | None = None, *, timeout_seconds: float | None = None
    ) -> FleetPrepared:
        """Close admission and wait for calls in flight; see `checkpoint.Coordinator.prepare`.

        Args:
            checkpoint_id: A new id, or the one that is being prepared; made if not given, see the answer.
            timeout_seconds: How long to wait; not in time is no error, and the same again waits on.

        Raises:
            FleetError: A server failed; all were resumed.
        """
        return await self._fleet.prepare(checkpoint_id or new_id("cut"), timeout_seconds=timeout_seconds)

    async def commit(
        self,
        checkpoint_id: str,
        directory: Folder,
        *,
        episodes: Iterable[EpisodeLike] | None = None,
        background: bool = False,
        timeout_seconds: float | None = None,
    ) -> Published | None:
        """Write a checkpoint and publish it; in the background, give None at once, and `wait` publishes.

        Args:
            checkpoint_id: The one that is prepared.
            directory: Its folder, the same for this process and every server.
            episodes: Only their sessions.
            background: Return as soon as the snapshots are taken.
            timeout_seconds: How long it may take.

        Raises:
            FleetError: A server failed; nothing is published, and all stay as they are until `resume`.
            CheckpointError: It cannot be published.
        """
        return await self._fleet.commit(
            checkpoint_id,
            directory,
            timeout_seconds=timeout_seconds,
            episodes=_episodes(episodes),
            background=background,
        )

    async def wait(
        self, checkpoint_id: str, directory: Folder, *, timeout_seconds: float | None = None
    ) -> Published:
        """Wait for the writes of a commit in the background, and publish the checkpoint.

        Raises:
            FleetError: A write failed or is not done in time; nothing is published.
            CheckpointError: It cannot be published.
        """
        return await self._fleet.wait(checkpoint_id, directory, timeout_seconds=timeout_seconds)

    async def resume(self, checkpoint_id: str, *, discard: bool = False) -> dict[str, Answer]:
        """Let calls in again on every server; `discard` takes out again what a restore has installed.

        Raises:
            FleetError: A server did not answer; its lease lets calls in.
        """
        return await self._fleet.resume(checkpoint_id, discard=discard)

    async def renew(self, checkpoint_id: str, *, timeout_seconds: float | None = None) -> dict[str, Answer]:
        """Keep a checkpoint open for longer on every server.

        Raises:
            FleetError: A server refused, or did not answer.
        """
        return await self._fleet.renew(checkpoint_id, timeout_seconds=timeout_seconds)

    async def retire(
        self, episodes: Iterable[EpisodeLike], *, timeout_seconds: float | None = None
    ) -> list[EpisodeJson]:
        """Refuse attempts and earlier ones from now on, everywhere, and drop their sessions.

        Raises:
            FleetError: A server refused, or did not answer.
        """
        return await self._fleet.retire(_episodes(episodes) or [], timeout_seconds=timeout_seconds)

    async def forget(self, rollout_ids: Iterable[str]) -> list[str]:
        """Drop the marks of rollouts that are over for good.

        Raises:
            FleetError: A server refused, or did not answer.
        """
        return await self._fleet.forget(rollout_ids)

    def checkpoint(
        self,
        directory: Folder,
        *,
        episodes: Iterable[EpisodeLike] | None = None,
        timeout_seconds: float | None = None,
    ) -> AbstractAsyncContextManager[Cut]:
        """Take a checkpoint: `async with fleet.checkpoint("step-40") as cut: ...`.

        The block runs while the whole fleet stands still, with the snapshots taken: it is the place to save
        what must fit them, and best left empty (`pass`) otherwise. At its end calls are let in again,
        whatever happens; then the writes are waited for, and the checkpoint is published (`cut.published`).

        Args:
            directory: A folder under every server's checkpoint root, and the same for this process.
            episodes: Only their sessions.
            timeout_seconds: How long each step may take.

        Raises:
            NotReady: Calls in flight did not end in time.
            FleetError: A server failed. Whatever is raised, the fleet is open, nothing is published, and the
                same folder can be tried again.
            CheckpointError: A checkpoint stands in the folder, or the disk does not play along.
        """
        return take_checkpoint(
            self._fleet, directory, timeout_seconds=timeout_seconds, episodes=_episodes(episodes)
        )

    async def restore(
        self,
        directory: Folder,
        *,
        episodes: Iterable[EpisodeLike] | None = None,
        resume: bool = True,
        timeout_seconds: float | None = None,
    ) -> FleetRestored:
        """Restore a checkpoint, on as many servers as wrote it, more, or fewer: all sessions or none.

        Args:
            directory: Where it was published.
            episodes: Only these, as stored.
            resume: Let calls in; else do so with `resume(restored.checkpoint_id)`, or take it back with
                `discard`.
            timeout_seconds: How long each step may take.

        Raises:
            FleetError: A server failed; nothing is restored, and it can be tried again.
            CheckpointError: There is no such checkpoint, or it was altered.
        """
        return await restore_checkpoint(
            self._fleet,
            directory,
            timeout_seconds=timeout_seconds,
            episodes=_episodes(episodes),
            resume=resume,
        )

    async def _close(self) -> None:
        for peer in self._peers:
            await peer.close()
        self._coordinator = None


def _episodes(episodes: Iterable[EpisodeLike] | None) -> list[Episode] | None:
    return None if episodes is None else [_episode(episode) for episode in episodes]


def _episode(episode: EpisodeLike) -> Episode:
    return read_episode(dict(episode)) if isinstance(episode, Mapping) else Episode(*episode)
