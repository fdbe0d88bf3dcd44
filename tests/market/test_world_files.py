"""A world and its truth survive their files, and a file that is no world is told so in one line."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.world import WorldConfig
from agentbench_tui.market.world.world_file import (
    encode_truth,
    encode_world,
    load_truth,
    load_world,
    save_world,
    sha256,
    truth_path,
)
from agentbench_tui.model.errors import UsageError

CONFIG = WorldConfig(duration_s=600, markets=2, perpetuals=2, agents=3)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "made" / "world.json"
    save_world(*generate(CONFIG), path)
    return path


def test_what_is_saved_is_read_back_equal(saved: Path) -> None:
    world, truth = generate(CONFIG)
    assert load_world(saved) == world
    assert load_truth(truth_path(saved), world) == truth


def test_saving_tells_the_hash_of_the_worlds_file(tmp_path: Path) -> None:
    path = tmp_path / "world.json"
    assert save_world(*generate(CONFIG), path) == sha256(path.read_bytes())


def test_the_truth_lies_beside_the_world_and_the_world_holds_its_hash(saved: Path) -> None:
    beside = saved.parent / "world.truth.json"
    assert truth_path(saved) == beside
    assert json.loads(saved.read_bytes())["truth_sha256"] == sha256(beside.read_bytes())


def test_the_worlds_file_holds_no_outcome_no_fair_value_and_no_reliability(saved: Path) -> None:
    fields = json.loads(saved.read_bytes())
    assert set(fields) == (
        {"schema", "id", "config", "truth_sha256", "rules", "markets", "perpetuals", "agents"}
        | {"flows", "volumes", "marks", "indexes", "funding", "open_interest"}
        | {"posts", "groups", "invitations", "messages"}
    )
    assert set(fields["markets"][0]) == {"id", "question", "created", "resolve_tick", "b"}
    assert set(fields["agents"][0]) == {"id", "name"}


def test_files_are_compact_json_of_whole_numbers() -> None:
    world, truth = generate(CONFIG)
    for content in (encode_world(world), encode_truth(truth)):
        fields = json.loads(content, parse_float=pytest.fail)
        plain = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
        assert content.decode() == plain


def _set(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(fields: dict[str, Any]) -> None:
        fields[name] = value

    return change


def _in(list_name: str, name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(fields: dict[str, Any]) -> None:
        fields[list_name][0][name] = value

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_set("schema", "1.0.0"), "is no agentbench.world/1 file: its schema is '1.0.0'"),
        (lambda fields: fields.pop("perpetuals"), "'perpetuals' is missing"),
        (lambda fields: fields.pop("posts"), "missing required field `posts`"),
        (lambda fields: fields["flows"].pop(), "flows has 1 columns, not 2"),
        (lambda fields: fields["marks"][1].pop(), r"marks\[1\] has 10 values, not 11"),
        (_set("flows", [["a", "b"], []]), "is not a world: "),
        (_set("flows", 3), "is not a world: "),
        (_in("markets", "b", 0), "a market has a liquidity b below 1"),
        (_in("markets", "b", "much"), r"Expected `int`, got `str` - at `\$.markets\[0\].b`"),
        (_in("perpetuals", "price_unit", 0), "a perpetual has a price_unit or funding_ticks below"),
        (_in("posts", "lean", 2), r"Invalid enum value 2 - at `\$.posts\[0\].lean`"),
        (lambda fields: fields["config"].update(interval_ms=0), "its config has no tick"),
        (lambda fields: fields["config"].update(duration_s=0), "its config has no tick"),
    ],
)
def test_a_file_that_is_no_world_is_refused(
    saved: Path, change: Callable[[dict[str, Any]], None], sentence: str
) -> None:
    fields = json.loads(saved.read_bytes())
    change(fields)
    saved.write_text(json.dumps(fields))
    with pytest.raises(UsageError, match=sentence) as raised:
        load_world(saved)
    assert str(saved) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff\xfe", b'{"schema": 3}', b"null", b'{"schema":' + b"[" * 10_000],
)
def test_what_is_no_json_object_is_refused(saved: Path, content: bytes) -> None:
    saved.write_bytes(content)
    with pytest.raises(UsageError, match=r"is no agentbench\.world/1 file"):
        load_world(saved)


def test_a_truth_of_another_world_is_refused(saved: Path) -> None:
    world, _ = generate(WorldConfig(duration_s=600))
    with pytest.raises(UsageError, match=r"is not the one that world .* was made with"):
        load_truth(truth_path(saved), world)


def test_a_changed_truth_is_refused(saved: Path) -> None:
    path = truth_path(saved)
    path.write_bytes(path.read_bytes().replace(b"true", b"null"))
    with pytest.raises(UsageError, match="its sha256 differs"):
        load_truth(path, load_world(saved))


def test_a_missing_file_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or directory"):
        load_world(tmp_path / "none.json")
    with pytest.raises(UsageError, match=r"is a directory|not a regular file"):
        load_world(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="not a regular file"):
        load_world(pipe)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        save_world(*generate(CONFIG), tmp_path / "file" / "world.json")
