"""How a session looks as JSON, field by field: what is of another form is refused."""

from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from toolkits.forms import MOST_NUMBER
from toolkits.workplace import MOST_CHANGES
from wa_mcp.seeding import LONGEST_ROLLOUT_ID, is_session_id
from wa_mcp.session import OnCheckpoint

__all__ = ["FORMAT", "LATEST", "EpisodeForm", "OriginForm", "StateForm"]

FORMAT: Final = 2

LATEST: Final = 253_402_300_799
"""The last second that a calendar can show, at the end of the year 9999."""


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("expected printable characters")
    return text


def _session_id(text: str) -> str:
    if not is_session_id(text):
        raise ValueError("expected 16 to 128 of A-Z a-z 0-9 _ and -")
    return text


Count = Annotated[int, Field(ge=0, le=MOST_NUMBER)]
Moment = Annotated[float, Field(ge=0, le=LATEST, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class Form(BaseModel):
    """What all forms have in common: nothing is guessed, nothing unknown is passed over."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)


class EpisodeForm(Form):
    """A rollout, and which attempt at it."""

    rollout_id: Annotated[str, Field(min_length=1, max_length=LONGEST_ROLLOUT_ID), AfterValidator(_printable)]
    attempt: Count


class OriginForm(Form):
    """What a session was forked from."""

    session_id: Annotated[str, AfterValidator(_session_id)]
    revision: Count


class TableForm(Form):
    """A table that was changed: its base by digest, and its changes."""

    base: str
    changes: Annotated[list[Any], Field(min_length=1)]


class StateForm(Form):
    """A session."""

    format: Annotated[int, Field(ge=FORMAT, le=FORMAT)]
    session_id: Annotated[str, AfterValidator(_session_id)]
    episode: EpisodeForm
    toolkits: list[Name]
    tools: list[Name] | None
    require_attempt: bool
    on_checkpoint: OnCheckpoint | None
    revision: Count
    seeded_at: Moment
    last_call_at: Moment | None
    calls: Count
    errors: Count
    reads: Count
    history: Annotated[list[Any], Field(max_length=MOST_CHANGES)]
    origin: OriginForm | None
    data_set: str
    tables: dict[str, TableForm]
