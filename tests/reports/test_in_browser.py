"""The page in a real browser: nothing fails, nothing leaves, and a reader can use it."""

import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hostile_run import HOSTILE

from agentbench_tui.cli.main import _run

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on PATH; install it, as with `apt-get install chromium`"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def files(
    hostile_store: Path, market_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Pages of the hostile run, a comparison, a run of market worlds, one of its episodes, and
    learning curves.
    """
    folder = tmp_path_factory.mktemp("pages")
    pages = {"run": folder / "run.html", "comparison": folder / "comparison.html"}
    database = ["--db", str(hostile_store)]
    assert _run(["report", "--html", str(pages["run"]), *database]) == 0
    subjects = ["honest", "hostile"]
    assert _run(["report", *subjects, "--html", str(pages["comparison"]), *database]) == 0
    pages["market"] = market_folder / "out/index.html"
    pages["episode"] = market_folder / "out/momentum/seed-12345/run-1/timeline.html"
    pages["curves"] = folder / "curves.html"
    for name, slope in (("old", 1), ("new", 2)):
        lines = [f"{step},{slope * step}" for step in range(0, 100, 10)]
        (folder / f"{name}.csv").write_text("\n".join(["_step,reward", *lines]))
    groups = [word for name in ("old", "new") for word in ("--curves", str(folder / f"{name}.csv"))]
    curves = ["report", *groups, "--metric", "reward", "--html", str(pages["curves"])]
    assert _run(curves) == 0
    return pages


class Opened:
    """A page with everything that it told and asked for."""

    def __init__(self, browser: Browser, file: Path, **context: object) -> None:
        self.context = browser.new_context(**context)  # type: ignore[arg-type]  # as the test says
        self.page: Page = self.context.new_page()
        self.told: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.told.append(message.text))
        self.page.on("pageerror", lambda error: self.told.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())


@pytest.fixture(params=["run", "comparison", "market", "episode", "curves"])
def either(
    request: pytest.FixtureRequest, browser: Browser, files: dict[str, Path]
) -> Iterator[Opened]:
    opened = Opened(browser, files[request.param])
    yield opened
    opened.context.close()


@pytest.fixture
def run_page(browser: Browser, files: dict[str, Path]) -> Iterator[Page]:
    opened = Opened(browser, files["run"])
    opened.page.wait_for_selector("body[data-ready]")
    yield opened.page
    assert opened.told == []
    assert opened.page.evaluate("window.pwned") is None
    opened.context.close()


def test_nothing_fails_and_no_request_leaves(either: Opened) -> None:
    either.page.wait_for_load_state("networkidle")
    assert either.told == []
    assert either.asked == [either.page.url]
    assert either.page.evaluate("window.pwned") is None


def test_every_link_leads_to_a_heading_in_sight(either: Opened) -> None:
    links = either.page.locator("nav[aria-label=Chapters] a")
    assert links.count() > 1
    for number in range(links.count()):
        link = links.nth(number)
        link.click()
        target = (link.get_attribute("href") or "")[1:]
        expect(either.page.locator(f"[id='{target}'] h2").first).to_be_in_viewport()


def test_an_episode_is_reached_from_the_report_and_leads_back(
    browser: Browser, files: dict[str, Path]
) -> None:
    opened = Opened(browser, files["market"])
    row = opened.page.locator("#market tr", has_text="momentum").filter(has_text="seed-12346")
    row.get_by_role("link", name="timeline").click()
    expect(opened.page.locator("h1")).to_have_text("Timeline: momentum in seed-12346, repeat 1")
    expect(opened.page.locator("#events")).to_contain_text("a2a.")
    opened.page.get_by_role("link", name="Report", exact=True).click()
    expect(opened.page.locator("#leaderboard h2")).to_have_text("Leaderboard")
    assert opened.told == []
    opened.context.close()


def test_markup_that_escaped_could_not_act(browser: Browser, files: dict[str, Path]) -> None:
    """The policy stops what the escaping would have let through."""
    opened = Opened(browser, files["run"])
    opened.page.evaluate(
        "() => { const box = document.createElement('div');"
        " box.innerHTML = '<img src=x onerror=window.pwned=1><style>h1{display:none}</style>';"
        " document.body.append(box); const script = document.createElement('script');"
        " script.textContent = 'window.pwned=1'; document.body.append(script); }"
    )
    expect(opened.page.locator("h1")).to_be_visible()
    assert opened.page.evaluate("window.pwned") is None
    assert opened.told  # the browser says what the policy stopped
    opened.context.close()


def test_an_answer_is_found_opened_and_shown_as_text(run_page: Page) -> None:
    run_page.fill("#case-search", "pwned")
    expect(run_page.locator("#case-count")).to_contain_text("2 of ")
    first = run_page.locator(".case").first
    first.locator("summary").click()
    expect(first.locator("pre", has_text="window.pwned=1")).to_have_text(HOSTILE["script"])
    assert run_page.locator(".case script, .case img, .case svg").count() == 0


def test_failures_come_first_and_filters_narrow(run_page: Page) -> None:
    expect(run_page.locator(".case .status").first).to_have_text("failed")
    run_page.select_option("#case-agent", label="honest")
    expect(run_page.locator("#case-count")).to_contain_text(f"{len(HOSTILE)} of ")
    run_page.select_option("#case-status", label="wrong")
    expect(run_page.locator("#case-count")).to_contain_text("0 of ")


def test_a_table_sorts_by_the_keyboard(run_page: Page) -> None:
    table = run_page.locator("#leaderboard .part > .scroll table").first
    heading = table.locator("th", has_text="accuracy")
    heading.locator("button").focus()
    run_page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    run_page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "descending")
    expect(table.locator("tbody tr").first).to_contain_text("honest")


def test_every_picture_and_field_has_a_name(run_page: Page) -> None:
    unnamed = run_page.evaluate(
        "() => [...document.querySelectorAll('svg[role=img]')].filter(one =>"
        " !one.getAttribute('aria-label') || !one.querySelector('title')).length"
        " + [...document.querySelectorAll('input, select')]"
        ".filter(one => !one.labels.length).length"
    )
    assert unnamed == 0
    order = run_page.evaluate(
        "() => [...document.querySelectorAll('h1, h2, h3')].map(one => Number(one.tagName[1]))"
    )
    assert order[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(order))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(browser: Browser, files: dict[str, Path], scheme: str) -> None:
    """WCAG 2.2 AA: 4.5 to 1 for text."""
    opened = Opened(browser, files["run"], color_scheme=scheme)
    colors = opened.page.evaluate(
        "() => ['body', '.quiet', '.verdict .kind', '.wrong .status', 'a', '.notes'].map(one => ["
        "getComputedStyle(document.querySelector(one)).color,"
        "getComputedStyle(document.body).backgroundColor])"
    )
    opened.context.close()
    for text, background in colors:
        assert contrast(text, background) >= 4.5, (text, background)


def contrast(one: str, other: str) -> float:
    light, dark = sorted(map(_luminance, (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    """WCAG's relative luminance of `rgb(r, g, b)`."""
    parts = [int(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
    r, g, b = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("name", ["run", "comparison", "market", "episode", "curves"])
def test_a_phone_needs_no_scrolling_sideways(
    browser: Browser, files: dict[str, Path], name: str
) -> None:
    opened = Opened(browser, files[name], viewport={"width": 360, "height": 740})
    width = opened.page.evaluate("document.documentElement.scrollWidth")
    opened.context.close()
    assert width <= 360


def test_a_table_that_is_wider_than_a_phone_says_so(
    browser: Browser, files: dict[str, Path]
) -> None:
    hint = "getComputedStyle(one, '::before').content.includes('Scroll sideways')"
    hints = f"[...document.querySelectorAll('.scroll')].filter((one) => {hint})"
    opened = Opened(browser, files["run"], viewport={"width": 390, "height": 800})
    opened.page.wait_for_function(f"{hints}.length > 0")
    told = opened.page.evaluate(f"{hints}.every((one) => one.scrollWidth > one.clientWidth)")
    opened.context.close()
    assert told


def test_the_long_profile_is_folded_until_a_link_leads_to_it(run_page: Page) -> None:
    fold = run_page.locator("#profile .fold")
    assert fold.evaluate("(one) => one.open") is False
    expect(run_page.locator("#profile h2")).to_be_visible()
    run_page.locator("nav a[href='#profile']").click()
    expect(run_page.locator("#profile table").first).to_be_visible()


def test_without_script_failures_are_listed(browser: Browser, files: dict[str, Path]) -> None:
    opened = Opened(browser, files["run"], java_script_enabled=False)
    expect(opened.page.locator(".case .status").first).to_have_text("failed")
    expect(opened.page.locator("h1")).to_be_visible()
    opened.context.close()


def test_it_prints(browser: Browser, files: dict[str, Path]) -> None:
    opened = Opened(browser, files["run"])
    opened.page.wait_for_selector("body[data-ready]")
    paper = opened.page.pdf(format="A4")
    opened.context.close()
    assert paper.startswith(b"%PDF")
