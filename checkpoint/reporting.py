"""How far a server is on the way to a checkpoint."""

from typing import Final

from checkpoint.admission import Gate
from checkpoint.hooks import Server
from checkpoint.lease import Now
from checkpoint.modes import Participation
from checkpoint.results import Report

BLOCKERS_NAMED: Final = 100


class Reporter:
    """Writes reports on one server."""

    def __init__(self, gate: Gate, now: Now, server: Server, participation: Participation) -> None:
        """Report on `server` and the calls that `gate` counts; `now` is the gate's clock."""
        self._gate, self._now = gate, now
        self._server, self._participation = server, participation

    def report(self) -> Report:
        """How far it is now."""
        blockers, now = self._gate.blockers, self._now()
        return {
            "ready": not self._gate.is_open and not blockers,
            "inFlight": len(self._gate.in_flight),
            "sessions": len(self._server.live_sessions()),
            "blockerCount": len(blockers),
            "blockers": [
                {
                    "episode": call.episode.as_json(),
                    "operation": call.operation,
                    "seconds": max(0.0, now - call.started),
                }
                for call in blockers[:BLOCKERS_NAMED]
            ],
            "restarts": [episode.as_json() for episode in self._participation.restarts()],
        }
