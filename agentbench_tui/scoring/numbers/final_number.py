"""Finds the number of a text that is its answer."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction

from agentbench_tui.scoring.numbers.latex import plain_text
from agentbench_tui.scoring.numbers.number_reader import Reading, readings_of
from agentbench_tui.scoring.numbers.tokens import MAX_DIGITS, DecimalMark
from agentbench_tui.scoring.numbers.units import Number
from agentbench_tui.scoring.text.markers import ANSWER_MARKER

MAX_TEXT = 100_000
"""Only this many last characters of a longer text are read, where final answers are."""
_MAX_MARKERS = 20

_MARKER = re.compile(
    rf"(?P<heading>####)(?!#)|(?P<box>\\boxed)\s{{0,3}}(?=[{{\d\\])|<answer>|{ANSWER_MARKER}",
    re.IGNORECASE,
)
"""Common text before a final answer."""
_LABEL = re.compile(r"\b(?:step|steps|equation)\s{1,3}\Z", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:\b(?:not|never|neither|nor|rather than|instead of|as opposed to|out of)|n['’]t)\s{1,3}"
    r"(?:be\s|equal\s(?:to\s)?|about\s)?[($*_]{0,4}\Z",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    r"[\s*_)\]]{0,4}(?:[^\W\d_]{2,20}[^\S\n]){0,2}[\s*_]{0,4}(?:\b(?:and|or|to|through|until)\b|[&–])"
    r"|[^\S\n]{0,3}[,;](?=[^\S\n])|[^\S\n]{1,3}(?=\Z|[^\s(])"
)
_BEFORE_NEXT = re.compile(
    r"[^\S\n]{0,3}(?:(?:and|or)[^\S\n])?(?:[A-Za-z]\s{0,3}=\s{0,3})?[\s*_(]{0,4}"
)
_EITHER = re.compile(r"[\s*_]{0,4}(?:or|to|through|–)[\s*_]{1,4}", re.IGNORECASE)
_MINUS = re.compile(r"\b(?:minus|negative)\s{1,3}[($]?\Z", re.IGNORECASE)
_QUANTITY = re.compile(r"\d[)\]]?\s{1,3}[^\W\d_]{1,20}\Z")
_LESS = "(?:less|fewer|smaller|lower)"
_MORE = "(?:more|greater|larger|higher)"
_BOUND_BEFORE = re.compile(
    r"(?:(?<![<>=~-])(?P<sign>[<>≤≥]=?)"
    rf"|\b(?:(?P<least>at least|no(?:t)? {_LESS} than|a minimum of|{_MORE} than or equal to)"
    rf"|(?P<most>at most|no(?:t)? {_MORE} than|up to|a maximum of|{_LESS} than or equal to)"
    rf"|(?P<less>{_LESS} than|under|below)"
    rf"|(?P<more>{_MORE} than|above|exceed(?:s|ing)?|in excess of)))\s{{0,3}}[$(*_]{{0,4}}\Z",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[/|A-Za-z][^<>\n]{0,40}>\Z")
_BOUND_AFTER = re.compile(
    r"\s{1,3}(?:[^\W\d_]{1,20}\s)?(?:or|and)\s(?:(?P<more>more|greater|higher|above|over)"
    r"|(?P<less>less|fewer|lower|below|under))\b(?!\sthan)",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[)*_]{0,3}\s{1,3}(?:(?:is|was|would be)\s(?:(?:wrong|incorrect|false)\b"
    r"|not\s(?:the\s)?(?:right|correct|answer)\b)|isn['’]t\s(?:the\s)?(?:right|correct|answer)\b)",
    re.IGNORECASE,
)
_BOUNDS = ("least", "most", "less", "more")
_MOST_FACTORIAL = 1_000
_LONE_MINUS = re.compile(r"\A(\s*[-−–])[^\S\n]+(?=[$€£]?[\d.][\d.,/]*\s*\Z)")
"""A sign with a space after it, where nothing else is written; before prose it is a list item."""
_OVER = re.compile(r"\{([^{}\\]{1,60})\\over(?![A-Za-z])([^{}\\]{1,60})\}")
_REPEATED = re.compile(
    r"(?<![\d.,])(\d{0,15})\.(\d{0,15})\\(?:overline|bar|dot)\s?\{(\d{1,15})\}(?!\d)"
)
_QUOTE_MARKS = re.compile(r"\n[ \t]{0,3}(?:>(?!=)[ \t]?){1,9}")
"""Markdown's, before a quoted line. On the first line `> 5` is a bound."""
_EMPHASIS = re.compile(r"(?<![\w\\)\]}])(_{1,3})(?=[^\s_])([^_\\\n]{1,80})(?<!\s)\1(?![\w{])")
"""Markdown emphasis with underscores, which elsewhere introduce an index:

`__7__`, but not `x_7`.
"""
_HYPHEN = re.compile("[\u2010\u2011\ufe63\uff0d](?=[$€£¥]?[\\d.０-９．])")
"""Hyphens of other widths and the one that breaks no line, before a number: some models write them
for a minus sign."""
_STRUCK = re.compile(r"~~(?=[^\s~])[^~\n]{1,200}~~")
_PARTS = {"a half": "1/2", "one half": "1/2", "a quarter": "1/4", "three quarters": "3/4"}
_AND_PART = re.compile(rf"(?<![\d.,/])(\d[\d,]{{0,14}}) and ({'|'.join(_PARTS)})\b", re.IGNORECASE)
_ARROW = re.compile(r"-{1,3}>(?=[^\S\n]?[-+−$€£¥.\d(\\])")
_BOXES_LISTED = re.compile(r"[\s$}]{0,6}(?:[,;&]|and|or)(?:\s{1,3}(?:and|or))?[\s$]{0,6}")
_RANGE = re.compile(r"\bbetween\s{1,3}\Z", re.IGNORECASE)
_ITEM = re.compile(r"[.)]\*{0,2}\s{1,3}[^\W\d_]")
_MAX_TERMS = 50
_STOP_WORDS = (
    "because since as where when if for with and but is are was so or which that given while then"
)
_LINK = re.compile(
    rf"(?:[^\S\n]{{1,3}}(?!(?:{_STOP_WORDS.replace(' ', '|')})\b)[^\W\d_]{{2,20}}){{1,4}}"
    r"[^\S\n]{0,3}(?P<operator>[-+−*/×·÷=≈])[^\S\n]{0,3}"
    r"|[^\S\n]{1,3}(?:times|plus|minus|of|divided by|multiplied by)[^\S\n]{1,3}",
    re.IGNORECASE,
)
"""Words of an equation between two of its numbers: `16 eggs - 3 eggs = 13 eggs`."""
_WORDS = re.compile(r"[^\W\d_]{2,}[:.,]?")
_UNIT_WORD = re.compile(
    r"(?=[^.,])°?(?:[^\W\d_]{2,}|[mgshlLtNJWVKCFAdΩµ])?(?:\^\{?-?\d\}?|[²³⁻¹]{1,2})?[.,]?"
)
_MAX_BOX = 300
"""Characters of a box that is read."""
_WIDE = re.compile(
    r"(?<=[０-９])，(?=[０-９]{3}(?![０-９]))|(?<=[０-９])[．／：](?=[０-９])|[－＋](?=[０-９．])"
    r"|[０-９％＄￥￡]|(?P<pair>[（［][\s\d+＋－−.．,，、;；-]{1,80}[）］])"
)
_WIDE_FORMS = {
    **{0xFF01 + index: chr(0x21 + index) for index in range(94)},
    ord("￥"): "¥",
    ord("￡"): "£",
}


