"""Paths below `/runs`: stored and running runs, their events, and imports."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import os
import re
import tempfile
from http import HTTPStatus
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from agentbench_tui.api import readings
from agentbench_tui.api.answers import document_answer, json_answer, service_of
from agentbench_tui.api.events import position_of
from agentbench_tui.api.examples import EVENTS, RUN_ID
from agentbench_tui.api.openapi import Responses, answers_with, problems
from agentbench_tui.api.problems import UNPROCESSABLE, ServiceError
from agentbench_tui.api.routes.benchmarks import TEXT, Name
from agentbench_tui.contracts.service import ImportedDocument, StopDocument
from agentbench_tui.store.locking import is_leased
from agentbench_tui.store.queries.progress import EventPosition
from agentbench_tui.store.transaction import write_once
from agentbench_tui.store.writes.control_requests import add_control_request

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.api.service import Service

RunPath = Annotated[
    str,
    Path(
        description="Id, unique prefix of one, or `latest`.", min_length=1, max_length=64,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", examples=[RUN_ID, "latest"],
    ),
]  # fmt: skip
_DIGEST = re.compile(r"sha-256=:([A-Za-z0-9+/]{43}=):")
SQLITE = "application/vnd.sqlite3"
_EVENT_ANSWER: Responses = {
    200: {
        "description": "Events: `state`, `failure`, `iteration`, `tick`, `gauge`, and `end` as the"
        " last one. The data of each is the component of that name.",
        "content": {"text/event-stream": {"schema": {"type": "string"}, "example": EVENTS}},
    },
    204: {"description": "The run had ended before that event: nothing follows."},
    **problems(404, 422),
}
router = APIRouter(prefix="/runs", tags=["runs"])


@router.get(
    "", summary="List runs", response_class=Response,
    responses=answers_with("runs/1", errors=(422,)),
)  # fmt: skip
async def list_runs(
    request: Request,
    limit: Annotated[int, Query(description="Most runs.", ge=1, le=1000)] = 20,
    tag: Annotated[Name | None, Query(description="Only runs with this tag.")] = None,
) -> Response:
    """Return runs, the newest first."""
    service = service_of(request)
    database = service.settings.database
    # Not kept: whether a run is alive shows in its lease, which is no commit.
    body = await service.reader.read(lambda c: readings.runs(c, database, limit, tag))
    return json_answer(body)


@router.post(
    "/import",
    summary="Import runs",
    response_class=Response,
    responses=answers_with("imported/1", errors=(422,), body=True),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {SQLITE: {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def import_runs(
    request: Request,
    content_digest: Annotated[
        str,
        Header(
            description="Checksum of the body by RFC 9530, such as"
            " `sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:`.",
            pattern=r"^sha-256=:[A-Za-z0-9+/]{43}=:$",
        ),
    ],
) -> Response:
    """Add the runs of a file of `agentbench runs export`, whose rows are checked one by one.

    A run that is in the database already does not change. Nothing in the file is executed.
    """
    service = service_of(request)
    wanted = _digest_of(content_digest)
    descriptor, name = await asyncio.to_thread(tempfile.mkstemp, ".db", "agentbench-import-")
    file = FilePath(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            digest = hashlib.sha256()
            async for part in request.stream():
                digest.update(part)
                await asyncio.to_thread(stream.write, part)
        if digest.digest() != wanted:
            raise ServiceError(
                HTTPStatus.BAD_REQUEST,
                "digest",
                "the body is not the one of Content-Digest; send it again",
            )
        found = await service.import_file(file)
    finally:
        await asyncio.to_thread(file.unlink, missing_ok=True)
    if found.refused and not (found.new or found.known):
        raise ServiceError(
            UNPROCESSABLE, "refused", f"not imported: {found.refused[0]}", problems=found.refused
        )
    document = ImportedDocument(new=found.new, known=found.known, refused=found.refused)
    return document_answer(document)


def _digest_of(header: str) -> bytes:
    match = _DIGEST.fullmatch(header)
    try:
        return base64.b64decode(match[1], validate=True) if match else b""
    except binascii.Error:
        return b""


@router.get(
    "/{run_id}", summary="Show a run", response_class=Response,
    responses=answers_with("run-details/1", errors=(404, 422)),
)  # fmt: skip
async def show_run(request: Request, run_id: RunPath) -> Response:
    """Return a run with its results, environment and failures."""
    service = service_of(request)
    database = service.settings.database
    body = await service.reader.read(lambda c: readings.run(c, database, run_id))
    return json_answer(body)


@router.get(
    "/{run_id}/answers", summary="Answers of a run", response_class=Response,
    responses=answers_with("answers/1", errors=(404, 422)),
)  # fmt: skip
async def run_answers(
    request: Request,
    run_id: RunPath,
    agent: Annotated[Name | None, Query(description="Only this agent.")] = None,
    benchmark: Annotated[Name | None, Query(description="Only this benchmark.")] = None,
    wrong: Annotated[bool, Query(description="Only answers that are not correct.")] = False,
    limit: Annotated[int, Query(description="Most answers.", ge=1, le=10_000)] = 50,
) -> Response:
    """Return observations of a run."""
    service = service_of(request)
    body = await service.reader.answer(
        ("answers", run_id, agent, benchmark, wrong, limit),
        lambda c: readings.answers(c, run_id, agent, benchmark, wrong=wrong, limit=limit),
    )
    return json_answer(body)


@router.get(
    "/{run_id}/gates", summary="Gates on a run", response_class=Response,
    responses=answers_with("gates/1", errors=(404, 422)),
)  # fmt: skip
async def run_gates(
    request: Request,
    run_id: RunPath,
    gate: Annotated[
        list[Annotated[str, Query(min_length=1, max_length=200, pattern=TEXT)]] | None,
        Query(
            description="Such as `accuracy>=0.8` or `no-regression`; the run's own without one.",
            max_length=50,
            examples=[["accuracy>=0.8"]],
        ),
    ] = None,
) -> Response:
    """Return whether the run meets gates, as `agentbench gate` does."""
    service = service_of(request)
    wanted = tuple(gate or ())
    body = await service.reader.answer(
        ("gates", run_id, wanted), lambda c: readings.gates(c, run_id, wanted)
    )
    return json_answer(body)


@router.post(
    "/{run_id}/stop", summary="Stop a run", response_class=Response,
    responses=answers_with("stop/1", errors=(404, 422), status=202),
)  # fmt: skip
async def stop_run(request: Request, run_id: RunPath) -> Response:
    """Ask a running run to end after its in-flight requests. What it measured is kept."""
    service = service_of(request)
    row = await _find(service, run_id)
    database = service.settings.database
    is_running = row["status"] == "running" and is_leased(database, row["id"])
    if is_running:
        await asyncio.to_thread(_request_stop, database, row["key"])
    status = row["status"]
    if status == "running" and not is_running:
        status = "interrupted"
    document = StopDocument(run_id=row["id"], status=status, requested=is_running)
    return document_answer(document, 202)


def _request_stop(database: FilePath, run_key: int) -> None:
    def stop(connection: sqlite3.Connection) -> None:
        add_control_request(connection, run_key, "stop")

    write_once(database, [stop])


@router.get(
    "/{run_id}/events", summary="Live events of a run", response_class=Response,
    responses=_EVENT_ANSWER,
)  # fmt: skip
async def run_events(
    request: Request,
    run_id: RunPath,
    last_event_id: Annotated[
        str | None,
        Header(
            description="Id of the last event that was received; the next ones follow.",
            max_length=100,
            examples=["0-12-3-1"],
        ),
    ] = None,
) -> Response:
    """Stream the events of a run as server-sent events, from its beginning or after an event.

    Stored events come first, then each new one within a second, until the run ends.
    """
    service = service_of(request)
    after = EventPosition()
    if last_event_id:
        position = position_of(last_event_id)
        if position is None:
            raise ServiceError(
                UNPROCESSABLE, "parameter", "Last-Event-ID is not the id of an event of a run"
            )
        after = position
    service.events.check_room()
    row = await _find(service, run_id)
    if last_event_id and await service.events.is_over(row["key"], row["id"], after):
        return Response(status_code=204)  # by the standard, a browser then stops asking
    events = service.events.follow(row["key"], row["id"], after)
    headers = {"X-Accel-Buffering": "no"}  # proxies are not to collect events
    return StreamingResponse(events, 200, headers, "text/event-stream")


async def _find(service: Service, run_id: str) -> dict[str, Any]:
    """Return the row of a run. Raises ServiceError 404."""
    return await service.reader.read(lambda c: readings.find_stored_run(c, run_id))
