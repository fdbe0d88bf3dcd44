"""Runs a program and its tests inside limits. A script of its own: only the standard library.

Started as `python -I -S program_child.py`; standard input brings one JSON object, standard output
takes the line `ready` once the limits are set, and then the verdict as JSON. The tested code sees
neither: its input is empty, what it prints is dropped.
"""

import ast
import json
import linecache
import os
import resource
import signal
import sys
import types
from collections.abc import Callable

_DENIED = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.kill",
    "pty.",
    "ctypes.",
    "signal.pthread_kill",
    "syslog.",
)
"""Audit events that are refused, by prefix: network, processes, native code."""
_CHANGES = {
    "os.chflags": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((0, 2), (1, 3)),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.removexattr": ((0, None),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.setxattr": ((0, None),),
    "os.symlink": ((0, None), (1, 2)),
    "os.truncate": ((0, None),),
    "os.utime": ((0, 3),),
    "shutil.rmtree": ((0, 1),),
}
"""Audit events that change files, refused outside the working folder: places of each path among
the arguments, and of the descriptor of the folder that it is relative to."""
_WRITES_UNSEEN = frozenset({"_dbm", "_gdbm", "_posixshmem", "readline"})
"""Modules that write files without an audit event. The standard library does without them."""
_SYSTEMS = frozenset({"x86_64", "aarch64", "riscv64", "ppc64le", "s390x"})
"""Machines on which the system calls of Landlock have the numbers below."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_NO_NEW_PRIVILEGES = 38
_NATIVE = frozenset({"ctypes", "_ctypes"})
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_ANY_CHANGE = _WRITE_FILE | sum(1 << bit for bit in range(4, 13))
"""Landlock's rights to write, remove and create; to move and to truncate came later."""
_LONGEST_TEXT = 4_000
"""Characters of an error's message, and of a source line, that the parent gets."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


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
    """Keep standard output for the verdict; the code gets an empty input and no output."""
    channel = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)

    def report(line: str) -> None:
        os.write(channel, line.encode("utf-8", "backslashreplace") + b"\n")

    return report


def set_limits(cpu_s: int, memory_bytes: int, file_bytes: int) -> None:
    """Limits that the kernel holds for this process; those it doesn't know are left out."""
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


