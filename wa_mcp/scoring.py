"""A score: what a run left behind against what a ground truth leaves behind, and why.

Everything here is a pure function of immutable tables. A table that nobody changed is the same object on both
sides and costs nothing; nothing is read from disk, and no table of a session is touched.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from toolkits.workplace import Workplace
from wa_mcp.differences import RowChange, differences
from wa_mcp.profiles import Exact, Profile, profile_named
from wa_mcp.replay import Counts, GroundTruthError, Problem, Replay, replay, replay_ground_truth
from wa_mcp.transcripts import Asked, read_calls, read_list

__all__ = ["Counts", "GroundTruthError", "MadeChange", "Prepared", "Problem", "Score", "prepare", "score"]

MOST_SHOWN: Final = 1_000
"""Row changes that `missing` and `unexpected` list, each."""


@dataclass(frozen=True, slots=True)
class MadeChange:
    """A row change, and what made it.

    Attributes:
        change: What the change is.
        position: The place of the call that made it, in the ground truth or in the calls, from 0; None for
            live tables, whose changes carry the session's `change.revision` instead.
        name: That call's tool, as written.
    """

    change: RowChange
    position: int | None = None
    name: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Show it as it goes over the wire."""
        change = self.change
        made = (
            {"revision": change.revision}
            if self.position is None
            else {"position": self.position, "name": self.name}
        )
        return {"table": change.table, "change": change.change, **change.facts, **made}


@dataclass(frozen=True, slots=True)
class Score:
    """What a run is worth, and why.

    Attributes:
        reward: 1.0 if every compared table is as the ground truth leaves it, else 0.0.
        profile: The comparison.
        scored: `calls`, done on a fresh workplace, or the `live` tables.
        tables: Full name of each compared table to whether it is equal.
        missing: Changes that the ground truth makes and the run does not.
        unexpected: Changes that the run makes and the ground truth does not.
        omitted: How many more of both there are than are listed.
        problems: Calls that were skipped.
        counts: Calls, errors and reads; None for live tables whose session is not known.
        agrees: Whether the calls leave the very tables that are live; None unless both are known.
    """

    reward: float
    profile: str
    scored: str
    tables: Mapping[str, bool]
    missing: tuple[MadeChange, ...]
    unexpected: tuple[MadeChange, ...]
    omitted: int
    problems: tuple[Problem, ...]
    counts: Counts | None
    agrees: bool | None

    @property
    def side_effects(self) -> bool:
        """Whether the run made a wrong change anywhere, and did not only leave something out."""
        return bool(self.unexpected)

    def as_json(self) -> dict[str, Any]:
        """Show it as it goes over the wire."""
        return {
            "reward": self.reward,
            "profile": self.profile,
            "scored": self.scored,
            "tables": dict(self.tables),
            "missing": [change.as_json() for change in self.missing],
            "unexpected": [change.as_json() for change in self.unexpected],
            "omitted": self.omitted,
            "sideEffects": self.side_effects,
            "problems": [problem.as_json() for problem in self.problems],
            "counts": None if self.counts is None else self.counts.as_json(),
            "agrees": self.agrees,
        }


