"""The controllers' token: what is let in, what is not, and where a token may come from."""

import socket
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from tests.conftest import http_server
from tests.wa_mcp.controllers import METHOD
from wa_mcp import Runtime, Settings
from wa_mcp.app import LARGEST_ADMIN_BODY
from wa_mcp.settings import SettingsError, read_settings

TOKEN = "a-token of 2 words:=/+~"
STATUS = '{"jsonrpc":"2.0","id":1,"method":"' + METHOD + 'checkpoint/status","params":{}}'
JSON = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": "2025-06-18",
}
Header = tuple[str, str | bytes]


@pytest.fixture(scope="module")
def url() -> Generator[str, None, None]:
    with http_server(Runtime(Settings(admin_token=SecretStr(TOKEN)))) as base:
        yield base + "/admin/mcp"


def post(url: str, *shown: str | bytes, body: Any = STATUS, **more: str) -> httpx2.Response:
    headers: list[tuple[bytes, bytes]] = [
        (b"Authorization", it if isinstance(it, bytes) else it.encode()) for it in shown
    ]
    headers += [(name.encode(), text.encode()) for name, text in {**JSON, **more}.items()]
    return httpx2.post(url, content=body, headers=headers, timeout=20)


@pytest.mark.parametrize("shown", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER  {TOKEN}"], ids=ascii)
def test_who_shows_the_token_is_let_in(url: str, shown: str) -> None:
    answer = post(url, shown)
    assert (answer.status_code, answer.json()["result"]["phase"]) == (200, "idle")


@pytest.mark.parametrize(
    "shown",
    [
        (),
        ("",),
        ("Bearer",),
        (TOKEN,),
        (f"Basic {TOKEN}",),
        (f"Token {TOKEN}",),
        (f"Bearer{TOKEN}",),
        (f"Bearer\t{TOKEN}",),
        (f"Bearer {TOKEN[:-1]}",),
        (f"Bearer {TOKEN}x",),
        (f"Bearer {TOKEN.upper()}",),
        (f"Bearer {TOKEN[:-1]}\u00e9",),
        (b"Bearer " + b"\xff" * len(TOKEN),),
        (f"Bearer {TOKEN}, Bearer {TOKEN}",),
        (f"Bearer {TOKEN}", "Bearer another"),
        ("Bearer another", f"Bearer {TOKEN}"),
        (f"Bearer {TOKEN}", f"Bearer {TOKEN}"),
    ],
    ids=ascii,
)
def test_who_does_not_is_told_how_and_nothing_else(url: str, shown: tuple[str | bytes, ...]) -> None:
    answer = post(url, *shown)
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert answer.text == "A controller has to show its token: Authorization: Bearer <token>."


def test_a_token_in_the_url_does_not_count(url: str) -> None:
    assert post(f"{url}?token=a-token&access_token=a-token").status_code == 401


@pytest.mark.parametrize("path", ["/mcp", "/sessions/a-session-s-id-0001/mcp"])
def test_the_token_opens_no_operation_to_agents(url: str, path: str) -> None:
    answer = post(url.removesuffix("/admin/mcp") + path, f"Bearer {TOKEN}")
    assert answer.json()["error"]["code"] == -32601


def test_only_posts_are_answered(url: str) -> None:
    for method in ("GET", "PUT", "DELETE"):
        answer = httpx2.request(method, url, headers={**JSON, "Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 405


def test_a_foreign_host_or_origin_is_refused_even_with_the_token(url: str) -> None:
    assert post(url, f"Bearer {TOKEN}", Host="evil.example").status_code == 421
    assert post(url, f"Bearer {TOKEN}", Origin="https://evil.example").status_code == 403


def test_a_controller_may_send_more_than_an_agent(url: str) -> None:
    padded = STATUS.replace("{}", '{"checkpointId":"' + "x" * 5 * 1024 * 1024 + '"}')
    assert post(url, f"Bearer {TOKEN}", body=padded).json()["error"]["data"]["code"] == "invalid_params"
    agents = url.removesuffix("/admin/mcp") + "/mcp"
    assert post(agents, body=padded).status_code == 413


def declared(url: str, length: int, *lines: str) -> bytes:
    """Send the head of a request that says how long its body is, and give the head of the answer."""
    parts = httpx2.URL(url)
    head = [
        f"POST {parts.path} HTTP/1.1", f"Host: 127.0.0.1:{parts.port}", f"Content-Length: {length}",
        *(f"{name}: {text}" for name, text in JSON.items()), *lines, "", "",
    ]  # fmt: skip
    with socket.create_connection(("127.0.0.1", parts.port or 0), timeout=10) as connection:
        connection.sendall("\r\n".join(head).encode())
        return connection.recv(4096).split(b"\r\n")[0]


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(url: str) -> None:
    assert LARGEST_ADMIN_BODY == 256 * 1024 * 1024
    shown = f"Authorization: Bearer {TOKEN}"
    assert declared(url, LARGEST_ADMIN_BODY + 1, shown).split()[1] == b"413"


def test_without_a_token_no_body_is_read(url: str) -> None:
    assert declared(url, LARGEST_ADMIN_BODY).split()[1] == b"401"


# Where a token comes from.


def token_of(environment: dict[str, str], **flags: Any) -> str | None:
    return read_settings(environment, flags).token()


def test_a_token_comes_from_the_environment_or_from_a_file(tmp_path: Path) -> None:
    assert token_of({}) is None
    assert token_of({"WA_MCP_ADMIN_TOKEN": TOKEN}) == TOKEN
    assert token_of({"WA_MCP_ADMIN_TOKEN": f" {TOKEN} "}) == TOKEN
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert token_of({}, admin_token_file=str(file)) == TOKEN
    assert token_of({"WA_MCP_ADMIN_TOKEN_FILE": str(file)}) == TOKEN


def refused(environment: dict[str, str], **flags: Any) -> str:
    with pytest.raises(SettingsError) as caught:
        Runtime(read_settings(environment, flags))
    return str(caught.value)


@pytest.mark.parametrize(
    "token", ["", " " * 20, "fifteen-letters", "x" * 20 + "\u00e9", "x" * 20 + "\ny", "x" * 16 + "\t"]
)
def test_what_is_no_good_token_is_refused_and_not_repeated(tmp_path: Path, token: str) -> None:
    said = refused({"WA_MCP_ADMIN_TOKEN": token})
    assert said == "the controllers' token must be 16 or more printable ASCII characters"
    file = tmp_path / "token"
    file.write_text(token + ("" if token.strip() == token else "x"), encoding="utf-8")
    assert "xxxx" not in refused({}, admin_token_file=str(file))


def test_a_token_file_that_cannot_be_read_is_refused_by_name(tmp_path: Path) -> None:
    for unreadable in (tmp_path / "missing", tmp_path):
        said = refused({}, admin_token_file=str(unreadable))
        assert said.startswith(f"--admin-token-file: {unreadable} cannot be read")


def test_two_tokens_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    said = refused({"WA_MCP_ADMIN_TOKEN": TOKEN}, admin_token_file=str(file))
    assert said == "give the controllers' token in the environment or in a file, not both"


def test_without_a_token_one_is_made_that_nobody_can_guess() -> None:
    one, other = (Runtime(Settings()).admin_token for _ in range(2))
    assert one != other
    assert len(one) == len(other) == 43


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_is_this_machine_s_alone(host: str) -> None:
    assert Settings(host=host).is_loopback


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "127.evil.example", "work.example"])
def test_any_other_address_is_not(host: str) -> None:
    assert not Settings(host=host).is_loopback


def test_a_token_is_in_no_repr() -> None:
    assert TOKEN not in repr(Settings(admin_token=SecretStr(TOKEN)))
