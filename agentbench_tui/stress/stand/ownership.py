"""Local processes of a target, and those that may be stopped, killed and limited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.agents.schemes import INSIDE
from agentbench_tui.load.schedule.shape import is_local
from agentbench_tui.stress.stand.stand import PROGRAMS

if TYPE_CHECKING:
    from agentbench_tui.stress.stand.stand import Stand

INSIDE_SENDERS = (
    "the agent runs inside the senders, which cannot be stopped, killed or limited without ending"
    " the measurement: make it a program (worker:…) to try this"
)
NOT_OURS = (
    "the target's processes were not started here: say with `serve` (--serve) by which command its"
    " server starts"
)


def why_not_ours(stand: Stand) -> str | None:
    """Return why the target's processes can be neither stopped nor killed; None if they can."""
    if stand.owned is not None or stand.scheme in PROGRAMS:
        return None
    return INSIDE_SENDERS if stand.scheme in INSIDE else NOT_OURS


UNSEEN = "the target's processes are not on this machine, or were not started here (`serve`)"
UNSEEN_INSIDE = "the agent runs inside the senders, whose memory is not its own"


def why_unseen(stand: Stand) -> str:
    """Return why there are no memory samples of the target, if there are none."""
    return UNSEEN_INSIDE if stand.scheme in INSIDE else UNSEEN


def is_here(stand: Stand) -> bool:
    """Return whether the target runs on this machine, as far as can be known."""
    if stand.owned is not None or stand.scheme in PROGRAMS | INSIDE:
        return True
    return stand.url is not None and is_local(stand.url)
