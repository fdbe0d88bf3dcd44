"""`python:module:function`: a function or class of the user, called in the harness's process.

The function may be sync or async and receives the case's input, or the whole Request if its first
parameter is named `request` or annotated so. It returns an Answer, text, or a dict. A class is
instantiated once per session, without arguments, and has `answer` and, if needed, `start` and
`close`. The module may also be a file: `python:./my_agent.py:answer`. The memory of a function can
only be measured in a separate process: if there is a limit, each concurrency slot has one (see
`python_host`).
"""

from __future__ import annotations

import os

from agentbench_tui.agents.adapter import AgentOptions, OpenContext
from agentbench_tui.agents.python.python_session import PythonAgent
from agentbench_tui.agents.python.python_source import Origin, TargetNotFound, load
from agentbench_tui.agents.python.session_objects import session_object
from agentbench_tui.agents.target import parse_target
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import Agent
from agentbench_tui.process.environment import python_module

_HOST = "agentbench_tui.agents.python.python_host"
_START_LIMIT_S = 600.0
"""An import, or the making of a class, may load a model."""


class Options(AgentOptions):
    """Options of a Python agent."""

    inline: bool = False
    """Call a sync function on the event loop instead of in a thread: cheaper, but while it runs
    nothing else does, and no deadline can end it. For functions of well under a millisecond."""


def check(spec: AgentSpec, _options: Options) -> list[str]:
    """Import the module and return problems of the function."""
    try:
        found = load(_origin(spec))
    except TargetNotFound as error:
        return [str(error)]
    if callable(found) or callable(getattr(found, "answer", None)):
        return []
    return [f"`{_origin(spec)}` is a {type(found).__name__}, not a function or class"]


def open(spec: AgentSpec, options: Options, context: OpenContext) -> Agent:  # noqa: A001
    """Return a session that imports the module when it starts."""
    origin = _origin(spec)
    given = session_object(origin.module, origin.name)
    if context.memory_limit_mb is not None and (given is None or given.is_importable):
        return _limited(origin, context)
    return PythonAgent(
        origin,
        inline=options.inline,
        concurrency=context.concurrency,
        name=spec.id,
        loop=None if given is None else given.loop,
    )


def _limited(origin: Origin, context: OpenContext) -> Agent:
    from agentbench_tui.agents.programs.worker_agent import WorkerAgent
    from agentbench_tui.process.worker import JsonLinesWorker

    command = python_module(_HOST, origin.module, origin.name, origin.base_dir)
    workers = [
        JsonLinesWorker(
            command,
            environment=os.environ,  # what it would see in our process
            memory_limit_mb=context.memory_limit_mb,
            start_timeout_s=_START_LIMIT_S,
        )
        for _ in range(context.concurrency)
    ]
    return WorkerAgent(workers, lambda request: {"request": request})


def _origin(spec: AgentSpec) -> Origin:
    module, _, name = parse_target(spec.target).rest.rpartition(":")
    return Origin(module, name, spec.base_dir)
