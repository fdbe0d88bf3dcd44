"""Scorers that compare texts: exact, normalized, contains, regex."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from agentbench_tui.model.answer import Answer, Case, Score, Scorer
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.scoring.reading import accepted_texts, answer_text
from agentbench_tui.scoring.recipe import Context, Options, Recipe, always
from agentbench_tui.scoring.text.normal import normalizer
from agentbench_tui.scoring.text.pattern import compile_pattern, search

if TYPE_CHECKING:
    from collections.abc import Callable


class ExactOptions(Options):
    """Options of `exact`."""

    strip: bool = True
    """Leave white space around both texts out."""
    ignore_case: bool = False


def exact(options: ExactOptions, context: Context) -> Scorer:
    """Return a scorer that is right if the answer is one of the expected texts, character by
    character.
    """
    strip, ignore_case = options.strip, options.ignore_case

    def form(text: str) -> str:
        text = text.strip() if strip else text
        return text.casefold() if ignore_case else text

    return _equal(context.name, form)


def _equal(name: str, form: Callable[[str], str]) -> Scorer:
    """Return a scorer that is right if the answer is one of the expected texts after applying
    `form` to both.
    """

    def score(case: Case, answer: Answer) -> Score:
        said = form(answer_text(answer))
        accepted = accepted_texts(case)
        for text in accepted:
            if form(text) == said:
                return Score(name, 1.0, True)
        return Score(name, 0.0, False, _differs(said, accepted))

    return score


class NormalizedOptions(Options):
    """Options of `normalized`."""

    ignore_case: bool = True
    ignore_punctuation: bool = True
    """Signs, decimal points and percent signs of numbers stay."""
    ignore_articles: bool = True
    """The English a, an, the."""
    ignore_accents: bool = False


def normalized(options: NormalizedOptions, context: Context) -> Scorer:
    """Return a scorer that is right if the answer is one of the expected texts, ignoring spelling
    without meaning.
    """
    form = normalizer(
        case=options.ignore_case,
        punctuation=options.ignore_punctuation,
        articles=options.ignore_articles,
        accents=options.ignore_accents,
    )
    return _equal(context.name, form)


_ASCII_SIGNS = {0x2010: "-", 0x2212: "-", 0x2044: "/"}
"""The hyphen and the minus sign, and the slash that compatibility normalization makes of ½."""


_SPACED_THOUSANDS = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
"""Spaces that separate thousands: no-break, thin and narrow no-break space."""


class ContainsOptions(Options):
    """Options of `contains`."""

    need: Literal["any", "all"] = "any"
    """How many of the expected texts must occur."""
    whole_words: bool = True
    """`12` is not found in `412` or `-12`, nor `art` in `start`, nor `C` in `C++`. Scripts without
    spaces have no words."""
    ignore_case: bool = True
    forbidden: list[str] = Field(default_factory=list)
    """Texts that make the answer wrong wherever they occur."""


def contains(options: ContainsOptions, context: Context) -> Scorer:
    """Return a scorer that is right if the expected texts occur in the answer.

    Value with `need: all`: share of the expected texts that occur; 0 with a forbidden one.
    """
    from agentbench_tui.scoring.text.words import whole_words  # compiles large patterns

    name = context.name
    normalize = normalizer(case=options.ignore_case, punctuation=False, articles=False)

    def form(text: str) -> str:
        return normalize(text).translate(_ASCII_SIGNS)

    def within(part: str, text: str, joined: str) -> bool:
        part = form(part)
        if not options.whole_words:
            return part in text
        return whole_words(part).search(text if " " in part else joined) is not None

    def score(case: Case, answer: Answer) -> Score:
        said = answer_text(answer)
        # With a mark for the space, neither part of `5 000` is a number of its own.
        forms = form(said), form(said if said.isascii() else _SPACED_THOUSANDS.sub("'", said))
        for text in options.forbidden:
            if within(text, *forms):
                return Score(name, 0.0, False, f"says {text!r}, which is forbidden")
        accepted = accepted_texts(case)
        missing = [text for text in accepted if not within(text, *forms)]
        found = len(accepted) - len(missing)
        share = found / len(accepted)
        value = float(found > 0) if options.need == "any" else share
        if value == 1.0:
            return Score(name, 1.0, True)
        reason = "does not say " + (" or " if options.need == "any" else " nor ").join(
            one_line(repr(text), 60) for text in missing[:5]
        )
        return Score(name, value, False, reason, completeness=share)

    return score


class RegexOptions(Options):
    """Options of `regex`."""

    pattern: str | None = None
    """Pattern to find in the answer.

    By default `expected` is the pattern, or a list of patterns of which one must match.
    """
    whole: bool = False
    """The whole answer must match, not a part of it."""
    ignore_case: bool = False


def regex(options: RegexOptions, context: Context) -> Scorer:
    """Return a scorer that is right if a pattern occurs in the answer; with a pattern that has a
    group and an `expected`, if the first group is one of the expected texts.
    """
    name = context.name

    def prepared(pattern: str) -> re.Pattern[str]:
        wrapped = rf"\A(?:{pattern})\Z" if options.whole else pattern
        return compile_pattern(wrapped, ignore_case=options.ignore_case)

    fixed = None if options.pattern is None else prepared(options.pattern)

    def score(case: Case, answer: Answer) -> Score:
        said = answer_text(answer)
        if fixed is None:
            patterns = [prepared(text) for text in accepted_texts(case)]
            if any(search(pattern, said) is not None for pattern in patterns):
                return Score(name, 1.0, True)
            return Score(name, 0.0, False, "the pattern is not found in the answer")
        found = search(fixed, said)
        if found is None:
            return Score(name, 0.0, False, "the pattern is not found in the answer")
        if case.expected is None or len(found) < 2:
            return Score(name, 1.0, True)
        group = (found[1] or "").strip()
        accepted = accepted_texts(case)
        if group in {text.strip() for text in accepted}:
            return Score(name, 1.0, True)
        return Score(name, 0.0, False, _differs(group, accepted))

    return score


def _differs(said: str, accepted: list[str]) -> str:
    wanted = one_line(accepted[0], 60)
    more = f" (or {len(accepted) - 1} others)" if len(accepted) > 1 else ""
    return f"said {one_line(said, 60)!r}, expected {wanted!r}{more}"


RECIPES = {
    "exact": Recipe(ExactOptions, exact, needs_expected=always),
    "normalized": Recipe(NormalizedOptions, normalized, needs_expected=always),
    "contains": Recipe(ContainsOptions, contains, needs_expected=always),
    "regex": Recipe(RegexOptions, regex, needs_expected=lambda options: options.pattern is None),
}
