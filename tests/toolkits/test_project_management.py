"""The project board: look up, search, create, delete and change tasks."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.toolkits.desk import Desk, desk

TASKS = "project_management.tasks"
COLUMNS = ("task_id", "task_name", "assigned_to_email", "list_name", "due_date", "board")
BAD_ASSIGNEE = "Assignee email not valid. Please choose from the list of team members."
BAD_LIST = "List not valid. Please choose from: 'Backlog', 'In Progress', 'In Review', 'Completed'."
BAD_BOARD = "Board not valid. Please choose from: 'Back end', 'Front end', 'Design'."
EMPTY_UPDATE = "Task ID, field, or new value not provided."
BAD_EMAIL = "Invalid email format for assigned_to_email."
SEARCH = "project_management_search_tasks"
ROWS = (
    ("00000005", "Fix login (2)", "ada@firm.example", "Backlog", "2023-11-30", "Back end"),
    ("00000002", "fix logout", "Cy@Firm.example", "In Progress", "2023-12-01", "Front end"),
    ("00000009", "Paint", "ada@firm.example", "", "", "Design"),
    ("00000001", "Draw [x]*", "", "In Review", "2023-11-01", "Design"),
)


@pytest.fixture
def board() -> Desk:
    return desk({TASKS: ROWS})


def ids(found: list[dict[str, str]]) -> list[str]:
    return [task["task_id"] for task in found]


@pytest.mark.parametrize(("field", "value"), [*zip(COLUMNS, ROWS[1], strict=True)])
def test_every_field_of_a_task_can_be_read_as_stored(board: Desk, field: str, value: str) -> None:
    got = board.reads("project_management_get_task_information_by_id", task_id="00000002", field=field)
    assert got == {field: value}


def test_an_empty_cell_reads_as_null(board: Desk) -> None:
    got = board.reads("project_management_get_task_information_by_id", task_id="00000009", field="due_date")
    assert got == {"due_date": None}


@pytest.mark.parametrize(
    ("task_id", "field", "answer"),
    [
        ("", "", "Task ID not provided."),
        ("5", "", "Field not provided."),
        ("5", "nope", "Task not found."),
        ("00000005", "nope", "Field not found."),
        ("00000005", "BOARD", "Field not found."),
    ],
)
def test_a_lookup_checks_the_id_the_field_the_task_and_the_column_in_this_order(
    board: Desk, task_id: str, field: str, answer: str
) -> None:
    given = {"task_id": task_id, "field": field}
    assert board.refused("project_management_get_task_information_by_id", **given) == answer


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"task_name": "FIX"}, ["00000005", "00000002"]),
        ({"task_name": "(2)"}, ["00000005"]),
        ({"task_name": "[x]*"}, ["00000001"]),
        ({"task_name": "fix login"}, ["00000005"]),
        ({"task_name": " "}, ["00000005", "00000002", "00000001"]),
        ({"list_name": "in "}, ["00000002", "00000001"]),
        ({"list_name": "nan"}, []),
        ({"due_date": "2023-11"}, ["00000005", "00000001"]),
        ({"board": "END"}, ["00000005", "00000002"]),
        ({"assigned_to_email": "ADA@firm.EXAMPLE"}, ["00000005", "00000009"]),
        ({"assigned_to_email": "cy@firm.example"}, ["00000002"]),
        ({"assigned_to_email": "da@firm.example"}, []),
        ({"assigned_to_email": "ada@firm.example", "board": "design"}, ["00000009"]),
        ({"task_name": "fix", "board": "design"}, []),
        ({"task_name": "", "board": "design", "due_date": None}, ["00000009", "00000001"]),
    ],
)
def test_all_filters_must_hold_literally_and_the_order_is_the_table_s(
    board: Desk, filters: dict[str, str], expected: list[str]
) -> None:
    assert ids(board.reads(SEARCH, **filters)) == expected


def test_found_tasks_are_whole_rows(board: Desk) -> None:
    (found,) = board.reads(SEARCH, task_name="paint")
    assert found == dict(
        zip(COLUMNS, ("00000009", "Paint", "ada@firm.example", None, None, "Design"), strict=True)
    )


@pytest.mark.parametrize("filters", [{}, dict.fromkeys(COLUMNS[1:], ""), dict.fromkeys(COLUMNS[1:])])
def test_a_search_needs_a_filter(board: Desk, filters: dict[str, str]) -> None:
    assert board.refused(SEARCH, **filters) == "No search parameters provided."


ADDRESS = re.compile(r"[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}")
ADDRESSES = (
    "a@b.co", "A.%+_-9@x-1.y.example", "a@.co", "a@-.co", "a@b..co", "a@b.c", "@b.co", "a@.c", "a@co",
    "a b@c.de",     "a@b@c.de", "a@b.c1", "a@b.co.", "ä@b.co", "a@b.cö", "a@b.éé", " a@b.co", "a@b.co ",
    "a@b_c.de", "a@b.de/",
)  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_assignee_to_search_for_must_look_like_an_address(board: Desk, address: str) -> None:
    if ADDRESS.fullmatch(address):
        assert board.reads(SEARCH, assigned_to_email=address) == []
    else:
        assert board.refused(SEARCH, assigned_to_email=address) == BAD_EMAIL


@given(st.text(alphabet="aZ9._%+-@é\u0661 ", min_size=1, max_size=12))
def test_addresses_are_told_as_the_written_pattern_tells_them(address: str) -> None:
    outcome = desk().call(SEARCH, {"assigned_to_email": address})
    assert outcome.is_error is (ADDRESS.fullmatch(address) is None)


def test_a_created_task_goes_last_with_a_padded_id_and_all_rows_are_relabelled(board: Desk) -> None:
    board.changes("project_management_delete_task", task_id="00000002")
    assert board.labels(TASKS) == [0, 2, 3]
    given = {"task_name": " N ", "list_name": "Completed", "due_date": "some day", "board": "Design"}
    created = board.changes("project_management_create_task", assigned_to_email="ADA@Firm.example", **given)
    assert created == "00000010"
    assert board.rows(TASKS)[-1] == (
        "00000010", " N ", "ada@firm.example", "Completed", "some day", "Design",
    )  # fmt: skip
    assert board.labels(TASKS) == [0, 1, 2, 3]


def test_an_assignee_is_compared_in_lower_case_with_those_in_the_table_now(board: Desk) -> None:
    given = {"task_name": "n", "list_name": "Backlog", "due_date": "d", "board": "Design"}
    board.changes("project_management_create_task", assigned_to_email="cy@firm.example", **given)
    for task_id in ("00000002", "00000010"):
        board.changes("project_management_delete_task", task_id=task_id)
    refused = board.refused("project_management_create_task", assigned_to_email="cy@firm.example", **given)
    assert refused == BAD_ASSIGNEE


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        *(((*"nalb"[:at], "", *"nalb"[at:]), "Missing task details.") for at in range(5)),
        (("n", "eve@firm.example", "Todo", "d", "Back"), BAD_ASSIGNEE),
        (("n", "firm.example", "Backlog", "d", "Design"), BAD_ASSIGNEE),
        (("n", " ada@firm.example", "Backlog", "d", "Design"), BAD_ASSIGNEE),
        (("n", "ada@firm.example", "backlog", "d", "Back"), BAD_LIST),
        (("n", "ada@firm.example", "Backlog", "d", "design"), BAD_BOARD),
    ],
)  # fmt: skip
def test_a_create_checks_for_empty_values_assignee_list_and_board_in_this_order(
    board: Desk, values: tuple[str, ...], answer: str
) -> None:
    given = dict(zip(COLUMNS[1:], values, strict=True))
    assert board.refused("project_management_create_task", **given) == answer


def test_no_task_can_be_created_on_an_empty_board() -> None:
    empty = desk()
    given = dict(zip(COLUMNS[1:], ("n", "ada@firm.example", "Backlog", "d", "Design"), strict=True))
    assert empty.refused("project_management_create_task", **given) == BAD_ASSIGNEE
    assert empty.reads(SEARCH, task_name="n") == []


def test_a_deleted_task_is_gone_and_the_others_keep_their_labels(board: Desk) -> None:
    done = board.changes("project_management_delete_task", task_id="00000005")
    assert done == "Task deleted successfully."
    assert board.labels(TASKS) == [1, 2, 3]
    assert board.refused("project_management_delete_task", task_id="00000005") == "Task not found."
    assert board.refused("project_management_delete_task", task_id="") == "Task ID not provided."


@pytest.mark.parametrize(
    ("field", "given_value", "stored"),
    [
        ("task_name", " NAME ", " NAME "),
        ("assigned_to_email", "CY@firm.example", "cy@firm.example"),
        ("list_name", "In Review", "In Review"),
        ("due_date", "Some Day", "Some Day"),
        ("board", "Design", "Design"),
    ],
)
def test_an_update_sets_one_cell_and_keeps_all_labels(
    board: Desk, field: str, given_value: str, stored: str
) -> None:
    board.changes("project_management_delete_task", task_id="00000009")
    before = board.rows(TASKS)
    update = {"task_id": "00000005", "field": field, "new_value": given_value}
    assert board.changes("project_management_update_task", **update) == "Task updated successfully."
    row = list(before[0])
    row[COLUMNS.index(field)] = stored
    assert board.rows(TASKS) == [tuple(row), *before[1:]]
    assert board.labels(TASKS) == [0, 1, 3]


@pytest.mark.parametrize(
    ("task_id", "field", "value", "answer"),
    [
        ("", "board", "x", EMPTY_UPDATE),
        ("5", "", "x", EMPTY_UPDATE),
        ("5", "board", "", EMPTY_UPDATE),
        ("5", "board", "design", BAD_BOARD),
        ("5", "list_name", "backlog", BAD_LIST),
        ("5", "assigned_to_email", "eve@firm.example", BAD_ASSIGNEE),
        ("5", "nope", "x", "Task not found."),
        ("00000005", "nope", "x", "Field not valid."),
        ("00000005", "task_id", "00000006", "Field not valid."),
        ("00000005", "Board", "x", "Field not valid."),
    ],
)
def test_an_update_checks_the_value_the_task_and_the_column_in_this_order(
    board: Desk, task_id: str, field: str, value: str, answer: str
) -> None:
    update = {"task_id": task_id, "field": field, "new_value": value}
    assert board.refused("project_management_update_task", **update) == answer


def test_tasks_that_share_an_id_read_as_the_first_and_are_changed_together() -> None:
    board = desk({TASKS: [("99999999", *ROWS[0][1:]), ROWS[1]]})
    task = dict(zip(COLUMNS[1:], ROWS[0][1:], strict=True))
    for name in ("one", "two"):
        created = board.changes("project_management_create_task", **{**task, "task_name": name})
        assert created == "100000000"
    got = board.reads("project_management_get_task_information_by_id", task_id=created, field="task_name")
    assert got == {"task_name": "one"}
    board.changes("project_management_update_task", task_id=created, field="due_date", new_value="d")
    assert board.column(TASKS, "due_date")[-2:] == ["d", "d"]
    board.changes("project_management_delete_task", task_id=created)
    assert board.column(TASKS, "task_id") == ["99999999", "00000002"]
