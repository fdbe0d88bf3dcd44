"""Changes of level that a person can accept: those that were detected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.clock import utc_now
from agentbench_tui.store.queries.baselines import AcceptedChange

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentbench_tui.verdicts.regression.finding import Finding


def acceptable(findings: Iterable[Finding]) -> list[AcceptedChange]:
    """Return every regression and improvement with a known start.

    A suspect version is included, since only more runs of it could confirm it; a suspect of a
    history is excluded, because it is run again.
    """
    now = utc_now()
    found = []
    for one in findings:
        is_known = one.verdict in {"regression", "improvement"}
        is_suspect = one.verdict == "suspect" and not one.is_decided_by_another_run
        if one.location is None or not (is_known or is_suspect):
            continue
        assert one.before is not None  # a verdict stands on both levels
        assert one.now is not None
        last = one.location.last
        found.append(
            AcceptedChange(
                *(one.new[-1].one_of_all("agent_id"), *one.place, one.metric),
                since=last.at,
                run_id=last.run_id,
                before=one.before,
                after=one.now,
                created_at=now,
            )
        )
    return found
