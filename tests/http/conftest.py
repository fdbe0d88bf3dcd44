"""Clients, loops and a model server in a process of its own, for the tests of this folder.

Every asynchronous test here runs under asyncio's own loop and under uvloop, and every test that
takes `client` runs with both transports, and with our own once more in the way that loads use it,
which times packets first and reads them later: what is asserted holds for all six.
"""

import asyncio
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest
import uvloop

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

from openai_process import RunningServer, running_openai_server

from agentbench_tui.http.aiohttp_client import AiohttpClient
from agentbench_tui.http.client import HttpClient, HttpRequest
from agentbench_tui.http.httptools_client import HttptoolsClient
from agentbench_tui.http.pool import Pool

SELF_SIGNED = Path(__file__).parents[1] / "servers" / "self_signed.pem"


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.fixture(scope="module")
def model_server() -> Iterator[RunningServer]:
    with running_openai_server() as server:
        yield server


def _own(tls: ssl.SSLContext | None = None) -> HttpClient:
    return HttptoolsClient(tls)


class _LaterReading(HttptoolsClient):
    """Our own client, as a load sends: its exchanges can wait."""

    def _pool(self, request: HttpRequest) -> Pool:
        pool = super()._pool(request)
        setattr(pool, "send", partial(Pool.send, pool, can_wait=True))  # noqa: B010  # a method
        return pool


def _own_later(tls: ssl.SSLContext | None = None) -> HttpClient:
    return _LaterReading(tls)


def _aiohttp(tls: ssl.SSLContext | None = None) -> HttpClient:
    return AiohttpClient(tls=tls)


ClientOf = Callable[[ssl.SSLContext | None], HttpClient]


@pytest.fixture(params=[_own, _own_later, _aiohttp], ids=["own", "later", "aiohttp"])
def client_of(request: pytest.FixtureRequest) -> ClientOf:
    """Makes a client that trusts what the given context trusts; None is what the system does."""
    made: ClientOf = request.param
    return made


@pytest.fixture
async def client(client_of: ClientOf) -> AsyncIterator[HttpClient]:
    client = client_of(None)
    yield client
    await client.close()


@pytest.fixture
def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(SELF_SIGNED)
    return context


@pytest.fixture
def client_tls() -> ssl.SSLContext:
    """Trusts the certificate of the tests' servers, and nothing else."""
    return ssl.create_default_context(cafile=str(SELF_SIGNED))
