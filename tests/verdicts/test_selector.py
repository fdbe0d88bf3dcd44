"""Selectors: what may be written, and which executions it means."""

import asyncio
import shutil
import sys
from contextlib import closing
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import run, suite

from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.database import connect_to_read, connect_to_write
from agentbench_tui.store.queries.runs import list_runs
from agentbench_tui.verdicts.selection.selector import (
    Selector,
    executions_of_selector,
    parse_selector,
)

AGENTS = "def one(prompt):\n    return prompt\ndef two(prompt):\n    return '?'\n"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a", Selector("a", "agent", "a", "a")),
        ("a@1.2", Selector("a@1.2", "agent", "a", "a", "1.2")),
        ("run:7f", Selector("run:7f", "run", "7f")),
        ("run:7f/a@2", Selector("run:7f/a@2", "run", "7f", "a", "2")),
        ("tag:v1/a", Selector("tag:v1/a", "tag", "v1", "a")),
        ("a?rate=5&x=", Selector("a?rate=5&x=", "agent", "a", "a", point={"rate": "5", "x": ""})),
        ("file:a?b@c.csv", Selector("file:a?b@c.csv", "file", "a?b@c.csv")),
    ],
)
def test_what_is_meant(text: str, meant: Selector) -> None:
    assert parse_selector(text) == meant


@pytest.mark.parametrize("text", ["", "@1", "run:", "tag:/a", "file:", "rnu:1", "?rate=5"])
def test_what_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_selector(text)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of `one` and `two`; a third of `one@9` on another benchmark."""
    folder = tmp_path_factory.mktemp("selected")
    for tags in (("old", "both"), ("both",)):
        asyncio.run(run(folder, suite(2), AGENTS, "one", "two", tags=tags))
    other = suite(2, benchmark_id="other")
    return asyncio.run(run(folder, other, AGENTS, "one", tags=("both",))).database


def meant(database: Path, text: str) -> list[tuple[str, str]]:
    """Agent and benchmark of the executions, with the number of their run."""
    with closing(connect_to_read(database)) as connection:
        rows = executions_of_selector(connection, parse_selector(text))
    return [(f"{row['agent_id']} {row['run_key']}", row["benchmark_id"]) for row in rows]


def test_an_agent_is_its_latest_executions(database: Path) -> None:
    assert meant(database, "one") == [("one 2", "echo"), ("one 3", "other")]


def test_a_run_and_a_tag_are_all_of_theirs(database: Path) -> None:
    with closing(connect_to_read(database)) as connection:
        first = list_runs(connection, 10)[-1]["id"]
    assert meant(database, f"run:{first}/one") == [("one 1", "echo")]
    assert meant(database, "run:latest") == [("one 3", "other")]
    assert meant(database, "tag:both/one") == [
        ("one 1", "echo"), ("one 2", "echo"), ("one 3", "other"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ome", "no agent 'ome'.*did you mean .one"),
        ("tag:bot", "no run has the tag 'bot'.*did you mean .both"),
        ("tag:both", "holds 2 agents: say which, as in tag:both/one"),
        ("one?rate=5", "nothing was measured at rate=5"),
        ("one@nope", "there is no complete execution"),
        ("run:nope", "no run"),
    ],
)
def test_what_is_not_there_says_what_is(database: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        meant(database, text)


def test_the_rate_of_a_load_that_sweeps_nothing_is_a_point_too(
    database: Path, tmp_path: Path
) -> None:
    planned = Path(shutil.copy(database, tmp_path / "planned.db"))
    with closing(connect_to_write(planned)) as connection:
        connection.execute(
            "UPDATE benchmark_suites SET document=json_set(document, '$.benchmarks[0].load',"
            ' json(\'{"rate": 20, "duration_s": 2, "arrivals": "poisson"}\'))'
        )
    everything = meant(planned, "tag:old/one")
    assert meant(planned, "tag:old/one?rate=20") == everything
    assert meant(planned, "tag:old/one?rate=20.0&duration_s=2") == everything
    for text, told in (
        ("rate=40", r"nothing was measured at rate=40; rate was 20$"),
        (
            "rat=20",
            r"it has no 'rat' \(did you mean \"rate\"\?\), its parameters: duration_s, rate",
        ),
    ):
        with pytest.raises(UsageError, match=told):
            meant(planned, f"tag:old/one?{text}")
