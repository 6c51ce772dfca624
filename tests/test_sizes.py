"""Files stay small: a ratchet that only turns one way."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("wa_mcp", "toolkits", "checkpoint", "benchmarks")
MOST_LINES = 280
MOST_FUNCTION_LINES = 45

# Files and functions that are longer, with their lines: a number here may fall, and never rise.
LONGER: dict[str, int] = {}


def docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a docstring: what is said about a function does not make it longer."""
    return len((ast.get_docstring(node, clean=False) or "").splitlines())


def sizes() -> dict[str, int]:
    found: dict[str, int] = {}
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            text = file.read_text()
            if (lines := len(text.splitlines())) > MOST_LINES:
                found[name] = lines
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
                    length = node.end_lineno - node.lineno + 1 - docstring_lines(node)
                    if length > MOST_FUNCTION_LINES:
                        found[f"{name}:{node.name}"] = length
    return found


def test_no_file_or_function_outgrows_its_room() -> None:
    assert sizes() == LONGER