def wall_in(folder: str) -> bool:
    """Let the kernel refuse this process changes outside `folder`, signals to others, TCP, and a
    look into other processes (Landlock, Linux 5.13 and newer). False where it cannot.

    Audit events miss what native code does: SQLite's ATTACH, named pipes, TLS key logs.
    """
    if sys.platform != "linux" or os.uname().machine not in _SYSTEMS:
        return False
    try:
        import ctypes

        call = ctypes.CDLL(None, use_errno=True).syscall
        version = call(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
        if version < 1:
            return False
        changes = _ANY_CHANGE | (1 << 13 if version > 1 else 0) | (_TRUNCATE if version > 2 else 0)
        # Rights to files, to TCP and, scoped, to abstract sockets and signals.
        sets = [changes, *([3] if version > 3 else []), *([3] if version > 5 else [])]
        attributes = (ctypes.c_uint64 * len(sets))(*sets)
        size = ctypes.c_size_t(ctypes.sizeof(attributes))
        rules = call(_CREATE_RULESET, attributes, size, 0)
        is_walled = rules >= 0
        for path, rights in ((folder, changes), (os.devnull, changes & (_WRITE_FILE | _TRUNCATE))):
            place = os.open(path, os.O_PATH)
            rule = ctypes.create_string_buffer(
                rights.to_bytes(8, sys.byteorder) + place.to_bytes(4, sys.byteorder), 12
            )
            is_walled = is_walled and call(_ADD_RULE, rules, 1, rule, 0) == 0
            os.close(place)
        prctl = ctypes.CDLL(None).prctl
        is_walled = is_walled and prctl(_NO_NEW_PRIVILEGES, *map(ctypes.c_ulong, (1, 0, 0, 0))) == 0
        is_walled = is_walled and call(_RESTRICT_SELF, rules, 0) == 0
        if rules >= 0:
            os.close(rules)
    except (ImportError, OSError, AttributeError):
        return False
    else:
        return bool(is_walled)
    finally:
        # The tested code imports it again, which the guard refuses.
        for name in [name for name in sys.modules if name.partition(".")[0] in _NATIVE]:
            del sys.modules[name]


class Guard:
    """An audit hook that refuses network, processes, native code, changes outside a folder, and a
    look into other processes. It works on every system, but sees only what Python reports.
    """

    def __init__(self, folder: str) -> None:
        """`folder` is an absolute path without symbolic links."""
        self._folder = folder
        self._own = f"/proc/{os.getpid()}"
        # Bound now, so that code which replaces these names in their modules changes nothing here.
        self._realpath = os.path.realpath
        self._readlink = os.readlink
        self._fsdecode = os.fsdecode
        self._knows_sqlite = False

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        """Raise PermissionError, or ImportError, for what is refused."""
        if event == "open":
            self._check_open(arguments[0], arguments[2], None)
        elif event in _CHANGES:
            for path, folder in _CHANGES[event]:
                # Older versions of Python report no folder with some events.
                rest = () if folder is None else arguments[folder : folder + 1]
                self.check_change(event, arguments[path], *rest)
        elif event == "import" and arguments[0] in _WRITES_UNSEEN:
            raise ImportError(f"{arguments[0]} is not there for tested code")
        elif event == "sqlite3.connect":
            self._check_database(arguments[0])
        elif event == "import" and arguments[0] == "_sqlite3" and not self._knows_sqlite:
            self._knows_sqlite = True
            self._watch_databases()
        elif event.startswith(_DENIED):
            raise PermissionError(f"{event} is not allowed in tested code")

    def check_change(self, deed: str, path: object, folder: object = None) -> None:
        """Raise PermissionError unless the path is inside the working folder."""
        if not self._is_inside(self._place(path, folder)):
            raise PermissionError(f"{deed} is only allowed inside the working folder")

    def replace_calls(self) -> None:
        """Replace the functions of `os` that reach outside without an audit event that says so."""
        import posix

        def checked_open(
            path: object, flags: int, mode: int = 0o777, *, dir_fd: int | None = None
        ) -> int:
            if dir_fd is not None:
                self._check_open(path, flags, dir_fd)
            return call_open(path, flags, mode, dir_fd=dir_fd)  # type: ignore[arg-type]

        call_open = os.open
        replaced: dict[str, Callable[..., object]] = {"open": checked_open}
        for name in ("mkfifo", "mknod"):
            if hasattr(os, name):
                replaced[name] = self._checked(name, getattr(os, name))
        for name, function in replaced.items():
            os.supports_dir_fd.add(function)
            for module in (os, posix):
                setattr(module, name, function)
        for module in (signal, sys.modules["_signal"]):
            if hasattr(module, "pidfd_send_signal"):
                del module.pidfd_send_signal

    def _checked(self, name: str, call: Callable[..., object]) -> Callable[..., object]:
        def checked(path: object, *arguments: object, dir_fd: int | None = None) -> object:
            self.check_change(f"os.{name}", path, dir_fd)
            return call(path, *arguments, dir_fd=dir_fd)

        return checked

    def _check_open(self, path: object, flags: object, folder: object) -> None:
        if path is None or isinstance(path, int):  # a descriptor that is open already
            return
        place = self._place(path, folder)
        if isinstance(flags, int) and flags & _WRITING and not self._is_inside(place):
            raise PermissionError(f"may not write {path!r}: outside the working folder")
        if place is not None and place.startswith("/proc/"):
            owner = place.split("/")[2]
            # The environment of another process is among what its files say.
            if owner.isdigit() and not f"{place}/".startswith(f"{self._own}/"):
                raise PermissionError(f"may not read {path!r}: it is of another process")

    def _check_database(self, name: object) -> None:
        if not isinstance(name, str | bytes | os.PathLike):
            return
        text = self._fsdecode(name)
        if text.startswith("file:"):
            text = text[5:].partition("?")[0].partition("#")[0]
            # Of a URI with a host or with escapes, nothing is known.
            if text.startswith("//") or "%" in text:
                raise PermissionError("such a name of a database is not allowed in tested code")
        if text not in {"", ":memory:"}:
            self.check_change("sqlite3.connect", text)

    def _watch_databases(self) -> None:
        """Let each connection ask before it attaches a file. Called before `_sqlite3` is imported,
        which few programs do and which takes time."""
        import _sqlite3

        connect: Callable[..., _sqlite3.Connection] = _sqlite3.connect

        def watched(*arguments: object, **options: object) -> object:
            connection = connect(*arguments, **options)
            connection.set_authorizer(self._authorize)
            return connection

        vars(_sqlite3)["connect"] = watched

    def _authorize(self, action: int, name: str | None, *_others: object) -> int:
        if action == 24 and name is not None:  # ATTACH, also by VACUUM INTO
            self._check_database(name)
        return 0

    def _place(self, path: object, folder: object) -> str | None:
        """Where a path leads; None where that is not known."""
        if isinstance(path, int):
            return self._of_descriptor(path)
        text = self._fsdecode(path)  # type: ignore[arg-type]
        if isinstance(folder, int) and folder >= 0 and not text.startswith("/"):
            base = self._of_descriptor(folder)
            return None if base is None else self._realpath(f"{base}/{text}")
        return self._realpath(text)

    def _of_descriptor(self, number: int) -> str | None:
        try:
            return self._readlink(f"/proc/self/fd/{number}")
        except OSError:
            return None

    def _is_inside(self, place: str | None) -> bool:
        return place is not None and (
            place in {self._folder, os.devnull} or place.startswith((f"{self._folder}/", "/memfd:"))
        )


def judge(job: dict[str, object]) -> dict[str, object]:
    """Run the first candidate that compiles, then each test.

    Gives `passed` and `total` tests, and for the first failure `error` (see `describe`), with
    `where`: `answer` or `test`. A test that does not compile is a `fault`: it says nothing about
    the answer.
    """
    candidates, tests, entry = job["candidates"], job["tests"], job["entry_point"]
    assert isinstance(candidates, list)
    assert isinstance(tests, list)
    verdict: dict[str, object] = {"passed": 0, "total": len(tests)}
    compiled_tests = []
    for index, source in enumerate(tests):
        try:
            compiled_tests.append(_compiled(source, f"<test {index}>"))
        except Exception as error:  # noqa: BLE001 - whatever it is, the test is at fault
            return {**verdict, "fault": f"test {index} does not compile: {error}"}
    program, source, problem = _first_that_compiles(candidates)
    if program is None:
        return {**verdict, "where": "answer", "error": [problem, ""]}
    module = types.ModuleType("candidate")
    sys.modules["candidate"] = module
    names = module.__dict__
    helpers = job["helpers"]
    assert isinstance(helpers, list)
    _define(needed_definitions(source, helpers), names)
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


def _first_that_compiles(sources: list[str]) -> tuple[types.CodeType | None, str, str]:
    """The program with its source; None with what is wrong with the likeliest."""
    problem = ""
    for source in sources:
        try:
            return _compiled(source, "<answer>"), source, ""
        except SyntaxError as error:
            problem = problem or f"SyntaxError: {error.msg} at line {error.lineno}"
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            problem = problem or describe(error)[0]
    return None, "", problem


def needed_definitions(source: str, helpers: list[str]) -> list[ast.stmt]:
    """Statements of the helpers that define what the source, or another of them, uses.

    Only imports, functions, classes and assignments: examples and output are left out.
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
    """The names that a definition, an import or an assignment binds; none for others."""
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


def _define(statements: list[ast.stmt], names: dict[str, object]) -> None:
    """Run each definition. What fails stays undefined: the program then says what it misses."""
    for statement in statements:
        try:
            exec(compile(ast.Module([statement], []), "<helper>", "exec"), names)  # noqa: S102
        except BaseException:  # noqa: BLE001, S112 - SystemExit and the like too
            continue


def _compiled(source: str, name: str) -> types.CodeType:
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return compile(source, name, "exec", dont_inherit=True)


def describe(error: BaseException) -> tuple[str, str]:
    """`AssertionError: text`, and the source line: the last one of a test, else of the answer.

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
