"""A running server's state, whatever transports serve it: the data set and its sessions."""

import logging
from typing import Final

from toolkits.dataset import load_dataset
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.sessions import Sessions
from wa_mcp.settings import Settings

__all__ = ["Runtime"]

logger = logging.getLogger(__name__)


class Runtime:
    """The data set, the sessions, and whether the server is ready for calls.

    Args:
        settings: What the server was told.

    Raises:
        toolkits.dataset.DataError: The data set cannot be read.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings: Final = settings
        self.dataset: Final = load_dataset(settings.data, CATALOGUE)
        self.sessions: Final = Sessions(
            self.dataset, most=settings.max_sessions, idle_after=settings.idle_after
        )
        self.stopping = False
        logger.info("loaded %d tables", len(self.dataset.bases))

    @property
    def ready(self) -> bool:
        """Whether calls are answered; false while the server stops."""
        return not self.stopping
