"""The page Cost: what a right answer costs, the front, what would save, and prices."""

import sqlite3
from contextlib import closing
from pathlib import Path

from known_stores import copied
from stores import screen_text, session, settle, shows, told

from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.tui.widgets.grid import Grid

TITLE = "52 cases of echoes"


def line_of(text: str, name: str) -> str:
    """The row of the table of agents."""
    below = text[text.index("the one in use") :]
    return next(line for line in below.splitlines() if f" {name} " in line)


async def test_costs_and_the_front_are_those_of_the_answers(measured: Path) -> None:
    app = session(measured, "cost")
    async with app.run_test(size=(200, 60)) as pilot:
        text = await shows(pilot, TITLE, "right answers", "front", "cost is not known")
        # tokens of n are 100 + n and 50 + n, each 1e-5 USD, n below 40 and below 12: by hand
        good, fair, bad = (line_of(text, name) for name in ("good", "fair", "bad"))
        assert "$0.0012" in good
        assert "$0.00066" in fair
        assert "88.5%" in good
        assert " 25.0% [" in bad
        # 66.27 tokens a task, 46 of 52 right
        assert "$0.00075" in fair
        assert bad.count("├") == 1  # its interval beside that of the cheapest
        assert "yes" in fair
        assert "no" in bad
        assert "75.3%" in bad
        assert "fair instead of bad saves 43." in " ".join(text.split())
        assert "perfect" not in text[: text.index("cost is not known")]


async def test_the_narrowest_terminal_has_scatter_and_table_then_savings_then_prices(
    measured: Path,
) -> None:
    app = session(measured, "cost")
    async with app.run_test(size=(80, 24)) as pilot:
        text = await shows(pilot, TITLE, "cost of 1,000 tasks", "fair")
        assert "what would save" not in text
        await pilot.press("v")
        text = await shows(pilot, "what would save", "saves")
        assert TITLE not in text
        await pilot.press("v")
        await shows(pilot, "prices applied last", "no price was applied yet")
        await pilot.press("v")
        await shows(pilot, TITLE)


async def test_the_one_in_use_is_chosen_and_let_go(measured: Path) -> None:
    app = session(measured, "cost")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, TITLE)
        app.screen.query_one("#agents", Grid).move_to("bad")
        await pilot.press("enter")
        await shows(pilot, "Cost ▸ bad in use")
        await pilot.press("e")
        assert told(app)[-1] == "agentbench cost bad --days 30"
        await pilot.press("enter")
        await settle(pilot, lambda: "in use" not in screen_text(app).splitlines()[0])


async def test_prices_and_who_has_none(measured: Path, tmp_path: Path) -> None:
    store = copied(measured, tmp_path)
    with closing(sqlite3.connect(store)) as connection:
        connection.execute(
            "INSERT INTO prices (run_key, model, input_usd_per_mtok, output_usd_per_mtok, source,"
            " price_date) SELECT MAX(key), 'large', 2.5, 10, 'my.toml', '2026-01-01' FROM runs"
        )
        connection.execute(
            "UPDATE benchmark_executions SET model_configuration='{\"hourly_price_usd\": 1.5}'"
            " WHERE agent_id='bad'"
        )
        connection.commit()
    app = session(store, "cost")
    async with app.run_test(size=(160, 40)) as pilot:
        await shows(pilot, TITLE, "cost is not known", "--prices FILE")
        await pilot.press("v")
        text = await shows(pilot, "prices applied last")
        large = next(line for line in text.splitlines() if " large " in line)
        assert "$2.50" in large
        assert "$10.00" in large
        assert "my.toml" in large
        assert "$1.50" in text


async def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    database = tmp_path / "empty.db"
    create_or_migrate(database)
    app = session(database, "cost")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "nothing complete in the last 30 days")
        for key in "gnbxye":
            await pilot.press(key)
        assert len(told(app)) == 6
        await pilot.press("w")
        await shows(pilot, "No run is stored yet")
