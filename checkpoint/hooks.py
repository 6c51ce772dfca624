"""What `checkpoint` needs from a server, as Protocols.

A server declares `checkpoint_mode`:

- `"exported"`: it gives its sessions out and takes them back (`SessionStates`);
- `"stateless"`: its sessions hold nothing, so that they existed is all there is to record;
- `"restart_only"`, also when it declares nothing: its episodes can only be started again.

And `checkpoint_verify`: `"wait"` (also when it declares nothing) if a verify must end before a checkpoint is
taken, because it cannot be run twice; `"repeat"` if one that is in flight may be lost and asked for again.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from checkpoint.episode import Episode

Mode = Literal["exported", "stateless", "restart_only"]
Verify = Literal["wait", "repeat"]
State = Mapping[str, Any]
"""One session, JSON-able, with at least `sessionId` and `episode`."""


class LiveSession(NamedTuple):
    """One session a server holds.

    Attributes:
        session_id: its id.
        episode: what it belongs to.
        untouched: it came from a restore, and no call has touched it since.
    """

    session_id: str
    episode: Episode
    untouched: bool = False


@dataclass(frozen=True, slots=True)
class StateExport:
    """A consistent snapshot by reference.

    Taken on the event loop, walked through once in a worker thread while the sessions go on: what it refers
    to must be immutable. Values may be `orjson.Fragment` of one line each.

    Attributes:
        states: one mapping a session; may be a generator that does the work as it is walked through.
        bases: what the states share, by digest; walked through before `states`.
    """

    states: Iterable[State]
    bases: Mapping[str, Any]


class Installation(Protocol):
    """Something built and validated, on the point of going live."""

    def install(self) -> None:
        """Make it all live at once. On the event loop; must not await.

        Raises:
            CheckpointError: something is in the way (`SessionSpent`, `SessionLimit`); nothing was done.
        """
        ...

    def discard(self) -> None:
        """Take everything `install` brought out again, also what changed since, and leave no trace."""
        ...


class TakenOut(Protocol):
    """Sessions that are not live any more, but may have to be again."""

    def put_back(self) -> None:
        """Make live again those whose place is still free. On the event loop; must not await."""
        ...


class Server(Protocol):
    """What every server can say and do."""

    def live_sessions(self) -> Collection[LiveSession]:
        """The sessions it holds now.

        Asked for while admission is closed: better a view that makes nothing new, such as one of kept tuples,
        than a list of fresh ones. Its length alone is asked for most often. What was handed out may change
        with the sessions.
        """
        ...

    def retire_session_state(self, session_id: str) -> None:
        """Drop a session for good; one it does not hold is no error."""
        ...


@runtime_checkable
class SessionStates(Server, Protocol):
    """What a server in mode `"exported"` can do on top."""

    def export_session_states(self, session_ids: Sequence[str]) -> StateExport:
        """Take a snapshot of these sessions: references only, on the event loop.

        A session that is not held any more is left out.
        """
        ...

    def restore_session_states(
        self, states: Iterable[State], bases: Mapping[str, Any], attempt_step: int
    ) -> Installation:
        """Build every session, `attempt_step` attempts further on; called in a worker thread.

        `states` may be walked through once: each is read when the walk comes to it. Those that come out of
        files are `StoredState`: mappings like all others, and faster to read as what they are, with `read`.

        Raises:
            ValueError: one does not validate; the message names session and reason.
        """
        ...

    def take_out_session_states(self, session_ids: Sequence[str]) -> TakenOut:
        """Drop sessions without spending their ids: another server goes on with them."""
        ...


@runtime_checkable
class ServerFacts(Protocol):
    """What a server has to remember beside its sessions, such as spent ids. Optional."""

    def export_server_facts(self) -> Any:
        """A JSON-able snapshot; taken on the event loop, encoded in a worker thread."""
        ...

    def restore_server_facts(self, facts: Sequence[Any]) -> Installation:
        """Validate what servers have remembered, to be merged with what is here; called in a worker thread.

        Raises:
            ValueError: it does not validate.
        """
        ...


class Nothing:
    """An installation, or sessions taken out, of which there are none."""

    def install(self) -> None:
        """Do nothing."""

    def discard(self) -> None:
        """Do nothing."""

    def put_back(self) -> None:
        """Do nothing."""


class NoServerFacts:
    """For a server that remembers nothing beside its sessions."""

    def export_server_facts(self) -> Any:
        """None."""

    def restore_server_facts(self, facts: Sequence[Any]) -> Installation:
        """Nothing to install, whatever was remembered elsewhere."""
        del facts
        return Nothing()


def server_facts_of(server: Server) -> ServerFacts:
    """The optional hooks for server facts, or an object that stands in for them."""
    return server if isinstance(server, ServerFacts) else NoServerFacts()


class Together:
    """Several installations as one: all of them or none."""

    def __init__(self, parts: Sequence[Installation]) -> None:
        """Take the parts, in the order they are installed."""
        self._parts = tuple(parts)

    def install(self) -> None:
        """Install every part; one that refuses takes the earlier ones out again."""
        done: list[Installation] = []
        try:
            for part in self._parts:
                part.install()
                done.append(part)
        except BaseException:
            undo(done)
            raise

    def discard(self) -> None:
        """Take every part out, the last one first."""
        undo(self._parts)


def undo(installed: Sequence[Installation]) -> None:
    """Discard all of `installed`, the last one first; one that raises does not spare the others."""
    with ExitStack() as stack:
        for part in installed:
            stack.callback(part.discard)
