"""The scorer `multiple_choice`: which letter an answer picks."""

from __future__ import annotations

import re
from string import ascii_uppercase
from typing import Annotated, Any

from pydantic import Field

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score, Scorer
from agentbench_tui.scoring.normal import normaliser
from agentbench_tui.scoring.reading import answer_text, expected_of
from agentbench_tui.scoring.recipe import Context, Options, Recipe

_form = normaliser()
# Nothing is given back of what was taken (`*+`): else a long run of spaces is split among all that
# may take some, in time that grows with its fourth power.
_WRAP = r"[\s*_`\"'({\[]*+"
_END = r"(?=[\s*_`\"')}\].,:;!?]|$)"
_BOXED = re.compile(r"\\boxed\{\s*+(?:\\text\{)?+\s*+\(?+([A-Za-z])\)?+\s*+\}")
_STATED = re.compile(
    r"\b(?:(?i:answer)|choice|option)\s*+(?i:is|:|=|would be)*+\s*+(?i:option|choice)?+\s*+:?+"
    rf"{_WRAP}(?:([A-Z]){_END}|([a-z])(?=[\s*_`\"']*+[)}}\].,:;!?]|[\s*_`\"']*$))",
    re.MULTILINE,
)
_ALONE = re.compile(
    rf"\A{_WRAP}(?i:(?:option|choice)[\s:]++)?+{_WRAP}([A-Za-z])[\s*_`\"')}}\].:]*\Z"
)
_LEADING = re.compile(r"\A[\s*_`]*(?:\(([A-Za-z])\)|([A-Za-z])[).:])(?=[\s*_`])")
_MARKED = re.compile(r"\*\*\(?([A-Z])[).:]?\*\*|\(([A-Z])\)")


class ChoiceOptions(Options):
    """Options of `multiple_choice`."""

    choices: Annotated[int, Field(ge=2, le=26)] | None = None
    """How many there are, when the case doesn't list them."""
    choices_field: str = "choices"
    """Field of the case's metadata that lists the texts of the choices."""


def multiple_choice(options: ChoiceOptions, context: Context) -> Scorer:
    """Right when the answer picks the expected choice, by letter or by its text.

    `expected` is a letter, a 0-based index, or the text of a choice. An answer that picks two, or
    none, has no choice.
    """
    name = context.name

    def score(case: Case, answer: Answer) -> Score:
        texts = [str(text) for text in case.metadata.get(options.choices_field) or ()]
        count = len(texts) or options.choices or len(ascii_uppercase)
        letters = ascii_uppercase[:count]
        wanted = _expected_letter(expected_of(case), letters, texts, case)
        picked = find_choice(answer_text(answer), letters, texts)
        if picked == wanted:
            return Score(name, 1.0, True)
        reason = f"picks {picked}" if picked else "picks no choice, or more than one"
        return Score(name, 0.0, False, f"{reason}, expected {wanted}", metadata={"choice": picked})

    return score


def find_choice(text: str, letters: str, texts: list[str]) -> str | None:
    """The letter that a text picks, or None when there is none or more than one.

    Looked for in this order: `\\boxed{B}`; the last "answer is B"; a text that is but a letter, or
    `Option B`; one that begins with `B.` or `(B)`; letters in bold or parentheses, if one only; the
    text of a choice, if one only.
    """
    for pattern in (_BOXED, _STATED):
        stated = [found for match in pattern.finditer(text) if (found := _letter(match, letters))]
        if stated:
            return stated[-1]
    for pattern in (_ALONE, _LEADING):
        match = pattern.match(text)
        if match is not None and (found := _letter(match, letters)):
            return found
    marked = {found for match in _MARKED.finditer(text) if (found := _letter(match, letters))}
    if len(marked) == 1:
        return marked.pop()
    return None if marked else _by_text(text, letters, texts)


def _letter(match: re.Match[str], letters: str) -> str | None:
    found = next(group for group in match.groups() if group).upper()
    return found if found in letters else None


def _by_text(text: str, letters: str, texts: list[str]) -> str | None:
    said = f" {_form(text)} "
    found = {
        letter: form
        for letter, choice in zip(letters, texts, strict=False)
        if (form := _form(choice)) and f" {form} " in said
    }
    # "New York" within "New York City": the longer one is meant.
    longest = [
        letter
        for letter, form in found.items()
        if not any(form != other and f" {form} " in f" {other} " for other in found.values())
    ]
    return longest[0] if len(longest) == 1 else None


def _expected_letter(expected: Any, letters: str, texts: list[str], case: Case) -> str:
    if isinstance(expected, int) and not isinstance(expected, bool):
        if 0 <= expected < len(letters):
            return letters[expected]
    elif isinstance(expected, str):
        bare = expected.strip().strip("().").upper()
        if len(bare) == 1 and bare in letters:
            return bare
        forms = [_form(text) for text in texts]
        if _form(expected) in forms:
            return letters[forms.index(_form(expected))]
    raise GraderFailure(f"case {case.id}: `expected` {expected!r} is none of the choices {letters}")


RECIPES = {"multiple_choice": Recipe(ChoiceOptions, multiple_choice)}
