"""Every document that a command prints is what its class and its JSON Schema say."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tui"))

from known_stores import history_store, stress_store
from processes import Place, make_place

from agentbench_tui.cli.main import _run
from agentbench_tui.contracts.catalog import decode_document, json_schema
from agentbench_tui.contracts.document import plain, schema_of
from agentbench_tui.store.database import reading
from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.verdicts.runs.documents import run_document, typed_run
from agentbench_tui.verdicts.stress.stress_document import stress_document

AGENTS = """
from agentbench_tui.model.answer import Answer
def said(prompt, right, usd):
    return Answer(prompt if right else "?", cost_usd=usd)
def dear(prompt):
    return said(prompt, int(prompt) % 10 != 0, 0.004)
def cheap(prompt):
    return said(prompt, int(prompt) % 10 != 1, 0.001)
def broken(prompt):
    raise RuntimeError("no answer")
"""
RUN = ("run", "suite.json", "--no-ui", "--quiet", "--runs", "2", "--fail-on", "accuracy>=0")
LOAD = ("load", "python:agents.py:cheap", "--prompt", "7", "--duration", "200ms", "--no-ui", "-q")
MARKET = ("market", "run", "--worlds", "1", "--duration", "5", "--agent", "market:hold", "-q")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A run of three agents on 40 cases, whose document is `run.json`."""
    place = make_place(tmp_path_factory.mktemp("contracts"))
    place.suite(40)
    (place.folder / "agents.py").write_text(AGENTS)
    agents = [f"--agent={name}=python:agents.py:{name}" for name in ("dear", "cheap", "broken")]
    done = place.run(*RUN, *agents, "--agent", "ideal=reference:perfect", "--format", "json")
    (place.folder / "run.json").write_text(done.stdout)
    assert done.returncode in {0, 3}, done.stderr
    return place


@pytest.fixture
def printed(
    place: Place, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Runs a command in this process, with the store of `place`: its stdout."""
    monkeypatch.setenv("AGENTBENCH_DB", str(place.database))
    monkeypatch.chdir(place.folder)

    def run(*arguments: str) -> str:
        capfd.readouterr()
        code = _run([*arguments, "--format", "json"])
        out, err = capfd.readouterr()
        assert code in {0, 1, 3}, err
        return out

    return run


def check(text: str, name: str) -> None:
    """The text decodes into the class of that name, holds nothing else, and fits its schema."""
    document = decode_document(text)
    assert schema_of(document) == name
    raw = json.loads(text)
    assert json.loads(json.dumps(plain(document))) == raw
    jsonschema.Draft202012Validator(json_schema(name)).validate(raw)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("runs list", "runs/1"),
        ("runs show latest", "run-details/1"),
        ("runs show latest --by expected", "run-details/1"),
        ("runs show latest --answers --limit 5", "answers/1"),
        ("runs show latest --case c3", "case/1"),
        ("leaderboard", "leaderboard/1"),
        ("leaderboard --rating --overall", "leaderboard/1"),
        ("leaderboard --run latest", "leaderboard/1"),
        ("leaderboard --metric overall", "leaderboard/1"),
        ("compare dear cheap", "compare/1"),
        ("compare dear cheap broken --by expected", "compare/1"),
        ("cost", "cost/1"),
        ("cost dear", "cost/1"),
        ("regressions dear", "regressions/1"),
        ("profile latest/dear", "profiles/1"),
        ("stats summary dear", "stats-summary/1"),
        ("stats variance dear", "stats-variance/1"),
        ("stats power dear cheap", "stats-power/1"),
        ("stats power --n 20", "stats-power/1"),
        ("experiments list", "experiments/1"),
        ("experiments show memory_db", "experiment/1"),
        ("agents list", "agents/1"),
        ("baseline list", "baselines/1"),
        ("suites list", "suites/1"),
        ("suites show quickstart", "suite/1"),
        ("run quickstart --dry-run", "plan/1"),
        ("load mock --dry-run", "plan/1"),
        ("stress mock --dry-run", "plan/1"),
        ("explain", "explanation/1"),
        ("explain e2e_ms.p95", "explanation/1"),
        ("doctor", "doctor/1"),
        ("schema", "schemas/1"),
        ("market generate --output world.json --force", "market-world/1"),
    ],
)
def test_a_reading_command(printed: Callable[..., str], command: str, name: str) -> None:
    check(printed(*command.split()), f"agentbench.{name}")


def test_a_run(place: Place) -> None:
    check((place.folder / "run.json").read_text(), "agentbench.run/1")


def test_a_load_and_a_sweep(place: Place) -> None:
    one = place.run(*LOAD, "--concurrency", "2", "--runs", "3", "--format", "json")
    check(one.stdout, "agentbench.load/1")
    several = place.run(*LOAD, "--concurrency", "1,2", "--slo", "e2e_ms=500", "--format", "json")
    check(several.stdout, "agentbench.load-sweep/1")


def test_a_market(place: Place) -> None:
    check(place.run(*MARKET, "--format", "json").stdout, "agentbench.market/1")


def test_a_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    monkeypatch.setenv("AGENTBENCH_DB", str(history_store(tmp_path / "history.db")))
    text = printed("regressions", "bot", "--per-day", "1000")
    check(text, "agentbench.regressions/1")
    assert json.loads(text)["regressions"]


@pytest.mark.parametrize("agents", [("target@1",), ("target@1", "other@2")])
def test_stress(tmp_path: Path, agents: tuple[str, ...]) -> None:
    store, run_id = stress_store(tmp_path / "stress.db", *agents)
    with reading(store) as connection:
        run = run_document(connection, find_run(connection, run_id))
    check(json.dumps(plain(run)), "agentbench.run/1")
    check(json.dumps(plain(stress_document(typed_run(run)))), "agentbench.stress/1")
