"""Plain project board: masks over the columns."""

from pathlib import Path
from typing import Any, Final

import pandas as pd

__all__ = ["ProjectManagement"]

_LISTS: Final = ("Backlog", "In Progress", "In Review", "Completed")
_BOARDS: Final = ("Back end", "Front end", "Design")


class ProjectManagement:
    """The project board of one session, read from its file."""

    def __init__(self, folder: Path) -> None:
        self.tasks = pd.read_csv(folder / "project_tasks.csv", dtype=str)

    def get_task_information_by_id(self, task_id: str, field: str) -> Any:
        """Read one field of one task."""
        found = self.tasks[self.tasks["task_id"] == task_id]
        if found.empty:
            return "Task not found."
        if field not in found.columns:
            return "Field not found."
        return {field: found.iloc[0][field]}

    def search_tasks(
        self,
        task_name: str = "",
        assigned_to_email: str = "",
        list_name: str = "",
        due_date: str = "",
        board: str = "",
    ) -> Any:
        """List the tasks for which every filter given holds."""
        tasks = self.tasks
        if task_name:
            tasks = tasks[tasks["task_name"].str.contains(task_name, case=False, na=False, regex=False)]
        if assigned_to_email:
            tasks = tasks[tasks["assigned_to_email"].str.lower() == assigned_to_email.lower()]
        if list_name:
            tasks = tasks[tasks["list_name"].str.contains(list_name, case=False, na=False, regex=False)]
        if due_date:
            tasks = tasks[tasks["due_date"].str.contains(due_date, case=False, na=False, regex=False)]
        if board:
            tasks = tasks[tasks["board"].str.contains(board, case=False, na=False, regex=False)]
        return tasks.to_dict(orient="records")

    def create_task(
        self, task_name: str, assigned_to_email: str, list_name: str, due_date: str, board: str
    ) -> Any:
        """Put a task onto the board."""
        assignee = assigned_to_email.lower()
        if complaint := self._complaint("assigned_to_email", assignee):
            return complaint
        if complaint := self._complaint("list_name", list_name) or self._complaint("board", board):
            return complaint
        task_id = str(int(self.tasks["task_id"].max()) + 1).zfill(8)
        task = {
            "task_id": task_id,
            "task_name": task_name,
            "assigned_to_email": assignee,
            "list_name": list_name,
            "due_date": due_date,
            "board": board,
        }
        self.tasks = pd.concat([self.tasks, pd.DataFrame([task])], ignore_index=True)
        return task_id

    def delete_task(self, task_id: str) -> Any:
        """Delete one task."""
        if task_id not in self.tasks["task_id"].values:
            return "Task not found."
        self.tasks = self.tasks[self.tasks["task_id"] != task_id].copy()
        return "Task deleted successfully."

    def update_task(self, task_id: str, field: str, new_value: str) -> Any:
        """Change one field of one task."""
        if field == "assigned_to_email":
            new_value = new_value.lower()
        if complaint := self._complaint(field, new_value):
            return complaint
        if task_id not in self.tasks["task_id"].values:
            return "Task not found."
        self.tasks.loc[self.tasks["task_id"] == task_id, field] = new_value
        return "Task updated successfully."

    def _complaint(self, field: str, value: str) -> str:
        if field == "assigned_to_email" and value not in self.tasks["assigned_to_email"].str.lower().values:
            return "Assignee email not valid. Please choose from the list of team members."
        if field == "list_name" and value not in _LISTS:
            return "List not valid."
        if field == "board" and value not in _BOARDS:
            return "Board not valid."
        return ""
