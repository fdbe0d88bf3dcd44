"""Guards around every test: no network but loopback, a clean environment, nothing left running."""

import gc
import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

GUARD = Path(__file__).parent / "guard"
sys.path.insert(0, str(GUARD))

import leftovers  # noqa: E402 - found by the path above, as children find it by PYTHONPATH
import network_guard  # noqa: E402

GRACE_S = 20.0
"""How long a process or thread may take to end after the last test of a module."""

_SCRUBBED_PREFIXES = ("AGENTBENCH_", "ANTHROPIC_", "OPENAI_", "GIT_", "PYTEST_ADDOPTS", "XDG_")
_SCRUBBED_PARTS = ("API_KEY", "TOKEN", "SECRET", "PASSWORD", "_PROXY")
_SCRUBBED = {"CI", "COLORTERM", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "PYTHONWARNINGS"}
# Else each of the hundreds of commands that tests start would compile the whole package again.
_SCRUBBED |= {"PYTHONDONTWRITEBYTECODE"}

_ON_CI = pytest.StashKey[bool]()
_homes = itertools.count()


def _is_scrubbed(name: str) -> bool:
    upper = name.upper()
    return (
        upper in _SCRUBBED
        or upper.startswith(_SCRUBBED_PREFIXES)
        or any(part in upper for part in _SCRUBBED_PARTS)
    )


def pytest_configure(config: pytest.Config) -> None:
    """Scrub the environment before any module of tests is imported, and close the network."""
    _restore_signals()
    # Processes that run tests side by side start when this one has scrubbed the environment.
    on_ci = getattr(config, "workerinput", {}).get("on_ci", "CI" in os.environ)
    config.stash[_ON_CI] = on_ci
    for name in [name for name in os.environ if _is_scrubbed(name)]:
        del os.environ[name]
    os.environ["TZ"] = "UTC"
    time.tzset()
    os.environ |= {"LC_ALL": "C.UTF-8", "TERM": "xterm"}
    inherited = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(GUARD), inherited]))
    network_guard.install()
    _choose_hypothesis_profile(on_ci=on_ci)


def _restore_signals() -> None:
    """Undo what `&` and `nohup` ignore: every process that a test starts would ignore it too."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _choose_hypothesis_profile(*, on_ci: bool) -> None:
    """CI repeats the same examples each time; a developer's machine looks for new ones."""
    hypothesis.settings.register_profile("developer", max_examples=50, deadline=None)
    hypothesis.settings.register_profile(
        "ci", max_examples=50, deadline=None, derandomize=True, database=None, print_blob=True
    )
    hypothesis.settings.load_profile("ci" if on_ci else "developer")


def pytest_collection_finish() -> None:
    """Keep what was collected out of every later garbage collection.

    It stays until the end, and each run that a test carries out begins with a full collection: a
    fifth of a second if that looks at thousands of tests. Runs freeze and unfreeze by themselves,
    for their own process; here that would undo this.
    """
    gc.collect()
    gc.freeze()
    gc.freeze = gc.unfreeze = lambda: None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process that pytest-xdist starts what it can no longer see."""
    node.workerinput["on_ci"] = node.config.stash[_ON_CI]


@pytest.fixture(scope="session")
def _session_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(scope="session")
def refused_connections(_session_folder: Path) -> Path:
    """The file to which this process and its children write each attempt to leave the machine."""
    log = _session_folder / "network.log"
    log.touch()
    os.environ[network_guard.LOG_VARIABLE] = str(log)
    return log


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, _session_folder: Path) -> None:
    """Give each test a home and a database of its own, both still empty."""
    home = _session_folder / str(next(_homes))
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AGENTBENCH_DB", str(home / "agentbench.db"))


@pytest.fixture(autouse=True)
def _network_untouched(refused_connections: Path) -> Iterator[None]:
    """Fail a test that reached for the network even where the code under test hid the refusal."""
    size = refused_connections.stat().st_size
    yield
    if refused_connections.stat().st_size > size:
        attempts = refused_connections.read_bytes()[size:].decode()
        pytest.fail(f"reached for the network:\n{attempts}", pytrace=False)


@pytest.fixture(scope="module", autouse=True)
def _nothing_left_running() -> Iterator[None]:
    """Fail a module of tests that leaves a child process (which is killed) or a thread behind."""
    children_before = leftovers.children()
    threads_before = set(threading.enumerate())
    yield
    new = [p for pid, p in leftovers.children().items() if pid not in children_before]
    left = leftovers.end(new, GRACE_S) + leftovers.threads(threads_before, GRACE_S)
    if left:
        pytest.fail("left running:\n" + "\n".join(left), pytrace=False)
