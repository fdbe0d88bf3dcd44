"""Scorers that count shared words: token F1 and ROUGE-L.

Both give credit for overlap, not for truth: "not Paris" shares most of "Paris". Use them where the
wording of long answers varies, with a pass mark, beside a scorer that checks facts.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from agentbench_tui.model.answer import Answer, Case, Score, Scorer
from agentbench_tui.scoring.reading import accepted_texts, answer_text
from agentbench_tui.scoring.recipe import Context, Options, Recipe, always
from agentbench_tui.scoring.text.normal import straight_quotes
from agentbench_tui.scoring.text.words import pieces, words

_SQUAD_DROP = re.compile(r"[!-/:-@\[-`{-~]")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


class OverlapOptions(Options):
    """Options of `token_f1` and `rouge_l`."""

    pass_at: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Value from which an answer counts as right."""


Overlap = tuple[float, float, float]
"""F measure, precision (share of the answer), recall (share of the expected text)."""


def token_overlap(said: str, expected: str) -> Overlap:
    """Return F1 over the bag of words, as SQuAD computes it (Rajpurkar et al. 2016,
    arXiv:1606.05250).

    Lower case, ASCII punctuation and English articles left out. In scripts without spaces each
    character is a word. Two texts without any word are equal (1), one without is worth 0.
    """
    left, right = _squad_words(said), _squad_words(expected)
    shared = sum((Counter(left) & Counter(right)).values())
    return _measures(shared, len(left), len(right))


def rouge_l(said: str, expected: str) -> Overlap:
    """Return ROUGE-L: F1 over the longest common subsequence of words (Lin 2004, ACL W04-1013, with
    beta = 1). Lower case, letters and digits only, no stemming. In scripts without spaces each
    character is a word.
    """
    left, right = words(_form(said)), words(_form(expected))
    return _measures(common_length(left, right), len(left), len(right))


def common_length(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    Bit-parallel (Hyyrö 2004, "Bit-parallel LCS-length computation revisited"): one whole-number
    operation as wide as the shorter text for each word of the longer, so that two texts of
    thousands of words cost milliseconds.
    """
    if len(left) > len(right):
        left, right = right, left
    places: dict[str, int] = {}
    for index, word in enumerate(left):
        places[word] = places.get(word, 0) | 1 << index
    everything = (1 << len(left)) - 1
    row = everything
    for word in right:
        matched = row & places.get(word, 0)
        row = (row + matched | row - matched) & everything
    return len(left) - row.bit_count()


def _squad_words(text: str) -> list[str]:
    return pieces(_ARTICLES.sub(" ", _SQUAD_DROP.sub("", _form(text))))


def _form(text: str) -> str:
    """Return the text in lower case with straight quotes, and accents combined with their
    letter.
    """
    return straight_quotes(unicodedata.normalize("NFC", text)).lower()


def _measures(shared: int, said: int, expected: int) -> Overlap:
    if not said and not expected:
        return 1.0, 1.0, 1.0
    if not shared:
        return 0.0, 0.0, 0.0
    return 2 * shared / (said + expected), shared / said, shared / expected


def _scorer(measure: str, options: OverlapOptions, context: Context) -> Scorer:
    name = context.name
    compute = token_overlap if measure == "token_f1" else rouge_l

    def score(case: Case, answer: Answer) -> Score:
        said = answer_text(answer)
        value, precision, recall = max(compute(said, text) for text in accepted_texts(case))
        correct = value >= options.pass_at
        reason = "" if value == 1 else f"precision {precision:.2f}, recall {recall:.2f}"
        return Score(name, value, correct, reason, completeness=recall, relevance=precision)

    return score


RECIPES = {
    "token_f1": Recipe(
        OverlapOptions,
        lambda options, context: _scorer("token_f1", options, context),
        needs_expected=always,
    ),
    "rouge_l": Recipe(
        OverlapOptions,
        lambda options, context: _scorer("rouge_l", options, context),
        needs_expected=always,
    ),
}
