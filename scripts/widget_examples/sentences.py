"""An example of `sentences`; its data are made up."""

from __future__ import annotations

from agentbench_tui.tui.widgets.sentences import Sentence, Sentences


def demo() -> Sentences:
    """An example."""
    view = Sentences()
    view.show(
        (
            Sentence("example-atlas wins: 2 metrics better, none worse.", "verdict", "good"),
            Sentence("measure 120 more cases to settle accuracy.", "next"),
        )
    )
    return view