class _Line:
    """A line of a text and its numbers; numbers do not continue on the next line."""

    def __init__(self, text: str, mark: DecimalMark | None, *, exclaims: bool = False) -> None:
        self.text = text
        self._exclaims = exclaims
        self.readings = [
            reading
            for reading in readings_of(text, mark)
            if not _DENIED.search(self._before(reading, 30))
            and not _DENIED_AFTER.match(text, reading.end)
        ]

    def last(self) -> Number | None:
        """Return the last number; None if it is one of a choice (`3 or 4`) or a range."""
        index = len(self.readings) - 1
        if index > 0:
            between = self._between(index - 1, index)
            ranged = _RANGE.search(self._before(self.readings[index - 1], 12))
            if _EITHER.fullmatch(between[:20]) or (ranged and between.strip() == "and"):
                return None
        return self._number(index)

    def drop_labels(self) -> None:
        """Drop numbers at the end that name a step."""
        while self.readings and _LABEL.search(self._before(self.readings[-1], 12)):
            self.readings.pop()

    def is_working(self, *, under_heading: bool, begins_line: bool) -> bool:
        """Return whether the first number counts steps, so that a derivation follows."""
        reading = self.readings[0]
        before = self._before(reading, 20)
        if _LABEL.search(before):
            return True
        if before.strip(" *_") or not _ITEM.match(self.text[reading.end : reading.end + 6]):
            return False
        first = reading.number is not None and reading.number.value == 1 and begins_line
        return first or under_heading

    def stated(self) -> Number | None:
        """Return the number that a statement gives; None if it gives several."""
        last, chained, computes = 0, 0, False
        while last + 1 < len(self.readings) and last < _MAX_TERMS:
            link = _LINK.fullmatch(self._between(last, last + 1)[:120])
            if link is None:
                break
            last += 1
            if link["operator"] in {"=", "≈"} or self.readings[last].is_chain:
                chained = last
            computes = computes or link["operator"] is not None
        if chained == 0 and (computes or self._has_another()):
            return None
        return self._number(chained)

    def _number(self, index: int) -> Number | None:
        """Return a reading's number with the sign, factorial or bound given by the surrounding
        words.
        """
        reading = self.readings[index]
        if not self._exclaims:
            reading = self._factorial(reading)
        return self._bounded(self._negated(reading)).number

    def _has_another(self) -> bool:
        """Return whether a further number is listed with the first: `3, 4`, `3 and 4`, `3 apples or
        4`.
        """
        if len(self.readings) == 1:
            return False
        between = self._between(0, 1)
        if not between or len(between) > 80:
            return not between
        if not between.strip() and self.text[self.readings[1].start] == "(":
            return False  # a remark
        match = _ANOTHER.match(between)
        return match is not None and _BEFORE_NEXT.fullmatch(between[match.end() :]) is not None

    def _negated(self, reading: Reading) -> Reading:
        """Return the reading with its sign if that is a word: `minus 3`."""
        word = _MINUS.search(self._before(reading, 12))
        number = reading.number
        if word is None or number is None or reading.is_chain:
            return reading
        before = self.text[max(0, reading.start - 40) : reading.start - len(word[0])].rstrip()
        computes = before[-1:].isdigit() or _QUANTITY.search(before)
        value = None if computes else replace(number, value=-number.value, exact=None)
        return replace(reading, number=value)

    def _factorial(self, reading: Reading) -> Reading:
        """Return the reading of `5!` if it is the whole line; elsewhere it is an exclamation, as
        in `**5!**`.
        """
        number = reading.number
        line = self.text.strip(" \t$")
        written = f"{self.text[reading.start : reading.end]}!"
        if number is None or line != written:
            return reading
        value = number.value
        whole = isinstance(value, Fraction) and value.denominator == 1 and not number.unit
        if not whole or not 0 <= value <= _MOST_FACTORIAL:
            return replace(reading, number=None)
        return replace(reading, number=Number(Fraction(math.factorial(int(value)))))

    def _bounded(self, reading: Reading) -> Reading:
        """Return the reading with its bound: `< 5`, `at least 5`, `5 or more`."""
        number = reading.number
        before = self._before(reading, 50)
        match = _BOUND_BEFORE.search(before)
        after = _BOUND_AFTER.match(self.text, reading.end)
        if number is None or reading.is_chain or (match is None and after is None):
            return reading
        if match is not None and match["sign"] and _TAG.search(before):
            return reading
        if match is None:
            bound = "≥" if after is not None and after["more"] else "≤"
        elif match["sign"]:
            bound = match["sign"].replace("<=", "≤").replace(">=", "≥")[0]
        else:
            bound = "≥≤<>"[[bool(match[name]) for name in _BOUNDS].index(True)]
        in_words = match is None or not match["sign"]
        included = in_words and bound in "≥≤"
        bounded = replace(number, bound=bound, is_largest_or_smallest=included)
        return replace(reading, number=bounded)

    def _before(self, reading: Reading, length: int) -> str:
        return self.text[max(0, reading.start - length) : reading.start]

    def _between(self, left: int, right: int) -> str:
        return self.text[self.readings[left].end : self.readings[right].start]


