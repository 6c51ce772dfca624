"""Phases, lease, admission and store of a checkpoint.

A server gives its sessions out and takes them back through the hooks of `checkpoint.hooks`; a controller
drives `CheckpointControl`; all work that changes sessions goes through its `gate`.
"""

from checkpoint.admission import VERIFY, Call, Gate, OnCheckpoint
from checkpoint.control import CheckpointControl
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
from checkpoint.phase import Event, Operation, Phase
from checkpoint.records import Contents, Granted
from checkpoint.restoring import Shard
from checkpoint.retired import Retired
from checkpoint.store import Store

__all__ = [
    "MOST_ATTEMPTS",
    "VERIFY",
    "Call",
    "CheckpointControl",
    "CheckpointError",
    "Contents",
    "Episode",
    "EpisodeJson",
    "Event",
    "Gate",
    "Granted",
    "Installation",
    "LiveSession",
    "Manifest",
    "Mode",
    "OnCheckpoint",
    "Operation",
    "Origin",
    "Phase",
    "Retired",
    "Server",
    "ServerFacts",
    "SessionStates",
    "Shard",
    "State",
    "StateExport",
    "Store",
    "TakenOut",
    "Verify",
    "read_episode",
    "shortened",
]
