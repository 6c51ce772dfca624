"""The sessions as a checkpoint sees them: given out by reference, rebuilt whole, installed all or none."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Final

from checkpoint import Episode, EpisodeJson, LiveSession, State, StateExport, Verify, read_episode
from checkpoint.errors import SessionLimit, SessionSpent
from toolkits.workplace import Dataset
from wa_mcp.errors import SessionError
from wa_mcp.seeding import is_session_id
from wa_mcp.session import Session, SessionState
from wa_mcp.sessions import MOST_SPENT, Sessions
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
        self, states: Sequence[State], bases: Mapping[str, Any], attempt_step: int
    ) -> "Restored":
        """Build sessions, so many attempts further on; in a worker thread.

        Raises:
            ValueError: One does not validate; the message names session, table and reason.
        """
        known = {dataset.digest: dataset for dataset in self._datasets()}
        thawed = Thawed(self._sessions.dataset.catalogue, known, bases)
        return Restored(self._sessions, [thawed.session(state, attempt_step) for state in states])

    def take_out_session_states(self, session_ids: Sequence[str]) -> "TakenOut":
        """Drop sessions without spending their ids."""
        return TakenOut(self._sessions, self._sessions.remove(session_ids))

    def retire_session_state(self, session_id: str) -> None:
        """Drop a session for good."""
        self._sessions.retire(session_id)

    def export_server_facts(self) -> dict[str, Any]:
        """Remember the spent ids, oldest first, each with the episode of a retired one."""
        return {"spent": list(self._sessions.spent.items())}

    def restore_server_facts(self, facts: Sequence[Any]) -> "SpentIds":
        """Merge what servers have remembered.

        Raises:
            ValueError: It is not what `export_server_facts` gives.
        """
        return SpentIds(self._sessions, _read_spent(facts))

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


class SpentIds:
    """Spent ids that came with a restore."""

    def __init__(self, sessions: Sessions, incoming: Mapping[str, Episode | None]) -> None:
        self._sessions: Final = sessions
        self._incoming: Final = incoming
        self._new: list[str] = []
        self._pushed_out: list[tuple[str, EpisodeJson | None]] = []

    def install(self) -> None:
        """Refuse these ids from now on, beside those refused already; one that lives here lives on."""
        known = self._sessions.spent
        live = {session.id for session in self._sessions.live(self._incoming)}
        self._new = [one for one in self._incoming if one not in known and one not in live]
        self._pushed_out = list(islice(known.items(), max(len(known) + len(self._new) - MOST_SPENT, 0)))
        for session_id in self._new:
            self._sessions.spend(session_id, self._incoming[session_id])

    def discard(self) -> None:
        """Forget those that were new, and remember those that had to go for them."""
        spent = self._sessions.spent
        for session_id in self._new:
            spent.pop(session_id, None)
        room = MOST_SPENT - len(spent)
        for session_id, episode in reversed(self._pushed_out[-room:] if room else []):
            spent[session_id] = episode
            spent.move_to_end(session_id, last=False)


def _read_spent(facts: Sequence[Any]) -> dict[str, Episode | None]:
    read: dict[str, Episode | None] = {}
    for fact in facts:
        match fact:
            case {"spent": [*entries]} if len(fact) == 1:
                read.update(map(_read_spent_id, entries))
            case _:
                raise ValueError("server facts: expected the spent ids")
    if len(read) > MOST_SPENT * len(facts):
        raise ValueError("server facts: more spent ids than a server remembers")
    return read


def _read_spent_id(entry: Any) -> tuple[str, Episode | None]:
    match entry:
        case [str(session_id), None] if is_session_id(session_id):
            return session_id, None
        case [str(session_id), episode] if is_session_id(session_id):
            return session_id, read_episode(episode)
        case _:
            raise ValueError("server facts: a spent id is a list of an id, and an episode or null")
