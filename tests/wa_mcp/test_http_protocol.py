"""What a client may send before its request has a head."""

import socket
import threading

import pytest
import uvicorn

from wa_mcp import Runtime, http_app

pytest.importorskip("httptools", reason="without httptools h11 serves, which has limits of its own")

from wa_mcp.http_protocol import LARGEST_HEAD, LimitedProtocol


def send_a_head_without_end(client: socket.socket) -> None:
    client.settimeout(10)
    client.sendall(b"GET /")
    for _ in range(100 * LARGEST_HEAD // 65536):
        client.sendall(b"a" * 65536)


def test_a_head_without_end_is_cut_off_and_the_next_client_is_answered(runtime: Runtime) -> None:
    config = uvicorn.Config(http_app(runtime), port=0, log_config=None, http=LimitedProtocol, ws="none")
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        address = listening.getsockname()
        with socket.create_connection(address) as client, pytest.raises(ConnectionError):
            send_a_head_without_end(client)
        with socket.create_connection(address) as client:
            client.settimeout(10)
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
