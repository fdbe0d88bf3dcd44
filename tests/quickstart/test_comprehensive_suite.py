"""The suite `comprehensive`: its answers are right, and it runs with any agent."""

import calendar
import json
import re
import sys
from datetime import date
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

from openai_process import running_openai_server
from shipped import ROOT, right, run_shipped, score

from agentbench_tui.datasets.comprehensive import GENERATORS, SEED
from agentbench_tui.datasets.task_files import write_tasks

FOLDER = ROOT / "suites" / "comprehensive"


def records(name: str) -> dict[str, dict[str, Any]]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["id"]: record for record in map(json.loads, lines)}


def printed(program: str) -> int:
    """What a program of the questions prints."""
    import contextlib
    import io

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(program, {})
    return int(said.getvalue())


def program(case_id: str) -> str:
    text: str = records("accuracy")[case_id]["input"]
    return text.partition("\n\n")[2]


def places_of_vic() -> set[int]:
    found = set()
    for order in permutations(("Tom", "Uma", "Vic", "Wes", "Xia")):
        place = {name: nth for nth, name in enumerate(order, start=1)}
        if (
            place["Tom"] < place["Uma"] < place["Vic"] < place["Wes"]
            and place["Xia"] == place["Uma"] - 1
            and place["Tom"] < place["Xia"]
        ):
            found.add(place["Vic"])
    return found


def boxes_with_one_true_statement() -> list[int]:
    return [coin for coin in (1, 2, 3) if [coin == 1, coin != 2, coin != 1].count(True) == 1]


def neighbors() -> int:
    rows = list(permutations("ABCD"))
    return sum(abs(row.index("A") - row.index("B")) == 1 for row in rows)


def test_the_answers_are_right() -> None:
    sentence = re.findall(r'"(.+)"', records("accuracy")["letters"]["input"])[0]
    (vic,) = places_of_vic()
    (box,) = boxes_with_one_true_statement()
    reckoned = {
        "days-between": (date(2028, 3, 4) - date(2028, 2, 26)).days,
        "weekday-count": len(range(3, 32, 7)),  # the 1st is a Friday, so the 3rd a Sunday
        "night-shift": (24 * 60 - (21 * 60 + 40)) + 6 * 60 + 15 - 35,
        "time-zones": ((23 - 2 - 3) * 60 + 30 + 105) % 1440,
        "leap-years": calendar.leapdays(1896, 1913),
        "table-lookup": 21 + 80,
        "table-filter": 4 + 6,
        "nested-data": max(2 * 15 + 40, 5 * 9),
        "negation": 12 - 5,
        "ordering": vic,
        "truth-tellers": box,
        "seating": neighbors(),
        "letters": sentence.lower().count("r"),
        "code-loop": printed(program("code-loop")),
        "code-slice": printed(program("code-slice")),
        "binary": int("1011010", 2),
        "units": 150 * 60 // 20 * 3,
        "recipe": 1125 * 270 // 450,
        "discounts": 640 * 75 // 100 * 125 // 100,
        "average": 5 * 18 - 4 * 16,
        "needless-facts": 2 * (5 * 240 + 90),
        "changed-mind": 12 + 2,
        "invented-rule": 2 * (3 + 3 + 6),
        "pronouns": 20 - 9 + (9 + 5),
    }
    assert {key: one["expected"] for key, one in records("accuracy").items()} == reckoned


def test_the_long_documents_hold_the_answer_among_near_misses() -> None:
    for record in records("cost").values():
        book, question = record["input"].split("\n\n")
        goods, who = re.findall(r"How many (\w+) did (\w+) bring", question)[0]
        loads = re.findall(rf": {who} brought (\d+) {goods} ", book)
        assert record["expected"] == sum(map(int, loads))
        assert len(loads) == 5
        assert len(re.findall(rf": {who} brought", book)) > 5
        assert len(re.findall(rf"brought \d+ {goods} ", book)) > 5
        assert 1200 < len(book.split()) < 2000


def test_short_sums_are_right_and_all_different() -> None:
    sums = records("scalability")
    assert len({record["input"] for record in sums.values()}) == len(sums)
    for record in sums.values():
        assert record["expected"] == sum(map(int, re.findall(r"\d+", record["input"])))


def test_the_generated_files_are_what_the_generator_makes(tmp_path: Path) -> None:
    write_tasks(GENERATORS, tmp_path, SEED)
    for name in GENERATORS:
        assert (tmp_path / f"{name}.jsonl").read_bytes() == (FOLDER / f"{name}.jsonl").read_bytes()


async def test_reference_agents_get_the_scores_that_they_are_made_for(tmp_path: Path) -> None:
    result = await run_shipped(
        tmp_path,
        "comprehensive",
        "perfect=reference:perfect",
        "noisy=reference:noisy?accuracy=0.5",
        iterations=1,
        warmup=0,
    )
    assert right(result, "perfect") == (200, 200)  # the sweep asks its 48 three times
    assert score(result, "perfect", "overall") == 1
    assert score(result, "perfect", "reliability") == 1
    assert 0.3 < score(result, "noisy") < 0.7
    points = [
        one["parameters"]["concurrency"]
        for one in result.document["executions"]
        if one["benchmark_id"] == "scalability" and one["agent_id"] == "perfect"
    ]
    assert points == [1, 4, 16]


@pytest.mark.parametrize("stream", ["true", "false"])
async def test_a_model_server_can_be_measured_by_it(tmp_path: Path, stream: str) -> None:
    with running_openai_server() as server:
        agent = f"echo=openai:{server.url}/v1#echo?stream={stream}"
        result = await run_shipped(
            tmp_path, "comprehensive", agent, iterations=1, warmup=0, limit=8
        )
    executions = {one["benchmark_id"]: one for one in result.document["executions"]}
    assert all(one["cases"]["answered"] == 8 for one in executions.values())
    # It says after the question what it was asked, so it is quick, and answers nothing.
    assert score(result, "echo") < 0.2
    assert score(result, "echo", "speed") > 0.9
    assert score(result, "echo", "efficiency") == 0
    long, short = (
        executions[name]["metrics"]["tokens_used"]["value"] for name in ("cost", "speed")
    )
    assert long > 20 * short
    measured = executions["speed"]["metrics"]["ttft_ms.p50"]["value"] is not None
    assert measured is (stream == "true")
