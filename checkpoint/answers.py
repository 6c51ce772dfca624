"""What participants may answer: an answer that is none is told apart before anybody builds on it."""

from collections.abc import Mapping
from typing import Any, cast

from checkpoint.asking import Check
from checkpoint.episode import EpisodeJson, read_episode
from checkpoint.errors import InvalidCheckpointState
from checkpoint.manifest import Manifest, encode_manifest, read_manifest
from checkpoint.participants import Answer, Nonsense, Participant
from checkpoint.phase import Phase, drains

HOW_READY = (Phase.PREPARING, Phase.PREPARED, Phase.COMMITTED)


def status(_: Participant, answer: Answer) -> None:
    """Check the answer of `checkpoint/status`."""
    _need(answer, kind=str, instance=str, phase=str)
    _report(answer)


def prepared(checkpoint_id: str) -> Check:
    """Check answers of `checkpoint/prepare`."""

    def check(_: Participant, answer: Answer) -> None:
        _report(answer)
        _same(answer, "checkpointId", checkpoint_id)
        if answer.get("phase") not in HOW_READY:
            raise Nonsense("phase is none that prepare leads to")

    return check


def is_ready(answer: Answer) -> bool:
    """Whether an answer of `checkpoint/prepare` says that nothing is in flight any more."""
    return not drains(Phase(answer["phase"]))


def committed(checkpoint_id: str, *, background: bool) -> Check:
    """Check answers of `checkpoint/commit`."""
    if not background:
        return written(checkpoint_id)

    def check(_: Participant, answer: Answer) -> None:
        _same(answer, "phase", Phase.COMMITTED)
        if answer.get("writing") is not True:
            raise Nonsense("it does not say that it writes")

    return check


def written(checkpoint_id: str) -> Check:
    """Check answers that carry a manifest, and that the manifest is what it says."""

    def check(participant: Participant, answer: Answer) -> None:
        _need(answer, manifest=dict)
        manifest = cast("Manifest", answer["manifest"])
        try:
            sealed = encode_manifest(manifest)
            read_manifest(sealed, kind=participant.kind, instance=participant.instance)
        except (InvalidCheckpointState, TypeError) as error:
            raise Nonsense(str(error)) from None
        _same(manifest, "checkpointId", checkpoint_id)

    return check


def restored(source_id: str) -> Check:
    """Check answers of `checkpoint/restore`."""

    def check(_: Participant, answer: Answer) -> None:
        _same(answer, "phase", Phase.RESTORED)
        _same(answer, "sourceCheckpointId", source_id)
        _need(answer, restored=list)
        for session in answer["restored"]:
            _restored_session(session)

    return check


def resumed(_: Participant, answer: Answer) -> None:
    """Check the answer of `checkpoint/resume`."""
    _same(answer, "phase", Phase.IDLE)
    _need(answer, published=bool)


def renewed(_: Participant, answer: Answer) -> None:
    """Check the answer of `checkpoint/renew`."""
    _need(answer, phase=str, leaseSeconds=(int, float))


def retired(_: Participant, answer: Answer) -> None:
    """Check the answer of `checkpoint/retire`."""
    _need(answer, retired=list)


def forgotten(_: Participant, answer: Answer) -> None:
    """Check the answer of `checkpoint/forget`."""
    _need(answer, forgotten=list)


def episodes_of(answers: Mapping[str, Answer]) -> list[EpisodeJson]:
    """The episodes that answers of `checkpoint/retire` name, each once."""
    named = [read_episode(episode) for answer in answers.values() for episode in answer["retired"]]
    return [episode.as_json() for episode in dict.fromkeys(named)]


def _report(answer: Answer) -> None:
    _need(answer, report=dict)
    _need(answer["report"], blockers=list, blockerCount=int)
    if not all(isinstance(blocker, dict) for blocker in answer["report"]["blockers"]):
        raise Nonsense("a blocker is no object")


def _restored_session(session: Any) -> None:
    if not isinstance(session, dict):
        raise Nonsense("a restored session is no object")
    fields = cast("dict[str, Any]", session)
    _need(fields, sessionId=str)
    try:
        read_episode(fields.get("episode"))
    except ValueError as error:
        raise Nonsense(str(error)) from None


def _need(answer: Mapping[str, Any], **types: type | tuple[type, ...]) -> None:
    for name, expected in types.items():
        if not isinstance(answer.get(name), expected):
            raise Nonsense(f"{name} is missing or of another type")


def _same(answer: Mapping[str, Any], name: str, expected: str) -> None:
    if answer.get(name) != expected:
        raise Nonsense(f"{name} is not {expected}")
