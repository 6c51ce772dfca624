"""The project board: look up, search, create, delete and change tasks."""

from string import ascii_letters, digits
from typing import Annotated, Any, Final

from toolkits.cells import lowered, wire
from toolkits.search import Search
from toolkits.tool import Arg, Change, ToolError, tool
from toolkits.toolkit import TableField, Toolkit, check_effort, next_id, one_of

__all__ = ["ProjectManagement"]

TaskId = Annotated[str, Arg("Id of the task, 8 digits.")]

_LISTS: Final = ("Backlog", "In Progress", "In Review", "Completed")
_BOARDS: Final = ("Back end", "Front end", "Design")
_DOMAIN: Final = frozenset(ascii_letters + digits + ".-")
_LOCAL: Final = _DOMAIN | frozenset("_%+")


class ProjectManagement(Toolkit):
    """The project board: one row a task."""

    name = "project_management"
    tasks = TableField(
        "task_id", "task_name", "assigned_to_email", "list_name", "due_date", "board",
        file="project_tasks.csv", key="task_id",
        looked_through=("task_name", "assigned_to_email", "list_name", "due_date", "board"),
    )  # fmt: skip

    @tool(title="Get task information")
    def get_task_information_by_id(
        self,
        task_id: TaskId,
        field: Annotated[
            str, Arg("Column to read: task_id, task_name, assigned_to_email, list_name, due_date or board.")
        ],
    ) -> dict[str, Any]:
        """Read one field of one task."""
        if not task_id:
            raise ToolError("Task ID not provided.")
        if not field:
            raise ToolError("Field not provided.")
        row = self.tasks.rows[self._all(task_id)[0]]
        if field not in self.tasks.spec.position:
            raise ToolError("Field not found.")
        return {field: wire(row.cells[self.tasks.spec.position[field]])}

    @tool(title="Search tasks")
    def search_tasks(
        self,
        task_name: Annotated[str, Arg("Part of the task's name, in any case.")] = "",
        assigned_to_email: Annotated[str, Arg("Whole address of the assignee, in any case.")] = "",
        list_name: Annotated[str, Arg("Part of the list's name, in any case.")] = "",
        due_date: Annotated[str, Arg("Due date, YYYY-MM-DD, or a part of one such as 2023-11.")] = "",
        board: Annotated[str, Arg("Part of the board's name, in any case.")] = "",
    ) -> list[dict[str, Any]]:
        """Search the project board; every filter given must hold. Lists all tasks found."""
        parts = {"task_name": task_name, "list_name": list_name, "due_date": due_date, "board": board}
        given = {column: part for column, part in parts.items() if part}
        if not given and not assigned_to_email:
            raise ToolError("No search parameters provided.")
        if assigned_to_email and not _is_address(assigned_to_email):
            raise ToolError("Invalid email format for assigned_to_email.")
        check_effort(self.tasks, given.values())
        found = Search(self.tasks)
        if assigned_to_email:
            found.being(assigned_to_email, "assigned_to_email")
        for column, part in given.items():
            found.containing(part, column)
        return found.records()

    @tool(title="Create task")
    def create_task(
        self,
        task_name: Annotated[str, Arg("Name of the task.")],
        assigned_to_email: Annotated[str, Arg("Address of the assignee, one who has tasks on the board.")],
        list_name: Annotated[str, Arg("List: Backlog, In Progress, In Review or Completed.")],
        due_date: Annotated[str, Arg("Due date, YYYY-MM-DD.")],
        board: Annotated[str, Arg("Board: Back end, Front end or Design.")],
    ) -> Change:
        """Create a task and answer its id."""
        if not (task_name and assigned_to_email and list_name and due_date and board):
            raise ToolError("Missing task details.")
        assignee = assigned_to_email.lower()
        self._check("assigned_to_email", assignee)
        self._check("list_name", list_name)
        self._check("board", board)
        new_id = next_id(self.tasks)
        cells = (new_id, task_name, assignee, list_name, due_date, board)
        return self.tasks.append(self.revision, cells), new_id

    @tool(title="Delete task", destructive=True)
    def delete_task(self, task_id: TaskId) -> Change:
        """Delete one task."""
        if not task_id:
            raise ToolError("Task ID not provided.")
        return self.tasks.drop(self.revision, self._all(task_id)), "Task deleted successfully."

    @tool(title="Update task", destructive=True, idempotent=True)
    def update_task(
        self,
        task_id: TaskId,
        field: Annotated[
            str, Arg("Column to set: task_name, assigned_to_email, list_name, due_date or board.")
        ],
        new_value: Annotated[str, Arg("New value; a list, a board or an assignee must be one that exists.")],
    ) -> Change:
        """Change one field of one task."""
        if not task_id or not field or not new_value:
            raise ToolError("Task ID, field, or new value not provided.")
        value = new_value.lower() if field == "assigned_to_email" else new_value
        self._check(field, value)
        positions = self._all(task_id)
        if field not in self.tasks.spec.position or field == "task_id":
            raise ToolError("Field not valid.")
        return self.tasks.set(self.revision, positions, field, value), "Task updated successfully."

    def _all(self, task_id: str) -> tuple[int, ...]:
        positions = self.tasks.find(task_id)
        if not positions:
            raise ToolError("Task not found.")
        return positions

    def _check(self, field: str, value: str) -> None:
        if field == "assigned_to_email" and not self._has_assignee(value):
            raise ToolError("Assignee email not valid. Please choose from the list of team members.")
        if field == "list_name":
            one_of(
                value,
                _LISTS,
                "List not valid. Please choose from: 'Backlog', 'In Progress', 'In Review', 'Completed'.",
            )
        if field == "board":
            one_of(value, _BOARDS, "Board not valid. Please choose from: 'Back end', 'Front end', 'Design'.")

    def _has_assignee(self, email: str) -> bool:
        address, column = lowered(email), self.tasks.spec.position["assigned_to_email"]
        return any(row.lower[column] == address for row in self.tasks.rows)


def _is_address(text: str) -> bool:
    """Say whether a text is letters, digits or `._%+-`, an `@`, a domain, a dot and two letters or more."""
    local, at, domain = text.partition("@")
    host, dot, top = domain.rpartition(".")
    return (
        bool(at and dot and local and host)
        and _LOCAL.issuperset(local)
        and _DOMAIN.issuperset(host)
        and len(top) >= 2
        and top.isascii()
        and top.isalpha()
    )
