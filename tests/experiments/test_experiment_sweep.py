"""Sweeps of experiments: what each parameter does, points side by side, after a kill."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from measuring import Said, rows, slug


def test_what_each_parameter_does_is_told_and_drawn(said: Said, tmp_path: Path) -> None:
    code, out, err = said(
        "experiments", "run", slug("Counting"), "--no-ui", "--iterations", "2", "--runs", "2",
        "--sweep", "size=10,100", "--sweep", "mode=list,set", "--output", "results",
    )  # fmt: skip
    assert code == 0, err
    assert "what each parameter does to e2e_ms in ms" in out
    (folder,) = (path for path in (tmp_path / "results").iterdir() if path.is_dir())
    assert {path.name for path in folder.iterdir()} == {
        *(f"{number:03}-code.json" for number in range(4)), "effects.json", "effects.svg",
    }  # fmt: skip
    assert (folder / "effects.svg").read_text().startswith("<?xml")
    code, out, _ = said("experiments", "effects", "--metric", "found", "--format", "json")
    (effect,) = json.loads(out)["effects"]
    assert (effect["of"], effect["points"], effect["missing"]) == ("repeats", 4, 0)
    told = {(one["parameter"], one["level"]): one for one in effect["levels"]}
    assert told["size", "10"]["difference"] is None
    assert told["size", "100"]["difference"] == pytest.approx(4950 - 45)
    assert told["size", "100"]["relative"] == pytest.approx((4950 - 45) / 45)
    assert told["mode", "set"]["difference"] == pytest.approx(0.0, abs=1e-9)
    code, _, err = said("experiments", "effects", "--metric", "fuond")
    assert (code, 'did you mean "found"' in err) == (2, True)


def test_points_side_by_side_have_processes_of_their_own_and_no_verdict_on_time(
    said: Said, tmp_path: Path
) -> None:
    spec = f"experiment: {slug('Killed')}\nsweep: {{size: [1, 2]}}\nparallelism: 2\n"
    (tmp_path / "spec.yaml").write_text(f"{spec}iterations: {{measured: 2}}\n")
    code, out, err = said("run", "--spec", "spec.yaml", "--no-ui")
    assert code == 0, err
    assert "2 points ran at once, so times are not compared" in out
    assert "does to squared" in out
    assert "does to e2e_ms" not in out
    found = rows(tmp_path, "SELECT json_extract(answer, '$.data.pid') FROM answers")
    assert (len(found), len(set(found))) == (4, 2)


def test_a_killed_sweep_goes_on_and_repeats_nothing(said: Said, tmp_path: Path) -> None:
    command = (
        "experiments", "run", slug("Killed"), "--no-ui", "--iterations", "3", "--runs", "2",
        "--sweep", "size=1,3,5", "--output", "results",
    )  # fmt: skip
    killed = subprocess.run(
        [sys.executable, "-m", "agentbench_tui", *command], cwd=tmp_path, capture_output=True
    )
    assert killed.returncode == 128 + 9
    before = rows(tmp_path, "SELECT seq, answer FROM answers ORDER BY seq")
    code, out, err = said("resume", "--no-ui")
    assert code == 0, err
    assert ": its process ended; Killed ran in the same process" in err
    after = rows(tmp_path, "SELECT seq, answer FROM answers ORDER BY seq")
    assert after[: len(before)] == before
    places = rows(tmp_path, "SELECT execution_key, repeat, iteration FROM answers")
    assert len(places) == len(set(places)) == 3 * 2 * 3
    assert "does to squared" in out
    (folder,) = (path for path in (tmp_path / "results").iterdir() if path.is_dir())
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*-code.json"))]
    assert [one["metrics"]["squared"]["mean"] for one in found] == [1.0, 9.0, 25.0]
