"""The page on gauges explains every field that a reading may have."""

from pathlib import Path

import msgspec
import pytest

from agentbench_tui.instruments.gauges import GpuGauges, HostGauges, TreeGauges

PAGE = Path(__file__).parents[2] / "docs" / "gauges.md"


@pytest.mark.parametrize(
    ("heading", "gauges"),
    [("`host`", HostGauges), ("`agent:ID`", TreeGauges), ("`gpu:INDEX`", GpuGauges)],
)
def test_every_field_is_explained(heading: str, gauges: type[msgspec.Struct]) -> None:
    (section,) = (part for part in PAGE.read_text().split("\n## ") if part.startswith(heading))
    named = set(section.replace(",", " ").replace(";", " ").split())
    fields = {f"`{field.name}`" for field in msgspec.structs.fields(gauges)}
    assert fields - named == set()
