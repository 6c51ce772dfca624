"""How Hypothesis works here: the same examples in every run, no clock. And the bundled tasks, made once."""

import pytest
from hypothesis import settings

from toolkits.dataset import Dataset
from toolkits.generator import BUNDLED_SEED
from toolkits.tasks import Task, generate_tasks

settings.register_profile("toolkits", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("toolkits")


@pytest.fixture(scope="session")
def bundled_tasks(dataset: Dataset) -> list[Task]:
    """The tasks of the bundled data set, as the generator makes them."""
    return generate_tasks(dataset, BUNDLED_SEED)
