"""Checks tasks, ours or anybody's: does a ground truth run, does it earn the reward, and does idling not?"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

import orjson

from toolkits.workplace import Dataset, Workplace
from wa_mcp.errors import CodedError
from wa_mcp.replay import GroundTruthError
from wa_mcp.scoring import score
from wa_mcp.transcripts import Asked, read_list

__all__ = ["Complaint", "TaskChecks", "check_tasks", "render_checked"]

_SIZES: Final = ("none", "one", "two", "more")
_MOST_WEIGHED: Final = 30  # calls of a ground truth that are left out one by one, to see whether they matter
_UNNAMED: Final = "(no kind)"


class Complaint(NamedTuple):
    """What is wrong with a line.

    Attributes:
        line: Its number in the file, from 1.
        about: The task's id, empty where there is none.
        text: A sentence.
    """

    line: int
    about: str
    text: str


@dataclass
class TaskChecks:
    """What came of checking a file.

    Attributes:
        sizes: Kind to how many tasks end with no change, one, two, and more.
        complaints: In order of lines.
    """

    sizes: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    complaints: list[Complaint] = field(default_factory=list[Complaint])


def check_tasks(lines: Iterable[bytes], dataset: Dataset) -> TaskChecks:
    """Check the lines of a file against the data set they are for; blank lines are skipped.

    The ground truth of a line is its `ground_truth`, or else its `calls`: a list of `{name, arguments}` or
    the JSON text of one, arguments being objects or their JSON text.
    """
    fresh = dataset.workplace(dataset.catalogue.names)
    checks, seen = TaskChecks(), dict[str, int]()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            task = _read(line)
        except ValueError as error:
            checks.complaints.append(Complaint(number, "", str(error)))
            continue
        about = _text(task, "id")
        if about and seen.setdefault(about, number) != number:
            checks.complaints.append(Complaint(number, about, f"the id is that of line {seen[about]} too"))
        checks.complaints += [Complaint(number, about, text) for text in _wrong(task, fresh, checks.sizes)]
    return checks


def render_checked(checks: TaskChecks) -> str:
    """Lay out how many tasks there are of every kind, by size, and every complaint."""
    rows = [("kind", "tasks", *_SIZES)]
    rows += [(kind, str(sum(sizes)), *map(str, sizes)) for kind, sizes in checks.sizes.items()]
    totals = [sum(column) for column in zip(*checks.sizes.values(), strict=True)] or [0] * len(_SIZES)
    rows.append(("all", str(sum(totals)), *map(str, totals)))
    width = max(len(row[0]) for row in rows)
    lines = [f"{row[0]:<{width}}" + "".join(f"{cell:>7}" for cell in row[1:]) for row in rows]
    for complaint in checks.complaints:
        about = f" ({_printable(complaint.about)})" if complaint.about else ""
        lines.append(f"line {complaint.line}{about}: {_printable(complaint.text)}")
    count = len(checks.complaints)
    lines.append(f"{count or 'no'} complaint{'' if count == 1 else 's'}")
    return "\n".join(lines)


def _read(line: bytes) -> Mapping[str, Any]:
    try:
        task = orjson.loads(line)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(task, dict):
        raise ValueError("expected an object")
    return cast("Mapping[str, Any]", task)


def _wrong(task: Mapping[str, Any], fresh: Workplace, sizes: dict[str, list[int]]) -> Iterator[str]:
    """Say what is wrong with a task, and count it in."""
    given = task.get("ground_truth", task.get("calls"))
    counted = sizes.setdefault(_printable(_kind(task)), [0] * len(_SIZES))
    if given is None:
        yield "no ground truth: expected ground_truth or calls"
        return
    try:
        truth = read_list(given, "ground_truth")
        earned = score(fresh, given, given).reward
        idle = score(fresh, given, []).reward
    except GroundTruthError as error:
        facts = error.facts
        name = facts["name"] or "without a name"
        yield f"call {facts['position'] + 1} ({name}) does not run: {facts['reason']}"
        return
    except CodedError as error:
        yield str(error)
        return
    counted[min(len(truth), len(_SIZES) - 1)] += 1
    if earned != 1:
        yield "the ground truth does not score 1 against itself"
    if truth and idle == 1:
        yield "doing nothing scores 1: the calls change nothing"
    else:
        yield from _needless(fresh, truth)
    if task.get("order_sensitive") is False and score(fresh, given, _plain(truth[::-1])).reward != 1:
        yield "order_sensitive is false, but the calls in reverse order score 0"


def _needless(fresh: Workplace, truth: list[Asked]) -> Iterator[str]:
    """Name the changes that the score does not miss when they are left out."""
    if len(truth) > _MOST_WEIGHED:
        return
    tools = fresh.dataset.catalogue.tools
    for position, call in enumerate(truth):
        tool = tools.get(call.name or "")
        if tool is None or not tool.changes:
            continue
        others = _plain([*truth[:position], *truth[position + 1 :]])
        if score(fresh, _plain(truth), others).reward == 1:
            yield f"call {position + 1} of {len(truth)} ({call.name}) makes no difference"


def _plain(calls: list[Asked]) -> list[dict[str, Any]]:
    return [{"name": call.name, "arguments": call.arguments} for call in calls]


def _kind(task: Mapping[str, Any]) -> str:
    category, kind = _text(task, "category"), _text(task, "kind")
    return "/".join(part for part in (category, kind) if part) or _UNNAMED


def _text(task: Mapping[str, Any], name: str) -> str:
    value = task.get(name)
    return value if isinstance(value, str) else ""


def _printable(text: str) -> str:
    """Escape what could move a terminal's cursor, and shorten it: files come from anywhere."""
    shown = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
    return shown if len(shown) <= 500 else f"{shown[:497]}..."
