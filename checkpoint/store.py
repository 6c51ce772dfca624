"""Checkpoints as files: the records first, then the manifest that says they are there."""

import errno
import hashlib
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from checkpoint.errors import InvalidCheckpointState
from checkpoint.files import Folder, Place, check_name, open_folder, place_in, write_all
from checkpoint.hooks import StateExport
from checkpoint.manifest import (
    LONGEST_MANIFEST,
    MANIFEST_NAME,
    Manifest,
    Origin,
    Records,
    encode_manifest,
    read_manifest,
    seal,
)
from checkpoint.records import Contents, Permit, parse, write_records


class Store:
    """The checkpoints of one kind of server under one root.

    Every method but `place` is for worker threads.
    """

    def __init__(self, root: Path, origin: Origin) -> None:
        """Keep files under `root`, made when the first one is written.

        Raises:
            InvalidParams: kind or instance cannot name a folder.
        """
        check_name(origin.kind, "kind")
        check_name(origin.instance, "instance")
        self._root, self._origin = root, origin

    def place(self, directory: str) -> Place:
        """Where `directory` is under the root.

        Raises:
            InvalidParams: nowhere.
        """
        return place_in(self._root, directory)

    def write(
        self, place: Place, checkpoint_id: str, snapshot: StateExport, facts: object, permit: Permit
    ) -> Manifest:
        """Write a checkpoint whole; or answer the one that stands there, if it is the same.

        Args:
            place: the checkpoint's folder.
            checkpoint_id: its id.
            snapshot: what to write; walked through once.
            facts: the line of server facts, JSON-able.
            permit: asked between slices of work, and before the checkpoint comes into being.

        Raises:
            InvalidCheckpointState: another checkpoint stands there, or the disk does not play along.
        """
        where = (*place, self._origin.kind, self._origin.instance)
        with (
            spoken_faults("the checkpoint could not be written"),
            open_folder(self._root, where, create=True) as folder,
        ):
            name = temporary_name()
            with folder.temporary(name) as fd:
                records = write_records(fd, snapshot, facts, permit)
                os.fsync(fd)
                is_free = not folder.has(MANIFEST_NAME)
                if is_free:
                    folder.rename(name, records.name)
                    folder.sync()
            permit.begin_publishing()
            manifest = seal(self._origin, checkpoint_id, records)
            if is_free and _publish(folder, manifest):
                return manifest
            return self._standing(folder, checkpoint_id, records)

    def _standing(self, folder: Folder, checkpoint_id: str, wanted: Records) -> Manifest:
        manifest, records, _ = _read_files(folder, self._origin.kind, self._origin.instance)
        if (manifest["checkpointId"], records) != (checkpoint_id, wanted):
            raise InvalidCheckpointState("another checkpoint stands in this folder")
        # Whoever put it there may have died before this.
        folder.sync()
        return manifest

    def read(self, place: Place, instance: str, permit: Permit) -> Contents:
        """Read a checkpoint and verify all of it.

        Args:
            place: the checkpoint's folder.
            instance: whose records to read.
            permit: asked between slices of work.

        Raises:
            InvalidCheckpointState: it is missing, torn, altered or foreign.
        """
        with (
            spoken_faults("the checkpoint could not be read"),
            open_folder(self._root, (*place, self._origin.kind, instance), create=False) as folder,
        ):
            manifest, records, data = _read_files(folder, self._origin.kind, instance)
        return parse(manifest, records, data, permit)


def _publish(folder: Folder, manifest: Manifest) -> bool:
    """Bring the manifest into being whole; False if there is one already."""
    name = temporary_name()
    with folder.temporary(name) as fd:
        write_all(fd, encode_manifest(manifest))
        os.fsync(fd)
        try:
            folder.link(name, MANIFEST_NAME)
        except FileExistsError:
            return False
        folder.sync()
    return True


def _read_files(folder: Folder, kind: str, instance: str) -> tuple[Manifest, Records, bytes]:
    sealed = folder.read(MANIFEST_NAME, at_most=LONGEST_MANIFEST)
    manifest, records = read_manifest(sealed, kind=kind, instance=instance)
    data = folder.read(records.name, at_most=records.size)
    if len(data) != records.size or hashlib.sha256(data).hexdigest() != records.sha256:
        raise InvalidCheckpointState("the records are torn or were altered")
    return manifest, records, data


def temporary_name() -> str:
    """A name that nothing else has."""
    return f".{secrets.token_hex(8)}.tmp"


@contextmanager
def spoken_faults(what: str) -> Generator[None]:
    """Turn what the operating system raises into a refusal; `what` is how its sentence begins.

    Raises:
        InvalidCheckpointState: an OSError was raised.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise InvalidCheckpointState(f"{what}: a file or folder is missing") from error
    except OSError as error:
        # The number's own text rather than the error's: that one names paths.
        raise InvalidCheckpointState(f"{what}: {os.strerror(error.errno or errno.EIO)}") from error
