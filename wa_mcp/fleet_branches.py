"""A session's past, on whichever server it lives: forks, differences, history, and the way back."""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from checkpoint import Answer, Nonsense, Participant
from checkpoint.asking import Request, ask_all
from checkpoint.errors import InvalidParams
from checkpoint.restoring import place_of
from wa_mcp.branching import MOST_BRANCHES
from wa_mcp.endpoints import Peer
from wa_mcp.fleet_sessions import FleetSessions
from wa_mcp.seeding import new_session_id

__all__ = ["FleetBranches"]


class FleetBranches(FleetSessions):
    """The part of a `Controller` that is about what sessions were, and what may become of them."""

    async def fork(
        self,
        session_id: str,
        count: int | None = None,
        *,
        session_ids: Sequence[str] | None = None,
        at_revision: int | None = None,
        episodes: Iterable[Mapping[str, Any]] | None = None,
        timeout_seconds: float | None = None,
    ) -> list[dict[str, Any]]:
        """Make sessions that start where a session stands, or stood: all of them or none.

        Args:
            session_id: The session that is forked; it stays as it is.
            count: So many; if neither this nor ids are given, one, or as many as episodes.
            session_ids: Or these. They have to be ids that are placed on the same server.
            at_revision: The state to start from; as it is now if not given.
            episodes: `{"rolloutId", "attempt"}` for each; made from the ids if not given.
            timeout_seconds: How long it may take.

        Returns:
            sessionId, path, url and episode of each, in order.

        Raises:
            FleetError: Its server refused, or did not answer.
            InvalidParams: Ids that are placed on another server, or no number of forks.
        """
        home, given = self._home(session_id), None if episodes is None else list(episodes)
        if session_ids is None:
            wanted = 1 if given is None else len(given)
            ids = self._ids_placed_with(home, wanted if count is None else count)
        elif count is not None:
            raise InvalidParams("give a count or session_ids, not both")
        else:
            ids = list(session_ids)
            self._check_placed_with(home, ids)
        asked: dict[str, Any] = {"sessionId": session_id, "sessionIds": ids, "atRevision": at_revision}
        if given is not None:
            asked["episodes"] = given
        answer = await self._asked(home, "sessions/fork", asked, timeout_seconds, _has_forks(ids))
        return answer["sessions"]

    async def rewind(self, session_id: str, revision: int, *, timeout_seconds: float | None = None) -> int:
        """Take a session back to a revision and answer it; what came after is gone, unless it was forked.

        Raises:
            FleetError: Its server refused, or did not answer.
        """
        asked = {"sessionId": session_id, "revision": revision}
        home, check = self._home(session_id), _has("revision", int)
        return (await self._asked(home, "sessions/rewind", asked, timeout_seconds, check))["revision"]

    async def history(self, session_id: str, *, timeout_seconds: float | None = None) -> list[dict[str, Any]]:
        """Tell the calls that changed something, oldest first, as `sessions/history` does.

        Raises:
            FleetError: Its server does not know it, or does not answer.
        """
        told: list[dict[str, Any]] = []
        asked = {"sessionId": session_id}
        async for page in self._pages("sessions/history", asked, timeout_seconds, _has("history", list)):
            told += page["history"]
        return told

    async def diff(
        self,
        session_id: str,
        *,
        from_revision: int | None = None,
        to_revision: int | None = None,
        other_session_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> dict[str, Any]:
        """Tell in which rows two states of a session, or two sessions, differ, and which calls made it so.

        Args:
            session_id: The session.
            from_revision: The first state; as it was seeded if not given.
            to_revision: The second state; as it is now if not given.
            other_session_id: Instead of revisions: the session to compare with, both as they are now.
            timeout_seconds: How long a page may take.

        Returns:
            `{table: {added, removed, changed, relabelled?}}`, as `sessions/diff` answers.

        Raises:
            FleetError: Its server refused, or does not answer.
            InvalidParams: The two live on different servers.
        """
        if other_session_id is not None and self._home(other_session_id) is not self._home(session_id):
            raise InvalidParams("the two sessions live on different servers and cannot be compared")
        asked = {
            "sessionId": session_id,
            "fromRevision": from_revision,
            "toRevision": to_revision,
            "otherSessionId": other_session_id,
        }
        tables: dict[str, Any] = {}
        async for page in self._pages("sessions/diff", asked, timeout_seconds, _has("tables", dict)):
            for name, found in page["tables"].items():
                _add(tables.setdefault(name, {"added": [], "removed": [], "changed": []}), found)
        return tables

    async def _pages(
        self,
        operation: str,
        asked: Mapping[str, Any],
        timeout_seconds: float | None,
        check: "_Check",
    ) -> AsyncGenerator[Answer]:
        page: Answer = {"nextCursor": None}
        while "nextCursor" in page:
            request = {**asked, "cursor": page["nextCursor"]}
            page = await self._asked(
                self._home(asked["sessionId"]), operation, request, timeout_seconds, check
            )
            yield page

    async def _asked(
        self,
        home: Peer,
        operation: str,
        asked: Mapping[str, Any],
        timeout_seconds: float | None,
        check: "_Check",
    ) -> Answer:
        given = {name: value for name, value in asked.items() if value is not None}
        within = timeout_seconds or self._timeout
        outcomes = await ask_all(operation, [Request(home, given)], check, within, self._fleet.patience)
        (answer,) = outcomes.require().values()
        return answer

    def _ids_placed_with(self, home: Peer, count: int) -> list[str]:
        """Make ids that are placed on this server: of two servers, every second id is."""
        _check_number(count)
        homes = self._homes()
        place, made = homes.index(home), iter(new_session_id, "")
        return list(islice((it for it in made if place_of(it, len(homes)) == place), count))

    def _check_placed_with(self, home: Peer, ids: Sequence[str]) -> None:
        _check_number(len(ids))
        if strange := [number for number, it in enumerate(ids) if self._home(it) is not home]:
            raise InvalidParams(
                f"session_ids: {len(strange)} of them are placed on another server than the session that is "
                f"forked, first the one at place {strange[0]}; give a count instead to have ids made"
            )


def _check_number(count: object) -> None:
    if type(count) is not int or not 1 <= count <= MOST_BRANCHES:
        raise InvalidParams(f"1 to {MOST_BRANCHES} forks can be made at once, not {ascii(count)[:60]}")


_Check = Callable[[Participant, Answer], None]


def _has(name: str, kind: type) -> _Check:
    def check(_: Participant, answer: Answer) -> None:
        if not isinstance(answer.get(name), kind):
            raise Nonsense(f"there is no {name} in it")

    return check


def _has_forks(ids: Sequence[str]) -> _Check:
    def check(_: Participant, answer: Answer) -> None:
        forks = answer.get("sessions")
        if not isinstance(forks, list) or [it.get("sessionId") for it in cast("list[Any]", forks)] != ids:
            raise Nonsense("its forks are not those that were asked for")

    return check


def _add(shown: dict[str, Any], found: Mapping[str, Any]) -> None:
    for kind, facts in found.items():
        shown[kind] = [*shown[kind], *facts] if isinstance(facts, list) else facts
