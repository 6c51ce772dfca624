"""Asking servers who they are, before they are a fleet."""

from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from checkpoint import Answer, AskFailed, FleetError, Kind, Nonsense, Participant, Patience
from checkpoint.asking import Request, ask
from checkpoint.checks import check_timeout
from checkpoint.errors import InvalidParams
from checkpoint.files import check_name
from wa_mcp.endpoints import Peer

__all__ = ["join"]

STATUS = "checkpoint/status"


async def join(peers: Sequence[Peer], within: float, patience: Patience) -> None:
    """Learn kind and instance of each server from its status.

    Args:
        peers: The servers; they are told who they are.
        within: Seconds that each has.
        patience: How often one that does not reply is asked again.

    Raises:
        FleetError: One does not answer, refuses, or is no such server; all that failed are named by address.
    """
    check_timeout(within)
    reasons: dict[str, AskFailed] = {}

    async def one(peer: Peer) -> None:
        try:
            answer = await ask(STATUS, Request(peer, {}), _says_who, within, patience)
        except AskFailed as error:
            reasons[peer.address] = error
        else:
            peer.kind, peer.instance = Kind(answer["kind"]), answer["instance"]

    async with anyio.create_task_group() as tasks:
        for peer in peers:
            tasks.start_soon(one, peer)
    if reasons:
        raise FleetError(STATUS, reasons)


def _says_who(_: Participant, answer: Answer) -> None:
    said: Mapping[str, Any] = answer
    try:
        Kind(said.get("kind", ""))
        check_name(said["instance"], "instance")
    except (KeyError, TypeError, ValueError, InvalidParams) as error:
        raise Nonsense("it does not say which kind and instance it is") from error
