"""What the operations answer, as it goes on the wire."""

from typing import TypedDict

from checkpoint.episode import EpisodeJson
from checkpoint.manifest import Manifest


class Blocker(TypedDict):
    """A call in flight that keeps a checkpoint from being prepared, for so many seconds now."""

    episode: EpisodeJson
    operation: str
    seconds: float


class Report(TypedDict):
    """How far a server is. `blockers` are the 100 oldest; `restarts` are all there are."""

    ready: bool
    inFlight: int
    sessions: int
    blockerCount: int
    blockers: list[Blocker]
    restarts: list[EpisodeJson]


class Status(TypedDict):
    """The answer of `checkpoint/status`."""

    kind: str
    instance: str
    phase: str
    checkpointId: str | None
    leaseSeconds: float | None
    report: Report
    retiredRollouts: list[str]


class Prepared(TypedDict):
    """The answer of `checkpoint/prepare`."""

    phase: str
    checkpointId: str
    report: Report


class Committed(TypedDict):
    """The answer of `checkpoint/commit`."""

    phase: str
    manifest: Manifest


class Writing(TypedDict):
    """The answer of `checkpoint/commit` in the background."""

    phase: str
    writing: bool


class Waited(TypedDict):
    """The answer of `checkpoint/wait`."""

    manifest: Manifest


class RestoredSession(TypedDict):
    """A session that is live again, under its new attempt."""

    sessionId: str
    episode: EpisodeJson


class Imported(TypedDict):
    """The answer of `sessions/import`."""

    restored: list[RestoredSession]


class Restored(TypedDict):
    """The answer of `checkpoint/restore`."""

    phase: str
    sourceCheckpointId: str
    restored: list[RestoredSession]


class Resumed(TypedDict):
    """The answer of `checkpoint/resume`; `published`: the checkpoint is complete on disk."""

    phase: str
    published: bool


class Renewed(TypedDict):
    """The answer of `checkpoint/renew`."""

    phase: str
    leaseSeconds: float


class RetiredEpisodes(TypedDict):
    """The answer of `checkpoint/retire`."""

    retired: list[EpisodeJson]


class Forgotten(TypedDict):
    """The answer of `checkpoint/forget`."""

    forgotten: list[str]
