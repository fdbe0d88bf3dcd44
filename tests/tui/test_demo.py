"""Every widget can be looked at on its own, in every theme, without color and in ASCII."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from widget_demo import DemoApp, demos, main

from agentbench_tui.tui.theme import ANSI_DARK, DARK, THEMES


def _screen(app: DemoApp) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


def test_widgets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    listed = capsys.readouterr().out.split()
    assert {"plot", "histogram", "time_series", "gauge", "grid"} <= set(listed)
    assert "painted" not in listed


def test_an_unknown_widget_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pie"]) == 2
    assert "plot" in capsys.readouterr().err


def test_a_size_that_is_none_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["plot", "--size", "80"])
    assert "80x24" in capsys.readouterr().err


def test_a_picture_is_written(tmp_path: Path) -> None:
    file = tmp_path / "plot.svg"
    assert main(["plot", "--svg", str(file), "--size", "60x16", "--ascii"]) == 0
    root = ET.parse(file).getroot()
    assert root.tag.endswith("svg")
    assert "swift-8b" in "".join(root.itertext())


@pytest.mark.parametrize("widget", sorted(demos()))
async def test_every_demo_shows_something_and_says_that_it_is_an_example(widget: str) -> None:
    app = DemoApp(demos()[widget], DARK, only_ascii=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        *shown, hint = _screen(app)
        assert "example" in hint
        assert "".join(shown).strip()


@pytest.mark.parametrize("widget", ["plot", "histogram", "time_series", "gauge", "grid"])
async def test_no_color_means_none(widget: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = DemoApp(demos()[widget], DARK, only_ascii=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.theme == ANSI_DARK
        for strip in app.screen._compositor.render_strips():
            for piece in strip:
                assert piece.style is None or piece.style.color is None or (
                    piece.style.color.is_default
                )  # fmt: skip


@pytest.mark.parametrize("widget", ["plot", "histogram", "time_series", "gauge", "grid"])
async def test_ascii_is_ascii(widget: str) -> None:
    app = DemoApp(demos()[widget], DARK, only_ascii=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert all(text.isascii() for text in _screen(app))


async def test_t_goes_round_all_themes() -> None:
    app = DemoApp(demos()["gauge"], DARK, only_ascii=False)
    async with app.run_test(size=(60, 12)) as pilot:
        seen = []
        for _ in THEMES:
            seen.append(app.theme)
            await pilot.press("t")
        assert sorted(seen) == sorted(THEMES)
        assert app.theme == DARK
