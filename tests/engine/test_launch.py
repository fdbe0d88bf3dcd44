"""A run as a process of its own: how its plan gets there."""

import os
import subprocess
import sys
from pathlib import Path

from carried_out import plan, suite

from agentbench_tui.engine.plan import encode_plan

LAUNCH = """
import subprocess, sys
from pathlib import Path
from agentbench_tui.engine.launch import launch
from agentbench_tui.engine.plan import decode_plan

plan = decode_plan(Path(sys.argv[1]).read_text(encoding="utf-8"))
given = []
subprocess.Popen = lambda command, **_: given.append(command)
launch(plan, Path("store.db"), Path(sys.argv[2]))
carried = Path(given[0][given[0].index("carry-out") + 1])
assert decode_plan(carried.read_text(encoding="utf-8")) == plan
carried.unlink()
"""


def test_the_plan_is_handed_over_in_any_locale(tmp_path: Path) -> None:
    made = plan(tmp_path, {**suite(1), "name": "Größe"}, "def echo(text): return text", "echo")
    (tmp_path / "plan.json").write_text(encode_plan(made), encoding="utf-8")
    ascii_alone = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    subprocess.run(
        [sys.executable, "-c", LAUNCH, str(tmp_path / "plan.json"), str(tmp_path / "log")],
        env={**os.environ, **ascii_alone},
        check=True,
    )
