"""Files of the repository: locks name no host, text names no machine, links lead somewhere."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = ["requirements.lock", "requirements-dev.lock", "requirements-docs.lock"]
TEXT_LIMIT_BYTES = 2_000_000

# Put together here, so that this file does not hold what it forbids.
REGISTRIES = ["py" + "pi.org", "python" + "hosted", "registry.npm" + "js", "deb.deb" + "ian"]
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:" + "work|root|farm|home" + r")/[a-z]")


def tracked() -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a clone, so what belongs to the repository is not known")
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return sorted(path for path in paths if path.is_file())


def pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def pins(lock: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"(?m)^([\w.-]+)==(\S+)", (ROOT / lock).read_text()):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


def wanted(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(text).name) for text in requirements}


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_names_no_host_and_hashes_everything(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert "://" not in text
    assert "--index-url" not in text
    entries = re.split(r"(?m)^(?=[\w.-]+==)", text)[1:]
    assert len(entries) > 20
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_locks_hold_what_the_project_file_declares() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    build = wanted(groups["build"])
    run, dev = pins("requirements.lock"), pins("requirements-dev.lock")
    assert wanted(project["project"]["dependencies"]) | build <= run.keys()
    assert wanted([entry for entry in groups["dev"] if isinstance(entry, str)]) <= dev.keys()
    assert {name: dev.get(name) for name in run} == run
    docs = pins("requirements-docs.lock")
    assert wanted(groups["docs"]) <= docs.keys()
    # Both are installed into one environment. A package may have several pins, one for each Python.
    assert {name: docs[name] for name in docs.keys() & dev.keys() if docs[name] != dev[name]} == {}


def test_no_file_names_a_registry_or_a_path_of_one_machine() -> None:
    found = []
    for path in tracked():
        if path.stat().st_size > TEXT_LIMIT_BYTES:
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [
            f"{path.relative_to(ROOT)}: {host}" for host in REGISTRIES if host in text.lower()
        ]
        found += [f"{path.relative_to(ROOT)}: {hit[0]}" for hit in MACHINE_PATH.finditer(text)]
        found += [f"{path.relative_to(ROOT)}: ../shar" + "ed"] * ("../shar" + "ed" in text)
    assert found == []


def anchors(page: Path) -> set[str]:
    """The fragment of each heading, made as code hosts make it."""
    headings = re.findall(r"(?m)^#+ +(.+?) *$", without_code(page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def without_code(text: str) -> str:
    return re.sub(
        r"(?ms)^```.*?^```$|`[^`\n]*`", lambda m: "" if "\n" in m[0] else m[0].strip("`"), text
    )


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text())
    links = re.findall(r"\]\(<?([^)>\s]+)>?(?: \"[^\"]*\")?\)|<img[^>]+src=\"([^\"]+)\"", text)
    broken = []
    for link in (first or second for first, second in links):
        if re.match(r"[a-z]+:", link):
            if not link.startswith(("https://", "mailto:")):
                broken.append(link)
            continue
        name, _, fragment = link.partition("#")
        target = (page.parent / name) if name else page
        if not target.exists() or (fragment and fragment not in anchors(target)):
            broken.append(link)
    assert broken == []
