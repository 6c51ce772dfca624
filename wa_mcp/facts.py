"""What a server remembers beside its sessions, spent ids and results of verifies: out, in, and merged."""

from collections.abc import Mapping, Sequence
from itertools import islice
from string import hexdigits
from typing import Any, Final, NamedTuple, cast

from checkpoint import Episode, EpisodeJson, read_episode
from wa_mcp.seeding import is_session_id
from wa_mcp.sessions import Sessions
from wa_mcp.spent import MOST_SPENT
from wa_mcp.verified import MOST_VERIFIED, Kept

__all__ = ["Incoming", "Merged", "export_facts", "read_facts"]


def export_facts(sessions: Sessions) -> dict[str, Any]:
    """Show the spent ids, each with the episode of a retired one, and the kept results, both oldest first.

    References only: it is taken on the event loop, and encoded elsewhere.
    """
    return {"spent": list(sessions.spent.items()), "verified": list(sessions.verified)}


class Incoming(NamedTuple):
    """What servers have remembered: spent ids with the episode of retired ones, and results by session id."""

    spent: dict[str, Episode | None]
    verified: dict[str, Kept]


def read_facts(facts: Sequence[Any]) -> Incoming:
    """Read what servers have remembered; one from before there were verifies has no results.

    Raises:
        ValueError: It is not what `export_facts` gives.
    """
    read = Incoming({}, {})
    for fact in facts:
        match fact:
            case {"spent": [*spent], **more} if more.keys() <= {"verified"}:
                verified = more.get("verified", [])
            case _:
                raise ValueError("server facts: expected the spent ids")
        if not isinstance(verified, list):
            raise ValueError("server facts: the results of verifies are not a list")
        read.spent.update(map(_read_spent_id, spent))
        read.verified.update(map(_read_result, cast("list[Any]", verified)))
    if len(read.spent) > MOST_SPENT * len(facts):
        raise ValueError("server facts: more spent ids than a server remembers")
    if len(read.verified) > MOST_VERIFIED * len(facts):
        raise ValueError("server facts: more results of verifies than a server keeps")
    return read


def _read_spent_id(entry: Any) -> tuple[str, Episode | None]:
    match entry:
        case [str(session_id), None] if is_session_id(session_id):
            return session_id, None
        case [str(session_id), episode] if is_session_id(session_id):
            return session_id, read_episode(episode)
        case _:
            raise ValueError("server facts: a spent id is a list of an id, and an episode or null")


def _read_result(entry: Any) -> tuple[str, Kept]:
    match entry:
        case [str(session_id), str(asked), {"reward": 0.0 | 1.0} as result] if len(asked) == 64 and set(
            hexdigits
        ).issuperset(asked):
            return session_id, Kept.of(asked, cast("Mapping[str, Any]", result))
        case _:
            raise ValueError(
                "server facts: a result is a list of an id, a digest and an object with a reward"
            )


class Merged:
    """Facts on the point of being merged with what is here."""

    def __init__(self, sessions: Sessions, incoming: Incoming) -> None:
        self._sessions: Final = sessions
        self._incoming: Final = incoming
        self._spent: list[str] = []
        self._pushed_out: list[tuple[str, EpisodeJson | None]] = []
        self._verified: list[str] = []

    def install(self) -> None:
        """Refuse these ids from now on, beside those refused already, and keep these results beside ours.

        A session that lives here lives on, and can be scored.
        """
        sessions, (spent, verified) = self._sessions, self._incoming
        live = {session.id for session in sessions.live([*spent, *verified])}
        known = sessions.spent
        self._spent = [one for one in spent if one not in known and one not in live]
        self._pushed_out = list(islice(known.items(), max(len(known) + len(self._spent) - MOST_SPENT, 0)))
        for session_id in self._spent:
            known.add(session_id, spent[session_id])
        results = {one: kept for one, kept in verified.items() if one not in live}
        self._verified = sessions.verified.keep_older(results)

    def discard(self) -> None:
        """Forget those that were new, and remember those that had to go for them."""
        spent = self._sessions.spent
        for session_id in self._spent:
            spent.pop(session_id, None)
        room = MOST_SPENT - len(spent)
        for session_id, episode in reversed(self._pushed_out[-room:] if room else []):
            spent[session_id] = episode
            spent.move_to_end(session_id, last=False)
        self._sessions.verified.forget(self._verified)
