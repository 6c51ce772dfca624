"""Phases, lease, admission and store of a checkpoint.

A server gives its sessions out and takes them back through the hooks of `checkpoint.hooks`; a controller
drives `CheckpointControl`; all work that changes sessions goes through its `gate`. A `Coordinator` makes
several servers act as one.
"""

from checkpoint.admission import VERIFY, Call, Gate, OnCheckpoint
from checkpoint.asking import Patience
from checkpoint.control import CheckpointControl
from checkpoint.coordination import Coordinator, FleetPrepared
from checkpoint.dances import Cut, FleetRestored, restore_checkpoint, take_checkpoint
from checkpoint.episode import MOST_ATTEMPTS, Episode, EpisodeJson, read_episode, shortened
from checkpoint.errors import CheckpointError
from checkpoint.hooks import (
    Installation,
    LiveSession,
    Mode,
    Server,
    ServerFacts,
    SessionStates,
    State,
    StateExport,
    TakenOut,
    Verify,
)
from checkpoint.manifest import Manifest, Origin
from checkpoint.participants import (
    Answer,
    AskFailed,
    FleetError,
    Kind,
    Nonsense,
    NoReply,
    NotReady,
    Participant,
    Refused,
)
from checkpoint.phase import Event, Operation, Phase
from checkpoint.published import Part, Published, read_published
from checkpoint.records import Contents, Granted
from checkpoint.restoring import Shard
from checkpoint.retired import Retired
from checkpoint.store import Store
from checkpoint.stored import NOT_JSON, EpisodeForm, StoredObject, StoredState

__all__ = [
    "MOST_ATTEMPTS",
    "NOT_JSON",
    "VERIFY",
    "Answer",
    "AskFailed",
    "Call",
    "CheckpointControl",
    "CheckpointError",
    "Contents",
    "Coordinator",
    "Cut",
    "Episode",
    "EpisodeForm",
    "EpisodeJson",
    "Event",
    "FleetError",
    "FleetPrepared",
    "FleetRestored",
    "Gate",
    "Granted",
    "Installation",
    "Kind",
    "LiveSession",
    "Manifest",
    "Mode",
    "NoReply",
    "Nonsense",
    "NotReady",
    "OnCheckpoint",
    "Operation",
    "Origin",
    "Part",
    "Participant",
    "Patience",
    "Phase",
    "Published",
    "Refused",
    "Retired",
    "Server",
    "ServerFacts",
    "SessionStates",
    "Shard",
    "State",
    "StateExport",
    "Store",
    "StoredObject",
    "StoredState",
    "TakenOut",
    "Verify",
    "read_episode",
    "read_published",
    "restore_checkpoint",
    "shortened",
    "take_checkpoint",
]
