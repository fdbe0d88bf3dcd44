"""Options that cannot be meant: each is refused in one line that names it, with exit code 2."""

from pathlib import Path

import pytest
from processes import Place, make_place

from agentbench_tui.cli.main import _run
from agentbench_tui.engine.run import planning

AGENT = ("--agent", "echo=python:agents.py:echo")
HUGE = "99999999999999999999999"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = make_place(tmp_path)
    made.suite(2)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTBENCH_DB", str(made.database))
    return made


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", HUGE, "", "é", "1e400"])
@pytest.mark.parametrize(
    "option",
    ["--limit", "--runs", "--iterations", "--warmup", "--concurrency", "--seeds", "--max-tokens"],
)
def test_a_count_is_a_whole_number_in_bounds(
    place: Place, capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    assert _run(["run", "suite.json", *AGENT, option, value]) == 2
    assert f"'{option}'" in capsys.readouterr().err
    assert not place.database.exists()


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", "1e16", "1e400", "", "1,5"])
@pytest.mark.parametrize("option", ["--hourly-price", "--max-cost"])
def test_money_is_a_finite_amount(
    place: Place, capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    assert _run(["run", "suite.json", *AGENT, option, value]) == 2
    assert f"'{option}'" in capsys.readouterr().err
    assert not place.database.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["load", "mock", "--rate", "5", "--burstiness", "nan"],
        ["stress", "mock", "--time-scale", "nan"],
        ["market", "run", "--baselines", "--duration", "nan"],
        ["regressions", "echo", "--per-day", "nan"],
    ],
)
def test_what_is_no_number_lies_in_no_range(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert _run(arguments) == 2
    assert f"'{arguments[-2]}': 'nan' is not a number" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["9007199254740992", "-9007199254740992", HUGE, "1.5"])
def test_a_seed_is_one_that_json_keeps(place: Place, value: str) -> None:
    assert _run(["run", "suite.json", *AGENT, "--seed", value]) == 2
    assert not place.database.exists()


def test_the_largest_numbers_run(place: Place) -> None:
    largest = ("--seed", "9007199254740991", "--seeds", "2", "--hourly-price", "1e15")
    more = ("--max-cost", "1e15", "--max-tokens", "9223372036854775807", "--concurrency", "10000")
    assert _run(["run", "suite.json", *AGENT, *largest, *more, "--no-ui", "--quiet"]) == 0
    seeds = place.rows("SELECT seed FROM benchmark_executions ORDER BY ordinal")
    assert seeds == [(9007199254740991,), (9007199254740992,)]


@pytest.mark.parametrize(
    "command", [["runs", "list"], ["runs", "show", "latest"], ["leaderboard"]], ids=" ".join
)
@pytest.mark.parametrize("value", ["0", "-1", HUGE, "nan"])
def test_rows_of_a_list_are_a_count(place: Place, command: list[str], value: str) -> None:
    assert _run(["run", "suite.json", *AGENT, "--no-ui", "--quiet"]) == 0
    assert _run([*command, "--limit", value]) == 2


def test_a_plan_that_nobody_means_is_refused_before_it_is_made(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "MOST_EXECUTIONS", 40)
    sweep = {"parameters": {"x": {"start": 1, "stop": 10, "count": 10, "integer": True}}}
    place.suite(2, suite={"parameters": {"x": 1}}, sweep=sweep, prompt="${x} {input}")
    assert _run(["run", "suite.json", *AGENT, "--seeds", "4", "--dry-run"]) == 0
    assert _run(["run", "suite.json", *AGENT, "--seeds", "5", "--dry-run"]) == 2
    assert "more than 40 executions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("iterations", {"warmup": 10**9}),
        ("iterations", {"measured": 10**9}),
        ("concurrency", 10**5),
        ("seed", 2**53),
        ("constraints", {"time_limit_ms": 1e300}),
        ("constraints", {"token_limit": 2**63}),
        ("scoring_rubric", {"speed": {"metric": "e2e_ms.p50", "target": 1, "limit": 1e300}}),
    ],
)
def test_numbers_of_a_suite_are_bounded_as_well(
    place: Place, capsys: pytest.CaptureFixture[str], key: str, value: object
) -> None:
    place.suite(2, **{key: value})
    assert _run(["run", "suite.json", *AGENT]) == 2
    assert f"benchmarks.0.{key}" in capsys.readouterr().err
    assert not place.database.exists()


