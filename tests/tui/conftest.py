"""What all tests of pages share; see `stores` and the modules beside it."""

from collections.abc import Iterator

import pytest
from known_records import folders, played
from known_stores import history, stress
from live_runs import going_on
from stores import loaded, measured, varied
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.notifications import Notification

__all__ = ["folders", "going_on", "history", "loaded", "measured", "played", "stress", "varied"]


@pytest.fixture(scope="session", autouse=True)
def _notices_stay() -> Iterator[None]:
    """On a busy machine a key press may take longer than a notice is usually shown."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Notification, "time_left", 600.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _style_sheets_are_parsed_once() -> Iterator[None]:
    """Each of the hundreds of sessions that tests begin would parse the same sheets several times
    over: an eighth of all that these tests compute."""
    parse = Stylesheet._parse_rules
    parsed: dict[tuple[object, ...], list[RuleSet]] = {}

    def parse_once(
        self: Stylesheet,
        css: str,
        read_from: CSSLocation,
        is_default_rules: bool = False,
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        given = (css, read_from, is_default_rules, tie_breaker, scope)
        key = (*given, *self._variables.items())
        if key not in parsed:
            parsed[key] = parse(self, *given)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield
