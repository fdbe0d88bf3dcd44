"""Runs a program and its tests within limits. A standalone script that uses only the standard
library.

Started as `python -I -S program_child.py`; standard input brings one JSON object, standard output
takes the line `ready` once the limits are set, and then the verdict as JSON. The tested code sees
neither: its input is empty, what it prints is dropped.
"""

import __future__

import ast
import json
import linecache
import os
import resource
import symtable
import sys
import textwrap
import types
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentbench_tui.scoring.code.program_guard import Guard, wall_in
else:
    # Python's isolated mode leaves out the script's own folder, whose other modules must not hide
    # any that the tested code imports.
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120 - stays quick
    try:
        from program_guard import Guard, wall_in
    finally:
        del sys.path[0]

_LONGEST_TEXT = 4_000
"""Characters of an error's message, and of a source line, that the parent gets."""


def main() -> None:
    """Read the job, set the limits, run, report."""
    job = json.load(sys.stdin)
    token = job.pop("token")  # shows that the verdict is ours: tested code could find the channel
    report = _take_over_output()
    set_limits(job["cpu_s"], job["memory_bytes"], job["file_bytes"])
    # Imported now: importing them later would open files, and tracebacks need them.
    import encodings.idna  # noqa: F401
    import traceback  # noqa: F401

    folder = os.path.realpath(os.getcwd())  # noqa: PTH109 - stays str and quick
    if job.pop("kernel_wall", True):
        wall_in(folder)
    report("ready")
    guard = Guard(folder)
    guard.replace_calls()
    sys.addaudithook(guard)
    verdict = judge(job)
    report(json.dumps({**verdict, "token": token}))
    os._exit(0)


def _take_over_output() -> Callable[[str], None]:
    """Reserve standard output for the verdict; the tested code gets an empty input and no
    output.
    """
    channel = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)

    def report(line: str) -> None:
        os.write(channel, line.encode("utf-8", "backslashreplace") + b"\n")

    return report


def set_limits(cpu_s: int, memory_bytes: int, file_bytes: int) -> None:
    """Set kernel limits for this process; unsupported ones are skipped."""
    for name, value in (
        ("RLIMIT_CPU", cpu_s),
        ("RLIMIT_AS", memory_bytes),
        ("RLIMIT_FSIZE", file_bytes),
        ("RLIMIT_NOFILE", 64),
        ("RLIMIT_NPROC", 0),
        ("RLIMIT_CORE", 0),
    ):
        number = getattr(resource, name, None)
        if number is not None:
            try:
                resource.setrlimit(number, (value, value))
            except (ValueError, OSError):
                continue


def judge(job: dict[str, object]) -> dict[str, object]:
    """Run the answer's program, then each test.

    Gives `passed` and `total` tests, and for the first failure `error` (see `describe`), with
    `where`: `answer` or `test`. A test that does not compile is a `fault`: it says nothing about
    the answer.
    """
    tests, entry, helpers = job["tests"], job["entry_point"], job["helpers"]
    continuations = job["continuations"]
    assert isinstance(tests, list)
    assert isinstance(continuations, list)
    assert isinstance(helpers, list)
    verdict: dict[str, object] = {"passed": 0, "total": len(tests)}
    compiled_tests = []
    for index, source in enumerate(tests):
        try:
            compiled_tests.append(_compiled(source, f"<test {index}>"))
        except Exception as error:  # noqa: BLE001 - whatever it is, the test is at fault
            return {**verdict, "fault": f"test {index} does not compile: {error}"}
    prompt = [] if entry is None else _prompt_statements(job["prompts"])
    flags = _future_flags(prompt)
    program, source, problem = _chosen_program(job, flags)
    if program is None:
        return {**verdict, "where": "answer", "error": [problem, ""]}
    module = types.ModuleType("candidate")
    sys.modules["candidate"] = module
    names = module.__dict__
    if source not in continuations:
        # What fails is skipped: a question such as `double` or `Task: double` is Python, too.
        _define(prompt, names, flags)
    _define(needed_definitions(source, helpers), names, flags)
    try:
        exec(program, names)  # noqa: S102 - running it is the point
        if entry and entry not in names:
            return {**verdict, "where": "answer", "error": [f"does not define {entry}", ""]}
    except BaseException as error:  # noqa: BLE001 - SystemExit and the like are failures too
        return {**verdict, "where": "answer", "error": describe(error)}
    return {**verdict, **_run_tests(compiled_tests, names, entry)}


def _run_tests(
    tests: list[types.CodeType], names: dict[str, object], entry: object
) -> dict[str, object]:
    passed, first = 0, None
    for test in tests:
        names.pop("check", None)
        try:
            exec(test, names)  # noqa: S102 - running it is the point
            check = names.get("check")
            if entry and callable(check):
                check(names[str(entry)])
            passed += 1
        except BaseException as error:  # noqa: BLE001 - SystemExit and the like are failures too
            first = first or describe(error)
    return (
        {"passed": passed} if first is None else {"passed": passed, "where": "test", "error": first}
    )