def score(
    fresh: Workplace,
    ground_truth: Any,
    calls: Any = None,
    *,
    live: Workplace | None = None,
    profile: str = "gym",
    tools: Collection[str] | None = None,
) -> Score:
    """Score calls, or else live tables.

    Args:
        fresh: A workplace without changes, such as `dataset.workplace(toolkits)` gives.
        ground_truth: A list of `{name, arguments}`, or its JSON text; see `transcripts.read_list`.
        calls: What a model called: the same form, or the messages of a conversation; see
            `transcripts.read_calls`. None scores the live tables.
        live: The session's tables as they are, started from the same data as `fresh`.
        profile: `gym` or `workbench`.
        tools: Names of the tools that the model could see; None for all of the workplace's toolkits. A call
            of another is skipped; the ground truth may use all.

    Raises:
        GroundTruthError: The ground truth does not run cleanly.
        CodedError: `invalid_params`: a parameter is not of its form.
        ValueError: `fresh` has changes, neither calls nor live tables are given, or those are of other data.
    """
    return prepare(fresh, ground_truth, calls, profile=profile, tools=tools).score(live)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A score about to be made: its parameters are of their form, and its ground truth runs."""

    expected: Replay
    calls: list[Asked] | None
    fresh: Workplace
    profile: Profile
    profile_name: str
    tools: Collection[str] | None

    def score(self, live: Workplace | None, counted: Counts | None = None) -> Score:
        """Score the calls, or the live tables where there are no calls.

        Args:
            live: The session's tables.
            counted: The calls as the session has counted them; what live tables are scored with.

        Raises:
            ValueError: There are neither calls nor live tables, or those are of other data.
        """
        if live is not None:
            _check_same_data(self.fresh, live)
        if self.calls is None:
            if live is None:
                raise ValueError("nothing to score: give calls, or live tables")
            return replace(self._compared(live, None), scored="live", counts=counted)
        replayed = replay(self.fresh, self.calls, self.tools)
        return replace(
            self._compared(replayed.workplace, replayed.made),
            problems=replayed.problems,
            counts=replayed.counts,
            agrees=None if live is None else _same_state(replayed.workplace, live),
        )

    def _compared(self, actual: Workplace, made: Mapping[int, tuple[int, str]] | None) -> Score:
        tables: dict[str, bool] = {}
        missing: list[MadeChange] = []
        unexpected: list[MadeChange] = []
        for name, expected in self.expected.workplace.tables.items():
            if not expected.spec.scored:
                continue
            tables[name] = self.profile.equal(expected, actual.tables[name])
            if not tables[name]:
                lacking, wrong = differences(expected, actual.tables[name], self.profile)
                missing += _made(lacking, self.expected.made)
                unexpected += _made(wrong, made)
        omitted = max(len(missing) - MOST_SHOWN, 0) + max(len(unexpected) - MOST_SHOWN, 0)
        return Score(
            reward=float(all(tables.values())),
            profile=self.profile_name,
            scored="calls",
            tables=tables,
            missing=tuple(missing[:MOST_SHOWN]),
            unexpected=tuple(unexpected[:MOST_SHOWN]),
            omitted=omitted,
            problems=(),
            counts=None,
            agrees=None,
        )


def prepare(
    fresh: Workplace,
    ground_truth: Any,
    calls: Any = None,
    *,
    profile: str = "gym",
    tools: Collection[str] | None = None,
) -> Prepared:
    """Check all that a score needs, parameters first; arguments and errors are those of `score`."""
    if fresh.changes:
        raise ValueError("a score starts from a workplace without changes")
    comparison = profile_named(profile, fresh)
    wanted = read_list(ground_truth, "groundTruth")
    asked = None if calls is None else read_calls(calls, "calls")
    return Prepared(replay_ground_truth(fresh, wanted), asked, fresh, comparison, profile, tools)


def _made(changes: list[RowChange], made: Mapping[int, tuple[int, str]] | None) -> Iterator[MadeChange]:
    """Say of each change which call made it; without calls, its revision says so."""
    for change in changes:
        if made is None or change.revision not in made:
            yield MadeChange(change)
        else:
            yield MadeChange(change, *made[change.revision])


def _check_same_data(fresh: Workplace, live: Workplace) -> None:
    bases = {name: table.base for name, table in live.tables.items()}
    if bases != {name: table.base for name, table in fresh.tables.items()}:
        raise ValueError("the live tables did not start from these data")


def _same_state(replayed: Workplace, live: Workplace) -> bool:
    """Say whether two workplaces hold the very same tables: no profile forgives anything here."""
    return all(Exact().equal(table, live.tables[name]) for name, table in replayed.tables.items())
