"""`./run` on machines that lack something, and its idea of when .venv is up to date.

The script runs for real, with a PATH that holds only what a bare machine has. The Python on it is a
small shell script: it makes an "environment" whose own Python writes down what it was asked.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ["sh", "cat", "chmod", "cksum", "cp", "dirname", "id", "mkdir", "rm"]

PYTHON = """#!/bin/sh
# Stands for Python {version}; venv is there or not: {venv}
case "$*" in
    --version) echo "Python {version}" ;;
    *version_info\\ \\<*) [ {minor} -ge 11 ] ;;
    *version_info\\[*) echo "3.{minor}" ;;
    *ensurepip*) {venv} ;;
    "-m venv --clear "*)
        rm -rf "$4"
        mkdir -p "$4/bin"
        echo "made" >>"$TRACE"
        echo >"$4/pyvenv.cfg"
        cp "$TRACE.python" "$4/bin/python"
        ;;
    *) exit 9 ;;
esac
"""

VENV_PYTHON = """#!/bin/sh
echo "$*" >>"$TRACE"
[ ! -e "$TRACE.broken" ] || exit 1
cp "$0" "${0%python}agentbench"
"""


class Machine:
    """A clone in a folder with a space in its name, and a PATH of its own."""

    def __init__(self, folder: Path) -> None:
        self.clone = folder / "a clone"
        self.clone.mkdir()
        for name in ("run", "pyproject.toml", "requirements.lock", "requirements-dev.lock"):
            shutil.copy(ROOT / name, self.clone)
        self.path = folder / "bin"
        self.path.mkdir()
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found is not None
            (self.path / tool).symlink_to(found)
        self.trace = folder / "trace"
        _script(folder / "trace.python", VENV_PYTHON)

    def add(self, name: str, text: str = "#!/bin/sh\n") -> None:
        _script(self.path / name, text)

    def add_python(self, name: str, minor: int = 11, *, venv: bool = True) -> None:
        self.add(
            name,
            PYTHON.format(version=f"3.{minor}.2", minor=minor, venv="true" if venv else "false"),
        )

    def run(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.clone / "run"), *arguments],
            cwd="/",
            env={"PATH": str(self.path), "TRACE": str(self.trace), **env},
            capture_output=True,
            text=True,
            check=False,
        )

    def asked(self) -> list[str]:
        """What was asked of Python since the last look."""
        lines = self.trace.read_text().splitlines() if self.trace.exists() else []
        self.trace.unlink(missing_ok=True)
        return lines


def _script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def _sudo() -> str:
    return "" if os.getuid() == 0 else "sudo "


def test_no_python_names_the_packages_to_install(machine: Machine) -> None:
    machine.add("apt")
    done = machine.run()
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr
    line = f"    {_sudo()}apt update && {_sudo()}apt install python3 python3-venv\n"
    assert line in done.stderr


def test_an_old_python_is_named_beside_the_line_to_type(machine: Machine) -> None:
    machine.add("apt")
    machine.add_python("python3", 9)
    done = machine.run()
    assert done.returncode == 1
    assert "python3 there: Python 3.9.2" in done.stderr
    assert f"{_sudo()}apt install python3.11 python3.11-venv\n" in done.stderr


def test_missing_venv_module_names_debians_package(machine: Machine) -> None:
    machine.add("apt")
    machine.add_python("python3", 11, venv=False)
    done = machine.run("test")
    assert done.returncode == 1
    assert f"{_sudo()}apt install python3-venv\n" in done.stderr
    assert not (machine.clone / ".venv").exists()


def test_missing_venv_module_of_a_second_python_has_its_own_package(machine: Machine) -> None:
    machine.add("apt")
    machine.add_python("python3", 9)
    machine.add_python("python3.12", 12, venv=False)
    assert f"{_sudo()}apt install python3.12-venv\n" in machine.run().stderr


@pytest.mark.parametrize(
    ("manager", "line"),
    [
        ("dnf", "dnf install python3.12"),
        ("apk", "apk add python3"),
        ("pacman", "pacman -S python"),
        ("zypper", "zypper install python312"),
    ],
)
def test_other_package_managers(machine: Machine, manager: str, line: str) -> None:
    machine.add(manager)
    assert f"    {_sudo()}{line}\n" in machine.run().stderr


def test_the_newest_python_that_can_make_environments_is_used(machine: Machine) -> None:
    machine.add("python3.14", "#!/bin/sh\necho 'shim: not installed' >&2\nexit 127\n")
    machine.add_python("python3.12", 12, venv=False)
    machine.add_python("python3.11", 11)
    machine.add_python("python3", 11, venv=False)
    done = machine.run()
    assert done.returncode == 0, done.stderr
    assert "making .venv with Python 3.11.2" in done.stderr


def test_python_variable_chooses_the_interpreter(machine: Machine) -> None:
    machine.add_python("python3", 11)
    machine.add_python("my python", 13)
    done = machine.run(PYTHON=str(machine.path / "my python"))
    assert "making .venv with Python 3.13.2" in done.stderr
    old = machine.run("test", PYTHON="/nowhere/python3")
    assert old.returncode == 0, "an environment that is there needs no interpreter"
    shutil.rmtree(machine.clone / ".venv")
    assert (
        "PYTHON=/nowhere/python3 is not a Python 3.11"
        in machine.run(PYTHON="/nowhere/python3").stderr
    )


def test_first_call_installs_by_hash_and_the_second_only_runs(machine: Machine) -> None:
    machine.add_python("python3")
    assert machine.run().returncode == 0
    made, locked, linked, ran = machine.asked()
    assert made == "made"
    assert "install --no-user --no-deps --require-hashes" in locked
    assert locked.endswith(f"-r {machine.clone}/requirements.lock")
    assert linked.endswith(f"--no-build-isolation --editable {machine.clone}")
    assert ran == "run quickstart"
    assert machine.run().stderr == ""
    assert machine.asked() == ["run quickstart"]


def test_tests_add_the_development_lock_to_the_same_environment(machine: Machine) -> None:
    machine.add_python("python3")
    machine.run()
    machine.asked()
    machine.run("test", "-k", "two words")
    locked, ran = machine.asked()
    assert locked.endswith(f"-r {machine.clone}/requirements-dev.lock")
    assert ran.startswith("-m pytest ")
    assert ran.endswith(" -k two words")


def test_other_words_go_to_agentbench(machine: Machine) -> None:
    machine.add_python("python3")
    machine.run("leaderboard", "--format", "json")
    assert machine.asked()[-1] == "leaderboard --format json"


def test_a_changed_lock_makes_a_fresh_environment(machine: Machine) -> None:
    machine.add_python("python3")
    machine.run()
    machine.asked()
    with (machine.clone / "requirements.lock").open("a") as lock:
        lock.write("# changed\n")
    machine.run()
    assert machine.asked()[0] == "made"


def test_a_moved_clone_makes_a_fresh_environment(machine: Machine) -> None:
    machine.add_python("python3")
    machine.run()
    machine.asked()
    machine.clone = machine.clone.rename(machine.clone.with_name("moved"))
    machine.run()
    assert machine.asked()[0] == "made"


def test_an_interrupted_set_up_starts_over(machine: Machine) -> None:
    machine.add_python("python3")
    broken = machine.trace.with_name("trace.broken")
    broken.touch()
    done = machine.run()
    assert done.returncode == 1
    assert "PIP_INDEX_URL" in done.stderr
    broken.unlink()
    machine.asked()
    assert machine.run().returncode == 0
    assert machine.asked()[0] == "made"


def test_a_folder_that_is_no_environment_is_left_alone(machine: Machine) -> None:
    machine.add_python("python3")
    precious = machine.clone / ".venv" / "notes.txt"
    precious.parent.mkdir()
    precious.write_text("mine")
    done = machine.run()
    assert done.returncode == 1
    assert "is in the way" in done.stderr
    assert precious.read_text() == "mine"


def test_lock_without_uv_says_how_to_get_it(machine: Machine) -> None:
    done = machine.run("lock")
    assert done.returncode == 1
    assert "pipx install uv" in done.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(("target", "command"), [("run", "run quickstart"), ("test", "-m pytest")])
def test_make_calls_the_script(machine: Machine, target: str, command: str) -> None:
    machine.add_python("python3")
    shutil.copy(ROOT / "Makefile", machine.clone)
    make = shutil.which("make")
    assert make is not None
    done = subprocess.run(
        [make, "-C", str(machine.clone), target, "ARGS=--limit 3"],
        env={"PATH": str(machine.path), "TRACE": str(machine.trace)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ran = machine.asked()[-1]
    assert ran.startswith(f"{command} ")
    assert ran.endswith(" --limit 3")
