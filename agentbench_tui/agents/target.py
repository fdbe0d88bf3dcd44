"""Target strings: how the command line and suites name an agent.

    [ID[@VERSION]=]TARGET
    TARGET = SCHEME ["?" OPTIONS] ":" REST ["?" OPTIONS] ["#" FRAGMENT]

Options are `name=value` pairs joined by `&`, percent-encoded where need be. They may stand after
the scheme for every scheme (`command?cwd=sub:./agent --quick`). At the end they are read for all
but those whose REST has its own use for `?` and `#`: a command line (`command:`, `worker:`) and
an endpoint's URL (`http:`, `https:`), which are taken whole. `http://HOST/…` is a target by
itself, and so is the name of a scheme that has no REST (`mock`).
"""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import msgspec

from agentbench_tui.agents.schemes import (
    BUILT_IN,
    OF_MODELS,
    RECORDED,
    SIMULATED,
    SIMULATED_TARGETS,
    WITHOUT_REST,
    adapter_path,
)
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.identity import canonical_json, is_name

if TYPE_CHECKING:
    from agentbench_tui.model.suite import AgentTable

_TAKEN_WHOLE = frozenset({"command", "worker", "http", "https"})
_URL_SCHEMES = frozenset({"http", "https"})
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)(?:\?([^:]*))?(?::(.*))?", re.DOTALL)
_NAMED = re.compile(r"([^=:?#/]*)=(.*)", re.DOTALL)
_VERSION_DIGITS = 12


class ParsedTarget(msgspec.Struct, frozen=True):
    """The parts of a target string."""

    scheme: str
    rest: str
    """Content after the scheme: a URL, a function, a command line, a file, a name."""
    options: dict[str, str] = msgspec.field(default_factory=dict)
    fragment: str = ""
    """Text after `#`: the model, for model servers."""

    @property
    def target(self) -> str:
        """Return the target without its options, as it is stored in `AgentSpec.target`."""
        if self.scheme in WITHOUT_REST and not self.rest and not self.fragment:
            return self.scheme
        head = "" if self.rest.startswith(f"{self.scheme}://") else f"{self.scheme}:"
        return f"{head}{self.rest}{'#' + self.fragment if self.fragment else ''}"


def parse_target(text: str) -> ParsedTarget:
    """Parse a target string. Raises UsageError; does not look up the scheme."""
    match = _SCHEME.fullmatch(text.strip())
    if match is None or (match[2] is match[3] is None and match[1] not in WITHOUT_REST):
        hint = f"; a program is written `command:{text}`" if text.strip() else ""
        file, _, function = text.strip().partition(".py:")
        if file and function.isidentifier():
            hint = f"; a function in a file is written `python:{text.strip()}`"
        elif text.strip().endswith(".py"):
            hint = f"; a function of this file is written `python:{text.strip()}:FUNCTION`"
        raise UsageError(
            f"`{text}` is not a target: expected SCHEME:REST, such as python:mod:func{hint}"
        )
    scheme, head_options, rest = match[1], match[2], match[3]
    rest, fragment, tail_options = rest or "", "", ""
    if scheme in _URL_SCHEMES and rest.startswith("//"):
        rest = f"{scheme}:{rest}"
    if scheme not in _TAKEN_WHOLE:
        rest, _, fragment = rest.partition("#")
        rest, _, tail_options = rest.partition("?")
        if not tail_options:
            fragment, _, tail_options = fragment.partition("?")
    options: dict[str, str] = {}
    for query in (head_options, tail_options):
        options |= _read_options(query or "", text)
    return ParsedTarget(scheme, rest, options, unquote(fragment))


def _read_options(query: str, target: str) -> dict[str, str]:
    options: dict[str, str] = {}
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError:
        raise UsageError(f"options of `{target}`: expected name=value&…, got `{query}`") from None
    for name, value in pairs:
        if name in options:
            raise UsageError(f"options of `{target}`: `{name}` is given twice")
        options[name] = value
    return options


def named_model(agent: AgentSpec) -> str | None:
    """Return the model that an agent names: after the `#` of its target, or by the option `model`.

    Only schemes of model servers have a model after `#`; in a command line or a file name it is
    part of the name.
    """
    scheme, _, rest = agent.target.partition(":")
    has_none = scheme in BUILT_IN and scheme not in OF_MODELS
    return ("" if has_none else rest.partition("#")[2]) or agent.options.get("model") or None


def parse_agent(text: str, *, base_dir: str) -> AgentSpec:
    """Parse a command-line argument `[ID[@VERSION]=]TARGET` into an agent.

    The id is derived from the target when it is left out, the version from target and options
    by hash. `base_dir` is the folder that relative paths are relative to. Raises UsageError.
    """
    agent_id, version, target = _split_name(text.strip())
    parsed = parse_target(target)
    return _spec(parsed, parsed.options, agent_id, version, base_dir)


