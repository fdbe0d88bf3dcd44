"""The OpenAPI document: FastAPI's own, with the JSON Schemas of `contracts` as its components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui import __version__
from agentbench_tui.api.examples import EXAMPLES
from agentbench_tui.api.problems import PROBLEM_JSON
from agentbench_tui.contracts import service
from agentbench_tui.contracts.catalog import PREFIX, document_classes, schema_names
from agentbench_tui.contracts.service import ProblemDetails, RunConfiguration

if TYPE_CHECKING:
    from fastapi import FastAPI

_REFERENCE = "#/components/schemas/{name}"
_PROBLEMS = {
    400: "The request is not well-formed, or a checksum does not fit.",
    401: "The token is missing or wrong.",
    403: "The operator has not allowed it.",
    404: "There is no such run, agent or suite.",
    405: "The path has no such method.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    414: "Path and query are too long.",
    421: "The service is not known by this host name.",
    422: "A parameter, the body, or what they name is not usable.",
    429: "As many runs are running as may.",
    431: "There are too many header fields.",
    500: "The service or a process of it failed.",
    503: "The service is busy, or its database cannot be read.",
}
_ALWAYS = (400, 401, 403, 405, 414, 421, 431, 500, 503)
_WITH_BODY = (408, 413)
Responses = dict[int | str, dict[str, Any]]


def answers_with(
    *documents: str, errors: tuple[int, ...] = (), status: int = 200, body: bool = False
) -> Responses:
    """Return the `responses` of an endpoint: documents by their names, such as `leaderboard/1`,
    and the errors beside those that every endpoint has. `body`: whether it reads one.
    """
    classes = [one for name in documents for one in document_classes(name)]
    references = [reference_to(one) for one in classes]
    content: dict[str, Any] = {
        "schema": references[0] if len(references) == 1 else {"anyOf": references}
    }
    if documents[0] in EXAMPLES:
        content["example"] = EXAMPLES[documents[0]]
    success = {
        "description": (classes[0].__doc__ or "").partition("\n")[0],
        "content": {"application/json": content},
    }
    return {status: success, **problems(*errors, *(_WITH_BODY if body else ()))}


def problems(*statuses: int) -> Responses:
    """Return the error answers of an endpoint."""
    details = {"schema": reference_to(ProblemDetails), "example": EXAMPLES["problem"]}
    content = {PROBLEM_JSON: details}
    return {
        status: {"description": _PROBLEMS[status], "content": content}
        for status in sorted({*_ALWAYS, *statuses})
    }


def json_body(schema: dict[str, Any], example: Any, *, required: bool) -> dict[str, Any]:
    """Return the `requestBody` of an endpoint that reads JSON."""
    media = {"schema": schema, "example": example}
    return {"requestBody": {"required": required, "content": {"application/json": media}}}


def reference_to(of: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of a component."""
    return {"$ref": _ref(of)}


def _ref(of: type[msgspec.Struct]) -> str:
    return _REFERENCE.format(name=of.__name__)


def components() -> dict[str, Any]:
    """Return the JSON Schemas of every document, request and event."""
    documents = [one for name in schema_names() for one in document_classes(name)]
    parts = [
        one
        for one in vars(service).values()
        if isinstance(one, type) and issubclass(one, msgspec.Struct)
    ]
    classes = list(dict.fromkeys([*documents, *parts, RunConfiguration, ProblemDetails]))
    _, found = msgspec.json.schema_components(classes, ref_template=_REFERENCE)
    return dict(sorted(found.items()))


def openapi_document(application: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the application."""
    from fastapi.openapi.utils import get_openapi

    document = get_openapi(
        title="agentbench",
        version=__version__,
        description="Benchmark results of AI agents, and runs that produce them. Times are in UTC;"
        " a number that was not measured is null.",
        routes=application.routes,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
    )
    for path in document["paths"].values():
        for operation in path.values():
            _without_default_error(operation)
            _with_whole_examples(operation)
    document["components"] = {
        "schemas": components(),
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    }
    document["security"] = [{"token": []}]
    document["paths"]["/health"]["get"]["security"] = []
    return document


def _without_default_error(operation: dict[str, Any]) -> None:
    """Drop the 422 that FastAPI adds with a schema of its own, where an endpoint declares none."""
    answer = operation["responses"].get("422", {})
    if "HTTPValidationError" in str(answer):
        operation["responses"]["422"] = problems(422)[422]


def _with_whole_examples(operation: dict[str, Any]) -> None:
    """Put back the examples of documents, from which FastAPI removes every null."""
    for answer in operation["responses"].values():
        for media in answer.get("content", {}).values():
            example = media.get("example")
            if isinstance(example, dict) and "schema" in example:
                media["example"] = EXAMPLES[example["schema"].removeprefix(PREFIX)]


class Description(msgspec.Struct, frozen=True):
    """The OpenAPI document as the service needs it while it runs."""

    document: bytes
    """JSON."""
    parameters: dict[tuple[str, str], list[str]]
    """Path and method in lower case → names of its query parameters, sorted."""


def description_of(application: FastAPI) -> Description:
    """Return the description of an application, made at the first call."""
    found: Description | None = getattr(application.state, "description", None)
    if found is None:
        found = application.state.description = _described(openapi_document(application))
    return found


def _described(document: dict[str, Any]) -> Description:
    parameters = {
        (path, method): sorted(
            one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"
        )
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    return Description(msgspec.json.encode(document), parameters)
