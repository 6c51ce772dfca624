"""A session as JSON and back: what a checkpoint keeps of it.

A state names its data set by digest and holds its own changes; the data set and the tables it is made of
go out once, beside the states. Nothing read here is trusted: all is checked before a session is made of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import orjson

from checkpoint import MOST_ATTEMPTS, Episode, EpisodeForm, StoredObject, StoredState, shortened
from toolkits.cells import LONGEST_TEXT
from toolkits.frozen import thaw_base, thaw_dataset
from toolkits.rows import TableSpec
from toolkits.table import Base, Table
from toolkits.workplace import MOST_CHANGES, MOST_STORED_BYTES, Catalogue, Dataset, Workplace
from wa_mcp.entries import Entry
from wa_mcp.histories import StoredHistory, StoredTables, freeze_history
from wa_mcp.history_checks import Known, check_history
from wa_mcp.session_state import Origin, SessionState, remembered_in
from wa_mcp.state_forms import FORMAT, StateForm, read_state

__all__ = ["Thawed", "freeze_state", "frozen_bases"]

MANY: Final = 200
"""Changes that take about a millisecond to be done again."""

LARGE: Final = 256 * 1024
"""Bytes that take about a millisecond to be read again."""


def freeze_state(state: SessionState) -> dict[str, Any]:
    """Show a session as JSON; its tables are in it as the changes that its calls made."""
    return {
        "format": FORMAT,
        "sessionId": state.session_id,
        "episode": state.episode.as_json(),
        "toolkits": state.toolkits,
        "tools": state.tools,
        "requireAttempt": state.require_attempt,
        "onCheckpoint": state.on_checkpoint,
        "revision": state.workplace.revision,
        "seededAt": state.seeded_at,
        "lastCallAt": state.last_call_at,
        "calls": state.calls,
        "errors": state.errors,
        "reads": state.reads,
        "history": freeze_history(state),
        "origin": _frozen_origin(state.origin),
        "dataSet": state.workplace.dataset.digest,
    }


def _frozen_origin(origin: Origin | None) -> dict[str, Any] | None:
    return None if origin is None else {"sessionId": origin.session_id, "revision": origin.revision}


def frozen_bases(datasets: Iterable[Dataset]) -> dict[str, Any]:
    """Show data sets, and the tables that they are made of, by digest; each once, whole."""
    frozen: dict[str, Any] = {}
    for dataset in datasets:
        frozen[dataset.digest] = dataset.named()
        for base in dataset.bases.values():
            frozen[base.digest] = orjson.Fragment(base.encoded)
    return frozen


class Thawed:
    """Data sets read back, and sessions built on them.

    Args:
        catalogue: The toolkits that there are here.
        known: Data sets that are here already, by digest; they are shared with the sessions that name them.
        bases: What `frozen_bases` gave.

    Raises:
        ValueError: A base or a data set is not what its digest names.
    """

    def __init__(self, catalogue: Catalogue, known: Mapping[str, Dataset], bases: Mapping[str, Any]) -> None:
        self._catalogue: Final = catalogue
        here = {base.digest: base for dataset in known.values() for base in dataset.bases.values()}
        found = {digest: _found(form, here.get(digest)) for digest, form in bases.items()}
        named = {digest: form for digest, form in found.items() if _is_dataset(form)}
        tables = _thaw_bases(catalogue, here, named, found)
        self._datasets: Final[dict[str, Dataset]] = {}
        self._starts: Final[dict[tuple[str, tuple[str, ...]], _Start]] = {}
        for digest, form in named.items():
            try:
                read = thaw_dataset(catalogue, digest, form, tables)
            except ValueError as error:
                raise ValueError(f"data set {digest[:12]}: {error}") from None
            # Tables are shared by identity wherever they can be: it saves memory, and scoring compares it.
            self._datasets[digest] = known.get(digest, read)

    def session(self, form: Any, attempt_step: int) -> SessionState:
        """Build a session, so many attempts further on.

        Raises:
            ValueError: It does not validate; the message names session, table and reason.
        """
        try:
            return self._build(*read_state(form), attempt_step)
        except ValueError as error:
            raise ValueError(f"{_who(form)}: {error}") from None

    def _build(self, form: StateForm, encoded: bytes, attempt_step: int) -> SessionState:
        start = self._start(form.data_set, tuple(form.toolkits))
        # It was read as JSON, so all of it is Unicode.
        stored, call_ids = check_history(form, start.known, closely=len(encoded) > LONGEST_TEXT)
        if form.revision > MOST_CHANGES or stored > MOST_STORED_BYTES:
            raise ValueError("it holds more changes than a session may")
        history, workplace = start.go_on(form.revision, stored, encoded)
        return SessionState(
            form.session_id,
            _later(form.episode, attempt_step),
            start.toolkits,
            None if form.tools is None else self._tools(form.tools, start.toolkits),
            form.require_attempt,
            form.on_checkpoint,
            workplace,
            form.seeded_at,
            form.last_call_at,
            form.calls,
            form.errors,
            form.reads,
            remembered_in(call_ids),
            history,
            None if form.origin is None else Origin(form.origin.session_id, form.origin.revision),
        )

    def _start(self, digest: str, toolkits: tuple[str, ...]) -> "_Start":
        """Find what a session started from; most of them from the same."""
        start = self._starts.get((digest, toolkits))
        if start is None:
            dataset = self._datasets.get(digest)
            if dataset is None:
                raise ValueError(f"data set {digest[:12]}: it is not there")
            toolkits = _in_order("toolkits", toolkits, self._catalogue.names)
            tables = dataset.workplace(toolkits).tables
            specs = {name: table.spec for name, table in tables.items()}
            rows = {name: len(table.base.rows) for name, table in tables.items()}
            known = Known(specs, rows, self._catalogue.tools.keys())
            self._starts[digest, toolkits] = start = _Start(dataset, toolkits, tables, known)
        return start

    def _tools(self, names: list[str], toolkits: tuple[str, ...]) -> tuple[str, ...]:
        tools = self._catalogue.tools.values()
        return _in_order("tools", tuple(names), tuple(it.name for it in tools if it.toolkit in toolkits))


class _Start(NamedTuple):
    """What a session started from.

    Attributes:
        dataset: Its data set.
        toolkits: Its toolkits, in order.
        tables: Their tables.
        known: What its history is checked against.
    """

    dataset: Dataset
    toolkits: tuple[str, ...]
    tables: Mapping[str, Table]
    known: Known

    def go_on(self, changes: int, stored: int, state: bytes) -> tuple[Sequence[Entry], Workplace]:
        """Give history and workplace of a session that made so many changes; its state, as JSON, has them."""
        if not changes:
            return (), self.dataset.workplace(self.toolkits)
        history = StoredHistory(state, changes)
        tables = StoredTables(self.tables, history)
        if changes > MANY or len(state) > LARGE:
            # Here, where no call has to wait for it.
            history.make()
            tables.make_rows()
        return history, Workplace(self.dataset, tables, changes, changes, stored)


def _who(form: Any) -> str:
    if isinstance(form, StoredState):
        return f"session {shortened(form.whose()[0])}"
    session_id = cast("Mapping[str, Any]", form).get("sessionId") if isinstance(form, Mapping) else None
    return f"session {shortened(session_id)}" if isinstance(session_id, str) else "a session"


def _found(form: Any, known: Base | None) -> Any:
    """Give the known base where a form is its own to the letter, which needs no reading then; or the form."""
    if not isinstance(form, StoredObject):
        return form
    return known if known is not None and bytes(form.encoded) == known.encoded else dict(form)


def _is_dataset(form: Any) -> bool:
    return isinstance(form, Mapping) and "tables" in form


def _thaw_bases(
    catalogue: Catalogue, here: Mapping[str, Base], named: Mapping[str, Any], bases: Mapping[str, Any]
) -> dict[str, Base]:
    """Read the bases that data sets name; which table a base is of, only its data set says.

    Args:
        catalogue: The toolkits that there are here.
        here: Bases that are here already, by digest.
        named: The forms of the data sets.
        bases: The forms of everything, or the base itself where it is here to the letter.
    """
    specs = {spec.name: spec for spec in catalogue.specs(catalogue.names)}
    read: dict[str, Base] = {}
    for form in named.values():
        if not isinstance(form["tables"], Mapping):
            raise ValueError("a data set does not say what tables it is made of")
        for name, digest in form["tables"].items():
            if name not in specs or not isinstance(digest, str) or digest not in bases:
                raise ValueError(f"table {str(name)[:60]!r}: its base is not there")
            if digest not in read:
                try:
                    read[digest] = _thaw_base(specs[name], digest, bases[digest], here.get(digest))
                except ValueError as error:
                    raise ValueError(f"table {name}: {error}") from None
    if strange := sorted(bases.keys() - read.keys() - named.keys()):
        raise ValueError(f"base {strange[0][:12]} is of no data set")
    return read


def _thaw_base(spec: TableSpec, digest: str, form: Any, known: Base | None) -> Base:
    if isinstance(form, Base):
        if form.spec is spec:
            return form
        form = orjson.loads(form.encoded)
    return thaw_base(spec, digest, form, known)


def _later(form: EpisodeForm, step: int) -> Episode:
    if form.attempt + step > MOST_ATTEMPTS:
        raise ValueError(f"attempt {form.attempt}: there is none {step} further on")
    return Episode(form.rollout_id, form.attempt + step)


def _in_order(what: str, names: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    ordered = tuple(name for name in known if name in names)
    if not names or ordered != names:
        raise ValueError(f"{what}: not one or more of those that there are here, in order")
    return ordered
