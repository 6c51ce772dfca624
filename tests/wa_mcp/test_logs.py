"""Logs go to standard error, and no session id passes through them whole."""

import logging
import sys
from collections.abc import Generator

import pytest

from tests.wa_mcp.agents import SESSION_ID
from wa_mcp.logs import Redacted, log_to_stderr, redact

SHORT = SESSION_ID[:4] + "..."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("nothing to hide", "nothing to hide"),
        (f"/sessions/{SESSION_ID}", f"/sessions/{SHORT}"),
        (f'"POST /sessions/{SESSION_ID}/mcp HTTP/1.1" 200', f'"POST /sessions/{SHORT}/mcp HTTP/1.1" 200'),
        (
            f"http://a.example/x/sessions/{SESSION_ID}?attempt=1",
            f"http://a.example/x/sessions/{SHORT}?attempt=1",
        ),
        (f"/sessions/{SESSION_ID} and /sessions/{SESSION_ID}", f"/sessions/{SHORT} and /sessions/{SHORT}"),
        ("/sessions/a%2Db_c-d1234567890/mcp", "/sessions/a%2D.../mcp"),
        ("/sessions/abcd/mcp", "/sessions/abcd/mcp"),
        ("/sessions//mcp", "/sessions//mcp"),
        ("/sessions/", "/sessions/"),
    ],
)
def test_an_id_in_a_path_is_shortened(text: str, shown: str) -> None:
    assert redact(text) == shown


def test_a_trace_is_redacted_too() -> None:
    try:
        raise LookupError(f"no /sessions/{SESSION_ID}/mcp here")
    except LookupError:
        record = logging.LogRecord("any", logging.ERROR, __file__, 1, "it failed", None, sys.exc_info())
    said = Redacted("%(message)s").format(record)
    assert SESSION_ID not in said
    assert f"no /sessions/{SHORT}/mcp here" in said


def test_arguments_of_a_message_are_redacted_too() -> None:
    path = f"/sessions/{SESSION_ID}/mcp"
    record = logging.LogRecord("any", logging.INFO, __file__, 1, "asked for %s", (path,), None)
    assert Redacted("%(message)s").format(record) == f"asked for /sessions/{SHORT}/mcp"


@pytest.fixture
def root() -> Generator[logging.Logger, None, None]:
    """The root logger, whose handlers and levels are put back afterwards."""
    root, sdk = logging.getLogger(), logging.getLogger("mcp")
    handlers, levels = root.handlers[:], (root.level, sdk.level)
    root.handlers = []
    yield root
    root.handlers = handlers
    root.setLevel(levels[0])
    sdk.setLevel(levels[1])


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error"])
def test_logs_go_to_standard_error_from_the_level_asked_for(
    root: logging.Logger, level: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log_to_stderr(level)
    for said in ("debug", "info", "warning", "error"):
        getattr(logging.getLogger("wa_mcp.any"), said)("said at %s, /sessions/%s", said, SESSION_ID)
    out, err = capsys.readouterr()
    levels = ["debug", "info", "warning", "error"]
    expected = [f"wa_mcp.any: said at {said}, /sessions/{SHORT}" for said in levels[levels.index(level) :]]
    assert out == ""
    assert [line.split(" ", 3)[3] for line in err.splitlines()] == expected


@pytest.mark.parametrize(("level", "expected"), [("debug", "warning"), ("error", "error")])
def test_the_sdk_is_not_heard_on_every_request(root: logging.Logger, level: str, expected: str) -> None:
    log_to_stderr(level)
    assert logging.getLogger("mcp.server").getEffectiveLevel() == getattr(logging, expected.upper())
    assert root.level == getattr(logging, level.upper())
