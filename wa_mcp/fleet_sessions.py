"""The sessions of a fleet: where they live, and what is done with them on whichever server that is."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any, Final, overload

from mcp.server.lowlevel import Server

from checkpoint import Answer, Coordinator, Kind, Nonsense, Participant, Patience
from checkpoint.asking import Request, ask_all
from checkpoint.errors import InvalidParams
from checkpoint.restoring import place_of
from wa_mcp.endpoints import Endpoint, Peer
from wa_mcp.seeding import is_session_id, new_session_id
from wa_mcp.spreading import spread

__all__ = ["FleetSessions"]


class FleetSessions:
    """The half of a `Controller` that is about sessions; it takes the same parameters."""

    def __init__(
        self,
        endpoints: Iterable[Endpoint | str | Server[Any]],
        *,
        timeout_seconds: float = 60.0,
        reply_within: float = 10.0,
        patience: Patience | None = None,
    ) -> None:
        self._endpoints: Final = [it if isinstance(it, Endpoint) else Endpoint(it) for it in endpoints]
        self._timeout, self._reply_within, self._patience = timeout_seconds, reply_within, patience
        self._peers: list[Peer] = []
        self._coordinator: Coordinator | None = None

    @property
    def instances(self) -> list[str]:
        """The instance names of the servers that have sessions, in the order that sessions are placed by."""
        return [peer.instance for peer in self._homes()]

    def instance(self, session_id: str) -> str:
        """Say which server a session lives on, by its instance name."""
        return self._home(session_id).instance

    def url(self, session_id: str) -> str:
        """Give the URL under which an agent reaches its session, before a crash and after it.

        Raises:
            ValueError: Its server is in memory, and its endpoint has no `public_url`.
        """
        endpoint = self._home(session_id).endpoint
        base = endpoint.public_url or endpoint.base
        if base is None:
            raise ValueError("a server in memory has no URL; give its Endpoint a public_url")
        return f"{base.rstrip('/')}/sessions/{session_id}/mcp"

    @overload
    async def seed(
        self, wanted: Mapping[str, Any] | None = None, *, timeout_seconds: float | None = None
    ) -> dict[str, Any]: ...
    @overload
    async def seed(
        self, wanted: int | Sequence[Mapping[str, Any]], *, timeout_seconds: float | None = None
    ) -> list[dict[str, Any]]: ...
    async def seed(
        self,
        wanted: int | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        *,
        timeout_seconds: float | None = None,
    ) -> dict[str, Any] | list[dict[str, Any]]:
        """Seed one session, or thousands.

        Args:
            wanted: The parameters of `sessions/seed` for one session; nothing, for one with all toolkits; a
                list of parameters, or a number, for so many. Ids that are not given are made here.
            timeout_seconds: How long each server may take for a thousand.

        Returns:
            What `sessions/seed` answers for each, in order: sessionId, path, url, episode, toolkits, tools
            and clientConfig.

        Raises:
            FleetError: A server refused its part, or did not answer. Other servers may have seeded theirs:
                with the same ids it can be asked for again.
        """
        if isinstance(wanted, int):
            entries: list[Mapping[str, Any]] = [{}] * wanted
        elif wanted is None or isinstance(wanted, Mapping):
            entries = [wanted or {}]
        else:
            entries = list(wanted)
        placed = [{**entry, "sessionId": entry.get("sessionId") or new_session_id()} for entry in entries]
        seeded = await self._spread("sessions/seed", placed, "sessions", "sessions", timeout_seconds)
        return seeded[0] if wanted is None or isinstance(wanted, Mapping) else seeded

    @overload
    async def verify(
        self, items: Mapping[str, Any], *, timeout_seconds: float | None = None
    ) -> dict[str, Any]: ...
    @overload
    async def verify(
        self, items: Sequence[Mapping[str, Any]], *, timeout_seconds: float | None = None
    ) -> list[dict[str, Any]]: ...
    async def verify(
        self,
        items: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        timeout_seconds: float | None = None,
    ) -> dict[str, Any] | list[dict[str, Any]]:
        """Score sessions.

        Args:
            items: The parameters of `sessions/verify` for one session, or a list of them.
            timeout_seconds: How long each server may take for a thousand.

        Returns:
            The result for one; for a list, `{sessionId, result}` or `{sessionId, error}` for each, in order.

        Raises:
            FleetError: A server did not answer; the others may have scored, and answer the same again.
        """
        if not isinstance(items, Mapping):
            return await self._spread("sessions/verify", items, "items", "results", timeout_seconds)
        home, within = self._home(items["sessionId"]), timeout_seconds or self._timeout
        outcomes = await ask_all(
            "sessions/verify", [Request(home, items)], _anything, within, self._fleet.patience
        )
        return dict(*outcomes.require().values())

    async def close(
        self, session_ids: Iterable[str], *, timeout_seconds: float | None = None
    ) -> dict[str, str]:
        """End sessions and drop their states: forks that are of no use any more, rollouts that are over.

        Args:
            session_ids: Any number of them.
            timeout_seconds: How long each server may take for a thousand.

        Returns:
            What became of each, by id: `closed`, `already_closed`, or `unknown`.

        Raises:
            FleetError: A server did not answer; the others may have closed theirs, and it can be asked again.
            InvalidParams: One is no session's id.
        """
        wanted = [{"sessionId": session_id} for session_id in dict.fromkeys(session_ids)]
        for item in wanted:
            self._home(item["sessionId"])
        closed = await self._spread("sessions/close", wanted, "sessions", "sessions", timeout_seconds)
        return {it["sessionId"]: it["outcome"] for it in closed}

    async def sessions(self) -> AsyncGenerator[dict[str, Any]]:
        """List the live sessions of all servers, as `sessions/list` does; read page by page.

        Raises:
            FleetError: A server does not answer.
        """
        for home in self._homes():
            page: Answer = {"nextCursor": None}
            while "nextCursor" in page:
                request = Request(home, {} if page["nextCursor"] is None else {"cursor": page["nextCursor"]})
                outcomes = await ask_all(
                    "sessions/list", [request], _is_page, self._timeout, self._fleet.patience
                )
                (page,) = outcomes.require().values()
                for session in page["sessions"]:
                    yield session

    async def tables(self, session_id: str, *, timeout_seconds: float | None = None) -> Answer:
        """Show every table of a session whole, as `sessions/tables` does, with its revision.

        Raises:
            FleetError: Its server does not know it, or does not answer.
        """
        request = Request(self._home(session_id), {"sessionId": session_id})
        within = timeout_seconds or self._timeout
        outcomes = await ask_all("sessions/tables", [request], _has_tables, within, self._fleet.patience)
        return dict(*outcomes.require().values())

    @property
    def _fleet(self) -> Coordinator:
        if self._coordinator is None:
            raise RuntimeError("a Controller is used inside of `async with`")
        return self._coordinator

    def _homes(self) -> list[Peer]:
        homes = [peer for peer in self._peers if peer.kind is Kind.ENVIRONMENT]
        if not homes:
            raise InvalidParams("no server of this fleet has sessions")
        return sorted(homes, key=lambda peer: peer.instance)

    def _home(self, session_id: str) -> Peer:
        if not is_session_id(session_id):
            raise InvalidParams(
                f"{ascii(session_id)[:60]} is no session's id: 16 to 128 of A-Z a-z 0-9 _ and -"
            )
        homes = self._homes()
        return homes[place_of(session_id, len(homes))]

    async def _spread(
        self,
        operation: str,
        items: Sequence[Mapping[str, Any]],
        asked: str,
        answered: str,
        timeout_seconds: float | None,
    ) -> list[dict[str, Any]]:
        within = timeout_seconds or self._timeout
        return await spread(
            self._fleet, self._homes(), operation, items, asked=asked, answered=answered, within=within
        )


def _anything(_: Participant, __: Answer) -> None:
    """Pass on whatever the server answers."""


def _has_tables(_: Participant, answer: Answer) -> None:
    if not isinstance(answer.get("tables"), dict):
        raise Nonsense("there are no tables in it")


def _is_page(_: Participant, answer: Answer) -> None:
    sessions, cursor = answer.get("sessions"), answer.get("nextCursor", "")
    if not isinstance(sessions, list) or not isinstance(cursor, str):
        raise Nonsense("it is no page of sessions")