@pytest.mark.parametrize(
    "target",
    [
        "http://[::1",
        "http://127.0.0.1:99999/",
        "openai:http://127.0.0.1:99999/v1#m",
        "anthropic:http://host:port/#m",
        "http://a b/",
        "http://..../",
        "http://a..b/",
        "http://%00/",
        f"http://{'a' * 64}/",
        f"http://{'.'.join(['a' * 60] * 5)}/",
    ],
)
def test_an_address_that_leads_nowhere_is_refused(
    place: Place, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    assert _run(["run", "suite.json", "--agent", target]) == 2
    assert "bug in agentbench" not in capsys.readouterr().err
    assert not place.database.exists()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 1000, id="deep list"),
        pytest.param("- " * 100_000, id="deeper list"),
        "&a [*a]",
        "- {model: 1}",
        "a: b",
    ],
)
def test_a_price_file_that_makes_no_sense_is_refused(
    place: Place, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (place.folder / "prices.yaml").write_text(text)
    assert _run(["run", "suite.json", *AGENT, "--prices", "prices.yaml"]) == 2
    assert "prices.yaml" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["[" * 20_000, "default_suite = 7", "default_suite", "\x00"])
def test_settings_that_make_no_sense_are_refused(
    place: Place, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (place.folder / "agentbench.toml").write_text(text)
    assert _run(["run", *AGENT]) == 2
    assert "agentbench.toml" in capsys.readouterr().err


def test_a_folder_without_a_report_is_told_to_lack_one(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(["run", "suite.json", *AGENT, "--output", "there"]) == 2
    assert "--report" in capsys.readouterr().err
    assert not place.database.exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["suites", "schema", "--output", "no/schema.json"], "no/schema.json cannot be written"),
        (["market", "run", "--baselines", "--worlds", "10001"], "not in the range 1<=x<=10000"),
    ],
)
def test_what_cannot_be_done_is_refused_at_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run(arguments) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("limit", "told"), [("1", "1 execution, 1 question;"), ("2", "1 execution, 2 questions;")]
)
def test_a_dry_run_counts_in_words(
    place: Place, capsys: pytest.CaptureFixture[str], limit: str, told: str
) -> None:
    assert _run(["run", "suite.json", *AGENT, "--limit", limit, "--dry-run"]) == 0
    assert f"{told} nothing was run" in capsys.readouterr().err


def test_an_unknown_report_is_named_with_those_that_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _run(["run", "quickstart", "--report", "html,markdown"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "no report 'markdown'" in said
    assert "there are json, html, md, both" in said


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["run", "suite.json", "--repeats", "5"], "--runs"),
        (["run", "suite.json", "--model", "x"], "--agent"),
        (["load", "mock", "--request-rate=5"], "--rate"),
        (["load", "mock", "--NUM_PROMPTS", "5"], "--requests"),
        (["runs", "list", "--json"], "--format"),
    ],
)
def test_an_option_of_another_tool_is_answered_with_ours(
    place: Place, capsys: pytest.CaptureFixture[str], arguments: list[str], option: str
) -> None:
    assert _run(arguments) == 2
    name = arguments[-1] if arguments[-1].startswith("--") else arguments[-2]
    said = f"Error: No such option '{name.partition('=')[0]}'; use {option}."
    assert capsys.readouterr().err.splitlines()[-1] == said


def test_an_unknown_option_keeps_the_suggestion_of_similar_spelling(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    # `--rate` is no option of `run`, so that it has no synonym there.
    assert _run(["run", "suite.json", "--qps", "5"]) == 2
    assert "use --rate" not in capsys.readouterr().err
    assert _run(["run", "suite.json", "--agnt", "x"]) == 2
    assert "--agent" in capsys.readouterr().err
