"""States and bases in the records are read only as far as somebody asks, and no less strictly for that."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checkpoint import Episode, EpisodeForm, Granted, Origin, StateExport, Store, StoredObject, StoredState
from checkpoint.errors import InvalidCheckpointState
from checkpoint.hooks import Installation, Nothing, State
from checkpoint.manifest import Records, seal
from checkpoint.modes import Exported
from checkpoint.records import parse, session_of
from checkpoint.restoring import Rebuilder, RestoreRequest
from checkpoint.retired import Retired
from tests.checkpoint.office import Exporting

ORIGIN = Origin("environment", "main", "exported")
GOOD = b'{"sessionId":"session-1","episode":{"rolloutId":"r","attempt":1},"more":[1]}'


def stored(encoded: bytes) -> StoredState:
    return StoredState(memoryview(encoded))


def contents(*lines: bytes, bases: int = 0, sessions: int = 0) -> Any:
    data = b"".join(line + b"\n" for line in (*lines, b'{"facts":null}'))
    records = Records("0" * 64, len(data), bases, sessions)
    return parse(seal(ORIGIN, "c", records), records, data, Granted())


def test_a_stored_state_is_the_mapping_that_was_written() -> None:
    state = stored(GOOD)
    assert dict(state) == {
        "sessionId": "session-1",
        "episode": {"rolloutId": "r", "attempt": 1},
        "more": [1],
    }
    assert (len(state), list(state)) == (3, ["sessionId", "episode", "more"])
    assert state == dict(state)
    assert session_of(state) == ("session-1", Episode("r", 1))


def test_who_reads_a_state_in_his_own_way_has_told_whose_it_is() -> None:
    class Own(msgspec.Struct, rename="camel"):
        session_id: str
        episode: EpisodeForm
        more: list[int]

    state = stored(GOOD)
    assert state.read(msgspec.json.Decoder(Own).decode).more == [1]
    assert session_of(state) == ("session-1", Episode("r", 1))


@pytest.mark.parametrize(
    ("encoded", "why"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (GOOD + b"x", "not JSON"),
        (GOOD[:-1] + b',"s":"\\ud800"}', "not JSON"),
        (GOOD[:-1] + b',"s":"\xff"}', "not JSON"),
        (b"[]", "which session"),
        (b"null", "which session"),
        (GOOD.replace(b'"session-1"', b"1"), "which session"),
        (GOOD.replace(b"sessionId", b"id"), "which session"),
        (GOOD.replace(b'"attempt":1', b'"attempt":true'), "which session"),
        (GOOD.replace(b'"attempt":1', b'"attempt":1.0'), "which session"),
        (GOOD.replace(b'"attempt":1', b'"attempt":1,"more":1'), "which session"),
        (GOOD.replace(b'"attempt":1', b'"attempt":-1'), "which attempt"),
        (GOOD.replace(b'"attempt":1', b'"attempt":9007199254740993'), "which attempt"),
    ],
)
def test_who_reads_a_state_by_its_names_can_rely_on_whose_it_is(encoded: bytes, why: str) -> None:
    with pytest.raises(InvalidCheckpointState, match=why):
        dict(stored(encoded))


def test_an_object_that_is_something_else_is_refused_when_it_is_read() -> None:
    for encoded in (b"[1]", b"1", b"{]"):
        with pytest.raises(InvalidCheckpointState):
            len(StoredObject(memoryview(encoded)))


def test_objects_that_are_written_alike_are_equal_and_not_read_for_that() -> None:
    torn, same, one, spaced, two = (
        StoredObject(memoryview(encoded))
        for encoded in (b"{torn", b"{torn", b'{"x":1}', b'{"x": 1}', b'{"x":2}')
    )
    assert torn == same
    assert one == spaced
    assert one == {"x": 1}
    assert one != two


@pytest.mark.parametrize("end", [b"x", b"]", b" ", b'"'])
def test_a_line_of_a_session_that_does_not_end_as_one_is_refused(end: bytes) -> None:
    with pytest.raises(InvalidCheckpointState, match="unknown kind"):
        contents(b'{"session":' + GOOD + end, sessions=1)


def test_what_stands_behind_a_state_in_its_line_makes_it_unreadable() -> None:
    line = b'{"session":' + GOOD + b',"more":1}'
    (state,) = contents(line, sessions=1).states
    with pytest.raises(InvalidCheckpointState, match="not JSON"):
        session_of(state)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"base":"b"}', "unknown kind"),
        (b'{"value":1}', "unknown kind"),
        (b'{"base":"b","value":1,"facts":1}', "unknown kind"),
        (b'{"base":1,"value":1}', "unknown kind"),
        (b'{"more":1}', "unknown kind"),
        (b"{}", "unknown kind"),
        (b"[]", "unknown kind"),
        (b"1", "unknown kind"),
        (b'{"base":"b","value":}', "not JSON"),
        (b'{"base":"b","value":[}', "not JSON"),
        (b'{"base":"\xff","value":1}', "not JSON"),
        (b"{", "not JSON"),
        (b"", "not JSON"),
        (b'{"base":"b","value":' + b"[" * 100_000 + b"}", "not JSON"),
    ],
)
def test_a_line_of_no_known_kind_is_refused(line: bytes, why: str) -> None:
    with pytest.raises(InvalidCheckpointState, match=why):
        contents(line, bases=1)


def test_bases_may_be_any_json_and_objects_are_read_when_they_are_asked_for() -> None:
    read = contents(b'{"base":"a","value":{"x":[1]}}', b'{"base":"b","value":[2]}', bases=2).bases
    assert isinstance(read["a"], StoredObject)
    assert (read["a"].encoded, read["a"], read["b"]) == (b'{"x":[1]}', {"x": [1]}, [2])


class Lazy(Exporting):
    """A server that takes what it is given without a look."""

    def restore_session_states(
        self, states: Iterable[State], bases: Mapping[str, Any], attempt_step: int
    ) -> Installation:
        return Nothing()


def rebuilt(*states: State) -> dict[str, Episode]:
    server = Lazy()
    rebuilder = Rebuilder(server, Exported(server, waits_for_verify=True), Retired())
    return rebuilder.rebuild(states, {}, [], 1).sessions


def test_states_that_the_server_did_not_walk_through_are_answered_for_all_the_same() -> None:
    assert rebuilt(stored(GOOD)) == {"session-1": Episode("r", 2)}
    with pytest.raises(InvalidCheckpointState, match="twice"):
        rebuilt(stored(GOOD), stored(GOOD))
    with pytest.raises(InvalidCheckpointState, match="which session"):
        rebuilt(stored(GOOD), stored(b"{}"))


def test_bases_that_the_server_does_not_ask_for_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts: dict[str, Any] = {"retired": {}, "server": None}
    for instance in ("a", "b"):
        store = Store(tmp_path, Origin("environment", instance, "exported"))
        store.write(store.place("step"), "c", StateExport([], {"base": {"x": 1}}), facts, Granted())
    asked = RestoreRequest(store.place("step"), None, 1, ("a", "b"), None)
    server = Lazy()
    rebuilder = Rebuilder(server, Exported(server, waits_for_verify=True), Retired())
    monkeypatch.delattr("checkpoint.stored.read_json")
    assert rebuilder.read(store, asked, Granted()).sessions == {}


def test_states_of_a_file_can_be_walked_through_again(tmp_path: Path) -> None:
    store = Store(tmp_path, ORIGIN)
    state = {"sessionId": "session-1", "episode": {"rolloutId": "r", "attempt": 1}}
    store.write(store.place("step"), "c", StateExport([state], {}), None, Granted())
    states = store.read(store.place("step"), "main", Granted()).states
    assert (len(states), list(states), list(states)) == (1, [state], [state])
    assert state in states
    assert {"sessionId": "another"} not in states
