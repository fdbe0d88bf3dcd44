"""The FastAPI application: endpoints, errors as RFC 9457 problems, and the OpenAPI document."""

from __future__ import annotations

import sys
import traceback
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from agentbench_tui import __version__
from agentbench_tui.api.guard import Guard
from agentbench_tui.api.openapi import description_of
from agentbench_tui.api.problems import (
    PROBLEM_JSON,
    UNPROCESSABLE,
    ServiceError,
    service_error,
)
from agentbench_tui.api.routes import benchmarks, catalog, runs
from agentbench_tui.api.service import Service
from agentbench_tui.model.clock import perf_counter
from agentbench_tui.model.errors import ENVIRONMENT_ERRORS, AgentbenchError, did_you_mean
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.model.text.untrusted import visible

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from agentbench_tui.api.guard import Message, Receive, Scope, Send
    from agentbench_tui.api.settings import ServiceSettings

_UNKNOWN_PATH = "(unknown)"


class ServiceApplication:
    """The ASGI application: guard, counts of requests, then the endpoints."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.endpoints = endpoints(settings)
        self._guard = Guard(self.endpoints, settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._guard(scope, receive, send)
            return
        began = perf_counter()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._count(scope, message["status"], perf_counter() - began)
            await send(message)

        await self._guard(scope, receive, counted)

    async def end_streams(self) -> None:
        """End the open event streams; their clients come back with the last id."""
        service: Service | None = getattr(self.endpoints.state, "service", None)
        if service is not None:
            await service.events.close()

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        service: Service | None = getattr(self.endpoints.state, "service", None)
        if service is None:
            return
        route = scope.get("route")
        path = _UNKNOWN_PATH if route is None else str(route.path)  # bounds the number of names
        place = (scope["method"] if route is not None else "", path)
        service.counts.by_answer[(*place, status)] += 1
        service.counts.seconds[place] += seconds  # type: ignore[assignment]  # a Counter of seconds


def endpoints(settings: ServiceSettings) -> FastAPI:
    """Make the application without its guard."""

    @asynccontextmanager
    async def lifespan(application: FastAPI) -> AsyncIterator[None]:
        application.state.service = service = Service(settings)
        service.prepare_answers(lambda: description_of(application))
        try:
            yield
        finally:
            await service.close()

    application = FastAPI(
        title="agentbench",
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,  # it would keep the document as objects, ten times its size
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(_known_parameters)],
    )
    for router in (benchmarks.router, runs.router, catalog.router):
        application.include_router(router)
    for kind, handler in _HANDLERS.items():
        application.add_exception_handler(kind, handler)

    application.add_route("/openapi.json", _document, include_in_schema=False)
    return application


async def _document(request: Request) -> Response:
    return Response(description_of(request.app).document, media_type="application/json")


async def _known_parameters(request: Request) -> None:
    """Refuse query parameters that the path does not have: a misspelled one would be ignored."""
    described = description_of(request.app).parameters
    known = described.get((request.scope["route"].path, request.method.lower()), ())
    problems = [
        f"{name}: the path has no such parameter{did_you_mean(name, known)}"
        for name in request.query_params
        if name not in known
    ]
    if problems:
        raise ServiceError(UNPROCESSABLE, "parameter", problems[0], problems=problems)


def _answer(error: ServiceError) -> Response:
    return Response(error.body(), error.status.value, error.headers, PROBLEM_JSON)


async def _of_service(_: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    return _answer(error)


async def _of_agentbench(_: Request, error: Exception) -> Response:
    assert isinstance(error, AgentbenchError)
    return _answer(service_error(error))


async def _of_system(request: Request, error: Exception) -> Response:
    """A disk that is full, or too many open files: nothing that the client could change."""
    assert isinstance(error, OSError)
    if error.errno not in ENVIRONMENT_ERRORS:
        return await _of_fault(request, error)
    detail = f"the machine of the service: {(error.strerror or str(error)).lower()}"
    return _answer(ServiceError(HTTPStatus.SERVICE_UNAVAILABLE, "machine", detail))


async def _of_parameters(_: Request, error: Exception) -> Response:
    """Name each parameter that does not fit, without repeating its value."""
    assert isinstance(error, RequestValidationError)
    problems = [
        f"{'.'.join(map(str, one['loc'][1:])) or one['loc'][0]}: {one['msg']}"
        for one in error.errors()
    ]
    detail = problems[0] if len(problems) == 1 else f"{len(problems)} parameters do not fit"
    return _answer(ServiceError(UNPROCESSABLE, "parameter", detail, problems=problems))


async def _of_http(_: Request, error: Exception) -> Response:
    """An unknown path, or a method that a path does not have."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    detail = {404: "there is no such path; GET /openapi.json lists them"}.get(
        status.value, "the path does not have this method; GET /openapi.json lists them"
    )
    return _answer(ServiceError(status, "path", detail, headers=dict(error.headers or {})))


async def _of_fault(request: Request, error: Exception) -> Response:
    """A bug: the operator gets the traceback, the client does not."""
    text = "".join(traceback.format_exception(error))
    route = request.scope.get("route")
    place = _UNKNOWN_PATH if route is None else route.path
    sys.stderr.write(visible(redact(f"agentbench: a bug at {request.method} {place}:\n{text}")))
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    detail = "a bug in agentbench; the log of the service has the details"
    return _answer(ServiceError(status, "bug", detail))


_HANDLERS: dict[Any, Callable[[Request, Exception], Any]] = {
    ServiceError: _of_service,
    AgentbenchError: _of_agentbench,
    OSError: _of_system,
    RequestValidationError: _of_parameters,
    HTTPException: _of_http,
    Exception: _of_fault,
}