def argument_of(spec: AgentSpec) -> str:
    """Return the argument that `parse_agent` reads as this agent: same id, version, target and
    options. Name and hourly price cannot be expressed in it.
    """
    options = "&".join(
        f"{quote(name, safe='')}={quote(_option_text(value), safe='')}"
        for name, value in spec.options.items()
    )
    scheme, colon, rest = spec.target.partition(":")
    if scheme not in _TAKEN_WHOLE:
        rest, mark, model = rest.partition("#")
        rest += mark + quote(model, safe="/:@ ")
    if scheme in _URL_SCHEMES:
        rest = f"{scheme}:{rest}" if options else rest
    target = f"{scheme}?{options}{colon}{rest}" if options else f"{scheme}{colon}{rest}"
    parsed = parse_target(target)
    named = spec.version != _version(parsed.target, parsed.options)
    return f"{spec.id}@{spec.version}={target}" if named else f"{spec.id}={target}"


def _option_text(value: Any) -> str:
    """Format an option as adapters read it from text: lists of names with commas, tables as
    JSON.
    """
    text = _as_text(value)
    return text if isinstance(text, str) else canonical_json(text).decode()


def spec_from_table(table: AgentTable, base_dir: str) -> AgentSpec:
    """Return the agent of a suite's table; its `options` override those in the target string.

    Raises UsageError.
    """
    parsed = parse_target(table.target)
    options = {**parsed.options, **table.options}
    return _spec(
        parsed,
        options,
        table.id,
        table.version,
        base_dir,
        name=table.name or "",
        hourly_price_usd=table.hourly_price_usd,
    )


def _split_name(text: str) -> tuple[str | None, str | None, str]:
    match = _NAMED.fullmatch(text)
    if match is None:
        return None, None, text
    agent_id, at, version = match[1].partition("@")
    for what, given in (("agent id", agent_id), *([("version", version)] if at else [])):
        if not is_name(given):
            raise UsageError(
                f"{what} `{given}` in `{text}` is not valid: use up to 64 letters, digits, `.`, `_`"
                " and `-`, beginning with a letter or digit"
            )
    return agent_id, version or None, match[2].strip()


def _spec(
    parsed: ParsedTarget,
    options: dict[str, Any],
    agent_id: str | None,
    version: str | None,
    base_dir: str,
    *,
    name: str = "",
    hourly_price_usd: float | None = None,
) -> AgentSpec:
    adapter_path(parsed.scheme)
    return AgentSpec(
        id=agent_id or _readable_id(parsed),
        version=version or _version(parsed.target, options),
        target=parsed.target,
        options=options,
        name=name,
        hourly_price_usd=hourly_price_usd,
        simulated=parsed.scheme in SIMULATED or parsed.target in SIMULATED_TARGETS,
        recorded=parsed.scheme in RECORDED,
        base_dir=base_dir,
    )


def _version(target: str, options: dict[str, Any]) -> str:
    """Return the version, the same for `?accuracy=0.8` and a table's `accuracy: 0.8`."""
    material = canonical_json([target, {name: _as_text(value) for name, value in options.items()}])
    return hashlib.sha256(material).hexdigest()[:_VERSION_DIGITS]


def _as_text(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ",".join(value)
    return value


def _readable_id(parsed: ParsedTarget) -> str:
    """Return a short recognizable name: function, program, model, host, file."""
    if parsed.fragment:
        words = parsed.fragment.rpartition("/")[2]
    elif parsed.scheme == "python":
        module, _, function = parsed.rest.rpartition(":")
        words = function or PurePath(module).stem
    elif parsed.scheme in {"command", "worker"}:
        words = _program_name(parsed.rest)
    elif parsed.scheme == "replay":
        words = parsed.options.get("answer", "").partition(".")[0] or PurePath(parsed.rest).stem
    elif "://" in parsed.rest:
        words = _host(parsed.rest) or parsed.scheme
    else:
        words = parsed.rest
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", words).strip("-._")[:64]
    return clean if is_name(clean) else parsed.scheme


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # told by the adapter, which checks the URL
        return ""


_INTERPRETERS = re.compile(
    r"(\{python\}|python[\d.]*|node|deno|bun|ruby|perl|bash|sh|uv|npx)(\.exe)?"
)


def _program_name(command: str) -> str:
    """Return the stem of the program; for an interpreter, of its script or module."""
    words = command.split()
    while len(words) > 1 and (
        _INTERPRETERS.fullmatch(PurePath(words[0]).name)
        or words[0].startswith("-")
        or words[0] == "run"
    ):
        words = words[1:]
    name = PurePath(words[0]).name if words else ""
    stem = PurePath(name).stem if PurePath(name).suffix in _SCRIPTS else name.rpartition(".")[2]
    return stem or name


_SCRIPTS = frozenset({".py", ".js", ".mjs", ".ts", ".rb", ".pl", ".sh", ".exe", ".jar"})
