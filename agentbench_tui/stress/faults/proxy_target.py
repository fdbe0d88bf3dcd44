"""The single target of a proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from agentbench_tui.http.wire import Origin
from agentbench_tui.model.errors import UsageError
from agentbench_tui.stress.faults.fault import RequestKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentbench_tui.stress.faults.fault import Fault

_TCP = "tcp://"


class ProxyTarget(NamedTuple):
    """Host and port, and whether it speaks plain HTTP."""

    host: str
    port: int
    http: bool

    @classmethod
    def of(cls, url: str) -> ProxyTarget:
        """Parse an http or https URL, whose path is ignored, or `tcp://HOST:PORT`.

        Raises UsageError.
        """
        if url.startswith(_TCP):
            origin = Origin.of("http://" + url.removeprefix(_TCP))
            if urlsplit(url).port is None:
                raise UsageError(f"{url}: no port; write tcp://HOST:PORT")
            return cls(origin.host, origin.port, http=False)
        origin = Origin.of(url)
        return cls(origin.host, origin.port, http=origin.scheme == "http")

    def check(self, faults: Iterable[Fault]) -> None:
        """Raise UsageError for a fault that this target does not support."""
        if self.http:
            return
        for fault in faults:
            if isinstance(fault.kind, RequestKind):
                raise UsageError(
                    f"{fault.name}: needs a target of plain http://, since it reads requests; "
                    "faults of connections work on any"
                )
