"""One workplace server a module, and the doors to it: in memory and over HTTP, in both protocol eras."""

from collections.abc import Generator

import pytest

from tests.conftest import http_server
from tests.wa_mcp.agents import ERAS, Door
from toolkits.dataset import Dataset
from wa_mcp import Runtime, Settings

DOORS = [(over_http, era) for over_http in (False, True) for era in ERAS]


@pytest.fixture(scope="module")
def office() -> Runtime:
    """A runtime that the tests of a module share; each seeds sessions of its own."""
    return Runtime(Settings(allowed_host=("Office.example",), public_url="https://Work.Example:8443/office/"))


@pytest.fixture
def runtime(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """A fresh runtime on the bundled data, which is loaded once for all tests."""

    def loaded(*_: object) -> Dataset:
        return dataset

    monkeypatch.setattr("wa_mcp.runtime.load_dataset", loaded)
    return Runtime(Settings())


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
