"""Comparing: what is chosen, the verdict, distributions, cases side by side, and the matrix."""

import re
from pathlib import Path

from compare_documents import comparison, metric
from stores import screen_text, session, settle, shows, told

from agentbench_tui.contracts.compare import PairVerdict
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.pages.compare.rows import metrics_table, verdict_lines
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.transcript import TranscriptView
from tests.engine.carried_out import run
from tests.engine.carried_out import suite as echo_suite


def line_of(text: str, *words: str) -> str:
    """The first row with all of these words."""
    return next(line for line in text.splitlines() if all(word in line for word in words))


def lines(app: AgentbenchApp) -> list[str]:
    return screen_text(app).splitlines()


async def test_the_verdict_stands_on_metrics_with_intervals(measured: Path) -> None:
    app = session(measured, "compare", "bad", "good")
    async with app.run_test(size=(120, 40)) as pilot:
        text = await shows(pilot, "B good against A bad, the control", "+65.0 pp")
        # echo: 36 of 40 right against 10 of 40, of which both are 8 (0 and 20 are wrong in good)
        row = line_of(text, "accuracy", "echo", " pp")
        assert "25.0%" in row
        assert "90.0%" in row
        assert "+65.0 pp" in row
        assert "better" in row
        assert "├" in row
        assert "scores, 0 to 100" in text
        assert "what to do about it" in text
        await pilot.press("b")
        await shows(pilot, "metrics on echoes/echo;")
        await pilot.press("b", "b")
        await shows(pilot, "metrics on all benchmarks;")
        await pilot.press("slash", *"accuracy", "enter")
        grid = app.screen.query_one("#metrics", Grid)
        await settle(pilot, lambda: grid.has_focus)
        assert not any("reliability" in line and " pp " in line for line in lines(app))
        await pilot.press("s", "y", "e")
        # How many metrics differ, and whether one is worse, depends on the measured times.
        assert re.match(
            r"(good is better than bad: |No winner yet between bad and good: good is )better in \w",
            app.clipboard,
        ), app.clipboard
        await settle(pilot, lambda: told(app)[-1:] == ["agentbench compare bad good"])
        assert told(app)[0] == "worse and better first"


async def test_values_of_both_are_drawn_over_each_other(measured: Path) -> None:
    app = session(measured, "compare", "bad", "good")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "B good against A bad")
        grid = app.screen.query_one("#metrics", Grid)
        await pilot.press("down", "enter")
        await shows(pilot, "▸ distributions", "how B is spread, A outlined: echoes/echo")
        text = await shows(
            pilot, "e2e_ms of good", "bad, scaled from 80", "e2e_ms, share of answers"
        )
        assert "80 values" in text
        await pilot.press("f")
        await shows(pilot, "output_tokens, share of answers", "p50 119")  # 100 + 0…39: 119.5
        await pilot.press("v", "v", "v", "home")
        await settle(pilot, lambda: grid.has_focus)
        await pilot.press("enter")
        await shows(pilot, "▸ cases", "right in only one: 2 in bad (A), 28 in good (B)")


async def test_cases_stand_with_both_transcripts_safe_to_read(measured: Path) -> None:
    app = session(measured, "compare", "bad", "good")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "B good against A bad")
        await pilot.press("v", "v")
        text = await shows(pilot, "case echo-0, A and B", "assistant")
        assert "\\x1b]52;c;aGk=" in text
        assert "\x1b" not in text
        assert "A bad" in text
        assert "B good" in text
        await pilot.press("enter")
        view = app.screen.query_one(TranscriptView)
        await settle(pilot, lambda: view.has_focus and "right in only one" not in screen_text(app))
        await pilot.press("enter")
        await shows(pilot, "Cases ▸ echo-0 ▸ 1 of 2", "right")
        await pilot.press("n")
        await shows(pilot, "Cases ▸ echo-0 ▸ 2 of 2", "wrong")
        await pilot.press("escape")
        await shows(pilot, "case echo-0, A and B")
        await pilot.press("escape")
        await shows(pilot, "right in only one")
        await pilot.press("end")
        await settle(pilot, lambda: "case brief-" in screen_text(app))


