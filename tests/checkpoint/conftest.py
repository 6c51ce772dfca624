from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.checkpoint.office import Office, make_office


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    office = make_office(tmp_path / "root")
    async with office.control:
        yield office
