"""Worlds and truths as bytes and files: canonical JSON, columns as changes from tick to tick."""

from __future__ import annotations

import hashlib
import os
import stat
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from agentbench_tui.market.world.truth import SCHEMA as TRUTH_SCHEMA
from agentbench_tui.market.world.truth import Truth
from agentbench_tui.market.world.world import SCHEMA, PerpDef, World, WorldConfig
from agentbench_tui.model.errors import UsageError, write_error
from agentbench_tui.model.identity import canonical_json, content_hash
from agentbench_tui.model.text.not_json import NOT_JSON, why_not_json
from agentbench_tui.model.text.utf8 import bad_byte_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_COLUMNS = ("flows", "volumes", "marks", "indexes", "funding", "open_interest")
_MAX_BYTES = 256 << 20
_Read = TypeVar("_Read", World, Truth)


def world_id(config: WorldConfig) -> str:
    """Return the first 16 hex digits of the sha256 of the schema and the config."""
    return content_hash({"schema": SCHEMA, "config": _config_json(config)})[:16]


def _config_json(config: WorldConfig) -> msgspec.Raw:
    """Return the config in the order of its fields: `canonical_json` would sort them and change
    ids.
    """
    return msgspec.Raw(msgspec.json.encode(config.document()))


def truth_path(world: Path) -> Path:
    """Return the path of a world file's truth: `world.truth.json` for `world.json`."""
    return world.with_name(f"{world.stem}.truth.json")


def encode_world(world: World) -> bytes:
    """Return the bytes of a world's file, the same for equal worlds on any machine."""
    fields = _packed(world, _COLUMNS, _price_units(world))
    return canonical_json({**fields, "config": _config_json(world.config)})


def encode_truth(truth: Truth) -> bytes:
    """Return the bytes of a truth's file; the world holds their sha256."""
    fields = _packed(truth, ("fair",), {})
    if not truth.salt:
        del fields["salt"]
    return canonical_json(fields)


def sha256(content: bytes) -> str:
    """Return the hash as 64 hex digits."""
    return hashlib.sha256(content).hexdigest()


def save_world(world: World, truth: Truth, path: Path) -> str:
    """Write the world's file and the truth next to it; return the sha256 of the world's file.

    Raises UsageError if a file cannot be written.
    """
    content = encode_world(world)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The truth first: a world without its truth could be played but never judged.
        _write_private(truth_path(path), encode_truth(truth))
        path.write_bytes(content)
    except OSError as error:
        raise write_error(f"world {path}", error) from None
    return sha256(content)


def _write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read: agents of other users cannot."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def load_world(path: Path) -> World:
    """Return the world in the file. Raises UsageError if it cannot be read or is not a world."""
    return decode_world(_content(path, "world"), str(path))


def load_truth(path: Path, world: World) -> Truth:
    """Return the truth in the file at `truth_path`, checked against the hash in `world`.

    Raises UsageError if it cannot be read or belongs to another world.
    """
    content = _content(path, "truth")
    if sha256(content) != world.truth_sha256:
        raise UsageError(
            f"truth {path} is not the one that world {world.id} was made with: its sha256 differs; "
            "generate both again"
        )
    return decode_truth(content, str(path))


def read_truth(path: Path) -> tuple[Truth, str]:
    """Read a truth file; return it and its sha256. Raises UsageError for an invalid one."""
    content = _content(path, "truth")
    return decode_truth(content, str(path)), sha256(content)


def decode_world(content: bytes, name: str = "world") -> World:
    """Return the world in a file's bytes. Raises UsageError that names the invalid place."""
    fields = _fields(content, name, SCHEMA)
    try:
        perpetuals = msgspec.convert(fields["perpetuals"], tuple[PerpDef, ...])
        prices = [perpetual.price_unit for perpetual in perpetuals]
        units = {"marks": prices, "indexes": prices}
        world = msgspec.convert(_unpacked(fields, _COLUMNS, units), World)
    except (msgspec.ValidationError, KeyError, TypeError, IndexError) as error:
        raise UsageError(f"{name} is not a world: {_reason(error)}") from None
    for problem in shape_problems(world):
        raise UsageError(f"{name} is not a world: {problem}")
    return world


def shape_problems(world: World) -> Iterator[str]:
    """Yield reasons why the world cannot be played: columns of another length, or divisors of 0."""
    if world.config.interval_ms < 1 or world.ticks < 1:
        yield "its config has no tick"
        return
    if any(market.b < 1 for market in world.markets):
        yield "a market has a liquidity b below 1"
    if any(min(perp.price_unit, perp.funding_ticks) < 1 for perp in world.perpetuals):
        yield "a perpetual has a price_unit or funding_ticks below 1"
    for name in _COLUMNS:
        columns = getattr(world, name)
        width = len(world.markets if name in ("flows", "volumes") else world.perpetuals)
        if len(columns) != width:
            yield f"{name} has {len(columns)} columns, not {width}"
        for place, column in enumerate(columns):
            if len(column) != world.ticks + 1:
                yield f"{name}[{place}] has {len(column)} values, not {world.ticks + 1}"


def decode_truth(content: bytes, name: str = "truth") -> Truth:
    """Return the truth in a file's bytes. Raises UsageError that names the invalid place."""
    fields = _fields(content, name, TRUTH_SCHEMA)
    try:
        return msgspec.convert(_unpacked(fields, ("fair",), {}), Truth)
    except (msgspec.ValidationError, KeyError, TypeError) as error:
        raise UsageError(f"{name} is not a valid truth file: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _price_units(world: World) -> dict[str, list[int]]:
    units = [perpetual.price_unit for perpetual in world.perpetuals]
    return {"marks": units, "indexes": units}


def _packed(
    whole: World | Truth, columns: Sequence[str], units: dict[str, list[int]]
) -> dict[str, Any]:
    fields: dict[str, Any] = {name: getattr(whole, name) for name in whole.__slots__}
    for name in columns:
        packed = []
        for place, column in enumerate(fields[name]):
            unit = units[name][place] if name in units else 1
            steps = [later - earlier for earlier, later in pairwise((0, *column))]
            packed.append(steps if unit == 1 else [step // unit for step in steps])
        fields[name] = packed
    return fields


def _unpacked(
    fields: dict[str, Any], columns: Sequence[str], units: dict[str, list[int]]
) -> dict[str, Any]:
    for name in columns:
        whole = []
        for place, steps in enumerate(fields[name]):
            unit = units[name][place] if name in units else 1
            column = accumulate(steps)
            whole.append(tuple(column if unit == 1 else (value * unit for value in column)))
        fields[name] = tuple(whole)
    return fields


def _fields(content: bytes, name: str, schema: str) -> dict[str, Any]:
    try:
        fields = msgspec.json.decode(content, type=dict[str, Any])
    except NOT_JSON as error:
        bad = bad_byte_of(content)
        why = f"it is {bad}" if bad else why_not_json(error)
        raise UsageError(f"{name} is no {schema} file: {why}") from None
    if fields.get("schema") != schema:
        raise UsageError(
            f"{name} is no {schema} file: its schema is {fields.get('schema')!r}; "
            "generate it again with this version"
        )
    return fields


def _content(path: Path, what: str) -> bytes:
    try:
        # Without waiting for the other end of a pipe.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{what} {path} cannot be read: it is not a regular file")
            content = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"{what} {path} cannot be read: {reason.lower()}") from None
    if len(content) > _MAX_BYTES:
        raise UsageError(f"{what} {path} cannot be read: it is larger than {_MAX_BYTES:,} bytes")
    return content