def _prompt_statements(prompts: object) -> list[ast.stmt]:
    """Return the statements of the first form of the prompt that is Python; none for prose."""
    assert isinstance(prompts, list)
    return next((statements for prompt in prompts if (statements := _statements(prompt))), [])


def _future_flags(statements: list[ast.stmt]) -> int:
    """Return the compiler flags of the `from __future__` imports."""
    flags = 0
    for statement in statements:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                feature = getattr(__future__, alias.name, None)
                flags |= getattr(feature, "compiler_flag", 0)
    return flags


def _chosen_program(job: dict[str, object], flags: int) -> tuple[types.CodeType | None, str, str]:
    """Return the intended program of the answer with its source, or None with what is wrong.

    This is the answer's code alone if it defines the entry point, else the first continuation of
    the prompt that does, else its definitions without the surrounding prose. If none does, the code
    alone is run to show what is missing.
    """
    program, entry, continuations = job["program"], job["entry_point"], job["continuations"]
    assert isinstance(program, str)
    assert isinstance(continuations, list)
    sources = [program]
    if entry is not None:
        definitions = str(job.get("definitions", ""))
        sources += [*continuations, textwrap.dedent(program), definitions]
    problems: list[tuple[bool, str]] = []
    alone: tuple[types.CodeType | None, str, str] | None = None
    for source in sources:
        try:
            compiled = _compiled(source, "<answer>", flags)
            if entry is None or _binds(source, str(entry)):
                return compiled, source, ""
        except SyntaxError as error:
            # Reported last: the prompt may have the head of an indented function body.
            indented = isinstance(error, IndentationError)
            problems.append((indented, f"SyntaxError: {error.msg} at line {error.lineno}"))
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            problems.append((False, describe(error)[0]))
        else:
            if source is program:
                alone = compiled, source, ""
    if alone is None:
        return None, "", min(problems, key=lambda problem: problem[0])[1]
    _compiled(program, "<answer>", flags)  # the lines that a traceback quotes
    return alone


def _binds(source: str, name: str) -> bool:
    """Return whether the code binds a name at the top level.

    `def`, `class`, an import, an assignment.
    """
    table = symtable.symtable(source, "<answer>", "exec")
    if name not in table.get_identifiers():
        return False
    symbol = table.lookup(name)
    return symbol.is_assigned() or symbol.is_imported()


def needed_definitions(source: str, helpers: list[str]) -> list[ast.stmt]:
    """Return the helpers' statements that define what the source, or another of them, uses.

    Only imports, functions, classes and assignments: examples and output are excluded.
    """
    statements = [statement for helper in helpers for statement in _statements(helper)]
    places = {
        name: place for place, statement in enumerate(statements) for name in _bound(statement)
    }
    waiting = _statements(source)
    for name in {name for statement in waiting for name in _bound(statement)}:
        places.pop(name, None)
    chosen: set[int] = set()
    while waiting:
        for node in ast.walk(waiting.pop()):
            place = places.pop(node.id, None) if isinstance(node, ast.Name) else None
            if place is not None and place not in chosen:
                chosen.add(place)
                waiting.append(statements[place])
    return [statements[place] for place in sorted(chosen)]


def _statements(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return []


def _bound(statement: ast.stmt) -> list[str]:
    """Return the names that a definition, an import or an assignment binds; none for other
    statements.
    """
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return []
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        nodes = [node for target in targets for node in ast.walk(target)]
        return [node.id for node in nodes if isinstance(node, ast.Name)]
    return []


def _define(statements: list[ast.stmt], names: dict[str, object], flags: int) -> None:
    """Run each statement.

    A failing one stays undefined; the program then reports what it misses.
    """
    for statement in statements:
        try:
            code = compile(
                ast.Module([statement], []), "<helper>", "exec", flags, dont_inherit=True
            )
            exec(code, names)  # noqa: S102
        except BaseException:  # noqa: BLE001, S112 - SystemExit and the like too
            continue


def _compiled(source: str, name: str, flags: int = 0) -> types.CodeType:
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    code: types.CodeType = compile(source, name, "exec", flags, dont_inherit=True)
    return code


def describe(error: BaseException) -> tuple[str, str]:
    """Return `AssertionError: text` and the source line: the last one of a test, else of the
    answer.

    They are shortened by the parent, which masks secrets in them before.
    """
    place, trace = "", error.__traceback__
    in_test = False
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith("<test") or (name == "<answer>" and not in_test):
            in_test = in_test or name.startswith("<test")
            place = linecache.getline(name, trace.tb_lineno).strip()[:_LONGEST_TEXT]
        trace = trace.tb_next
    try:
        message = str(error)[:_LONGEST_TEXT]
    except Exception:  # noqa: BLE001 - the error's class is the tested code's
        message = ""
    return f"{type(error).__name__}{': ' if message else ''}{message}", place


if __name__ == "__main__":
    main()
