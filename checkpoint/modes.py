"""The three ways a server takes part in a checkpoint, behind one interface."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from checkpoint import hooks
from checkpoint.admission import VERIFY, Call
from checkpoint.episode import Episode
from checkpoint.hooks import Installation, Nothing, Server, SessionStates, State, StateExport, TakenOut


class Participation(Protocol):
    """How a server takes part."""

    mode: ClassVar[hooks.Mode]

    def holds_up(self, call: Call) -> bool:
        """Whether a call in flight keeps a checkpoint from being prepared."""
        ...

    def restarts(self) -> list[Episode]:
        """The live episodes that can only be started again."""
        ...

    def export(self, sessions: Collection[hooks.LiveSession]) -> StateExport:
        """A snapshot of these sessions, by reference."""
        ...

    def rebuild(self, states: Iterable[State], bases: Mapping[str, Any], attempt_step: int) -> Installation:
        """Build stored sessions. Raises ValueError if one does not validate."""
        ...

    def take_out(self, session_ids: Sequence[str]) -> TakenOut:
        """Drop sessions another server goes on with."""
        ...


class Exported:
    """A server that gives its sessions out and takes them back."""

    mode: ClassVar[hooks.Mode] = "exported"

    def __init__(self, server: SessionStates, *, waits_for_verify: bool) -> None:
        """Take part for `server`."""
        self._server, self._waits_for_verify = server, waits_for_verify

    def holds_up(self, call: Call) -> bool:
        """Every call does, but a verify only if it cannot be run twice."""
        return self._waits_for_verify or call.operation != VERIFY

    def restarts(self) -> list[Episode]:
        """None."""
        return []

    def export(self, sessions: Collection[hooks.LiveSession]) -> StateExport:
        """What the server exports."""
        return self._server.export_session_states([session.session_id for session in sessions])

    def rebuild(self, states: Iterable[State], bases: Mapping[str, Any], attempt_step: int) -> Installation:
        """What the server builds."""
        return self._server.restore_session_states(states, bases, attempt_step)

    def take_out(self, session_ids: Sequence[str]) -> TakenOut:
        """Through the server's hook."""
        return self._server.take_out_session_states(session_ids) if session_ids else Nothing()


class Stateless:
    """A server whose sessions hold nothing: they are recorded by name, and there is nothing to rebuild."""

    mode: ClassVar[hooks.Mode] = "stateless"

    def __init__(self, *, waits_for_verify: bool) -> None:
        """Take part for any server."""
        self._waits_for_verify = waits_for_verify

    def holds_up(self, call: Call) -> bool:
        """Every call does, but a verify only if it cannot be run twice."""
        return self._waits_for_verify or call.operation != VERIFY

    def restarts(self) -> list[Episode]:
        """None."""
        return []

    def export(self, sessions: Collection[hooks.LiveSession]) -> StateExport:
        """Id and episode of each session."""
        # They may be a view of live ones: held on to here, walked through later.
        held = tuple(sessions)
        return StateExport(({"sessionId": it.session_id, "episode": it.episode.as_json()} for it in held), {})

    def rebuild(self, states: Iterable[State], bases: Mapping[str, Any], attempt_step: int) -> Installation:
        """Nothing."""
        del states, bases, attempt_step
        return Nothing()

    def take_out(self, session_ids: Sequence[str]) -> TakenOut:
        """Nothing."""
        del session_ids
        return Nothing()


class RestartOnly:
    """A server whose episodes are lost with it: it says which, and holds nobody up."""

    mode: ClassVar[hooks.Mode] = "restart_only"

    def __init__(self, server: Server) -> None:
        """Take part for `server`."""
        self._server = server

    def holds_up(self, call: Call) -> bool:
        """No call does: what it changes is not kept anyway. New ones are refused all the same."""
        del call
        return False

    def restarts(self) -> list[Episode]:
        """Every live episode, each once."""
        return sorted({session.episode for session in self._server.live_sessions()})

    def export(self, sessions: Collection[hooks.LiveSession]) -> StateExport:
        """Nothing."""
        del sessions
        return StateExport((), {})

    def rebuild(self, states: Iterable[State], bases: Mapping[str, Any], attempt_step: int) -> Installation:
        """Nothing, of nothing.

        Raises:
            ValueError: there are states, which no server in this mode wrote.
        """
        del bases, attempt_step
        for _ in states:
            raise ValueError("a server that can only restart its episodes cannot take sessions in")
        return Nothing()

    def take_out(self, session_ids: Sequence[str]) -> TakenOut:
        """Nothing."""
        del session_ids
        return Nothing()


def participation_of(server: Server) -> Participation:
    """How `server` takes part, from what it declares.

    Raises:
        TypeError: it declares a mode that is none, or one whose hooks it lacks.
    """
    mode = getattr(server, "checkpoint_mode", "restart_only")
    verify = getattr(server, "checkpoint_verify", "wait")
    if verify not in ("wait", "repeat"):
        raise TypeError(f"checkpoint_verify is 'wait' or 'repeat', not {verify!r}")
    if mode == "stateless":
        return Stateless(waits_for_verify=verify == "wait")
    if mode == "restart_only":
        return RestartOnly(server)
    if mode != "exported":
        raise TypeError(f"checkpoint_mode is 'exported', 'stateless' or 'restart_only', not {mode!r}")
    if not isinstance(server, SessionStates):
        raise TypeError("a server in mode 'exported' has the hooks of SessionStates")
    return Exported(server, waits_for_verify=verify == "wait")
