"""Secrets in text: values and shapes that count as secret, and how they are masked.

`redact` goes in front of every sink.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from agentbench_tui.model.text.control_characters import visible

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)", re.IGNORECASE)
_SECRET_SHAPE = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bAKIA[0-9A-Z]{16}\b"
    r"|(?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)
# No possessive repeats and atomic groups anywhere: Python 3.11.2 matches them wrongly.
_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_KEY_END = re.compile(r"-----END [A-Z ]*PRIVATE KEY-----")
_KEY_LINE = re.compile(
    r"(?:\s|\\[nr])*(?:(?:Proc-Type|DEK-Info):[ A-Za-z0-9,-]*|([A-Za-z0-9+/=]{16,}))"
)
"""A header, or a line of the key, with the line ends before it."""
_BEGINNINGS = {
    "-": ("sk-", "pk-", "rk-", "-----BEGIN "),
    "_": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "AKIA": ("AKIA",),
    "://": ("://",),
}
"""Prefixes of what `_SECRET_SHAPE` matches, except `bearer`: a text without any of them contains
no match.
"""
MASK = "***"
_handed_out: set[str] = set()
"""Names of the variables whose values this process hands out to agents."""
_declared: set[str] = set()
"""Secret values that are in no variable."""
_declaration = [object()]
"""Holds another object after each declaration of secrets."""
_SHORTEST_BY_NAME = 6
_SHORTEST_HANDED_OUT = 4
"""Characters: masking shorter values would garble ordinary text."""
_SHORTEST_LINE = 8
"""Characters of a line that is masked alone, of a value with several."""
_ESCAPED = 3
"""How often text may be nested as JSON within JSON."""
_NEVER_MASKED = frozenset({"true", "false", "none", "null"})


def declare_secrets(names: Iterable[str] = (), values: Iterable[str] = ()) -> None:
    """Mask the values of these variables, whatever their names, and these values from now on."""
    new_names = set(names) - _handed_out
    new_values = {value for value in values if _is_maskable(value)} - _declared
    if new_names or new_values:  # each session of an agent declares its secrets again
        _handed_out.update(new_names)
        _declared.update(new_values)
        _declaration[0] = object()


def _is_maskable(value: str) -> bool:
    return len(value) >= _SHORTEST_HANDED_OUT and value.lower() not in _NEVER_MASKED


def _forms(value: str) -> set[str]:
    """Return a secret and its forms in the output of programs: its lines, escaped, quoted."""
    stripped = value.strip()
    texts = {value, stripped} if _is_maskable(stripped) else {value}
    lines = value.splitlines()
    if len(lines) > 1:
        texts.update(line.strip() for line in lines if len(line.strip()) >= _SHORTEST_LINE)
    forms = {form for text in texts for form in (text, quote(text, safe=""), repr(text)[1:-1])}
    for ensure_ascii in (True, False):
        escaped = texts
        for _ in range(_ESCAPED):
            escaped = {json.dumps(text, ensure_ascii=ensure_ascii)[1:-1] for text in escaped}
            forms |= escaped
    # What `visible` makes of it.
    return forms | {visible(text) for text in texts}


class Redactor:
    """Masks secrets in text: values of secret-named variables, those passed to agents
    (`declare_secrets`), and well-known key formats.

    The environment is read once, when the redactor is made. A value of several lines is masked
    as a whole, and so is each of its lines that is long enough to be no ordinary text.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        source = os.environ if environment is None else environment
        secrets = _declared | {
            value
            for name, value in source.items()
            if (len(value) >= _SHORTEST_BY_NAME and _SECRET_NAME.search(name))
            or (name in _handed_out and _is_maskable(value))
        }
        values = {form for value in secrets for form in _forms(value)}
        # Longest first, so that a key that contains another is masked whole.
        self._values = sorted(values, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """Return `text` with every secret replaced by `***`."""
        for value in self._values:
            text = text.replace(value, MASK)
        if not _may_hold_secret(text):
            return text
        return _SECRET_SHAPE.sub(MASK, _without_private_keys(text))

    def of_json(self, text: str) -> str:
        """Return valid JSON with secrets masked; digits within a number are never a secret."""
        masked = self(text)
        if masked == text:
            return text
        try:
            msgspec.json.decode(masked, type=msgspec.Raw)
        except msgspec.DecodeError:
            value = self.of_value(json.loads(text))
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return masked

    def of_value(self, value: Any) -> Any:
        """Return plain data with every secret in its texts and names replaced by `***`."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, list):
            return [self.of_value(item) for item in value]
        if isinstance(value, tuple):
            return tuple(self.of_value(item) for item in value)
        if isinstance(value, dict):
            return {self(name): self.of_value(item) for name, item in value.items()}
        return value


def _without_private_keys(text: str) -> str:
    """Return `text` with each private key masked up to its end marker; for a key without one, its
    lines.

    Looks only as far as the next five dashes, so that the time is linear even for a text of many
    beginnings.
    """
    parts, place = [], 0
    while (begin := _KEY_BEGIN.search(text, place)) is not None:
        stop = _end_of_private_key(text, begin.end())
        parts += [text[place : begin.start()], MASK if stop else begin[0]]
        place = stop or begin.end()
    return "".join((*parts, text[place:]))


def _end_of_private_key(text: str, start: int) -> int | None:
    """Return the end of the key whose lines begin at `start`; None if there is no line of a key."""
    dashes = text.find("-----", start)
    if dashes >= 0 and (end := _KEY_END.match(text, dashes)) is not None:
        return end.end()
    place, has_lines = start, False
    while (line := _KEY_LINE.match(text, place)) is not None:
        place, has_lines = line.end(), has_lines or line[1] is not None
    return place if has_lines else None


def _may_hold_secret(text: str) -> bool:
    # The pattern costs a microsecond per 10 characters; looking for its beginnings costs a
    # tenth of that.
    for part, beginnings in _BEGINNINGS.items():
        if part in text:
            for beginning in beginnings:
                if beginning in text:
                    return True
    return "bearer" in text.lower()


class _Latest(NamedTuple):
    """The latest redactor with its inputs."""

    declaration: object
    environment: dict[str, str]
    redactor: Redactor


_latest: list[_Latest] = []
"""The redactor that `redact` used last; nothing before the first."""


def redact(text: str) -> str:
    """Return `text` with secrets masked, by the current environment and declarations."""
    return redactor_now()(text)


def redactor_now() -> Redactor:
    """Return the redactor of the current environment and declarations."""
    # Read first: a secret that another thread declares while the redactor is made is not in it.
    declaration = _declaration[0]
    environment = dict(os.environ)
    latest = _latest[0] if _latest else None
    if latest is None or latest[:2] != (declaration, environment):
        latest = _Latest(declaration, environment, Redactor(environment))
        _latest[:] = [latest]
    return latest.redactor
