"""The hint after a name that is not known."""

from __future__ import annotations

import pytest

from agentbench_tui.model.errors import did_you_mean


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("e2e", ("ece", "e2e_ms"), "e2e_ms"),  # as near by letters; only one begins so
        ("token", ("token_cost", "tokens"), "tokens"),  # both begin so: the nearer one
        ("acuracy", ("recall", "accuracy"), "accuracy"),
    ],
)
def test_the_near_name_that_begins_with_the_word_is_meant(
    word: str, known: tuple[str, ...], meant: str
) -> None:
    assert did_you_mean(word, known) == f' (did you mean "{meant}"?)'


@pytest.mark.parametrize("known", [(), ("cost_usd",)])
def test_nothing_near_gives_no_hint(known: tuple[str, ...]) -> None:
    assert not did_you_mean("speed", known)
