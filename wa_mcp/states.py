"""A session as JSON and back: what a checkpoint keeps of it.

A state names its data set by digest and holds its own changes; the data set and the tables it is made of
go out once, beside the states. Nothing read here is trusted: all is checked before a session is made of it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import orjson
from pydantic import ValidationError

from checkpoint import MOST_ATTEMPTS, Episode, shortened
from toolkits.frozen import freeze_changes, thaw_base, thaw_dataset, thaw_table
from toolkits.table import Base
from toolkits.workplace import MOST_CHANGES, MOST_STORED_BYTES, Catalogue, Dataset, Workplace
from wa_mcp.histories import freeze_history, thaw_history
from wa_mcp.session_state import Origin, SessionState, remembered_in
from wa_mcp.state_forms import FORMAT, EpisodeForm, StateForm

__all__ = ["Thawed", "freeze_state", "frozen_bases"]


def freeze_state(state: SessionState) -> dict[str, Any]:
    """Show a session as JSON; only tables that it changed are in it, as digest of the base and changes."""
    tables = {
        name: {"base": table.base.digest, "changes": orjson.Fragment(freeze_changes(table))}
        for name, table in state.workplace.tables.items()
        if table.changes
    }
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
        "tables": tables,
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
        named = {digest: form for digest, form in bases.items() if _is_dataset(form)}
        here = {base.digest: base for dataset in known.values() for base in dataset.bases.values()}
        tables = _thaw_bases(catalogue, here, named, bases)
        self._datasets: Final[dict[str, Dataset]] = {}
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
        session_id = cast("Mapping[str, Any]", form).get("sessionId") if isinstance(form, Mapping) else None
        who = f"session {shortened(session_id)}" if isinstance(session_id, str) else "a session"
        try:
            _check_format(form)
            return self._build(StateForm.model_validate(form), attempt_step)
        except ValidationError as error:
            raise ValueError(f"{who}: {_first_complaint(error)}") from None
        except ValueError as error:
            raise ValueError(f"{who}: {error}") from None

    def _build(self, form: StateForm, attempt_step: int) -> SessionState:
        toolkits = _known("toolkits", form.toolkits, self._catalogue.names)
        workplace = self._workplace(form, toolkits)
        history = thaw_history(form, workplace)
        return SessionState(
            session_id=form.session_id,
            episode=_later(form.episode, attempt_step),
            toolkits=toolkits,
            tools=None if form.tools is None else self._tools(form.tools, toolkits),
            require_attempt=form.require_attempt,
            on_checkpoint=form.on_checkpoint,
            workplace=workplace,
            seeded_at=form.seeded_at,
            last_call_at=form.last_call_at,
            calls=form.calls,
            errors=form.errors,
            reads=form.reads,
            remembered=remembered_in(history),
            history=history,
            origin=None if form.origin is None else Origin(form.origin.session_id, form.origin.revision),
        )

    def _tools(self, names: list[str], toolkits: tuple[str, ...]) -> tuple[str, ...]:
        tools = self._catalogue.tools.values()
        return _known("tools", names, [tool.name for tool in tools if tool.toolkit in toolkits])

    def _workplace(self, form: StateForm, toolkits: tuple[str, ...]) -> Workplace:
        dataset = self._datasets.get(form.data_set)
        if dataset is None:
            raise ValueError(f"data set {form.data_set[:12]}: it is not there")
        fresh = dataset.workplace(toolkits)
        if strange := sorted(form.tables.keys() - fresh.tables.keys()):
            raise ValueError(f"table {strange[0][:60]!r} is not one of its toolkits'")
        tables = dict(fresh.tables)
        for name, frozen in form.tables.items():
            base = dataset.bases[name]
            if frozen.base != base.digest:
                raise ValueError(f"table {name}: its base is not the data set's")
            try:
                tables[name] = thaw_table(base, frozen.changes, form.revision)
            except ValueError as error:
                raise ValueError(f"table {name}: {error}") from None
        changes = sum(len(table.changes) for table in tables.values())
        stored = sum(table.stored for table in tables.values())
        if changes > MOST_CHANGES or stored > MOST_STORED_BYTES:
            raise ValueError("it holds more changes than a session may")
        return Workplace(dataset, tables, form.revision, changes, stored)


def _check_format(form: Any) -> None:
    found = cast("Mapping[str, Any]", form).get("format") if isinstance(form, Mapping) else None
    if type(found) is int and found != FORMAT:
        raise ValueError(f"format: it is of format {found}, and this version of wa-mcp reads format {FORMAT}")


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
        bases: The forms of everything.
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
                    read[digest] = thaw_base(specs[name], digest, bases[digest], here.get(digest))
                except ValueError as error:
                    raise ValueError(f"table {name}: {error}") from None
    if strange := sorted(bases.keys() - read.keys() - named.keys()):
        raise ValueError(f"base {strange[0][:12]} is of no data set")
    return read


def _later(form: EpisodeForm, step: int) -> Episode:
    if form.attempt + step > MOST_ATTEMPTS:
        raise ValueError(f"attempt {form.attempt}: there is none {step} further on")
    return Episode(form.rollout_id, form.attempt + step)


def _known(what: str, names: list[str], known: Any) -> tuple[str, ...]:
    ordered = tuple(name for name in known if name in names)
    if not names or list(ordered) != names:
        raise ValueError(f"{what}: not one or more of those that there are here, in order")
    return ordered


def _first_complaint(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}"