def _readable(text: str) -> str:
    """Return the text without LaTeX markup, and with full-width numbers in ASCII.

    A full-width comma counts as a separator of thousands only between full-width digits: between
    others it separates clauses.
    """
    if not text.isascii():
        text = _WIDE.sub(_in_ascii, _HYPHEN.sub("-", text))
    if "\\" in text:
        text = _REPEATED.sub(_repeating, _OVER.sub(r"{\\frac{\1}{\2}}", text))
    if "\n" in text:
        text = _QUOTE_MARKS.sub("\n", text)
    if "~~" in text:
        text = _STRUCK.sub(" ", text)
    text = _AND_PART.sub(_mixed_number, _EMPHASIS.sub(r"\2", _ARROW.sub("→", text)))
    return _LONE_MINUS.sub(r"\1", plain_text(text))


def _mixed_number(match: re.Match[str]) -> str:
    """`2 and a half` as `2 1/2`."""
    return f"{match[1]} {_PARTS[match[2].lower()]}"


def _repeating(match: re.Match[str]) -> str:
    """Return a repeating decimal as a fraction: `0.\\overline{3}` is 3/9."""
    whole, decimals, repeated = match.groups()
    top = int(whole + decimals + repeated) - int((whole + decimals) or "0")
    bottom = 10 ** len(decimals) * (10 ** len(repeated) - 1)
    return rf"\frac{{{top}}}{{{bottom}}}"


