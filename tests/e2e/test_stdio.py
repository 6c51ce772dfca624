"""`wa-mcp stdio` as clients start it: one workplace, only protocol on standard output, and an end."""

import json
import signal
import subprocess
import sys
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from tests.e2e.processes import ENDS_WITHIN, ROOT, Message, environment, speaking

pytestmark = pytest.mark.timeout(90)

MAIL = {
    "recipient": "ada@example.com",
    "subject": "Gr\u00fc\u00dfe \u2014 \U0001f600",
    "body": "Let us meet.",
}
SUBJECT = {"query": "Gr\u00fc\u00dfe"}
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_works_one_workplace(era: Any) -> None:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "wa_mcp", "stdio"], cwd=ROOT, env=environment()
    )
    async with Client(stdio_client(parameters), mode=era) as client:
        assert len((await client.list_tools()).tools) == 27
        sent = await client.call_tool("email_send_email", MAIL)
        found = await client.call_tool("email_search_emails", SUBJECT)
        wrong = await client.call_tool("email_send_email", {"recipient": 5})
    assert sent.structured_content == {"output": "Email sent successfully."}
    assert [mail["subject"] for mail in found.structured_content["output"]["emails"]] == [MAIL["subject"]]
    assert wrong.is_error
    assert (found.meta or {})["dev.wa-mcp/revision"] == 1


class Speaker:
    """Speaks the legacy era to a stdio server, line by line."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process, self.asked = process, 0
        self.ask("initialize", **INITIALIZE)
        self.say(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self) -> Message:
        """Read the next line, which is a message or the test fails."""
        assert self.process.stdout is not None
        message = json.loads(self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, method: str, **params: Any) -> Message:
        """Ask, and wait for the answer."""
        self.asked += 1
        self.say(json.dumps({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}))
        answer = self.hear()
        assert answer["id"] == self.asked
        return answer


def test_lines_that_are_no_messages_are_answered_and_it_ends_when_its_input_does() -> None:
    with speaking("--log-level", "debug") as process:
        speaker = Speaker(process)
        for line in (
            "garbage",
            "{",
            "[]",
            "",
            "null",
            '{"jsonrpc":"2.0"}',
            "[" * 100_000,
            '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\\ud800"}}',
            '{"id":"\\ud800"}',
        ):
            speaker.say(line)
            answer = speaker.hear()
            assert (answer["id"], answer["error"]["code"]) == (None, -32700), line
        call = {"name": "email_search_emails"}
        odds = [
            ("query", float("nan")),
            ("page", 2**60),
            ("page", 2**70),
            ("no such", 1),
            ("query", ["text"]),
        ]
        for name, odd in odds:
            assert speaker.ask("tools/call", **call, arguments={name: odd})["result"]["isError"] is True
        assert speaker.ask("tools/call", **call, arguments={})["result"]["isError"] is False
        out, err = process.communicate(timeout=ENDS_WITHIN)
    assert (process.returncode, out) == (0, "")
    assert "loaded 7 tables" in err
    assert "Traceback" not in err


def test_a_signal_ends_it_though_its_input_is_open() -> None:
    with speaking() as process:
        speaker = Speaker(process)
        assert speaker.ask("ping")["result"] == {}
        process.send_signal(signal.SIGTERM)
        assert process.wait(ENDS_WITHIN) == 0
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read() == ""
        assert "Traceback" not in process.stderr.read()


def test_requests_from_a_file_are_all_answered() -> None:
    asked = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE}]
    call = {"name": "email_send_email", "arguments": MAIL}
    asked += [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": call} for n in range(1, 6)]
    with speaking() as process:
        out, _ = process.communicate("".join(json.dumps(message) + "\n" for message in asked), ENDS_WITHIN)
    answers = [json.loads(line) for line in out.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(6))
    assert process.returncode == 0
