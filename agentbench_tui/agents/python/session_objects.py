"""Functions, classes and objects that a Python caller passes as agents and scorers.

A function typed into a notebook, a lambda and a closure have no module that another process, or
this one, could import. While a run that was started from Python lasts, what it was given is found
here, by the module and name of its `python:` target.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

Place = tuple[str, str]
"""Module and name, as in `python:MODULE:NAME`."""


class SessionObject(msgspec.Struct, frozen=True):
    """An object of the calling program."""

    value: Any
    loop: asyncio.AbstractEventLoop | None = None
    """The loop on which its coroutines run: clients that it holds may belong to that loop. None
    for the loop of the run."""
    is_importable: bool = False
    """Whether another process can import it by the same module and name."""


_objects: dict[Place, SessionObject] = {}
_users: dict[Place, int] = {}
"""Runs that use an object just now: several may, at the same time."""
_lock = threading.Lock()


def session_object(module: str, name: str) -> SessionObject | None:
    """Return the object registered under a place, or None."""
    return _objects.get((module, name))


def is_of_session(target: str) -> bool:
    """Return whether the object of a target `python:MODULE:NAME` exists only in the calling
    program.
    """
    module, _, name = target.removeprefix("python:").rpartition(":")
    known = _objects.get((module, name))
    return known is not None and not known.is_importable


def taken_by_other(place: Place, value: object) -> bool:
    """Return whether a run uses another object under this place."""
    known = _objects.get(place)
    return known is not None and known.value is not value


@contextmanager
def session_objects(objects: Mapping[Place, SessionObject]) -> Iterator[None]:
    """Make these objects available to targets inside the block."""
    with _lock:
        for place, one in objects.items():
            _objects[place] = one
            _users[place] = _users.get(place, 0) + 1
    try:
        yield
    finally:
        with _lock:
            for place in objects:
                _users[place] -= 1
                if not _users[place]:
                    del _objects[place], _users[place]


def awaited_on(loop: asyncio.AbstractEventLoop | None, value: Awaitable[Any]) -> Awaitable[Any]:
    """Return an awaitable for a value on another event loop than the running one, or None
    for it.

    Canceling it cancels the value's task there.
    """
    if loop is None or loop is asyncio.get_running_loop():
        return value
    return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_result_of(value), loop))


async def _result_of(value: Awaitable[Any]) -> Any:
    return await value
