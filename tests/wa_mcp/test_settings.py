"""Settings: read once from the environment and from flags, strictly; complaints name what is wrong."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from toolkits.dataset import BUNDLED
from wa_mcp import Settings
from wa_mcp.settings import SettingsError, read_settings


def complaint(environment: dict[str, str], flags: dict[str, Any] | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        read_settings(environment, flags or {})
    return str(caught.value)


def test_without_anything_given_the_defaults_hold() -> None:
    settings = read_settings({"PATH": "/bin", "WA_MCPPORT": "1"}, {"port": None})
    assert settings == Settings()
    assert (settings.host, settings.port, settings.data) == ("127.0.0.1", 8765, BUNDLED)
    assert (settings.max_sessions, settings.idle_after, settings.instance) == (20_000, 0, "main")


def test_every_setting_can_be_a_variable() -> None:
    variables = {
        "HOST": "::1", "PORT": "0", "DATA": "data", "CHECKPOINT_ROOT": "kept", "INSTANCE": "one",
        "PUBLIC_URL": "https://work.example/office/", "ALLOWED_HOST": "a.example, b.example:81,",
        "MAX_SESSIONS": "5", "IDLE_AFTER": "1.5", "LOG_LEVEL": "debug", "ON_CHECKPOINT": "wait",
        "WAIT_LIMIT": "2", "OFFER": "3", "LEASE_GRACE": "3",
        "ADMIN_TOKEN": "t" * 16, "ADMIN_TOKEN_FILE": "token",
    }  # fmt: skip
    assert {name.lower() for name in variables} == set(Settings.model_fields)
    assert read_settings({f"WA_MCP_{name}": text for name, text in variables.items()}, {}) == Settings(
        host="::1", port=0, data=Path("data"), checkpoint_root=Path("kept"), instance="one",
        public_url="https://work.example/office", allowed_host=("a.example", "b.example:81"),
        max_sessions=5, idle_after=1.5, log_level="debug", on_checkpoint="wait", wait_limit=2, offer=3,
        lease_grace=3, admin_token=SecretStr("t" * 16), admin_token_file=Path("token"),
    )  # fmt: skip


def test_a_flag_wins_over_a_variable() -> None:
    settings = read_settings({"WA_MCP_PORT": "1", "WA_MCP_INSTANCE": "one"}, {"port": "2", "instance": None})
    assert (settings.port, settings.instance) == (2, "one")


def test_an_empty_list_in_a_variable_is_empty() -> None:
    assert read_settings({"WA_MCP_ALLOWED_HOST": ""}, {}).allowed_host == ()


@pytest.mark.parametrize("variable", ["WA_MCP_PROT", "WA_MCP_port", "WA_MCP_", "WA_MCP_MODEL_CONFIG"])
def test_a_variable_that_is_no_setting_is_refused_with_those_that_are(variable: str) -> None:
    said = complaint({variable: "1"})
    assert said.startswith(f"{variable} is not a setting; known are WA_MCP_HOST, WA_MCP_PORT, ")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("host", ""),
        ("port", "-1"),
        ("offer", "1001"),
        ("port", "65536"),
        ("port", "http"),
        ("max_sessions", "0"),
        ("max_sessions", "many"),
        ("idle_after", "-1"),
        ("idle_after", "nan"),
        ("idle_after", "inf"),
        ("log_level", "loud"),
        ("instance", ""),
        ("instance", ".hidden"),
        ("instance", "a/b"),
        ("instance", "x" * 65),
        ("instance", "a\n"),
        ("public_url", ""),
        ("public_url", "work.example"),
        ("public_url", "ftp://work.example"),
        ("public_url", "https://"),
        ("public_url", "https:///office"),
        ("public_url", "https://[work"),
        ("public_url", "https://work.example:many"),
        ("public_url", "https://work.example/?a=1"),
        ("public_url", "https://work.example/#a"),
        ("public_url", "https://work example"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_the_name_it_was_given_under(name: str, value: str) -> None:
    variable, flag = f"WA_MCP_{name.upper()}", f"--{name.replace('_', '-')}"
    assert complaint({variable: value}).startswith(f"{variable}: ")
    assert complaint({}, {name: value}).startswith(f"{flag}: ")
    assert complaint({}, {name: value}).endswith(f", got {value!r}")


@pytest.mark.parametrize("host", ["", "https://work.example", "work.example/office", "a b", "*", "me@work"])
def test_an_allowed_host_is_a_name_and_nothing_else(host: str) -> None:
    assert "--allowed-host: expected a host name" in complaint({}, {"allowed_host": [host]})


def test_all_that_is_wrong_is_said_at_once() -> None:
    said = complaint({"WA_MCP_PORT": "x"}, {"max_sessions": "y"})
    assert "WA_MCP_PORT: " in said
    assert "--max-sessions: " in said


def test_settings_cannot_be_changed_or_made_up() -> None:
    with pytest.raises(ValidationError):
        Settings().port = 1  # type: ignore[misc]
    with pytest.raises(ValidationError):
        Settings(prot=1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        (Settings(), "http://127.0.0.1:8765"),
        (Settings(host="::1"), "http://[::1]:8765"),
        (Settings(host="0.0.0.0"), "http://127.0.0.1:8765"),
        (Settings(host="::"), "http://[::1]:8765"),
        (Settings(host="work.example", port=80), "http://work.example:80"),
        (Settings(public_url="https://work.example/office/"), "https://work.example/office"),
    ],
)
def test_the_base_url_is_one_that_can_be_called(settings: Settings, url: str) -> None:
    assert settings.base_url() == url


def test_the_base_url_names_the_port_that_was_free() -> None:
    assert Settings(port=0).base_url(5000) == "http://127.0.0.1:5000"