async def test_another_page_marks_what_is_compared_next(measured: Path) -> None:
    app = session(measured, "compare", "bad", "good")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "B good against A bad")
        await pilot.press("4")
        await shows(pilot, "fair: what is known")
        app.mark("bad")
        app.mark("fair")
        await pilot.press("c")
        await shows(pilot, "B fair against A good", "▸ overview")
        grid = app.screen.query_one("#metrics", Grid)
        assert grid.has_focus


async def test_what_cannot_be_compared_is_told_in_a_line(measured: Path) -> None:
    app = session(measured, "compare", "bad", "nobody")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "no agent 'nobody'", "adds another)", "▸ sides", "B nobody")


async def test_a_marked_run_of_several_agents_compares_them(measured: Path) -> None:
    app = session(measured, "compare", "tag:later")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "▸ overview", "B tag:later/good against A tag:later/fair")
        assert app.shared.marked == ["tag:later/fair", "tag:later/good"]


async def test_simulated_sides_are_not_ranked(measured: Path) -> None:
    app = session(measured, "compare", "perfect", "bad")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "No winner can be named between perfect and bad")


async def test_without_a_store_it_says_what_to_do(tmp_path: Path) -> None:
    app = session(tmp_path / "none.db", "compare")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "No run is stored yet. Press 2")


def test_a_metric_tells_what_it_needs_and_stands_on() -> None:
    pair = comparison(metric(), metric(metric="e2e_ms", unit="ms", a=1500.0))
    first, second = metrics_table(pair, None).rows
    assert [first.cells[at] for at in (0, 2, 6, 7)] == [
        "accuracy",
        "50.0%",
        "1,376 cases",
        "<0.001",
    ]
    assert second.cells[2] == "1.50 s"
    assert [row.key for row in metrics_table(pair, None, words="e2e").rows] == [second.key]


def test_verdicts_in_words() -> None:
    def said(verdict: str, winner: str | None = None, *, settled: bool = False) -> str:
        found = PairVerdict(
            verdict=verdict, winner=winner, settled=settled, better=int(verdict != "tie"),
            worse=0, equivalent=0, inconclusive=2,
        )  # fmt: skip
        pair = comparison(metric(), overall=found)
        words, support = (one.words for one in verdict_lines(pair, pair))
        assert support == (
            "Accuracy: y 50.0%, x 50.0% (0.0 pp [-10.0, +10.0], inconclusive)."
            " p of 3 tests, adjusted by Holm."
        )
        return words

    assert said("better", "y").startswith("y is better than x: ")
    assert said("worse", "x").startswith("y is worse than x: ")
    assert said("trade-off").startswith("No winner, a trade-off: y is better in 1 metric")
    assert said("tie").startswith("No winner yet between x and y: y is")
    assert said("tie", settled=True).startswith("x and y are equivalent")


def test_sorted_by_verdict_what_is_decided_comes_first() -> None:
    verdicts = ("equivalent", "inconclusive", "better", "worse")
    pair = comparison(*(metric(verdict=one) for one in verdicts))
    rows = metrics_table(pair, None, by_verdict=True).rows
    assert [row.key for row in rows] == ["3", "2", "1", "0"]


AGENTS_OF_ATTEMPTS = """
def lucky(request):  # right at one of three attempts at every case
    return request.text() if request.iteration == int(request.text()) % 3 else "?"
def steady(request):  # right at every attempt at a third of the cases, else never
    return request.text() if int(request.text()) % 3 == 0 else "?"
"""


async def test_several_attempts_are_shown_without_a_verdict(tmp_path: Path) -> None:
    document = echo_suite(24, iterations={"warmup": 0, "measured": 3})
    result = await run(tmp_path, document, AGENTS_OF_ATTEMPTS, "lucky", "steady")
    app = session(result.database, "compare", "lucky", "steady")
    async with app.run_test(size=(120, 40)) as pilot:
        text = await shows(pilot, "B steady against A lucky", "pass^3")
        row = line_of(text, "pass^3")
        assert "0%" in row
        assert "33.3%" in row
        assert "+33.3 pp" in row
        assert "no test" in row
        assert "pass@3 and pass^3 are shown without a test" in " ".join(text.split())
        await pilot.press("slash", *"pass^", "enter")
        grid = app.screen.query_one("#metrics", Grid)
        await settle(pilot, lambda: grid.has_focus)
        await pilot.press("home", "enter")
        await shows(pilot, "▸ cases")
