"""Builds the wheel, installs it into a bare environment and does the main job from another folder.

What runs here is what a user gets from `pipx install`: the wheel and the packages it declares, at
the versions of requirements.lock, with nothing of the development environment within reach.
"""

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TIME_LIMIT_S = 300


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="agentbench wheel ") as folder:
        work = Path(folder)
        wheel = build(work / "dist")
        check_content(wheel)
        python = install(wheel, work)
        do_the_main_job(python, work)
    print("the wheel is good")


def build(target: Path) -> Path:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target)]
    run([*command, str(ROOT)])
    (wheel,) = target.glob("*.whl")
    return wheel


def check_content(wheel: Path) -> None:
    """Every shipped suite, the type marker, the license and both commands are in; tests are not."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (entry_points,) = (n for n in names if n.endswith(".dist-info/entry_points.txt"))
        commands = archive.read(entry_points).decode()
    suites = (path.relative_to(ROOT / "suites") for path in (ROOT / "suites").rglob("*.*"))
    wanted = {
        f"agentbench_tui/shipped_suites/{path}"
        for path in suites
        if "__pycache__" not in path.parts  # left by judges that suites bring along
    }
    require(bool(wanted), "suites/ is empty")
    wanted |= {f"agentbench_tui/reports/html/page/report.{kind}" for kind in ("html", "css", "js")}
    missing = (wanted | {"agentbench_tui/py.typed"}) - names
    require(not missing, f"not in the wheel: {sorted(missing)}")
    require(any(n.endswith("/licenses/LICENSE") for n in names), "the license is not in the wheel")
    foreign = {n for n in names if not re.match(r"agentbench_tui(-[^/]+\.dist-info)?/", n)}
    require(not foreign, f"should not be in the wheel: {sorted(foreign)}")
    for command in ("agentbench", "agentbench-tui"):
        require(f"{command} = " in commands, f"the command {command} is not in the wheel")


def install(wheel: Path, work: Path) -> Path:
    """Install into a fresh environment by the wheel's own metadata; return that Python."""
    run([sys.executable, "-m", "venv", str(work / "venv")])
    python = work / "venv" / "bin" / "python"
    # pip takes hashes only for what is named with ==; here the metadata of the wheel names.
    versions = re.sub(r" \\\n( +--hash=.*\n)+", "\n", (ROOT / "requirements.lock").read_text())
    constraints = work / "constraints.txt"
    constraints.write_text(versions)
    pip = [str(python), "-I", "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run([*pip, "install", "--constraint", str(constraints), str(wheel)])
    run([*pip, "check"])
    return python


def do_the_main_job(python: Path, work: Path) -> None:
    elsewhere, home = work / "elsewhere", work / "home"
    elsewhere.mkdir()
    home.mkdir()
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    agentbench = str(python.with_name("agentbench"))

    def user(*command: str) -> str:
        return run(list(command), cwd=elsewhere, env=env)

    user(agentbench, "--version")
    require("run" in user(agentbench, "--help"), "agentbench --help does not name `run`")
    require("Usage" in user(str(python), "-m", "agentbench_tui", "--help"), "-m agentbench_tui")

    result = json.loads(user(agentbench, "run", "quickstart", "--no-ui", "--format", "json"))
    require(result["schema"] == "agentbench.run/1", f"schema is {result['schema']!r}")
    require(result["status"] == "complete", f"status is {result['status']!r}")
    require(len(result["executions"]) > 0, "no executions")
    require(len(result["leaderboard"]) > 0, "the leaderboard is empty")
    runs = user(agentbench, "runs", "list", "--format", "json")
    require(result["run_id"] in runs, "the run is not in the database")


def run(command: list[str], *, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run to the end and return stdout; on failure show everything and stop."""
    print("+", " ".join(command), flush=True)
    done = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
        check=False,
    )
    if done.returncode != 0:
        print(done.stdout, done.stderr, sep="\n")
        sys.exit(f"exit status {done.returncode}: {' '.join(command)}")
    return done.stdout


def require(truth: bool, complaint: str) -> None:
    if not truth:
        sys.exit(complaint)


if __name__ == "__main__":
    main()
