"""The house rules of CONTRIBUTING.md that a machine can see: import order, sizes, names."""

import ast
import contextlib
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "agentbench_tui"
FACES = {"cli", "tui", "__main__.py"}
"""What may know click and Textual: everything else is the core."""

MODULE_LINES = 400
FOLDER_MODULES = 26
"""25, and the one that says what the folder is for."""
FUNCTION_LINES = 60
NAMELESS = {"utils", "util", "helpers", "helper", "common", "misc"}

HEAVY = {
    "aiohttp", "genai_prices", "jsonschema", "msgspec", "numpy", "psutil", "pydantic", "rich",
    "ruamel", "scipy", "textual",
}  # fmt: skip
"""What `agentbench --help` must not wait for."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


OF_AN_EXTRA = {"a2a_server.py"}
"""Modules that only those import who have the extra; the libraries of `a2a` bring in click."""


def core_modules() -> list[Path]:
    return [path for path in modules() if path.relative_to(PACKAGE).parts[0] not in FACES]


def imported(tree: ast.AST) -> Iterator[str]:
    """Top-level names of everything a module imports, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def python(code: str) -> str:
    """Output of a fresh interpreter that finds the package in this checkout."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Every text of a module with its line, docstrings aside; `x` for what is put into one."""
    tree = ast.parse(path.read_text())
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in prose:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (p.value if isinstance(p, ast.Constant) else "x" for p in node.values)
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def operations(parsed: object) -> Iterator[str]:
    """The names of the operations of a parsed pattern."""
    stack = [parsed]
    while stack:
        part = stack.pop()
        if isinstance(part, re._parser.SubPattern):
            yield from (str(operation) for operation, _ in part)
            stack += [argument for _, argument in part]
        elif isinstance(part, list | tuple):
            stack += part


def test_no_pattern_needs_what_pythons_re_got_wrong() -> None:
    """Possessive repeats and atomic groups match too little in the `re` of Python 3.11.2."""
    found = []
    for path in modules():
        for line, text in texts_of(path):
            if re.search(r"[*+?}]\+|\(\?>", text):
                with contextlib.suppress(re.error):
                    if {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"} & {
                        *operations(re._parser.parse(text))
                    }:
                        found.append(f"{path.relative_to(ROOT)}:{line}: {text[:60]!r}")
    assert found == []


def test_a_package_imports_only_from_packages_below_it() -> None:
    code = (
        "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 kept, 0 broken" in done.stdout


def test_every_folder_of_modules_is_a_package() -> None:
    folders = {path.parent for path in modules()}
    assert [str(f) for f in sorted(folders) if not (f / "__init__.py").exists()] == []


def test_no_folder_holds_more_modules_than_a_stranger_looks_through() -> None:
    full = {
        str(folder.relative_to(ROOT)): count
        for folder, count in Counter(path.parent for path in modules()).items()
        if count > FOLDER_MODULES
    }
    assert full == {}


def test_the_core_names_neither_click_nor_textual() -> None:
    guilty = {
        str(path.relative_to(ROOT)): sorted(found)
        for path in core_modules()
        if (found := {"click", "textual"} & set(imported(ast.parse(path.read_text()))))
    }
    assert guilty == {}


def test_the_core_brings_in_neither_click_nor_textual() -> None:
    """Whatever its dependencies import, too."""
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in core_modules()
        if path.name != "__main__.py" and path.name not in OF_AN_EXTRA
    ]
    code = (
        f"import importlib, sys\nfor name in {names!r}: importlib.import_module(name)\n"
        "print(*sorted({'click', 'textual'} & set(sys.modules)))"
    )
    assert python(code).split() == []


def test_help_waits_for_no_heavy_library() -> None:
    code = (
        "import sys\n"
        "sys.argv = ['agentbench', '--help']\n"
        "from agentbench_tui.cli.main import run\n"
        "try: run()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"print('HEAVY', *sorted({HEAVY!r} & set(sys.modules)))"
    )
    out = python(code)
    assert "Usage:" in out
    assert out.splitlines()[-1] == "HEAVY"


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function, without the parameters and the documentation of a public one, which is
    long where there is much to choose."""
    assert function.end_lineno is not None
    statements = function.body[bool(ast.get_docstring(function)) :]
    if function.name.startswith("_") or not statements:
        return function.end_lineno - function.lineno + 1
    return function.end_lineno - statements[0].lineno + 1


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_is_small_and_named_for_what_it_is(path: Path) -> None:
    source = path.read_text()
    assert len(source.splitlines()) <= MODULE_LINES, "split it by noun"
    assert path.stem not in NAMELESS
    assert path.parent.name not in NAMELESS
    tree = ast.parse(source)
    assert not source.strip() or ast.get_docstring(tree), "say what the module is for"
    long = {
        node.name: lines_of(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and lines_of(node) > FUNCTION_LINES
    }
    assert long == {}, f"functions over {FUNCTION_LINES} lines"


def test_a_space_parts_a_number_from_its_percent_sign() -> None:
    """Python's own format of a share puts none there."""
    without = re.compile(r":[^{}\s]*%\}")
    assert not [path.name for path in modules() if without.search(path.read_text())]


