"""The phases of a checkpoint as data: an arrow or a reply that is absent is refused.

No clock, no randomness, no input or output; and the only place that compares phases.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Phase(StrEnum):
    """A state of being."""

    IDLE = "idle"
    PREPARING = "preparing"
    PREPARED = "prepared"
    COMMITTED = "committed"
    RESTORED = "restored"


class Event(StrEnum):
    """What moves a server from one phase to another."""

    PREPARE = "prepare"
    DRAINED = "drained"
    COMMIT = "commit"
    RESTORE = "restore"
    RESUME = "resume"
    LEASE_OVER = "lease over"


class Operation(StrEnum):
    """What a controller can ask for; `status` is answered always and is not listed."""

    PREPARE = "checkpoint/prepare"
    COMMIT = "checkpoint/commit"
    WAIT = "checkpoint/wait"
    RESTORE = "checkpoint/restore"
    RESUME = "checkpoint/resume"
    RENEW = "checkpoint/renew"
    RETIRE = "checkpoint/retire"
    FORGET = "checkpoint/forget"
    IMPORT = "sessions/import"


class Reply(StrEnum):
    """How an operation is answered."""

    ACT = "acts"
    WAIT_ON = "waits on"
    REPEAT = "first result"


ARROWS: Final[Mapping[Phase, Mapping[Event, Phase]]] = {
    Phase.IDLE: {Event.PREPARE: Phase.PREPARING, Event.RESTORE: Phase.RESTORED},
    Phase.PREPARING: {
        Event.DRAINED: Phase.PREPARED,
        Event.RESUME: Phase.IDLE,
        Event.LEASE_OVER: Phase.IDLE,
    },
    Phase.PREPARED: {
        Event.COMMIT: Phase.COMMITTED,
        Event.RESUME: Phase.IDLE,
        Event.LEASE_OVER: Phase.IDLE,
    },
    Phase.COMMITTED: {Event.RESUME: Phase.IDLE, Event.LEASE_OVER: Phase.IDLE},
    Phase.RESTORED: {Event.RESUME: Phase.IDLE, Event.LEASE_OVER: Phase.IDLE},
}

_IN_EVERY_OPEN_PHASE: Final[Mapping[Phase, Reply]] = dict.fromkeys(
    (Phase.PREPARING, Phase.PREPARED, Phase.COMMITTED, Phase.RESTORED), Reply.ACT
)

REPLIES: Final[Mapping[Operation, Mapping[Phase, Reply]]] = {
    Operation.PREPARE: {
        Phase.IDLE: Reply.ACT,
        Phase.PREPARING: Reply.WAIT_ON,
        Phase.PREPARED: Reply.REPEAT,
        Phase.COMMITTED: Reply.REPEAT,
    },
    Operation.COMMIT: {Phase.PREPARED: Reply.ACT, Phase.COMMITTED: Reply.REPEAT},
    # Answered in any phase for an id that has a write; without one there is nothing to wait for.
    Operation.WAIT: {},
    Operation.RESTORE: {Phase.IDLE: Reply.ACT, Phase.RESTORED: Reply.REPEAT},
    Operation.RESUME: {Phase.IDLE: Reply.ACT, **_IN_EVERY_OPEN_PHASE},
    Operation.RENEW: _IN_EVERY_OPEN_PHASE,
    Operation.RETIRE: {Phase.IDLE: Reply.ACT},
    Operation.FORGET: {Phase.IDLE: Reply.ACT},
    Operation.IMPORT: {Phase.IDLE: Reply.ACT, Phase.RESTORED: Reply.ACT},
}

WHILE_READING: Final[Mapping[Operation, Reply]] = {
    Operation.RESTORE: Reply.WAIT_ON,
    Operation.RESUME: Reply.ACT,
    Operation.RENEW: Reply.ACT,
}
"""The replies while a restore reads: the phase is idle still, but an id is open."""


def after(phase: Phase, event: Event) -> Phase:
    """The phase that `event` leads to.

    Raises:
        KeyError: there is no such arrow.
    """
    return ARROWS[phase][event]


def reply_to(operation: Operation, phase: Phase, *, reading: bool = False) -> Reply | None:
    """How `operation` is answered in `phase`, None to refuse it.

    Args:
        operation: what was asked for.
        phase: where the server is.
        reading: a restore has taken the id and is not done yet.
    """
    return WHILE_READING.get(operation) if reading else REPLIES[operation].get(phase)


def drains(phase: Phase) -> bool:
    """Whether the phase ends by itself once no call is in flight."""
    return Event.DRAINED in ARROWS[phase]


def discards(phase: Phase) -> bool:
    """Whether there is a restore to take out again."""
    return phase is Phase.RESTORED


def mermaid() -> str:
    """The arrows as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", "    [*] --> idle"]
    for phase, arrows in ARROWS.items():
        targets: dict[Phase, list[str]] = {}
        for event, target in arrows.items():
            targets.setdefault(target, []).append(event.value)
        lines += [f"    {phase} --> {target}: {', '.join(names)}" for target, names in targets.items()]
    return "\n".join(lines)


def replies_table() -> str:
    """The replies as a Markdown table, one row an operation."""
    lines = [
        "| operation | " + " | ".join(Phase) + " | idle, a restore reading |",
        "|---" * (len(Phase) + 2) + "|",
    ]
    for operation in Operation:
        cells = [reply_to(operation, phase) for phase in Phase]
        cells.append(reply_to(operation, Phase.IDLE, reading=True))
        lines.append(f"| `{operation}` | " + " | ".join(cell or "-" for cell in cells) + " |")
    return "\n".join(lines)
