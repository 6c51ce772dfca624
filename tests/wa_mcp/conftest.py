"""One workplace server a module, and the doors to it: in memory and over HTTP, in both protocol eras."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from tests.conftest import http_server
from tests.wa_mcp.agents import ERAS, Door
from tests.wa_mcp.controllers import Controller, Way, controlling
from toolkits.dataset import Dataset
from wa_mcp import Runtime, Settings

DOORS = [(over_http, era) for over_http in (False, True) for era in ERAS]

WAYS = [(*door, as_tool) for door in DOORS for as_tool in (False, True)]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    """A runtime that the tests of a module share; each seeds sessions of its own."""
    return Runtime(
        Settings(
            allowed_host=("Office.example",),
            public_url="https://Work.Example:8443/office/",
            checkpoint_root=tmp_path_factory.mktemp("checkpoints"),
        )
    )


@pytest.fixture
def runtime(dataset: Dataset, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runtime:
    """A fresh runtime on the bundled data, which is loaded once for all tests."""

    def loaded(*_: object) -> Dataset:
        return dataset

    monkeypatch.setattr("wa_mcp.runtime.load_dataset", loaded)
    return Runtime(Settings(checkpoint_root=tmp_path / "checkpoints"))


@pytest.fixture(scope="module")
def base(office: Runtime) -> Generator[str, None, None]:
    """The base URL under which the shared runtime is served."""
    with http_server(office) as url:
        yield url


@pytest.fixture(params=DOORS, ids=[f"{'http' if http else 'memory'}-{era}" for http, era in DOORS])
def door(request: pytest.FixtureRequest, office: Runtime, base: str) -> Door:
    """Every way in: in memory and over HTTP, in both eras."""
    over_http, era = request.param
    return Door(office, era, base if over_http else None)


@pytest.fixture(params=ERAS)
def web_door(request: pytest.FixtureRequest, office: Runtime, base: str) -> Door:
    """The ways in over HTTP, in both eras."""
    return Door(office, request.param, base)


@pytest.fixture(
    params=WAYS,
    ids=[
        f"{'http' if http else 'memory'}-{era}-{'tool' if as_tool else 'method'}"
        for http, era, as_tool in WAYS
    ],
)
def way(request: pytest.FixtureRequest, office: Runtime, base: str) -> Way:
    """Every way in for controllers: in memory and over HTTP, in both eras, by method and by tool."""
    over_http, era, as_tool = request.param
    return Way(office, era, base if over_http else None, as_tool)


@pytest.fixture
async def control(runtime: Runtime) -> AsyncGenerator[Controller, None]:
    """A controller of a runtime that no other test has."""
    async with controlling(runtime) as controller:
        yield controller
