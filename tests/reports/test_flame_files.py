"""A flame as text, SVG and speedscope, of spans and of cProfile."""

import cProfile
import json
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from agentbench_tui.contracts.profile import FlameFrame
from agentbench_tui.model.errors import UsageError
from agentbench_tui.reports.figures.flame import (
    flame_of_cprofile,
    speedscope_flame,
    svg_flame,
    text_flame,
)

FLAME = msgspec.convert(
    {
        "name": "answer",
        "value": 100.0,
        "children": [
            {
                "name": "<plan>",
                "value": 60.0,
                "children": [{"name": "tool:a", "value": 15.0, "children": []}],
            },
            {"name": "write", "value": 30.0, "children": []},
        ],
    },
    FlameFrame,
)


def test_text_tells_each_frame_with_its_share() -> None:
    lines = text_flame(FLAME)
    assert [line.split()[0] for line in lines] == ["answer", "<plan>", "tool:a", "write"]
    assert "60.0 ms   60.0%" in lines[1]
    assert lines[0].count("#") == 25
    assert lines[2].count("#") == 4, "15% of 25 cells"
    assert [len(line) - len(line.lstrip()) for line in lines] == [0, 2, 4, 2]
    (steering,) = text_flame(FlameFrame(name="a\x1b[2J\nb", value=1.0, children=()))
    assert steering.startswith("a\\x1b[2J b ")


def test_svg_is_xml_in_which_children_lie_within_their_parent() -> None:
    root = ET.fromstring(svg_flame(FLAME, "a < b"))
    spans = {}
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        title, box, _ = group
        assert title.text is not None
        x, width = float(box.attrib["x"]), float(box.attrib["width"])
        spans[title.text.split(":")[0]] = (x, x + width)
    assert spans["answer"] == (0, 1200)
    assert spans["<plan>"] == (0, 720)
    assert spans["tool"] == (0, 180)
    assert spans["write"] == (720, 1080)


def test_svg_of_spans_side_by_side_stays_within_its_width() -> None:
    both = tuple(FlameFrame(name=name, value=100.0, children=()) for name in "ab")
    root = ET.fromstring(svg_flame(FlameFrame(name="all", value=100.0, children=both), "x"))
    boxes = [one for one in root.iter("{http://www.w3.org/2000/svg}rect") if "x" in one.attrib]
    assert [float(one.attrib["width"]) for one in boxes] == [1200, 600, 600]


def test_speedscope_has_the_own_time_of_each_stack() -> None:
    document = json.loads(speedscope_flame(FLAME, "one"))
    names = [one["name"] for one in document["shared"]["frames"]]
    (found,) = document["profiles"]
    stacks = ["/".join(names[one] for one in sample) for sample in found["samples"]]
    assert dict(zip(stacks, found["weights"], strict=True)) == {
        "answer": 10.0,
        "answer/<plan>": 45.0,
        "answer/<plan>/tool:a": 15.0,
        "answer/write": 30.0,
    }
    assert found["endValue"] == 100.0


def spin(rounds: int) -> int:
    return sum(range(rounds))


def outer() -> None:
    spin(300_000)
    inner()


def inner() -> None:
    spin(600_000)


def test_cprofile_gives_who_called_whom(tmp_path: Path) -> None:
    path = tmp_path / "seen.prof"
    profiler = cProfile.Profile()
    profiler.runcall(outer)
    profiler.dump_stats(path)
    flame = flame_of_cprofile(path)
    (root,) = [one for one in flame.children if one.name.startswith("outer ")]
    names = {one.name.split()[0]: one for one in root.children}
    assert set(names) == {"inner", "spin"}
    assert names["inner"].children[0].name.startswith("spin ")
    assert sum(one.value for one in root.children) <= root.value * 1.001


def test_recursion_ends(tmp_path: Path) -> None:
    def down(n: int) -> None:
        time.perf_counter()
        if n:
            down(n - 1)

    path = tmp_path / "deep.prof"
    profiler = cProfile.Profile()
    profiler.runcall(down, 50)
    profiler.dump_stats(path)
    assert any(one.name.startswith("down ") for one in flame_of_cprofile(path).children)


@pytest.mark.parametrize("content", [b"", b"no profile", b"\x80\x04"])
def test_another_file_is_refused_in_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "odd.prof"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"odd\.prof: no profile of cProfile"):
        flame_of_cprofile(path)
