"""`wa-mcp tasks`: making them, and telling what is wrong with anybody's."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolkits.tasks import BUNDLED_TASKS
from wa_mcp.catalogue import CATALOGUE
from wa_mcp.cli import main

pytestmark = pytest.mark.timeout(120)

Line = dict[str, Any]
Said = pytest.CaptureFixture[str]

MAIL = "00000163"
EVENT = "00000046"


def call(name: str, **arguments: Any) -> Line:
    return {"name": name, "arguments": arguments}


def renamed(name: str) -> Line:
    return call("calendar_update_event", event_id=EVENT, field="event_name", new_value=name)


def sent(subject: str) -> Line:
    return call("email_send_email", recipient="a@b.example", subject=subject, body="Yes.")


DELETED = call("email_delete_email", email_id=MAIL)
STANDING = renamed("Packaging Board")


def good(number: int) -> Line:
    return {"id": f"good-{number}", "category": "mine", "kind": "good", "ground_truth": [DELETED]}


def written(tmp_path: Path, *lines: Line | str) -> str:
    file = tmp_path / "tasks.jsonl"
    file.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(file)


def complaints(out: str) -> list[str]:
    return [line for line in out.splitlines() if line.startswith("line ")]


def test_the_bundled_tasks_are_made_again_by_default(tmp_path: Path, capsys: Said) -> None:
    out = tmp_path / "new" / "tasks.jsonl"
    assert main(["tasks", "generate", "--out", str(out)]) == 0
    assert out.read_bytes() == BUNDLED_TASKS.read_bytes()
    assert capsys.readouterr().out == f"wrote 690 tasks of 69 kinds to {out}\n"


def test_a_line_has_what_a_task_needs() -> None:
    for line in BUNDLED_TASKS.read_text().splitlines():
        task = json.loads(line)
        assert list(task) == [
            "id", "category", "kind", "prompt", "system", "ground_truth", "order_sensitive",
        ]  # fmt: skip
        assert all(task[name] for name in ("id", "category", "kind", "prompt", "system"))
        assert all(list(one) == ["name", "arguments"] for one in task["ground_truth"])
        assert all(type(one["arguments"]) is dict for one in task["ground_truth"])


def test_the_bundled_tasks_pass(capsys: Said) -> None:
    assert main(["tasks", "check", str(BUNDLED_TASKS)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 69 + 1 + 1
    assert lines[0].split() == ["kind", "tasks", "none", "one", "two", "more"]
    assert lines[1].split() == ["analytics/chart_since", "10", "0", "10", "0", "0"]
    assert lines[-2].split()[:2] == ["all", "690"]
    assert lines[-1] == "no complaints"


def test_rows_for_the_responses_api_pass_too(tmp_path: Path, capsys: Said) -> None:
    out = tmp_path / "rows.jsonl"
    asked = [
        "tasks",
        "generate",
        "--out",
        str(out),
        "--format",
        "responses",
        "--per-kind",
        "1",
        "--seed",
        "8",
    ]
    assert main(asked) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 69
    for row in rows:
        asked_for = row["responses_create_params"]
        assert [message["role"] for message in asked_for["input"]] == ["system", "user"]
        assert [tool["name"] for tool in asked_for["tools"]] == list(CATALOGUE.tools)
        assert all(isinstance(one["arguments"], str) for one in row["ground_truth"])
    assert main(["tasks", "check", str(out)]) == 0
    assert capsys.readouterr().out.endswith("no complaints\n")


def test_a_data_set_with_too_few_cases_is_said_to_have_them(tmp_path: Path, capsys: Said) -> None:
    assert main(["data", "generate", "--seed", "5", "--out", str(tmp_path / "office")]) == 0
    mails = tmp_path / "office" / "emails.csv"
    mails.write_text(mails.read_text().partition("\n")[0] + "\n")
    out = tmp_path / "tasks.jsonl"
    asked = ["tasks", "generate", "--data", str(tmp_path / "office"), "--out", str(out), "--per-kind", "2"]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "  email/delete_latest: only 0, the data set has no more clear cases\n" in said
    assert "calendar/" not in said
    assert main(["tasks", "check", str(out), "--data", str(tmp_path / "office")]) == 0


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path, capsys: Said) -> None:
    mine = tmp_path / "tasks.jsonl"
    mine.write_text("mine")
    assert main(["tasks", "generate", "--out", str(mine)]) == 1
    assert mine.read_text() == "mine"
    assert capsys.readouterr().err == (
        f"wa-mcp: {mine} is there already; choose another name or remove it first\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["generate"], "the following arguments are required: --out"),
        (["generate", "--out", "x", "--per-kind", "0"], "argument --per-kind: expected 1 to 1000, got '0'"),
        (["generate", "--out", "x", "--per-kind", "many"], "argument --per-kind: expected 1 to 1000"),
        (["generate", "--out", "x", "--format", "xml"], "argument --format: invalid choice: 'xml'"),
        (["check"], "the following arguments are required: FILE"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_what_is_asked_for_wrongly_ends_with_2(arguments: list[str], said: str, capsys: Said) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["tasks", *arguments])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["check", "missing.jsonl"], ["generate", "--data", "missing", "--out", "x"]]
)
def test_a_file_or_folder_that_is_not_there_ends_with_1_and_one_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["tasks", *arguments]) == 1
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert "missing" in err


FAULTS: dict[str, tuple[Line | str, str]] = {
    "text": ("no JSON", "not JSON"),
    "a list": ("[]", "expected an object"),
    "bytes": ('{"id": "\ud800"}'.encode(errors="surrogatepass").decode(errors="replace") + "x", "not JSON"),
    "no ground truth": ({"id": "a"}, "no ground truth: expected ground_truth or calls"),
    "a number": ({"id": "a", "ground_truth": 5}, "ground_truth: expected a list of calls"),
    "text that is no list": ({"ground_truth": "rm"}, "ground_truth: expected a list of calls, got text"),
    "too many calls": ({"ground_truth": [DELETED] * 1001}, "ground_truth: expected at most 1000 calls"),
    "a call that is none": ({"ground_truth": [7]}, "call 1 (without a name) does not run:"),
    "an unknown tool": ({"ground_truth": [call("email_burn")]}, "call 1 (email_burn) does not run: "),
    "an unknown argument": (
        {"ground_truth": [call("email_delete_email", mail=MAIL)]},
        "call 1 (email_delete_email) does not run: Unknown argument 'mail'",
    ),
    "a wrong type": (
        {"ground_truth": [DELETED, call("email_delete_email", email_id=163)]},
        "call 2 (email_delete_email) does not run: Argument 'email_id': expected a value of type string",
    ),
    "broken arguments": (
        {"ground_truth": [{"name": "email_delete_email", "arguments": "{"}]},
        "call 1 (email_delete_email) does not run:",
    ),
    "a row that is not there": (
        {"ground_truth": [DELETED, DELETED]},
        "call 2 (email_delete_email) does not run: Email not found.",
    ),
    "an update to what stands": ({"ground_truth": [STANDING]}, "doing nothing scores 1"),
    "an update of the case alone": ({"ground_truth": [renamed("PACKAGING board")]}, "doing nothing scores 1"),
    "a search": ({"ground_truth": [call("email_search_emails")]}, "doing nothing scores 1"),
    "a needless call": (
        {"ground_truth": [DELETED, STANDING]},
        "call 2 of 2 (calendar_update_event) makes no difference",
    ),
    "a call undone by the next": (
        {"ground_truth": [renamed("One"), renamed("Two")]},
        "call 1 of 2 (calendar_update_event) makes no difference",
    ),
    "calls that only look like calls": (
        {"ground_truth": [{**DELETED, "role": "user"}]},
        "the ground truth does not score 1 against itself",
    ),
    "an order that counts": (
        {"ground_truth": [sent("One"), sent("Two")], "order_sensitive": False},
        "order_sensitive is false, but the calls in reverse order score 0",
    ),
    "an id twice": ({**good(1), "kind": "other"}, "the id is that of line 1 too"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, tmp_path: Path, capsys: Said) -> None:
    line, said = FAULTS[fault]
    assert main(["tasks", "check", written(tmp_path, good(1), "", line, good(2))]) == 1
    out = capsys.readouterr().out
    (found,) = complaints(out)
    assert found.startswith("line 3")
    assert said in found
    assert out.endswith("1 complaint\n")
    assert ["mine/good", "2", "0", "2", "0", "0"] in [row.split() for row in out.splitlines()]


FORMS: dict[str, Callable[[list[Line]], Line]] = {
    "objects": lambda calls: {"ground_truth": calls},
    "calls": lambda calls: {"calls": calls, "outputs": ["what came of it"]},
    "arguments as text": lambda calls: {
        "ground_truth": [{**one, "arguments": json.dumps(one["arguments"])} for one in calls]
    },
    "all as text": lambda calls: {"ground_truth": json.dumps(calls)},
    "with a client's prefix": lambda calls: {
        "ground_truth": [{**one, "name": f"mcp__office__{one['name']}"} for one in calls]
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_ground_truth_is_read(form: str, tmp_path: Path, capsys: Said) -> None:
    lines = [
        FORMS[form](calls) for calls in ([], [DELETED], [DELETED, renamed("One")], [sent(x) for x in "abc"])
    ]
    assert main(["tasks", "check", written(tmp_path, *lines)]) == 0
    assert ["(no", "kind)", "4", "1", "1", "1", "1"] in [
        row.split() for row in capsys.readouterr().out.splitlines()
    ]


def test_what_is_shown_of_a_foreign_file_moves_no_cursor(tmp_path: Path, capsys: Said) -> None:
    line = {"id": "a\x1b[2J", "kind": "b\x1b[2J", "ground_truth": [call("email_\x1b[2J")]}
    assert main(["tasks", "check", written(tmp_path, line)]) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_an_empty_file_has_nothing_to_complain_about(tmp_path: Path, capsys: Said) -> None:
    assert main(["tasks", "check", written(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "all       0      0      0      0      0",
        "no complaints",
    ]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        # Two of the recorded tasks ask to hand a customer to the person who has it: idling earns the reward.
        ("ground_truth_three_domains", {232: "doing nothing scores 1", 233: "doing nothing scores 1"}),
        ("example", {}),
        ("scoring_cases", {}),
    ],
)
def test_the_reference_s_ground_truths_pass_but_for_what_idling_earns(
    name: str, wrong: dict[int, str], reference: Path, capsys: Said
) -> None:
    file = reference / "trajectories" / f"{name}.jsonl"
    status = main(["tasks", "check", str(file), "--data", str(reference / "csv_data")])
    found = complaints(capsys.readouterr().out)
    assert status == bool(wrong)
    assert len(found) == len(wrong)
    for line, (number, said) in zip(found, wrong.items(), strict=True):
        assert line.startswith(f"line {number} (")
        assert said in line
