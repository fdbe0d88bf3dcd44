"""The document of a run, as a file where the suite wants one."""

import json
from pathlib import Path

from processes import Place

AGENT = "def echo(prompt):\n    return prompt\n"


def test_a_suite_with_an_output_dir_gets_the_document_of_each_run(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.suite(2, suite={"output_dir": "results/nightly"})
    (tmp_path / "agents.py").write_text(AGENT)
    done = place.run(
        "run", "suite.json", "--agent", "python:agents.py:echo", "--no-ui", "--format", "json"
    )
    assert done.returncode == 0
    document = json.loads(done.stdout)
    (kept,) = (tmp_path / "results" / "nightly").iterdir()
    assert kept.name == f"{document['run_id']}.json"
    assert json.loads(kept.read_text()) == document


def test_an_output_dir_that_cannot_be_written_costs_no_result(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (tmp_path / "results").write_text("a file, not a folder")
    place.suite(2, suite={"output_dir": "results"})
    (tmp_path / "agents.py").write_text(AGENT)
    done = place.run("run", "suite.json", "--agent", "python:agents.py:echo", "--no-ui")
    assert done.returncode == 0
    assert "cannot be written" in done.stderr
    assert "2/2/2" in done.stdout
