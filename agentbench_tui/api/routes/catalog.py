"""What there is: suites, agents, versions, health and metrics of the service."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Request, Response

from agentbench_tui import __version__
from agentbench_tui.api import readings
from agentbench_tui.api.answers import document_answer, encode, json_answer, service_of
from agentbench_tui.api.job import Unknown, find_suite_of_service, service_suites
from agentbench_tui.api.openapi import Responses, answers_with, problems
from agentbench_tui.api.problems import not_found
from agentbench_tui.api.prometheus import CONTENT_TYPE, metrics_text
from agentbench_tui.api.routes.benchmarks import TEXT
from agentbench_tui.contracts.catalog import schema_names
from agentbench_tui.contracts.listings import ListedSuite, SuiteDocument, SuitesDocument
from agentbench_tui.contracts.service import HealthDocument, VersionDocument
from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.store.database import SCHEMA_VERSION

if TYPE_CHECKING:
    from pathlib import Path as FilePath

    from agentbench_tui.engine.suite.catalog import CatalogEntry

_HEALTHY = encode(HealthDocument())
_METRICS: Responses = {
    200: {
        "description": "Metrics in the text format of Prometheus.",
        "content": {
            "text/plain": {
                "schema": {"type": "string"},
                "example": '# TYPE agentbench_runs gauge\nagentbench_runs{status="complete"} 12\n',
            }
        },
    },
    **problems(),
}
router = APIRouter(tags=["service"])


@router.get(
    "/health", summary="Health", response_class=Response,
    responses=answers_with("health/1"),
)  # fmt: skip
async def health() -> Response:
    """Say that the service answers; needs no token."""
    return json_answer(_HEALTHY)


@router.get(
    "/version", summary="Versions", response_class=Response,
    responses=answers_with("version/1"),
)  # fmt: skip
async def version() -> Response:
    """Return the versions of agentbench, of its tables and of its documents."""
    document = VersionDocument(
        version=__version__, database_schema=SCHEMA_VERSION, documents=tuple(schema_names())
    )
    return document_answer(document)


@router.get(
    "/agents", summary="List agents", response_class=Response,
    responses=answers_with("agents/1"),
)  # fmt: skip
async def list_agents(request: Request) -> Response:
    """Return the agents that were measured, the latest first."""
    return json_answer(await service_of(request).reader.answer("agents", readings.agents))


@router.get(
    "/suites", summary="List suites", response_class=Response,
    responses=answers_with("suites/1"),
)  # fmt: skip
async def list_suites(request: Request) -> Response:
    """Return the suites that can be run: those of the configured folders, and the shipped ones."""
    folders = service_of(request).settings.suite_folders
    return document_answer(await asyncio.to_thread(_suites, folders))


def _suites(folders: tuple[FilePath, ...]) -> SuitesDocument:
    entries = service_suites(folders).values()
    return SuitesDocument(suites=tuple(_listed(one, _stamp(one)) for one in entries))


def _stamp(entry: CatalogEntry) -> tuple[int, int]:
    """Return what changes when somebody edits the file of a suite."""
    try:
        found = entry.path.stat() if entry.path is not None else None
    except OSError:
        found = None
    return (0, 0) if found is None else (found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=1000)
def _listed(entry: CatalogEntry, stamp: tuple[int, int]) -> ListedSuite:  # noqa: ARG001  # a key
    """Read a suite, which takes long, once for each state of its file."""
    from agentbench_tui.engine.suite.loading import load_suite

    try:
        suite = load_suite(str(entry.path)).suite
    except AgentbenchError as error:
        first = str(error).partition("\n")[0].replace(str(entry.path), entry.name)
        return ListedSuite(
            name=entry.name, origin=entry.origin, path=None, category=None, version=None,
            benchmarks=None, description=f"cannot be read: {first}",
        )  # fmt: skip
    return ListedSuite(
        name=entry.name, origin=entry.origin, path=None, category=suite.category,
        version=suite.version, benchmarks=len(suite.benchmarks), description=suite.description,
    )  # fmt: skip


@router.get(
    "/suites/{suite_id:path}", summary="Show a suite", response_class=Response,
    responses=answers_with("suite/1", errors=(404, 422)),
)  # fmt: skip
async def show_suite(
    request: Request,
    suite_id: Annotated[
        str, Path(min_length=1, max_length=200, pattern=TEXT, examples=["quickstart"])
    ],
) -> Response:
    """Return a suite with parameters at their defaults."""
    folders = service_of(request).settings.suite_folders
    return document_answer(await asyncio.to_thread(_suite, suite_id, folders))


def _suite(name: str, folders: tuple[FilePath, ...]) -> SuiteDocument:
    try:
        loaded = find_suite_of_service(name, folders)
    except Unknown as error:
        raise not_found(str(error)) from None
    return SuiteDocument(
        path=loaded.path.name, hash=loaded.hash, suite=loaded.suite.model_dump(mode="json")
    )


@router.get("/metrics", summary="Metrics", response_class=Response, responses=_METRICS)
async def metrics(request: Request) -> Response:
    """Return metrics for Prometheus: of the service, and of the latest executions."""
    service = service_of(request)
    body = await service.reader.read(lambda c: metrics_text(c, service))
    return Response(body, 200, {"Content-Type": CONTENT_TYPE})
