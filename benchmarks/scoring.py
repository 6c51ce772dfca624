"""How long it takes to score a run of five calls.

Every run and every ground truth is another one, so a ground truth that was replayed before is of no use.
"""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from benchmarks.baseline import plain_score
from benchmarks.calls import Call
from benchmarks.findings import Finding, Target, found
from benchmarks.harness import Effort, Side, compare
from benchmarks.offices import prepared_dataset
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.scoring import score

__all__ = ["as_asked", "five_calls", "scoring"]

ROUNDS = 15


async def scoring(effort: Effort) -> list[Finding]:
    """Score a run that is right, and one whose last call is wrong."""
    fresh = prepared_dataset().workplace(CATALOGUE.names)

    def ours(numbers: "count[int]", off: int) -> Callable[[], object]:
        def run() -> object:
            number = next(numbers)
            truth, run = as_asked(five_calls(number)), as_asked(five_calls(number, off))
            return score(fresh, truth, run)

        return run

    def theirs(numbers: "count[int]", off: int) -> Callable[[], object]:
        def run() -> object:
            number = next(numbers)
            return plain_score(five_calls(number), five_calls(number, off))

        return run

    findings: list[Finding] = []
    for what, off in (("score a five-call run", 0), ("score a five-call run with a wrong call", 1)):
        sides = Side(theirs(count(), off)), Side(ours(count(), off), times=10)
        pairs = compare(*sides, effort.rounds(ROUNDS))
        findings.append(found("scoring", what, pairs, target=Target(better=30)))
    return findings


def five_calls(number: int, off: int = 0) -> list[Call]:
    """Give the calls of a run: two that look, three that change something; `off` names another event last."""
    one = f"{number % 200:08}"
    return [
        ("email_search_emails", {"query": f"report {number % 30}"}),
        ("calendar_search_events", {"query": "board"}),
        ("email_reply_email", {"email_id": one, "body": f"Thank you for number {number}."}),
        ("project_management_update_task", {"task_id": one, "field": "list_name", "new_value": "In Review"}),
        ("calendar_delete_event", {"event_id": f"{(number + off) % 200:08}"}),
    ]


def as_asked(calls: list[Call]) -> list[Mapping[str, Any]]:
    """Show calls as a controller sends them."""
    return [{"name": name, "arguments": arguments} for name, arguments in calls]
