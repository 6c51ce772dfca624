"""How long a tool call takes with all of MCP around it, beside a tool that answers a constant.

Both are asked by turns, a block of calls each, tool by tool. Over HTTP every call is made in a session of its
own, so that each finds the tables as they came and the answer is the same; over HTTP, too, the processor time
of both servers is reported, since what the load itself takes says nothing about a server.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Final, TypeVar

from mcp import Client

from benchmarks.calls import CALLS
from benchmarks.echo import constants, echo_server
from benchmarks.findings import Finding, Target, found, over_tools
from benchmarks.harness import Effort, Pairs, as_served
from benchmarks.load import request, send
from benchmarks.servers import Server, echo_process, our_process
from wa_mcp import Runtime, Settings, agent_server

__all__ = ["end_to_end"]

T = TypeVar("T")

TARGET: Final = Target(share=1.25)
ROUNDS: Final = 5
IN_MEMORY_CALLS: Final = 20
CALLS_FOR: Final = {1: 24, 32: 96}
"""Calls in a block, by the number of clients."""

_WHAT: Final = "a tool call end to end"


@dataclass
class _Taken:
    """Samples of one server: seconds a call by tool, and processor seconds a call by round."""

    wall: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in CALLS})
    processor: list[float] = field(default_factory=list[float])


async def end_to_end(effort: Effort) -> list[Finding]:
    """Call every tool in memory, and over HTTP with one client and with many."""
    findings = await _in_memory(effort)
    with our_process() as ours, echo_process() as echo:
        await _check_same(ours, echo)
        for clients, calls in CALLS_FOR.items():
            findings += await _over_http(ours, echo, clients, effort.size(calls), effort.rounds(ROUNDS))
    return findings


async def _in_memory(effort: Effort) -> list[Finding]:
    runtime = Runtime(Settings())
    runtime.dataset.prepare()  # as a server does when it starts
    session, answers = runtime.sessions.seed(), await constants(runtime)
    fresh, own, theirs = session.state, _Taken(), _Taken()

    async def block(client: Client, name: str, calls: int) -> float:
        arguments = dict(CALLS[name])
        begun = perf_counter()
        for _ in range(calls):
            session.state = fresh
            await client.call_tool(name, arguments)
        return (perf_counter() - begun) / calls

    async with Client(agent_server(runtime, session.id)) as ours, Client(echo_server(answers)) as echo:
        await ours.list_tools()
        await echo.list_tools()
        with as_served():
            for turn in range(effort.rounds(ROUNDS) + 1):
                calls = effort.size(IN_MEMORY_CALLS) if turn else 1
                for name in CALLS:
                    for client, taken in _in_turn(turn, (ours, own), (echo, theirs)):
                        taken.wall[name].append(await block(client, name, calls))
    return _walls(f"{_WHAT}, in memory", own, theirs)


async def _over_http(ours: Server, echo: Server, clients: int, calls: int, rounds: int) -> list[Finding]:
    own, theirs = _Taken(), _Taken()
    for turn in range(rounds + 1):
        spent = {id(own): 0.0, id(theirs): 0.0}
        # All at once and beforehand: who has just seeded sessions is slower at the next calls.
        paths = {server.pid: await server.sessions(calls * len(CALLS)) for server in (ours, echo)}
        for place, name in enumerate(CALLS):
            for server, taken in _in_turn(turn, (ours, own), (echo, theirs)):
                sessions = paths[server.pid][place * calls : (place + 1) * calls]
                wall, processor = await _block(server, name, sessions, clients)
                taken.wall[name].append(wall)
                spent[id(taken)] += processor / len(CALLS)
        own.processor.append(spent[id(own)])
        theirs.processor.append(spent[id(theirs)])
    where = f"HTTP, {clients} client{'s' if clients > 1 else ''}"
    findings = _walls(f"{_WHAT}, {where}", own, theirs)
    if all(theirs.processor[1:]):
        pairs = Pairs(theirs.processor[1:], own.processor[1:])
        what = f"server processor time a call, {where}"
        findings.insert(1, found("end_to_end", what, pairs, against="echo", is_share=True))
    return findings


async def _block(server: Server, name: str, paths: Sequence[str], clients: int) -> tuple[float, float]:
    """Call a tool in each of these sessions, and give the seconds and the processor seconds for one call."""
    requests = [request(server.base, path, name, CALLS[name]) for path in paths]
    before = server.processor_time()
    took, _ = await send(server.base, requests, clients)
    after = server.processor_time()
    spent = 0.0 if before is None or after is None else after - before
    return took / len(paths), spent / len(paths)


async def _check_same(ours: Server, echo: Server) -> None:
    """See to it that both answer the very same, or else there is nothing to compare."""
    for name in CALLS:
        answers: list[object] = []
        for server in (ours, echo):
            [path] = await server.sessions(1)
            _, [body] = await send(server.base, [request(server.base, path, name, CALLS[name])], 1)
            answers.append(json.loads(body)["result"])
        if answers[0] != answers[1]:
            raise RuntimeError(f"{name}: the echo answers otherwise: {answers}")


def _in_turn(turn: int, *sides: tuple[T, _Taken]) -> Sequence[tuple[T, _Taken]]:
    """Give the sides in an order that changes with every round."""
    return sides if turn % 2 else sides[::-1]


def _walls(what: str, own: _Taken, theirs: _Taken) -> list[Finding]:
    """Sum the tools up in one row, without the first round, and show each of them in detail."""
    pairs: Mapping[str, Pairs] = {name: Pairs(theirs.wall[name][1:], own.wall[name][1:]) for name in CALLS}
    calls = 1 / median(median(each.ours) for each in pairs.values())
    note = f"{calls:,.0f} calls a second"
    summed = over_tools("end_to_end", what, pairs, against="echo", target=TARGET, note=note)
    details = [
        found("end_to_end", f"{what}: {name}", each, against="echo", is_share=True, detail=True)
        for name, each in pairs.items()
    ]
    return [summed, *details]
