"""What the command says to what it cannot do: 2 if asked for wrongly, 1 if it failed, in plain words."""

from pathlib import Path

import pytest

from wa_mcp.cli import main
from wa_mcp.version import VERSION


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["data"], "the following arguments are required: COMMAND"),
        (["sreve"], "invalid choice: 'sreve'"),
        (["serve", "--prot", "0"], "unrecognized arguments: --prot 0"),
        (["serve", "0"], "unrecognized arguments: 0"),
        (["serve", "--port"], "argument --port: expected one argument"),
        (["stdio", "--port", "0"], "unrecognized arguments: --port 0"),
        (["data", "generate"], "the following arguments are required: --out"),
        (["data", "generate", "--out", "x", "--seed", "many"], "argument --seed: invalid int value: 'many'"),
        (["data", "check"], "the following arguments are required: DIR"),
        (["demo", "more"], "unrecognized arguments: more"),
    ],
)
def test_a_line_that_is_none_ends_with_2_and_its_usage(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err.startswith("usage: wa-mcp")
    assert said in err


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--port", "http"),
        ("--port", "65536"),
        ("--max-sessions", "0"),
        ("--idle-after", "-1"),
        ("--log-level", "loud"),
        ("--instance", "a/b"),
        ("--public-url", "https://[work"),
        ("--allowed-host", "https://work.example"),
    ],
)
def test_a_flag_s_value_that_does_not_fit_ends_with_2_and_one_line(
    flag: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", flag, value]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert err.startswith(f"wa-mcp: {flag}: ")


@pytest.mark.parametrize(
    "arguments", [["data", "check"], ["serve", "--port", "0", "--data"], ["stdio", "--data"]], ids=" ".join
)
def test_a_data_set_that_is_not_there_ends_with_1_and_one_line(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wa_mcp.cli.log_to_stderr", lambda _level: None)  # type: ignore[misc]
    missing = tmp_path / "missing"
    assert main([*arguments, str(missing)]) == 1
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert err.startswith(f"wa-mcp: {missing}: no such folder")


def test_a_place_that_cannot_be_written_ends_with_1_and_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["data", "generate", "--out", str(tmp_path / "file" / "below")]) == 1
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert err.startswith("wa-mcp: ")


def test_a_data_set_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "dataset.toml"
    mine.write_text("mine")
    assert main(["data", "generate", "--out", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert list(tmp_path.iterdir()) == [mine]
    assert mine.read_text() == "mine"


def test_it_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert (ended.value.code, capsys.readouterr()) == (0, (f"wa-mcp {VERSION}\n", ""))


def test_an_interruption_is_no_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("wa_mcp.cli.demo", interrupted)
    assert main(["demo"]) == 130
    assert capsys.readouterr() == ("", "")
