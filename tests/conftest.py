"""What all tests share: the reference data where it is there, the bundled data, and servers that are real."""

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn

from toolkits.dataset import BUNDLED, Dataset, load_dataset
from wa_mcp import Runtime, Settings, http_app
from wa_mcp.catalogue import CATALOGUE


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of the reference data, where this machine has it."""
    folder = os.environ.get("WORKPLACE_REFERENCE")
    if not folder:
        pytest.skip("WORKPLACE_REFERENCE is not set: it names the folder of the reference data")
    return Path(folder)


@pytest.fixture(scope="session")
def dataset() -> Dataset:
    """The bundled data set."""
    return load_dataset(BUNDLED, CATALOGUE)


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """A fresh runtime on the bundled data."""
    return Runtime(Settings(checkpoint_root=tmp_path))


@contextmanager
def http_server(runtime: Runtime) -> Generator[str, None, None]:
    """Serve a runtime over real HTTP on a free port, in a thread of this process; gives the base URL."""
    started = threading.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: object = None) -> None:
            await super().startup()
            started.set()

    config = uvicorn.Config(http_app(runtime), port=0, log_config=None, access_log=False, lifespan="on")
    server = Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert started.wait(10)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio, as the server does."""
    return "asyncio"
