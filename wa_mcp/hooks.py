"""The sessions as a checkpoint sees them: given out by reference, rebuilt whole, installed all or none."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from checkpoint import LiveSession, State, StateExport, Verify
from checkpoint.errors import SessionLimit, SessionSpent
from toolkits.workplace import Dataset
from wa_mcp.errors import SessionError
from wa_mcp.facts import Merged, export_facts, read_facts
from wa_mcp.session import Session
from wa_mcp.session_state import SessionState
from wa_mcp.sessions import Sessions
from wa_mcp.states import Thawed, freeze_state, frozen_bases

__all__ = ["SessionHooks"]


class SessionHooks:
    """Gives the sessions of a registry out, and takes sessions in.

    Args:
        sessions: The registry.
    """

    checkpoint_mode: Final = "exported"
    checkpoint_verify: Final[Verify] = "wait"

    def __init__(self, sessions: Sessions) -> None:
        self._sessions: Final = sessions

    def live_sessions(self) -> Collection[LiveSession]:
        """The sessions that live now."""
        return _Live(self._sessions)

    def export_session_states(self, session_ids: Sequence[str]) -> StateExport:
        """Take a snapshot of these sessions: references to their states, which never change."""
        states = [session.state for session in self._sessions.live(session_ids)]
        return StateExport(map(freeze_state, states), _Bases(states))

    def restore_session_states(
        self, states: Iterable[State], bases: Mapping[str, Any], attempt_step: int
    ) -> "Restored":
        """Build sessions, so many attempts further on; in a worker thread.

        Raises:
            ValueError: One does not validate; the message names session, table and reason.
        """
        known = {dataset.digest: dataset for dataset in self._datasets()}
        thawed = Thawed(self._sessions.dataset.catalogue, known, bases)
        restored = [thawed.session(state, attempt_step) for state in states]
        brought = {state.workplace.dataset.digest: state.workplace.dataset for state in restored}
        for digest in brought.keys() - known.keys():
            brought[digest].prepare()  # here, where no call has to wait for it
        return Restored(self._sessions, restored)

    def take_out_session_states(self, session_ids: Sequence[str]) -> "TakenOut":
        """Drop sessions without spending their ids."""
        return TakenOut(self._sessions, self._sessions.remove(session_ids))

    def retire_session_state(self, session_id: str) -> None:
        """Drop a session for good."""
        self._sessions.retire(session_id)

    def export_server_facts(self) -> dict[str, Any]:
        """Remember the spent ids and the results of verifies."""
        return export_facts(self._sessions)

    def restore_server_facts(self, facts: Sequence[Any]) -> Merged:
        """Merge what servers have remembered; in a worker thread.

        Raises:
            ValueError: It is not what `export_server_facts` gives.
        """
        return Merged(self._sessions, read_facts(facts))

    def _datasets(self) -> Iterator[Dataset]:
        yield self._sessions.dataset
        for session in self._sessions.list():
            yield session.workplace.dataset


class _Live(Collection[LiveSession]):
    """The live sessions, made out only when somebody walks through them."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions: Final = sessions

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[LiveSession]:
        return iter([session.entry for session in self._sessions.list()])

    def __contains__(self, item: object) -> bool:
        return item in list(self)


class _Bases(Mapping[str, Any]):
    """The data sets that sessions name, and their tables, made out in the thread that writes them."""

    def __init__(self, states: Sequence[SessionState]) -> None:
        self._states: Final = states

    @cached_property
    def _frozen(self) -> dict[str, Any]:
        return frozen_bases(
            {id(state.workplace.dataset): state.workplace.dataset for state in self._states}.values()
        )

    def __getitem__(self, digest: str) -> Any:
        return self._frozen[digest]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frozen)

    def __len__(self) -> int:
        return len(self._frozen)


class Restored:
    """Sessions on the point of going live."""

    def __init__(self, sessions: Sessions, states: Sequence[SessionState]) -> None:
        self._sessions: Final = sessions
        self._states: Final = states

    def install(self) -> None:
        """Make them live; no call has touched them yet.

        Raises:
            SessionSpent: An id has ended here for good.
            SessionLimit: There are too many.
        """
        if spent := [state.session_id for state in self._states if state.session_id in self._sessions.spent]:
            raise SessionSpent(spent)
        try:
            self._sessions.check_room(len(self._states))
        except SessionError:
            raise SessionLimit(self._sessions.most) from None
        self._sessions.add([self._sessions.handle(state, restored=True) for state in self._states])

    def discard(self) -> None:
        """Take them out again, and leave no spent id, also of those that were closed since."""
        ids = [state.session_id for state in self._states]
        self._sessions.remove(ids)
        for session_id in ids:
            self._sessions.spent.pop(session_id, None)


class TakenOut:
    """Sessions that are not live any more, but may have to be again."""

    def __init__(self, sessions: Sessions, taken: Sequence[Session]) -> None:
        self._sessions: Final = sessions
        self._taken: Final = taken

    def put_back(self) -> None:
        """Make live again those whose ids are still free and whose attempts were not retired meanwhile."""
        taken = {session.id for session in self._sessions.live([session.id for session in self._taken])}
        free = [
            session
            for session in self._taken
            if session.id not in taken and session.id not in self._sessions.spent
        ]
        self._sessions.add(free)
        for session in free:
            if self._sessions.retired.covers(session.episode):
                self._sessions.retire(session.id)
