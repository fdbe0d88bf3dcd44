"""Documents are found by name, and their schemas reject what is no such document."""

import json
import re
from pathlib import Path

import jsonschema
import msgspec
import pytest

from agentbench_tui.contracts.catalog import (
    decode_document,
    document_classes,
    json_schema,
    schema_names,
)
from agentbench_tui.contracts.document import plain, schema_of
from agentbench_tui.contracts.run import CaseCounts, RunDocument
from agentbench_tui.model.errors import UsageError

PACKAGE = Path(__file__).parents[2] / "agentbench_tui"
ELSEWHERE = {
    "benchmark-results", "episode", "market-comparison", "mock-truth", "trajectory", "truth",
    "world",
}  # fmt: skip
"""Formats of files, which no command prints."""
EMPTY = {"schema": "agentbench.run/1", "run_id": "1", "status": "complete", "stop_reason": None,
         "harness": None, "remarks": [], "unchecked_limits": [], "executions": [],
         "leaderboard": []}  # fmt: skip


def test_every_schema_that_the_code_names_has_a_class() -> None:
    named = {
        name
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r"\"agentbench\.([a-z-]+)/\d+\"", path.read_text())
    }
    known = {name.removeprefix("agentbench.").partition("/")[0] for name in schema_names()}
    assert named - ELSEWHERE == known


@pytest.mark.parametrize("name", schema_names())
def test_a_class_has_the_name_and_a_valid_schema(name: str) -> None:
    assert {schema_of(one) for one in document_classes(name)} == {name}
    jsonschema.Draft202012Validator.check_schema(json_schema(name))


@pytest.mark.parametrize("name", schema_names())
def test_parts_of_a_document_differ_in_their_names(name: str) -> None:
    """Two classes of one name would be one definition of the schema."""
    for one in json_schema(name)["$defs"]:
        assert re.fullmatch(r"\w+", one), one


@pytest.mark.parametrize("name", ["run", "run/1", "agentbench.run", "agentbench.run/1"])
def test_a_name_may_be_short(name: str) -> None:
    assert document_classes(name) == (RunDocument,)


def test_a_misspelled_name_has_a_hint() -> None:
    with pytest.raises(UsageError, match=r"leaderbord.*leaderboard.*agentbench schema"):
        json_schema("leaderbord")


def test_a_document_decodes_into_its_class() -> None:
    found = decode_document(json.dumps(EMPTY))
    assert isinstance(found, RunDocument)
    assert found.run_id == "1"
    assert json.loads(json.dumps(plain(found))) == EMPTY


@pytest.mark.parametrize(
    "change", [{"more": 1}, {"run_id": None}, {"executions": {}}, {"leaderboard": [{}]}]
)
def test_what_does_not_fit_is_rejected(change: dict[str, object]) -> None:
    text = json.dumps(EMPTY | change)
    with pytest.raises(msgspec.ValidationError):
        decode_document(text)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(text), json_schema("run"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1}', "no JSON"])
def test_what_is_no_document_is_rejected(text: str) -> None:
    with pytest.raises(UsageError, match="not a document of agentbench"):
        decode_document(text)


def test_numbers_of_numpy_become_plain() -> None:
    import numpy as np

    counts = CaseCounts(total=None, observed=1, answered=1, correct=1)
    found = plain({"counts": counts, "value": np.float64(0.5)})
    assert found == {
        "counts": {"total": None, "observed": 1, "answered": 1, "correct": 1},
        "value": 0.5,
    }
    assert type(found["value"]) is float


def test_absent_fields_stay_absent() -> None:
    run = RunDocument(run_id="1", status="running", executions=(), leaderboard=())
    assert "gates" not in plain(run)
