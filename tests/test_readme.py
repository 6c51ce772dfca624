"""What the README and the docs show is what happens."""

import ast
import asyncio
import os
import signal
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import http_server
from wa_mcp import Runtime
from wa_mcp.settings import PREFIX

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = sorted([README, *(ROOT / "docs").glob("*.md")])


class Block(NamedTuple):
    page: str
    kind: str
    text: str


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    kind: str | None = None
    lines: list[str] = []
    for line in page.read_text().splitlines():
        if not line.startswith("```"):
            lines.append(line)
        elif kind is None:
            kind, lines = line.removeprefix("```"), []
        else:
            found.append(Block(page.name, kind, "\n".join(lines)))
            kind = None
    return found


ALL = [block for page in PAGES for block in blocks(page)]
SHOWN = [(block, ALL[at + 1]) for at, block in enumerate(ALL) if block.kind.split(" ")[0] == "python"]
CONSOLE = [block for block in ALL if block.kind == "console"]


def test_every_block_is_of_a_kind_that_is_run() -> None:
    known = {"python", "python client", "text", "console", "sh", "toml", "mermaid"}
    assert {block.kind for block in ALL} <= known
    assert len(SHOWN) >= 2
    assert len(CONSOLE) >= 2


@pytest.mark.parametrize(("block", "output"), SHOWN)
def test_python_code_prints_what_is_shown(
    block: Block, output: Block, runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert output.kind == "text", "a python block is followed by what it prints"
    monkeypatch.chdir(tmp_path)  # where checkpoints go
    with http_server(runtime) as base:
        url = base + runtime.sessions.seed().path
        names = {"url": url, "server": base, "token": runtime.admin_token}
        printed = run_python(block.text, names)
    assert printed.strip() == output.text


def run_python(code: str, names: dict[str, Any]) -> str:
    """Run code that may await at its top level, and give what it prints."""
    program = compile(code, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    with redirect_stdout(StringIO()) as printed:
        running = eval(program, names)  # the project's own documentation, not user input
        if running is not None:
            asyncio.run(running)
    return printed.getvalue()


@pytest.mark.parametrize("block", CONSOLE)
@pytest.mark.timeout(60)
def test_commands_print_what_is_shown(block: Block, tmp_path: Path) -> None:
    for shown in block.text.split("$ ")[1:]:
        command, *lines = shown.strip().splitlines()
        printed = run_command(command, tmp_path).splitlines()
        for expected, actual in zip(lines, printed, strict=False):
            if expected == "...":
                break
            head, *_ = expected.split("...")
            assert actual.startswith(head), (command, expected, actual)
        assert len(printed) >= len(lines), command


def run_command(command: str, folder: Path) -> str:
    program, *arguments = command.split()
    assert program == "wa-mcp"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    environment |= {f"{PREFIX}PORT": "0", "PYTHONPATH": str(ROOT)} if arguments[0] == "serve" else {}
    with subprocess.Popen(
        [sys.executable, "-m", "wa_mcp", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        if arguments[0] != "serve":
            output = process.stdout.read()
        else:
            lines = [process.stdout.readline() for _ in range(8)]
            port = lines[0].strip().rsplit(":", 1)[1]
            output = "".join(lines).replace(f":{port}", ":8765")
            process.send_signal(signal.SIGTERM)
            process.stdout.read()
    assert process.returncode == 0
    return output
