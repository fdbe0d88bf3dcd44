"""Errors as answers: `application/problem+json` by RFC 9457."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from agentbench_tui.contracts.service import ProblemDetails
from agentbench_tui.model.errors import (
    AgentbenchError,
    MissingExtra,
    StoreError,
    SuiteError,
    Unmeasured,
    UsageError,
)
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.model.text.untrusted import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROBLEM_JSON = "application/problem+json"
UNPROCESSABLE = HTTPStatus(422)
"""Its name differs between versions of Python."""
_TYPE = "urn:agentbench:problem:"
_LONGEST = 2000
"""Characters of a detail."""
_MOST_PROBLEMS = 50


class ServiceError(Exception):
    """An error with its status code.

    `kind` becomes the last part of the problem's type, by which programs tell errors apart.
    """

    def __init__(
        self,
        status: HTTPStatus,
        kind: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        problems: Sequence[str] = (),
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.headers = dict(headers or {})
        self.problems = tuple(problems)

    def body(self) -> bytes:
        """Encode the problem as JSON."""
        return msgspec.json.encode(
            ProblemDetails(
                type=_TYPE + self.kind,
                title=self.status.phrase,
                status=self.status.value,
                detail=_safe(self.detail),
                problems=tuple(map(_safe, self.problems[:_MOST_PROBLEMS])) or UNSET,
            )
        )


def _safe(text: str) -> str:
    return visible(redact(text))[:_LONGEST]


def not_found(detail: str) -> ServiceError:
    """Return the error for a run, agent or suite that there is not."""
    return ServiceError(HTTPStatus.NOT_FOUND, "not-found", detail)


def busy(detail: str, retry_after_s: int = 1) -> ServiceError:
    """Return the error for a limit that is reached at the moment."""
    return ServiceError(
        HTTPStatus.SERVICE_UNAVAILABLE, "busy", detail, headers={"Retry-After": str(retry_after_s)}
    )


def service_error(error: AgentbenchError) -> ServiceError:
    """Return the answer to an error that has a message for people."""
    text = str(error)
    if isinstance(error, SuiteError):
        problems = [one.message for one in error.problems]
        return ServiceError(UNPROCESSABLE, "suite", "the suite is not valid", problems=problems)
    if isinstance(error, UsageError):
        return ServiceError(UNPROCESSABLE, "usage", text)
    if isinstance(error, Unmeasured):
        return ServiceError(UNPROCESSABLE, "unmeasured", text)
    if isinstance(error, StoreError):
        return ServiceError(HTTPStatus.SERVICE_UNAVAILABLE, "database", text)
    if isinstance(error, MissingExtra):
        return ServiceError(HTTPStatus.NOT_IMPLEMENTED, "extra", text)
    return ServiceError(HTTPStatus.INTERNAL_SERVER_ERROR, "failed", text)
