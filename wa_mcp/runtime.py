"""A running server's state, whatever transports serve it: data set, sessions and checkpoints."""

import logging
import platform
from collections.abc import Callable
from importlib.metadata import version
from secrets import token_urlsafe
from typing import Final

from checkpoint import CheckpointControl
from toolkits.dataset import load_dataset
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.exports import Exports
from wa_mcp.hooks import SessionHooks
from wa_mcp.sessions import Sessions
from wa_mcp.settings import Settings
from wa_mcp.verifying import Verifier
from wa_mcp.version import VERSION

__all__ = ["KIND", "Runtime"]

KIND: Final = "environment"
"""What kind of participant this server is in a checkpoint."""

logger = logging.getLogger(__name__)


class Runtime:
    """The data set, the sessions, their checkpoints, and whether the server is ready for calls.

    Args:
        settings: What the server was told.

    Attributes:
        base_url: What sessions' paths are put behind; set anew once the server knows its port.
        verifier: Scores sessions: `await runtime.verifier.verify(session_id, ground_truth)`.
        admin_token: What a controller has to show; made here if the settings have none.
        stopping: The server was told to stop.
        on_restored: Called when sessions came in bulk, from a restore or an import.

    Raises:
        toolkits.dataset.DataError: The data set cannot be read.
        SettingsError: The file of the controllers' token cannot be used.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings: Final = settings
        self.dataset: Final = load_dataset(settings.data, CATALOGUE)
        self.sessions: Final = Sessions(
            self.dataset, most=settings.max_sessions, idle_after=settings.idle_after
        )
        self.control: Final = CheckpointControl(
            SessionHooks(self.sessions),
            kind=KIND,
            instance=settings.instance,
            root=settings.checkpoint_root,
            retired=self.sessions.retired,
            lease_grace=settings.lease_grace,
            on_checkpoint=settings.on_checkpoint,
            wait_limit=settings.wait_limit,
            data_set=self.dataset.digest,
            versions={
                "wa-mcp": VERSION,
                "mcp": version("mcp"),
                "pandas": version("pandas"),
                "python": platform.python_version(),
            },
        )
        self.verifier: Final = Verifier(self.sessions, self.control.gate)
        self.exports: Final = Exports()
        self.base_url = settings.base_url()
        self.admin_token: Final = settings.token() or token_urlsafe(32)
        self.stopping = False
        self.on_restored: Callable[[], None] = _nothing
        logger.info("loaded %d tables", len(self.dataset.bases))

    @property
    def ready(self) -> bool:
        """Whether calls are answered; false while a restore reads or stands, and while the server stops."""
        return not self.stopping and not self.control.restoring

    def stop(self) -> None:
        """Take no more calls, and turn away those that wait for a checkpoint to end."""
        self.stopping = True
        self.control.gate.turn_away()

    def sweep(self) -> None:
        """Close idle sessions, unless a checkpoint is open: it holds what lives."""
        if self.control.gate.is_open:
            self.sessions.sweep()


def _nothing() -> None:
    """Do nothing."""
