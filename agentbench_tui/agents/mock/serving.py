"""Server loop of the command `mock` and of the process behind `mock:` agents."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from agentbench_tui.agents.mock.options import MockOptions, from_plain
from agentbench_tui.agents.mock.server import Server
from agentbench_tui.model.errors import UsageError

_READ_BYTES = 4096


def serve(
    options: MockOptions,
    host: str,
    port: int,
    say: Callable[[str], None],
    *,
    truth_file: Path | None = None,
    requests_log: Path | None = None,
    keeps_truth: bool = True,
    until_stdin_closes: bool = False,
) -> None:
    """Serve until SIGINT, SIGTERM, or optionally the end of stdin.

    `say` receives the line with the URL. The files are written at the end; without `keeps_truth`
    there is nothing to write. Raises UsageError.
    """
    for path in (truth_file, requests_log):
        if path is not None and not path.absolute().parent.is_dir():
            raise UsageError(f"no folder {path.absolute().parent} for {path.name}")
    if not until_stdin_closes:  # whoever starts it as a child reads the file
        import_module("numpy")  # by `GET /truth` itself it would halt the server
    server = Server(options, keeps_truth=keeps_truth)
    _run(_serve(server, host, port, say, until_stdin_closes=until_stdin_closes))
    if requests_log is not None:
        with requests_log.open("wb") as log:
            log.writelines(server.truth.lines())
    if truth_file is not None:
        text = json.dumps(server.truth.document(), indent=2, allow_nan=False)
        truth_file.write_text(text + "\n", encoding="utf-8")


async def _serve(
    server: Server, host: str, port: int, say: Callable[[str], None], *, until_stdin_closes: bool
) -> None:
    loop = asyncio.get_running_loop()
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        if number == signal.SIGTERM or signal.getsignal(number) != signal.SIG_IGN:
            loop.add_signal_handler(number, told.set)
    url = await server.start(host, port)
    if until_stdin_closes:
        loop.add_reader(0, _watch_stdin, told)
    gc.collect()
    gc.freeze()
    say(f"listening on {url}")
    try:
        await told.wait()
    finally:
        loop.remove_reader(0)
        await server.close()


def _watch_stdin(told: asyncio.Event) -> None:
    if not os.read(0, _READ_BYTES):
        asyncio.get_running_loop().remove_reader(0)
        told.set()


def _run(main: Coroutine[Any, Any, None]) -> None:
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(main)


def _main() -> int:
    """Run `python -m agentbench_tui.agents.mock.serving JSON`, as `process.MockServer`
    starts it.
    """
    told = json.loads(sys.argv[1])
    truth, log = told["truth"], told["requests_log"]
    try:
        serve(
            from_plain(told["options"]),
            "127.0.0.1",
            told["port"],
            _say,
            truth_file=None if truth is None else Path(truth),
            requests_log=None if log is None else Path(log),
            keeps_truth=told["keeps_truth"],
            until_stdin_closes=True,
        )
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(_main())
