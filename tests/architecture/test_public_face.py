"""What `import agentbench_tui` offers: sorted names with types and documentation, nothing else."""

import ast
import inspect
import subprocess
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import agentbench_tui

FACE = Path(agentbench_tui.__file__)
NAMES = agentbench_tui.__all__
ASKED_FOR = {"run", "run_async", "load", "load_async", "stress", "stress_async"}


def static_imports() -> dict[str, tuple[str, str]]:
    """Public name → module and name there, as a type checker reads the package."""
    found = {}
    for node in ast.walk(ast.parse(FACE.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agentbench_tui."):
            for alias in node.names:
                found[alias.asname or alias.name] = (node.module or "", alias.name)
    return found


def test_names_are_sorted_unique_and_hold_what_was_asked_for() -> None:
    assert sorted(set(NAMES)) == NAMES
    assert set(NAMES) >= ASKED_FOR


def test_type_checkers_see_the_names_that_exist() -> None:
    found = static_imports()
    assert sorted(found) == NAMES
    for name, (module, own_name) in found.items():
        there = getattr(sys.modules[__import__(module).__name__], name)
        home = __import__(module, fromlist=[own_name])
        if not isinstance(there, ModuleType):
            assert there is getattr(home, own_name), name


def test_nothing_else_is_public() -> None:
    packages = {path.name for path in FACE.parent.iterdir() if path.is_dir()}
    own = {name for name in vars(agentbench_tui) if not name.startswith("_")}
    assert own - packages - set(NAMES) == {"annotations", "sys", "TYPE_CHECKING"}
    with pytest.raises(AttributeError, match="no attribute 'rnu'"):
        agentbench_tui.rnu  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_documented(name: str) -> None:
    found = getattr(agentbench_tui, name)
    if isinstance(found, type | ModuleType) or inspect.isfunction(found):
        assert (found.__doc__ or "").strip(), f"{name} says nothing of itself"
        return
    module, own_name = static_imports()[name]
    source = Path(str(sys.modules[module].__file__)).read_text().splitlines()
    places = [
        n for n, line in enumerate(source) if line.startswith((f"{own_name} =", f"{own_name}:"))
    ]
    after = " ".join(source[places[0] : places[0] + 12])
    assert '"""' in after, f"{name}: a text below its definition says what it is"


def functions() -> list[str]:
    return [name for name in NAMES if callable(getattr(agentbench_tui, name)) and name.islower()]


@pytest.mark.parametrize("name", functions())
def test_a_function_has_annotations(name: str) -> None:
    function: Callable[..., object] = getattr(agentbench_tui, name)
    signature = inspect.signature(function)
    assert signature.return_annotation is not signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not parameter.empty, f"{name}: {parameter.name}"


def public_classes() -> list[type]:
    found = [getattr(agentbench_tui, name) for name in NAMES]
    return [
        one for one in found if isinstance(one, type) and one.__module__.startswith("agentbench")
    ]


@pytest.mark.parametrize("public", public_classes(), ids=lambda one: one.__name__)
def test_methods_of_a_class_have_annotations_and_documentation(public: type) -> None:
    if not public.__module__.startswith("agentbench_tui.python_api"):
        return
    for name, method in vars(public).items():
        function = method.fget if isinstance(method, property) else method
        function = getattr(function, "__func__", function)
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        assert function.__doc__, f"{public.__name__}.{name}"
        assert "return" in typing.cast("dict[str, object]", function.__annotations__), name


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    code = (
        "import sys; before = set(sys.modules); import agentbench_tui;"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in {"['__future__', 'agentbench_tui']", "['agentbench_tui']"}
