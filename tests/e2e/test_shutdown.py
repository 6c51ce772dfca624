"""A server that is told to stop ends with status 0, in order, whoever is still connected."""

import json
import signal
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.e2e.processes import ENDS_WITHIN, Server, serving

pytestmark = pytest.mark.timeout(90)

CALL = {"name": "email_delete_email", "arguments": {"email_id": "no such mail"}}
BODY = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}).encode()


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=ENDS_WITHIN)


def head(server: Server, *more: str) -> bytes:
    lines = [
        f"POST {urlsplit(server.urls[0]).path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(BODY)}",
        "Accept: application/json", "Content-Type: application/json", *more,
    ]  # fmt: skip
    return "\r\n".join([*lines, "", ""]).encode()


def reply(connection: socket.socket) -> bytes:
    """Read until the answer to a call has come."""
    read = b""
    while b"Email not found." not in read:
        piece = connection.recv(65536)
        assert piece, read
        read += piece
    return read


def begin_a_call(server: Server, connection: socket.socket) -> None:
    """Send a call but for its body, and wait until the server asks for that."""
    connection.sendall(head(server, "Expect: 100-continue"))
    assert connection.recv(65536).startswith(b"HTTP/1.1 100 ")


def wait_until_logged(server: Server, words: str) -> None:
    while words not in server.log():
        assert server.process.poll() is None


def test_a_signal_ends_it_in_order_though_idle_clients_are_connected(tmp_path: Path) -> None:
    with serving(tmp_path) as server, connect(server) as silent, connect(server) as idle:
        idle.sendall(head(server) + BODY)
        reply(idle)
        assert server.stop(signal.SIGINT) == 0
        assert idle.recv(1) == silent.recv(1) == b""
        check_the_end(server.log())


def test_a_call_in_flight_is_answered_before_the_end(tmp_path: Path) -> None:
    with serving(tmp_path) as server, connect(server) as calling:
        begin_a_call(server, calling)
        server.process.send_signal(signal.SIGTERM)
        wait_until_logged(server, "Shutting down")
        calling.sendall(BODY)
        reply(calling)
        assert server.process.wait(ENDS_WITHIN) == 0
        check_the_end(server.log())


def check_the_end(log: str) -> None:
    assert "Application shutdown complete" in log
    assert "graceful shutdown exceeded" not in log
    assert "Traceback" not in log


def test_a_second_signal_does_not_wait_for_the_call_in_flight(tmp_path: Path) -> None:
    with serving(tmp_path) as server, connect(server) as calling:
        begin_a_call(server, calling)
        server.process.send_signal(signal.SIGTERM)
        wait_until_logged(server, "Shutting down")
        assert server.stop(signal.SIGINT) == 0
        assert "graceful shutdown exceeded" not in server.log()
