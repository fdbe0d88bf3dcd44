"""The scorer `multiple_choice`: reads the letter that an answer picks."""

from __future__ import annotations

from string import ascii_uppercase
from typing import Annotated, Any

from pydantic import Field

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score, Scorer
from agentbench_tui.scoring.choices.picked import SEVERAL, find_choice, text_form
from agentbench_tui.scoring.reading import answer_text, expected_of
from agentbench_tui.scoring.recipe import Context, Options, Recipe, always


class ChoiceOptions(Options):
    """Options of `multiple_choice`."""

    choices: Annotated[int, Field(ge=2, le=26)] | None = None
    """Number of choices, if the case does not list them."""
    choices_field: str = "choices"
    """Field of the case's metadata that lists the texts of the choices."""


def multiple_choice(options: ChoiceOptions, context: Context) -> Scorer:
    """Return a scorer that is right if the answer picks the expected choice, by letter or by its
    text.

    `expected` is a letter, a 0-based index (also as text where the case lists the choices), or the
    text of a choice. An answer that picks two, or
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
        metadata = {"choice": picked if picked != SEVERAL else None}
        if picked == SEVERAL:
            reason = "picks more than one choice"
        else:
            reason = f"picks {picked}" if picked else "picks no choice"
        return Score(name, 0.0, False, f"{reason}, expected {wanted}", metadata=metadata)

    return score


def _expected_letter(expected: Any, letters: str, texts: list[str], case: Case) -> str:
    if isinstance(expected, int) and not isinstance(expected, bool):
        if 0 <= expected < len(letters):
            return letters[expected]
    elif isinstance(expected, str):
        bare = expected.strip().strip("().（）【】").upper()
        if len(bare) == 1 and bare in letters:
            return bare
        forms = [text_form(text) for text in texts]
        if text_form(expected) in forms:
            return letters[forms.index(text_form(expected))]
        # A CSV file holds an index as text. Without listed choices `2` may be a mistake.
        index = expected.strip()
        if texts and index.isdecimal() and len(index) <= 2 and int(index) < len(letters):
            return letters[int(index)]
    shown = str(expected)[:80] if isinstance(expected, str) else type(expected).__name__
    raise GraderFailure(f"case {case.id}: `expected` {shown!r} is not one of the choices {letters}")


RECIPES = {"multiple_choice": Recipe(ChoiceOptions, multiple_choice, needs_expected=always)}
