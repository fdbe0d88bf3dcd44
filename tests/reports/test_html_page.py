"""The HTML page of a report: self-contained, complete, and deaf to what agents say."""

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hostile_run import HOSTILE

from agentbench_tui.cli.main import _run

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "p", "h1", "h2", "h3", "dl",
    "div", "dt", "dd", "section", "span", "ul", "li", "nav", "main", "footer", "script", "table",
    "thead", "tbody", "tr", "th", "td", "label", "input", "select", "details", "summary", "pre",
    "button", "noscript", "figure", "figcaption", "svg", "desc", "line", "path", "circle", "text",
    "rect", "g",
}  # fmt: skip
ANYWHERE = {
    "id", "class", "href", "lang", "charset", "content", "name", "http-equiv", "tabindex", "role",
    "scope", "data-key", "type", "autocomplete", "hidden", "viewbox", "d", "x", "y", "x1", "x2",
    "y1", "y2", "cx", "cy", "r", "width", "height", "text-anchor", "transform",
}  # fmt: skip


class Page(HTMLParser):
    """What a page consists of."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self.style = ""
        self.text = ""
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self._inside = dict(attrs).get("id") or "script"
        elif tag == "style":
            self._inside = "style"

    def handle_endtag(self, tag: str) -> None:
        if tag in {"script", "style"}:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.style += data
        elif self._inside:
            self.scripts[self._inside] = data
        else:
            self.text += data

    def unpacked(self, name: str) -> str:
        return gzip.decompress(base64.b64decode(self.scripts[name])).decode()


@pytest.fixture(scope="module")
def page(hostile_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = tmp_path_factory.mktemp("page") / "report.html"
    assert _run(["report", "--html", str(path), "--db", str(hostile_store)]) == 0
    return Page(path.read_text(encoding="utf-8"))


def test_the_page_holds_only_elements_and_attributes_of_ours(page: Page) -> None:
    assert {tag for tag, _ in page.elements} <= ELEMENTS
    used = {name for _, attributes in page.elements for name in attributes}
    assert {name for name in used if not name.startswith("aria-")} <= ANYWHERE


def test_style_and_script_are_allowed_by_their_hashes_and_nothing_else(page: Page) -> None:
    (policy,) = (
        attributes["content"] or ""
        for _, attributes in page.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for text in (page.style, page.scripts["script"]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_every_link_stays_inside_the_page(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] or "" for tag, attributes in page.elements if tag == "a"]
    assert {"#leaderboard", "#cases", "#methods"} <= set(links)
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    labeled = {attributes["aria-labelledby"] for _, attributes in page.elements
                if "aria-labelledby" in attributes}  # fmt: skip
    assert labeled <= set(ids)


def test_the_verdict_comes_before_every_table(page: Page) -> None:
    verdict = page.text.index("honest is the best of 3 agents")
    assert verdict < page.text.index("Leaderboard")


def test_no_text_controls_a_terminal_or_the_direction_of_text(page: Page) -> None:
    assert not CONTROL.search(page.text)
    for name in page.scripts:
        if name != "script":
            assert not CONTROL.search(page.unpacked(name))


def test_every_answer_is_in_the_page_failures_first_and_whole_but_for_the_longest(
    page: Page,
) -> None:
    index = json.loads(page.unpacked("answers-index"))
    assert len(index["rows"]) == 3 * len(HOSTILE)
    statuses = [row[4] for row in index["rows"]]
    assert statuses == sorted(statuses)
    assert statuses.count(0) == 2  # one of them too long to be kept
    texts = json.loads(page.unpacked("answers-0"))
    of = {
        row[0]: dict(map(tuple, texts[row[6]]))
        for row in index["rows"]
        if index["agents"][row[1]] == "hostile"
    }
    assert of["script"]["answer"] == HOSTILE["script"]
    assert of["fold"]["answer"] == HOSTILE["fold"]
    assert of["terminal"]["answer"].startswith("\\x1b[2J")
    assert of["long"]["answer"] == "y" * 4000 + "…"
    failed = dict(map(tuple, texts[index["rows"][0][6]]))
    assert failed["failure: agent"].startswith(
        "ConnectionError: <b>server</b> \\x1b[31mgone\\x00 ]]> & "
    )


def test_a_comparison_draws_every_metric_with_its_interval(
    hostile_store: Path, tmp_path: Path
) -> None:
    path = tmp_path / "comparison.html"
    database = str(hostile_store)
    assert _run(["report", "honest", "hostile", "--html", str(path), "--db", database]) == 0
    compared = Page(path.read_text(encoding="utf-8"))
    assert "hostile is worse in accuracy on echo: 0% against 100%" in compared.text
    drawn = [attributes for tag, attributes in compared.elements if tag == "svg"
             and attributes.get("role") == "img"]  # fmt: skip
    assert drawn
    assert all(attributes["aria-label"] for attributes in drawn)
    assert "accuracy: -100.0 pp" in compared.text
