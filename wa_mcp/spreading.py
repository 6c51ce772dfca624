"""Lists of sessions, split by the server that each one lives on and put together again in order."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from checkpoint import Answer, Nonsense, Participant
from checkpoint.asking import Check, Request, ask_all
from checkpoint.coordination import Coordinator
from checkpoint.restoring import place_of

__all__ = ["spread"]

AT_ONCE: Final = 1000
"""Sessions in one request: far below what a server takes, and soon answered."""


async def spread(
    fleet: Coordinator,
    servers: Sequence[Participant],
    operation: str,
    items: Sequence[Mapping[str, Any]],
    *,
    asked: str,
    answered: str,
    within: float,
) -> list[dict[str, Any]]:
    """Have each item done by the server that its session lives on.

    Args:
        fleet: How servers are asked.
        servers: The servers that have sessions, in the order that sessions are placed by.
        operation: What to do, such as `sessions/seed`.
        items: What for; each has a `sessionId`.
        asked: The parameter that takes a list of items.
        answered: The field of the answer that has the list of results, each with its `sessionId`.
        within: Seconds that each request may take.

    Raises:
        FleetError: A server did not do its part; the others may have.
    """
    places = [place_of(item["sessionId"], len(servers)) for item in items]
    mine = [[at for at, place in enumerate(places) if place == index] for index in range(len(servers))]
    results: list[dict[str, Any]] = [{}] * len(items)
    for start in range(0, max(map(len, mine)), AT_ONCE):
        slices = [positions[start : start + AT_ONCE] for positions in mine]
        requests = [
            Request(server, {asked: [items[at] for at in part]})
            for server, part in zip(servers, slices, strict=True)
            if part
        ]
        check = _is_list(asked, answered, {id(request.participant): request for request in requests})
        outcomes = await ask_all(operation, requests, check, within, fleet.patience)
        done = iter(outcomes.require().values())
        for part in filter(None, slices):
            for at, result in zip(part, next(done)[answered], strict=True):
                results[at] = result
    return results


def _is_list(asked: str, answered: str, requests: Mapping[int, Request]) -> Check:
    def check(participant: Participant, answer: Answer) -> None:
        items, results = requests[id(participant)].parameters[asked], answer.get(answered)
        if not isinstance(results, list) or len(cast("list[object]", results)) != len(items):
            raise Nonsense(f"{answered} is not a list of as many as were asked for")
        for item, result in zip(items, cast("list[Any]", results), strict=True):
            if not isinstance(result, dict) or result.get("sessionId") != item["sessionId"]:  # pyright: ignore[reportUnknownMemberType]
                raise Nonsense(f"{answered} are not those of the sessions that were asked for")

    return check
