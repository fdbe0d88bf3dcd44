"""The proxy works on asyncio's own loop and on uvloop; the tests of its wires run under both."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop

ON_BOTH = {"test_proxy_bytes", "test_connection_faults", "test_request_faults"}

Factories = Mapping[str, Callable[[], asyncio.AbstractEventLoop]]


def pytest_asyncio_loop_factories(item: pytest.Item) -> Factories:
    factories: Factories = {"asyncio": asyncio.new_event_loop}
    if item.path.stem in ON_BOTH:
        return {**factories, "uvloop": uvloop.new_event_loop}
    return factories
