"""`wa-mcp inspect`: what a checkpoint holds, and whether it would restore."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic.alias_generators import to_camel

from checkpoint import Contents, Episode, Granted, Origin, Retired, State, Store, shortened
from checkpoint.errors import CheckpointError
from checkpoint.modes import participation_of
from checkpoint.published import CHECKPOINT_NAME, read_published
from checkpoint.restoring import Rebuilder
from toolkits.dataset import BUNDLED, load_dataset
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.hooks import SessionHooks
from wa_mcp.runtime import KIND
from wa_mcp.session import capture_key
from wa_mcp.sessions import Sessions
from wa_mcp.state_forms import read_state

__all__ = ["Inspected", "InspectedSession", "inspect", "published", "render_inspected"]

SHOWN: Final = 50
"""Sessions that people are shown; the JSON form has them all."""


@dataclass(frozen=True)
class InspectedSession:
    """A session as it is stored.

    Attributes:
        session_id: Its id.
        episode: Its rollout, and the attempt as stored.
        revision: How many calls had changed something.
        changes: Row changes by table.
        size: Bytes of its line.
    """

    session_id: str
    episode: Episode
    revision: int
    changes: dict[str, int]
    size: int


@dataclass(frozen=True)
class Inspected:
    """What one server wrote.

    Attributes:
        kind: What kind of server.
        instance: Which one.
        verifies: Whether it would restore: files, digests, and every state.
        reason: Why it does not verify; empty if it does.
        checkpoint_id: Id of the checkpoint, None if the manifest could not be read.
        digest: Digest of the manifest, None if it could not be read.
        size: Bytes of the records.
        bases: How many data sets and tables the sessions share.
        spent: How many ended ids are remembered.
        retired: How many rollouts have a retired attempt.
        sessions: The sessions.
    """

    kind: str
    instance: str
    verifies: bool
    reason: str = ""
    checkpoint_id: str | None = None
    digest: str | None = None
    size: int = 0
    bases: int = 0
    spent: int = 0
    retired: int = 0
    sessions: list[InspectedSession] = field(default_factory=list[InspectedSession])

    def as_json(self) -> dict[str, Any]:
        """Show it as a JSON object, session ids whole."""
        shown = {to_camel(name): value for name, value in asdict(self).items()}
        shown["sessions"] = [
            {
                "sessionId": session.session_id,
                "episode": session.episode.as_json(),
                "revision": session.revision,
                "changes": session.changes,
                "size": session.size,
            }
            for session in self.sessions
        ]
        return shown


def inspect(folder: Path) -> list[Inspected]:
    """Read a checkpoint as a restore would, server by server, and install nothing.

    Raises:
        FileNotFoundError: There is no such folder, or no server wrote into it.
    """
    found = [_inspect(folder, kind, instance) for kind, instance in _writers(folder)]
    if not found:
        raise FileNotFoundError(
            f"{folder} holds no checkpoint: expected <kind>/<instance>/manifest.json in it"
        )
    return found


def _writers(folder: Path) -> Iterator[tuple[str, str]]:
    for kind in sorted(_folders(folder)):
        for instance in sorted(_folders(folder / kind)):
            yield kind, instance


def _folders(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return [entry.name for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith(".")]


def _inspect(folder: Path, kind: str, instance: str) -> Inspected:
    try:
        contents = Store(folder, Origin(kind, instance, "exported")).read((), instance, Granted())
        _rebuild(kind, contents)
    except (CheckpointError, ValueError) as error:
        return Inspected(kind, instance, verifies=False, reason=str(error))
    manifest = contents.manifest
    server: dict[str, Any] = contents.facts["server"] or {}
    return Inspected(
        kind,
        instance,
        verifies=True,
        checkpoint_id=manifest["checkpointId"],
        digest=manifest["digest"],
        size=manifest["counts"]["bytes"],
        bases=manifest["counts"]["bases"],
        spent=len(server.get("spent", [])),
        retired=len(contents.facts["retired"]),
        sessions=[_session(state) for state in contents.states],
    )


def _rebuild(kind: str, contents: Contents) -> None:
    """Do all that a restore does before it installs anything.

    Raises:
        ValueError: It is of another kind of server.
        CheckpointError: It does not validate.
    """
    if kind != KIND:
        raise ValueError(f"not of this kind of server ({KIND}), so its sessions cannot be read here")
    hooks = SessionHooks(Sessions(load_dataset(BUNDLED, CATALOGUE), most=1))
    rebuilder = Rebuilder(hooks, participation_of(hooks), Retired())
    rebuilder.rebuild(contents.states, contents.bases, [contents.facts], 0)


def _session(state: State) -> InspectedSession:
    form, encoded = read_state(state)
    changes = Counter(entry.table for entry in form.history)
    episode = Episode(form.episode.rollout_id, form.episode.attempt)
    return InspectedSession(form.session_id, episode, form.revision, changes, len(encoded))


def published(folder: Path) -> tuple[bool, str]:
    """Say whether a folder was published as a whole, as a fleet's restore wants it.

    Returns:
        Whether nothing is wrong with it (that it was not published is nothing wrong), and a line for people.
    """
    if not (folder / CHECKPOINT_NAME).exists():
        return True, f"not published: no {CHECKPOINT_NAME}, so each server's part is restored by itself"
    try:
        servers = len(read_published(folder.absolute()).parts)
    except CheckpointError as error:
        return False, f"{CHECKPOINT_NAME}: DOES NOT VERIFY: {error}"
    return True, f"published: {servers} server{'s' if servers > 1 else ''}, nothing missing"


def render_inspected(inspected: list[Inspected]) -> str:
    """Show what was found, for people; ids are shortened, since they are credentials."""
    lines: list[str] = []
    for one in inspected:
        lines += [
            f"{one.kind}/{one.instance}: {'verifies' if one.verifies else f'DOES NOT VERIFY: {one.reason}'}"
        ]
        if one.verifies:
            lines += _rendered(one)
    return "\n".join(lines)


def _rendered(one: Inspected) -> list[str]:
    lines = [
        f"  checkpoint  {one.checkpoint_id}",
        f"  digest      {one.digest}",
        f"  records     {one.size} bytes: {one.bases} bases, {len(one.sessions)} sessions",
        f"  remembered  {one.spent} ended ids, {one.retired} retired rollouts",
    ]
    for session in one.sessions[:SHOWN]:
        episode = capture_key(session.episode)
        changes = (
            ", ".join(f"{table} {count}" for table, count in session.changes.items()) or "nothing changed"
        )
        lines.append(
            f"  session     {shortened(session.session_id)} {episode} revision {session.revision}, "
            f"{session.size} bytes: {changes}"
        )
    if len(one.sessions) > SHOWN:
        lines.append(f"  and {len(one.sessions) - SHOWN} more; --json shows them all")
    return lines
