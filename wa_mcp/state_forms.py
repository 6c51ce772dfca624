"""How a session looks as JSON, field by field: what is of another form is refused."""

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from checkpoint import NOT_JSON, EpisodeForm, StoredState
from toolkits.forms import MOST_NUMBER
from wa_mcp.entries import EntryForm, encode
from wa_mcp.seeding import LONGEST_ROLLOUT_ID, is_session_id
from wa_mcp.session import OnCheckpoint

__all__ = ["FORMAT", "LATEST", "StateForm", "decode_state", "read_state"]

FORMAT: Final = 3

LATEST: Final = 253_402_300_799
"""The last second that a calendar can show, at the end of the year 9999."""


class OriginForm(msgspec.Struct, forbid_unknown_fields=True, rename="camel", gc=False):
    """What a session was forked from."""

    session_id: str
    revision: int


class StateForm(msgspec.Struct, forbid_unknown_fields=True, rename="camel", gc=False):
    """A session."""

    format: int
    session_id: str
    episode: EpisodeForm
    toolkits: list[str]
    tools: list[str] | None
    require_attempt: bool
    on_checkpoint: OnCheckpoint | None
    revision: int
    seeded_at: float
    last_call_at: float | None
    calls: int
    errors: int
    reads: int
    history: list[EntryForm]
    origin: OriginForm | None
    data_set: str


decode_state: Final = msgspec.json.Decoder(StateForm).decode
"""Decode a state, and check only which names there are and what types of values."""


def read_state(state: Any) -> tuple[StateForm, bytes]:
    """Read a session, and give it as JSON too; what its calls did, and on which data, is for others to say.

    Raises:
        ValueError: Something is of another form; the message begins with its name.
    """
    try:
        if isinstance(state, StoredState):
            form, encoded = state.read(decode_state), bytes(state.encoded)
        else:
            form = msgspec.convert(state, StateForm)
            encoded = encode(form)
    except UnicodeEncodeError:
        raise ValueError("it holds text that is no Unicode") from None
    except NOT_JSON as error:
        found: Any = cast("Mapping[str, Any]", state).get("format") if isinstance(state, Mapping) else FORMAT
        # Of another format, nothing else of it is as expected.
        is_other = type(found) is int and found != FORMAT
        raise ValueError(_other_format(found) if is_other else _complaint(error)) from None
    except TypeError:
        raise ValueError("it holds what is no JSON") from None
    if form.format != FORMAT:
        raise ValueError(_other_format(form.format))
    _check(form)
    return form, encoded


def _check(form: StateForm) -> None:
    _check_session_id("sessionId", form.session_id)
    rollout_id = form.episode.rollout_id
    if not 1 <= len(rollout_id) <= LONGEST_ROLLOUT_ID or not rollout_id.isprintable():
        raise ValueError(f"episode.rolloutId: expected 1 to {LONGEST_ROLLOUT_ID} printable characters")
    counts = (form.episode.attempt, form.revision, form.calls, form.errors, form.reads)
    if not 0 <= min(counts) <= max(counts) <= MOST_NUMBER:
        for name, count in zip(_COUNTS, counts, strict=True):
            _check_number(name, count)
    if not 0 <= form.seeded_at <= LATEST:
        raise ValueError("seededAt: expected seconds since 1970")
    if form.last_call_at is not None and not 0 <= form.last_call_at <= LATEST:
        raise ValueError("lastCallAt: expected seconds since 1970, or null")
    if form.origin is not None:
        _check_session_id("origin.sessionId", form.origin.session_id)
        _check_number("origin.revision", form.origin.revision)


_COUNTS: Final = ("episode.attempt", "revision", "calls", "errors", "reads")


def _check_number(name: str, number: int) -> None:
    if not 0 <= number <= MOST_NUMBER:
        raise ValueError(f"{name}: expected a whole number from 0")


def _check_session_id(name: str, text: str) -> None:
    if not is_session_id(text):
        raise ValueError(f"{name}: expected 16 to 128 of A-Z a-z 0-9 _ and -")


def _other_format(found: int) -> str:
    return f"format: it is of format {found}, and this version of wa-mcp reads format {FORMAT}"


def _complaint(error: Exception) -> str:
    """Say what was wrong, the place first: msgspec names it last, behind a dollar sign."""
    # What was wrong may quote a name of any length, and with anything in it; the place does not.
    what, is_placed, place = str(error).rpartition(" - at `$.")
    return f"{place.rstrip('`')}: {what[:300]}" if is_placed else place[:300]