def test_tests_have_names_of_their_own() -> None:
    """pytest imports test modules by file name alone; two of one name hide each other."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


CLOCKS = re.compile(
    r"^\s*from time import|(?<![\w.`])time\.(time|monotonic|perf_counter|process_time|thread_time)"
    r"(_ns)?\b(?!`)|\bdatetime\.now\(\)\.|\butcnow\(",
    re.MULTILINE,
)
OUTSIDE_CLOCKS = ("tui/", "model/clock.py", "process/supervision.py", "agents/quickstart/")
"""Where no measured or stored time comes from; what stands in for code of the user's."""


def test_times_are_read_from_clocks_that_user_code_cannot_replace() -> None:
    """`model.clock` alone reads the module `time`, before any code of the user's is imported."""
    guilty = [
        f"{path.relative_to(PACKAGE)}: {hit[0].strip()}"
        for path in modules()
        if not str(path.relative_to(PACKAGE)).startswith(OUTSIDE_CLOCKS)
        for hit in CLOCKS.finditer(path.read_text())
    ]
    assert guilty == []


def test_our_modules_are_started_apart_from_the_current_folder() -> None:
    """By `process.environment.python_module`."""
    guilty = [p.name for p in modules() if re.search(r'executable,\s*"-m"', p.read_text())]
    assert guilty == []


def test_percentages_are_formatted_by_one_module() -> None:
    """`95%`, without a space; `presentation/numbers.py` writes those that were measured."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text!r}"
        for path in modules()
        if path.name != "feed.py"  # posts of market worlds, which stay as they are for their seed
        for line, text in texts_of(path)
        if re.search(r"[0-9x] %", text)
    ]
    assert found == []


BRITISH = re.compile(
    r"behaviour|colour|neighbour|favour|honour|centre|catalogue|judgement|licence|artefact|labelled"
    r"|modelled|signalled|misspelt|learnt|practise|per cent|\d %(?=[\s.,;:)]\D)"
    r"|(?:normal|summar|general|optim|recogn|organ|random|standard|minim|maxim)is(?:e[ds]?|ing|ation)"
    r"|(?<!gpu_)utilisation(?!_percent)",
    re.IGNORECASE,
)
KEPT = re.compile(
    r"refusals[-_]not[-_]honoured|[`\x22](neighbours|normalised|summarise)[`\x22]|labelledby"
    r"|labelled_values|`analysis\.summarise`|contracts\.catalogue"
)
"""Names that stored runs, suites and scripts hold or held, and one in the code of an agent, whose
version is a hash of it.
"""
WITH_DATA = {"scaling.py", "memory.py", "corpus.py"}
"""Modules with a parameter, or texts of cases, that stored runs hold."""


def british(text: str) -> list[str]:
    return [hit[0] for hit in BRITISH.finditer(KEPT.sub("", text))]


def test_what_a_person_reads_is_spelled_the_american_way() -> None:
    """Pages, and the texts and docstrings of the package; `95%` has no space."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    found = {str(page.relative_to(ROOT)): british(page.read_text()) for page in pages}
    for path in modules():
        if path.name not in WITH_DATA:
            found[str(path.relative_to(ROOT))] = british(path.read_text())
    assert {name: hits for name, hits in found.items() if hits} == {}


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("The colour of neighbours", ["colour", "neighbour"]),
        ("Summarised: 95 % of it, 5%.", ["Summarised", "5 %"]),
        ("the rule `refusals-not-honoured`, `utilisation_percent`, 7 % 3, rise, precise", []),
    ],
)
def test_british_spelling_is_found(text: str, hits: list[str]) -> None:
    assert british(text) == hits


def test_a_second_formatter_of_percentages_is_found(tmp_path: Path) -> None:
    module = tmp_path / "shown.py"
    module.write_text('def shown(share: float) -> str:\n    return f"{100 * share:.1f} %"\n')
    assert [text for _, text in texts_of(module) if re.search(r"[0-9x] %", text)] == ["x %"]


WEB = {"fastapi", "starlette", "uvicorn"}
"""Libraries of extras: the rest of the package has to work without them."""


def test_only_the_service_imports_the_libraries_of_the_service() -> None:
    """Others import `api.serving`, which names the extra where they are missing."""
    guilty = [
        str(path.relative_to(PACKAGE))
        for path in modules()
        if path.relative_to(PACKAGE).parts[0] != "api"
        and path.name not in OF_AN_EXTRA
        and WEB & set(imported(ast.parse(path.read_text())))
    ]
    assert guilty == []