def _in_ascii(match: re.Match[str]) -> str:
    # `（3，500）` is a pair, as a full-width comma separates no thousands of other digits.
    written = re.sub(r"(?<=[0-9])，", ", ", match[0]).translate(_WIDE_FORMS)
    # A bracket of full width has its space inside; one after a number is no factor.
    return f" {written} " if match["pair"] else written


def last_number(text: str, mark: DecimalMark | None) -> Number | None:
    """Return the last number of a text; None without a number, or if the last is not one number."""
    return _last(_readable(text[-MAX_TEXT:]), mark)


def first_number(text: str, mark: DecimalMark | None) -> Number | None:
    """Return the number that a text begins with; None if it gives several."""
    for line in _readable(text[:MAX_TEXT]).split("\n"):
        numbers = _Line(line, mark)
        if numbers.readings:
            return numbers.stated()
    return None


def answer_number(text: str, mark: DecimalMark | None) -> Number | None:
    """Return the number after the last common marker that has one, else the last number."""
    text = _readable(text[-MAX_TEXT:])
    end = len(text)
    for marker in list(_MARKER.finditer(text))[: -_MAX_MARKERS - 1 : -1]:
        if marker["box"]:
            content = _boxed(text, marker.end())
            if content.strip("{} "):
                number = _boxed_number(content, mark)
                earlier = _listed_box(text, marker.start())
                # `\\boxed{5}, \\boxed{6}` gives two numbers.
                return number if earlier is None or earlier.strip() == content.strip() else None
        for offset, line in enumerate(text[marker.end() : end].split("\n")):
            # `The answer is 5!` is an exclamation, `Answer: 5!` a factorial.
            exclaims = offset == 0 and marker[0][-1:].isalpha()
            numbers = _Line(_LONE_MINUS.sub(r"\1", line), mark, exclaims=exclaims)
            if not numbers.readings:
                continue
            heading = marker["heading"] is not None
            if numbers.is_working(under_heading=heading, begins_line=offset > 0):
                return _last(text, mark)
            return numbers.stated()
        end = marker.start()
    return _last(text, mark)


def _last(text: str, mark: DecimalMark | None) -> Number | None:
    for line in reversed(text.split("\n")):
        numbers = _Line(line, mark)
        numbers.drop_labels()
        if numbers.readings:
            return numbers.last()
    return None


def _listed_box(text: str, end: int) -> str | None:
    """Return the content of a box that is listed before another one, which begins at `end`."""
    start = text.rfind("\\boxed", max(0, end - _MAX_BOX), end)
    if start < 0:
        return None
    start += len("\\boxed")
    content = _boxed(text[:end], start)
    return content if _BOXES_LISTED.fullmatch(text, start + len(content), end) else None


def _boxed(text: str, start: int) -> str:
    """Return the content of a box, from `start`."""
    if text[start : start + 1] != "{":
        end = text.find("\n", start)
        return text[start : end if end >= 0 else len(text)]
    depth = 0
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[start : start + brace.end()]
    return text[start:]


def _boxed_number(content: str, mark: DecimalMark | None) -> Number | None:
    """Return the number in a box, with a label or unit; None if it contains anything else."""
    content = content.strip()
    if content.startswith("{"):
        content = content[1:].removesuffix("}").strip()
    content = re.sub(r"\A([-−])\s+", r"\1", content)
    if len(content) > MAX_DIGITS:
        return None
    readings = readings_of(content, mark)
    if len(readings) != 1:
        return None
    before = content[: readings[0].start].strip()
    after = content[readings[0].end :].strip(" .*$")
    if len(before) + len(after) > _MAX_BOX:
        return None
    function = readings[0].is_chain and before.isalpha()  # f(2) = 5
    labeled = (
        function or not before or before[-1] in "=≈:" or all(map(_WORDS.fullmatch, before.split()))
    )
    has_unit = all(map(_UNIT_WORD.fullmatch, re.split(r"[\s/·]+", after))) if after else True
    return readings[0].number if labeled and has_unit else None
