"""Who restores what, when a checkpoint comes back on as many servers, on more, or on fewer."""

from collections.abc import Sequence
from typing import Any

from checkpoint.asking import Request
from checkpoint.errors import InvalidParams
from checkpoint.participants import Participant
from checkpoint.published import Published


def shares(
    published: Published, stages: Sequence[Sequence[Participant]], common: dict[str, Any]
) -> list[Request]:
    """What each participant is asked to restore.

    Where the instances of a kind are those that wrote the checkpoint, each reads its own part; where they are
    others, more or fewer, each reads all parts and takes the sessions that are placed on it.

    Args:
        published: the checkpoint.
        stages: who is here, kind by kind, in the order that sessions are placed by.
        common: the parameters that are the same for all.

    Raises:
        InvalidParams: the kinds here are not those of the checkpoint.
    """
    here, there = {stage[0].kind for stage in stages}, {part.kind for part in published.parts}
    if here != there:
        written, present = ", ".join(sorted(there)), ", ".join(sorted(here))
        raise InvalidParams(f"the checkpoint is one of {written}, and this fleet has {present}")
    return [
        Request(participant, {**common, **_share(published.instances(participant.kind), stage, index)})
        for stage in stages
        for index, participant in enumerate(stage)
    ]


def _share(sources: list[str], stage: Sequence[Participant], index: int) -> dict[str, Any]:
    if sources == [participant.instance for participant in stage]:
        return {}
    return {"sources": sources, "shard": {"index": index, "count": len(stage)}}
