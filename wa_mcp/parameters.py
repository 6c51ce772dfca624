"""The parameters of every controller operation: camelCase on the wire, no coercion, no unknown name."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from checkpoint import Episode
from wa_mcp.profiles import ProfileName

__all__ = [
    "CloseParams",
    "CommitParams",
    "EpisodeParam",
    "ExportParams",
    "ForgetParams",
    "ImportParams",
    "ListParams",
    "NoParams",
    "Params",
    "PrepareParams",
    "RestoreParams",
    "ResumeParams",
    "RetireParams",
    "SeedParam",
    "SeedParams",
    "ShardParam",
    "TablesParams",
    "TimedParams",
    "VerifyParam",
    "VerifyParams",
]

MOST_SEEDS = 10_000
MOST_LISTED = 10_000

SessionId = Annotated[str, Field(description="Id of a session.")]
CheckpointId = Annotated[
    str, Field(description="Id of the checkpoint, made by the controller; each used once.")
]
Seconds = Annotated[
    float, Field(gt=0, le=3600, description="How long this may take, and what the lease counts from.")
]
Folder = Annotated[
    str, Field(min_length=1, description="Folder of the checkpoint; a relative path starts at the root.")
]
Step = Annotated[
    int, Field(ge=0, le=1_000_000, description="How many attempts later than stored the sessions are.")
]
Cursor = Annotated[str | None, Field(description="Where to go on: the nextCursor of the page before.")]


class Params(BaseModel):
    """What all parameters have in common."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)


class EpisodeParam(Params):
    """A rollout, and which attempt at it."""

    rollout_id: Annotated[str, Field(min_length=1, max_length=128)]
    attempt: Annotated[int, Field(ge=0, le=2**53)]

    def episode(self) -> Episode:
        """Give it as the control plane has it."""
        return Episode(self.rollout_id, self.attempt)


class NoParams(Params):
    """No parameters."""


class SeedParam(Params):
    """One session that is wanted."""

    session_id: Annotated[
        str | None, Field(description="16 to 128 of A-Z a-z 0-9 _ -; made if not given.")
    ] = None
    episode: Annotated[EpisodeParam | None, Field(description="Made from the id if not given.")] = None
    toolkits: Annotated[list[str] | None, Field(description="Names of toolkits; all if not given.")] = None
    tools: Annotated[list[str] | None, Field(description="Tools it may see; all if not given.")] = None
    require_attempt: Annotated[bool | None, Field(description="Refuse calls that name no attempt.")] = None
    on_checkpoint: Annotated[
        Literal["refuse", "wait"] | None, Field(description="What calls do while a checkpoint is open.")
    ] = None


class SeedParams(SeedParam):
    """One session that is wanted, or a list of them."""

    sessions: Annotated[
        list[SeedParam] | None, Field(max_length=MOST_SEEDS, description="Instead of one: all or none.")
    ] = None


class NamedSession(Params):
    """A session, by its id."""

    session_id: SessionId


class CloseParams(Params):
    """A session to end, or a list of them."""

    session_id: Annotated[str | None, Field(description="Id of a session.")] = None
    sessions: Annotated[
        list[NamedSession] | None,
        Field(max_length=MOST_SEEDS, description="Instead of one: a list of {sessionId}."),
    ] = None


class ListParams(Params):
    """A page of a list."""

    cursor: Cursor = None
    limit: Annotated[int | None, Field(ge=1, le=MOST_LISTED, description="Sessions a page.")] = None


class TablesParams(Params):
    """A session to show."""

    session_id: SessionId


GroundTruth = Annotated[
    list[Any] | str,
    Field(description="List of {name, arguments}, arguments an object or its JSON; or the list's JSON text."),
]
Calls = Annotated[
    list[Any] | str | None,
    Field(
        description="What the model called: the same form, or messages of the Responses or chat-completions "
        "API; at most 1,000 calls. The live tables are scored if not given."
    ),
]
ProfileParam = Annotated[
    ProfileName | None,
    Field(description="gym: row order and labels count (default); workbench: they do not."),
]
Keep = Annotated[bool | None, Field(description="Leave the session live; it is ended if not given.")]


class VerifyParam(Params):
    """A session to score."""

    session_id: SessionId
    ground_truth: GroundTruth
    calls: Calls = None
    profile: ProfileParam = None
    keep: Keep = None


class VerifyParams(Params):
    """A session to score, or a list of them."""

    session_id: Annotated[str | None, Field(description="Id of a session.")] = None
    ground_truth: Annotated[GroundTruth | None, Field()] = None
    calls: Calls = None
    profile: ProfileParam = None
    keep: Keep = None
    items: Annotated[
        list[Any] | None,
        Field(
            max_length=MOST_SEEDS,
            description="Instead of one: a list of {sessionId, groundTruth, calls, profile, keep}, each "
            "scored or refused by itself.",
        ),
    ] = None


class ExportParams(Params):
    """Sessions to give out, and where to go on."""

    session_ids: Annotated[list[str] | None, Field(description="All live ones if not given.")] = None
    cursor: Cursor = None


class ImportParams(Params):
    """Sessions to take in, as an export gave them out."""

    states: list[dict[str, Any]]
    bases: dict[str, Any]
    facts: dict[str, Any] | None = None
    attempt_step: Step = 1


class TimedParams(Params):
    """A checkpoint, and how long its controller gives the operation."""

    checkpoint_id: CheckpointId
    timeout_seconds: Seconds


class PrepareParams(TimedParams):
    """A checkpoint to open."""


class CommitParams(TimedParams):
    """A checkpoint to write."""

    checkpoint_dir: Folder
    episodes: Annotated[list[EpisodeParam] | None, Field(description="Only their sessions.")] = None
    background: Annotated[bool | None, Field(description="Answer as soon as the snapshot is taken.")] = None


class ShardParam(Params):
    """Which part of the sessions this server takes."""

    index: Annotated[int, Field(ge=0)]
    count: Annotated[int, Field(ge=1)]


class RestoreParams(TimedParams):
    """A checkpoint to read."""

    checkpoint_dir: Folder
    episodes: Annotated[list[EpisodeParam] | None, Field(description="Only these, as stored.")] = None
    attempt_step: Step = 1
    sources: Annotated[list[str] | None, Field(description="Instances to read; its own if not given.")] = None
    shard: ShardParam | None = None


class ResumeParams(Params):
    """A checkpoint to end."""

    checkpoint_id: CheckpointId
    discard: Annotated[bool | None, Field(description="Take out again what a restore installed.")] = None


class RetireParams(Params):
    """Attempts that may not act any more."""

    episodes: list[EpisodeParam]


class ForgetParams(Params):
    """Rollouts that are over for good."""

    rollout_ids: list[str]
