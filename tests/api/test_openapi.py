"""The OpenAPI document: it describes what is answered, and its examples are true to it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance
from service_process import TOKEN, RunningService, place_with_runs, running_service

from agentbench_tui.api.application import endpoints
from agentbench_tui.api.openapi import openapi_document
from agentbench_tui.api.settings import ServiceSettings
from agentbench_tui.python_api import client as client_module

SPECIFICATION = {
    "/benchmarks/run": ("post", {"agent_id": ..., "suite_id": ..., "async_execution": False}),
    "/benchmarks/agents/{agent_id}/results": (
        "get", {"agent_id": ..., "suite_id": None, "timeframe": "latest"},
    ),
    "/benchmarks/leaderboard": ("get", {"category": "overall", "metric": "all", "limit": 20}),
    "/benchmarks/compare": ("post", {"suite_id": ..., "comparison_type": "head_to_head"}),
    "/benchmarks/agents/{agent_id}/regressions": (
        "get", {"agent_id": ..., "baseline_version": None, "threshold": 0.1},
    ),
}  # fmt: skip
"""Path → method, and parameters with their defaults; `...` is a required one."""
NOT_CALLED = {
    GenerationMode.POSITIVE: ("/runs/{run_id}/events", "/benchmarks/run", "/runs/import"),
    GenerationMode.NEGATIVE: ("/runs/{run_id}/events", "/runs/import"),
}
"""A stream has no end, and valid requests of the others start a process each; other tests do."""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    service = ServiceSettings(tmp_path_factory.mktemp("openapi") / "store.db", TOKEN)
    found: dict[str, Any] = openapi_document(endpoints(service))
    return found


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    place = place_with_runs(tmp_path_factory.mktemp("schema"))
    with running_service(place, "--suites", "suites") as service:
        yield service


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


@pytest.mark.parametrize("path", SPECIFICATION)
def test_paths_parameters_and_defaults_are_those_of_the_specification(
    document: dict[str, Any], path: str
) -> None:
    method, wanted = SPECIFICATION[path]
    found = {
        one["name"]: ... if one["required"] else one["schema"].get("default")
        for one in document["paths"][path][method]["parameters"]
    }
    assert {name: found[name] for name in wanted} == wanted
    assert [name for name in found.keys() - wanted.keys() if found[name] is ...] == []


def test_every_example_fits_its_schema(document: dict[str, Any]) -> None:
    checked = 0
    for name, operation in operations(document):
        contents = [one.get("content", {}) for one in operation["responses"].values()]
        contents.append(operation.get("requestBody", {}).get("content", {}))
        for content in contents:
            for media, part in content.items():
                if "example" in part and "json" in media:
                    schema = {**part["schema"], "components": document["components"]}
                    jsonschema.Draft202012Validator(schema).validate(part["example"])
                    checked += 1
        for parameter in operation.get("parameters", ()):
            for example in parameter["schema"].get("examples", ()):
                jsonschema.Draft202012Validator(parameter["schema"]).validate(example)
        assert operation["summary"], name
        assert operation["description"], name
    assert checked > 100


def test_every_reference_leads_to_a_component(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    names = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert names - document["components"]["schemas"].keys() == set()
    assert "HTTPValidationError" not in text


def test_every_path_but_health_needs_the_token(document: dict[str, Any]) -> None:
    assert document["security"] == [{"token": []}]
    opened = [name for name, one in operations(document) if one.get("security") == []]
    assert opened == ["get /health"]


def test_the_client_has_a_method_for_every_path(document: dict[str, Any]) -> None:
    source = Path(client_module.__file__).read_text()
    for path in document["paths"]:
        parts = [re.escape(part) for part in re.split(r"\{[^}]*\}", path)]
        assert re.search("[\"']" + r"\{[^}]*\}".join(parts) + "[\"']", source), path


def test_the_served_document_is_this_one(service: RunningService, document: dict[str, Any]) -> None:
    assert service.client.openapi() == json.loads(json.dumps(document))


@pytest.mark.parametrize("mode", GenerationMode)
def test_schemathesis_finds_nothing(service: RunningService, mode: GenerationMode) -> None:
    """Answers to generated requests, valid and invalid ones, are as the document says."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json", headers=headers)
    called = set()
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path in NOT_CALLED[mode]:
            continue
        called.add(operation.path)

        @settings(
            max_examples=6,
            phases=[Phase.generate],
            database=None,
            derandomize=True,
            suppress_health_check=[*HealthCheck],
        )
        @given(operation.as_strategy(generation_mode=mode))
        def check(case: schemathesis.Case) -> None:
            answer = case.call(headers=headers)
            if answer.status_code == 414:  # documented, but not an answer that it expects
                return
            # A name that nothing has is refused with 422, which no schema can foresee.
            case.validate_response(answer, excluded_checks=[positive_data_acceptance])

        try:
            check()
        except Unsatisfiable:  # an operation without anything that could be invalid
            assert mode is GenerationMode.NEGATIVE
    assert len(called) > 10
