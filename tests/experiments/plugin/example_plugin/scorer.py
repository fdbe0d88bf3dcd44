"""A scorer: right is what is said loud."""

from agentbench_tui.model.answer import Answer, Case, Score, Scorer
from agentbench_tui.scoring.recipe import Context, Options, Recipe


def _build(options: Options, context: Context) -> Scorer:
    def score(case: Case, answer: Answer) -> Score:
        is_loud = answer.text.isupper()
        return Score(context.name, float(is_loud), is_loud)

    return score


loud = Recipe(Options, _build)
