"""The reference of the Python API in docs/python.md, from signatures and docstrings."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import agentbench_tui

FACE = Path(agentbench_tui.__file__)
GROUPS = {
    "Functions": "Each `…_async` function is awaited and takes the same arguments.",
    "Results": "What the functions return. Each result is shown as tables in a notebook.",
    "Service": "Requests to `agentbench serve` ([HTTP API](api.md)).",
    "Documents": "Parts of results, as the JSON documents of [JSON output](json.md) have them.",
    "Arguments": "What the functions take.",
    "Extensions": "What agents, scorers, experiments, instruments and reporters are made of.",
    "Errors": "All derive from `AgentbenchError`; `exit_code` is that of the command line.",
}
"""Heading → first line, in the page's order."""
WIDTH = 96
NESTED = "    "


class Home(NamedTuple):
    """Where a public name is defined."""

    module: str
    name: str


def homes() -> dict[str, Home]:
    """Public name → module and name there, as type checkers read the package."""
    found = {}
    for node in ast.walk(ast.parse(FACE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agentbench_tui."):
            for alias in node.names:
                found[alias.asname or alias.name] = Home(node.module or "", alias.name)
    return found


def group_of(name: str, found: Any, home: Home) -> str:
    """The heading under which a name is described."""
    if isinstance(found, type) and issubclass(found, BaseException):
        return "Errors"
    if name.islower() and name not in {"benchmark", "register_experiment"}:
        return "Functions"
    if home.module.endswith(".client"):
        return "Service"
    if home.module.endswith(".contracts.service"):
        return "Arguments"
    if ".contracts." in home.module:
        return "Documents"
    if ".python_api." in home.module:
        is_argument = name.endswith("Like") or name in {"Database", "OnProgress"}
        return "Arguments" if is_argument else "Results"
    return "Arguments" if home.module.endswith("model.suite") else "Extensions"


def python_sections() -> Iterator[str]:
    """The page's sections: a heading for each group, then each name in it."""
    places = homes()
    groups: dict[str, list[str]] = {heading: [] for heading in GROUPS}
    for name in agentbench_tui.__all__:
        groups[group_of(name, getattr(agentbench_tui, name), places[name])].append(name)
    yield "## Reference"
    for heading, names in groups.items():
        yield f"### {heading}"
        yield GROUPS[heading]
        for name in names:
            yield from entry(name, getattr(agentbench_tui, name), places[name])


def entry(name: str, found: Any, home: Home) -> Iterator[str]:
    """One name: what it is, what it takes, and what it has."""
    yield f"#### {name}"
    node = definition(home)
    if isinstance(found, type):
        yield from paragraphs(inspect.getdoc(found) or "")
        yield from members(found, node)
    elif inspect.isfunction(found) or isinstance(found, ModuleType):
        yield f"```python\n{signature(name, found)}\n```"
        yield from paragraphs(inspect.cleandoc(found.__doc__ or ""))
    else:
        yield from paragraphs(text_below(home))


def definition(home: Home) -> ast.AST | None:
    """The class that defines a name, if it is one."""
    tree = ast.parse(Path(str(sys.modules[home.module].__file__)).read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return next((node for node in classes if node.name == home.name), None)


def text_below(home: Home) -> str:
    """The text below the assignment that defines a name."""
    tree = ast.parse(Path(str(sys.modules[home.module].__file__)).read_text(encoding="utf-8"))
    return dict(documented(tree.body)).get(home.name, "")


def documented(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Assigned names with the text that follows each; an empty one where there is none."""
    for place, node in enumerate(body):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(target, ast.Name):
            continue
        after = body[place + 1] if place + 1 < len(body) else None
        value = after.value if isinstance(after, ast.Expr) else None
        is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
        yield target.id, inspect.cleandoc(value.value) if is_text else ""  # type: ignore[union-attr, arg-type]


def members(found: type, node: ast.AST | None) -> Iterator[str]:
    """The fields, properties and methods of a class, with those of its public bases."""
    lines: dict[str, str] = {}
    for base in reversed(found.__mro__):
        if base.__module__.startswith("agentbench_tui."):
            lines |= own_members(base)
    if node is not None and lines:
        yield "\n".join(lines.values())


def own_members(found: type) -> dict[str, str]:
    source = ast.parse(textwrap.dedent(inspect.getsource(found))).body[0]
    assert isinstance(source, ast.ClassDef)
    texts = dict(documented(source.body))
    lines = {}
    for node in source.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
            if not name.startswith("_"):
                lines[name] = member(f"{name}: {ast.unparse(node.annotation)}", texts[name])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("_") or node.name == "of_ended_run":
                continue
            lines[node.name] = member(call(node), ast.get_docstring(node) or "")
    return lines


def call(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """A property or method as it is used."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    if any(ast.unparse(one).endswith(("property", "setter")) for one in node.decorator_list):
        return f"{node.name}{returns.replace(' ->', ':')}"
    given = node.args
    names = [one.arg for one in (*given.posonlyargs, *given.args)][1:]
    names += [f"*{given.vararg.arg}"] if given.vararg else []
    names += [f"{one.arg}=…" for one in given.kwonlyargs]
    prefix = "await " if isinstance(node, ast.AsyncFunctionDef) else ""
    return f"{prefix}{node.name}({', '.join(names)}){returns}"


def member(code: str, text: str) -> str:
    words = " ".join(text.split())
    return f"- `{code}`" + (f": {escaped(words)}" if words else "")


def signature(name: str, function: Any) -> str:
    """The call as Python code, one parameter a line where it is long."""
    found = inspect.signature(function)
    parameters = [parameter_words(one) for one in found.parameters.values()]
    star = [
        place for place, one in enumerate(found.parameters.values()) if one.kind is one.KEYWORD_ONLY
    ]
    if star and not any(one.kind is one.VAR_POSITIONAL for one in found.parameters.values()):
        parameters.insert(star[0], "*")
    returns = annotation_words(found.return_annotation)
    line = f"{name}({', '.join(parameters)}) -> {returns}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"{NESTED}{one}," for one in parameters), f") -> {returns}"])


def parameter_words(parameter: inspect.Parameter) -> str:
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    words = f"{star}{parameter.name}: {annotation_words(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return words
    default = parameter.default
    shown = "{}" if type(default).__name__ == "mappingproxy" else repr(default)
    return f"{words} = {shown}"


def annotation_words(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")


def paragraphs(text: str) -> Iterator[str]:
    """A docstring as Markdown: `Args:` and `Raises:` become lists, indented code a block."""
    for part in re.split(r"\n\s*\n", text.strip()):
        heading, _, rest = part.partition("\n")
        if heading.rstrip(":") in {"Args", "Raises"} and heading.endswith(":"):
            yield {"Args": "Arguments:", "Raises": "Errors:"}[heading.rstrip(":")]
            yield "\n".join(items(textwrap.dedent(rest)))
        elif part.startswith(NESTED) or (part and part[0] == " "):
            yield f"```python\n{textwrap.dedent(part)}\n```"
        elif part:
            yield escaped(" ".join(part.split()))


def items(text: str) -> Iterator[str]:
    """`name: what it is`, whose text may go on in indented lines."""
    for item in re.split(r"\n(?=\S)", text.strip()):
        name, _, words = " ".join(item.split()).partition(": ")
        yield f"- `{name}`: {escaped(words)}"


def escaped(text: str) -> str:
    """Text as Markdown shows it; what is in backticks is code already."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"([\\*\[\]<])", r"\\\1", part) for part in parts
    )
