"""Calls done on a fresh workplace, one after the other, and what came of them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from toolkits.tool import InputError, Tool
from toolkits.workplace import Workplace
from wa_mcp.errors import CodedError
from wa_mcp.transcripts import Asked

__all__ = ["Counts", "GroundTruthError", "Problem", "Replay", "replay", "replay_ground_truth", "shown_name"]

LONGEST_NAME: Final = 300
"""Characters of a tool's name that are looked at and echoed."""

_PREFIX: Final = "mcp__"


class Counts(NamedTuple):
    """How many calls there were, how many of them failed, and how many only read."""

    calls: int
    errors: int
    reads: int

    def as_json(self) -> dict[str, int]:
        """Show it as it goes over the wire."""
        return self._asdict()


class Problem(NamedTuple):
    """A call that was skipped: it could not be read, has no such tool, or does not fit the tool's schema.

    Attributes:
        position: Its place among the calls, from 0.
        name: The tool's name as the model wrote it, None where there was none.
        reason: A sentence.
    """

    position: int
    name: str | None
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Show it as it goes over the wire."""
        return self._asdict()


class Replay(NamedTuple):
    """What calls came to.

    Attributes:
        workplace: The tables that they left.
        made: Revision of the workplace to (position of the call that made it, its name as written).
        problems: The calls that were skipped.
        counts: Calls, errors (skipped ones among them) and reads.
    """

    workplace: Workplace
    made: Mapping[int, tuple[int, str]]
    problems: tuple[Problem, ...]
    counts: Counts


class GroundTruthError(CodedError):
    """A ground truth that does not run cleanly on a fresh workplace: it cannot score anything.

    Facts: `position` in the ground truth from 0, `name` of the call as written, and the `reason`.
    """

    def __init__(self, position: int, name: str | None, reason: str) -> None:
        called = "a call" if name is None else name
        super().__init__(
            "invalid_params",
            f"groundTruth[{position}]: {called} does not run on a fresh workplace: {reason}",
            position=position,
            name=name,
            reason=reason,
        )


class _Done(NamedTuple):
    """What one call came to: what was wrong with it, and whether it was so wrong that it was skipped."""

    workplace: Workplace
    changed: bool = False
    error: str = ""
    skipped: bool = False


def replay(fresh: Workplace, calls: Sequence[Asked], tools: Collection[str] | None = None) -> Replay:
    """Do a model's calls; what cannot be done is skipped, as it does nothing in a live session either.

    Args:
        fresh: A workplace without changes.
        calls: At most `MOST_CALLS` calls.
        tools: Names of the tools that the model could see; None for all of the workplace's toolkits.
    """
    workplace, errors, reads = fresh, 0, 0
    made: dict[int, tuple[int, str]] = {}
    problems: list[Problem] = []
    for position, call in enumerate(calls):
        done = _do(workplace, call, tools)
        workplace = done.workplace
        if done.error:
            errors += 1
            if done.skipped:
                problems.append(Problem(position, shown_name(call.name), done.error))
        elif done.changed:
            made[workplace.revision] = position, shown_name(call.name) or ""
        else:
            reads += 1
    return Replay(workplace, made, tuple(problems), Counts(len(calls), errors, reads))


def replay_ground_truth(fresh: Workplace, calls: Sequence[Asked]) -> Replay:
    """Do the calls of a ground truth, all of which must succeed.

    It says how the tables should end, not how a model gets them there: it may use every tool of the
    workplace's toolkits, also one that the model cannot see.

    Raises:
        GroundTruthError: A call fails.
    """
    workplace, reads = fresh, 0
    made: dict[int, tuple[int, str]] = {}
    for position, call in enumerate(calls):
        done = _do(workplace, call, None)
        name = shown_name(call.name)
        if done.error:
            raise GroundTruthError(position, name, done.error)
        workplace = done.workplace
        if done.changed:
            made[workplace.revision] = position, name or ""
        else:
            reads += 1
    return Replay(workplace, made, (), Counts(len(calls), 0, reads))


def _do(workplace: Workplace, call: Asked, tools: Collection[str] | None) -> _Done:
    if call.problem or call.name is None:
        return _Done(workplace, error=call.problem or "The call has no name.", skipped=True)
    tool = _tool_named(workplace, call.name)
    if tool is None or (tools is not None and tool.name not in tools):
        return _Done(workplace, error="There is no such tool.", skipped=True)
    try:
        tool.read(call.arguments)
    except InputError as error:
        return _Done(workplace, error=str(error), skipped=True)
    after, outcome = workplace.call(tool.name, call.arguments)
    if outcome.is_error:
        return _Done(workplace, error=str(outcome.value))
    return _Done(after, changed=bool(outcome.changed))


def _tool_named(workplace: Workplace, name: str) -> Tool | None:
    """Find a tool of the workplace by its name, with or without a client's prefix `mcp__<server>__`."""
    if len(name) > LONGEST_NAME:
        return None
    catalogue = workplace.dataset.catalogue
    tool = catalogue.tools.get(name)
    if tool is None and name.startswith(_PREFIX):
        # A server's name may hold the separator itself, so the tool's name is what is behind the last one.
        server, _, bare = name.removeprefix(_PREFIX).rpartition("__")
        tool = catalogue.tools.get(bare) if server else None
    if tool is None or any(spec.name not in workplace.tables for spec in catalogue.specs([tool.toolkit])):
        return None
    return tool


def shown_name(name: str | None) -> str | None:
    """Give a name back as it was written, but no longer than a name is looked at, and as Unicode."""
    if name is None:
        return None
    return name[:LONGEST_NAME].encode("utf-8", "backslashreplace").decode()
