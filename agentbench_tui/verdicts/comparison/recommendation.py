"""Recommendations from a comparison; each sentence gives the numbers that it is based on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from agentbench_tui.verdicts.comparison.change import change_words, margin_words, settling_words
from agentbench_tui.verdicts.comparison.comparison import SURE_REPEATS
from agentbench_tui.verdicts.comparison.open_question import decided_words, open_words
from agentbench_tui.verdicts.comparison.outcome import leaning

if TYPE_CHECKING:
    from agentbench_tui.verdicts.comparison.compare import OnBenchmark, Pair
    from agentbench_tui.verdicts.comparison.comparison import Comparison
    from agentbench_tui.verdicts.comparison.disagreement import Disagreements
    from agentbench_tui.verdicts.evidence.place import Place

MOST_NAMED = 3
"""Metrics that one sentence names; the others are counted."""

_SHOWN_AS_0 = 0.0005
"""Changes below this are shown as 0.0%."""
_ROUNDING = 1e-12

Found = tuple["OnBenchmark", "Comparison"]


def recommendations(pair: Pair, apart: Mapping[Place, Disagreements]) -> list[str]:
    """Return sentences about one pair, the most important first. `apart`: by benchmark."""
    if pair.identical:
        return []
    found = [(on, one) for on in pair.benchmarks if not on.identical for one in on.metrics]
    several = len(pair.benchmarks) > 1
    said = [_choice(pair, found, several)]
    said += _open(pair, found, several)
    said += _circumstances(pair, found)
    said += _cases(pair, apart, several)
    return [one for one in said if one]


def _choice(pair: Pair, found: Sequence[Found], several: bool) -> str:
    by = {
        verdict: [one for one in found if one[1].comparable and one[1].verdict == verdict]
        for verdict in ("better", "worse", "equivalent", "inconclusive")
    }
    a, b = pair.a.label, pair.b.label
    if not pair.is_ranked:
        return f"{a} and {b} are not ranked: {pair.why_unranked}"
    verdict = pair.outcome.verdict
    gains = _named(by["better"], several, change_words)
    losses = _named(by["worse"], several, change_words)
    rest = _rest(by["equivalent"], by["inconclusive"])
    if verdict == "better":
        return f"take {b}: {gains}{rest}"
    if verdict == "worse":
        return f"keep {a}: with {b} {losses}{rest}"
    if verdict == "trade-off":
        return f"choose by what matters: with {b} {gains}, but {losses}{rest}"
    if by["better"] or by["worse"]:
        return _undecided(pair, by["better"] or by["worse"], by["inconclusive"], several)
    if pair.outcome.is_settled:
        margins = _named(
            by["equivalent"], several, lambda one: f"{one.metric} ±{margin_words(one)}"
        )
        return f"take either: they are the same within {margins}"
    return ""


def _undecided(
    pair: Pair, shown: Sequence[Found], still_open: Sequence[Found], several: bool
) -> str:
    """Say what the leading side wins by, and which metric may be worse and should be decided
    first.
    """
    for_b = shown[0][1].verdict == "better"
    leader = pair.b.label if for_b else pair.a.label
    if for_b:
        lead = f"{leader} is {_named(shown, several, decided_words)}"
    else:
        lead = f"{pair.b.label} is {_named(shown, several, decided_words)}"
    against = "worse" if for_b else "better"
    leans = [one for one in still_open if leaning(one[1]) == against]
    whose = "" if for_b else f" with {leader}"
    open_ones = _named(leans, several, lambda one: open_words(one, for_b=for_b))
    return f"{lead}. Not decided{whose}: {open_ones}. Decide that first."


def _rest(equivalent: Sequence[Found], still_open: Sequence[Found]) -> str:
    parts = []
    if equivalent:
        names = dict.fromkeys(f"{one.metric} (±{margin_words(one)})" for _, one in equivalent)
        parts.append(f"equal {', '.join(names)}")
    if still_open:
        parts.append(f"{len(still_open)} still open")
    return f"; {'; '.join(parts)}" if parts else ""


def _open(pair: Pair, found: Sequence[Found], several: bool) -> list[str]:
    """Say which sample sizes would decide the open metrics, in runs, repeats and cases, smallest
    first.
    """
    still_open = [one for one in found if one[1].comparable and one[1].n_needed is not None]
    # Nobody measures thousands of cases for a difference that is not to be seen, unless nothing
    # else is known.
    seen = [one for one in still_open if not _looks_equal(one[1])]
    if seen or pair.outcome.better + pair.outcome.worse:
        still_open = seen
    said = []
    for of in ("runs", "repeats", "cases"):
        wanted = [one for one in still_open if one[1].varies_by == of]
        wanted.sort(key=lambda one: one[1].n_needed or 0)
        if wanted:
            words = [
                settling_words(one, pair.b.label)
                + (f" (on {on.place.benchmark_id})" if several else "")
                for on, one in wanted[:MOST_NAMED]
            ]
            more = len(wanted) - MOST_NAMED
            rest = f" ({more} more are open)" if more > 0 else ""
            said.append(f"to settle what is open, measure more {of}: {'. '.join(words)}{rest}")
    return said


def _looks_equal(one: Comparison) -> bool:
    """Return whether the observed change is 0 as it is shown."""
    if one.ratio is not None:
        return abs(one.ratio - 1) < _SHOWN_AS_0
    return one.difference is not None and abs(one.difference) < (
        _SHOWN_AS_0 if one.unit == "share" else _ROUNDING
    )


def _circumstances(pair: Pair, found: Sequence[Found]) -> list[str]:
    said = []
    unknown = [one for _, one in found if any(one.unknown)]
    kept_back = [one for _, one in found if not one.comparable and not any(one.unknown)]
    if kept_back:
        names = ", ".join(dict.fromkeys(one.metric for one in kept_back))
        said.append(f"measure both on one machine to compare {names}")
    if unknown:
        names = ", ".join(dict.fromkeys(one.metric for one in unknown))
        said.append(f"record it for every answer to compare {names}")
    few = [one for _, one in found if one.comparable and 0 < _repeats(one) < SURE_REPEATS]
    if few:
        have = min(_repeats(one) for one in few)
        names = ", ".join(dict.fromkeys(one.metric for one in few))
        told = "1 repeat tells" if have == 1 else f"{have} repeats tell"
        said.append(f"measure with --runs 5 for {names}: {told} little of another")
    disturbed = any(one.what == "harness" for on in pair.benchmarks for one in on.differences)
    timed = any(one.unit == "ms" and one.verdict in {"better", "worse"} for _, one in found)
    if disturbed and timed:
        said.append("measure times again on a quiet machine (`agentbench doctor` checks it)")
    return said


def _repeats(one: Comparison) -> int:
    """Return the number of repeats behind a verdict on speed; 0 if repeats do not matter."""
    if one.of != "cases":
        return 0 if one.has_few_draws else one.n
    if one.has_few_draws:  # runs are needed then, not repeats
        return 0
    return one.repeats if one.unit == "ms" else 0


def _cases(pair: Pair, apart: Mapping[Place, Disagreements], several: bool) -> list[str]:
    said = []
    most = sorted(apart.items(), key=lambda found: -found[1].only_a - found[1].only_b)
    for place, one in most[:MOST_NAMED]:
        if not one.only_a + one.only_b:
            continue
        where = f"{place.benchmark_id}: " if several else ""
        first = ", ".join(case.case_id for case in one.first[:MOST_NAMED])
        said.append(
            f"{where}look at the cases that only {pair.a.label} ({one.only_a}) or only"
            f" {pair.b.label} ({one.only_b}) gets right, first {first}"
        )
    return said


def _named(found: Sequence[Found], several: bool, words: Callable[[Comparison], str]) -> str:
    named = [
        words(one) + (f" on {on.place.benchmark_id}" if several else "")
        for on, one in found[:MOST_NAMED]
    ]
    more = len(found) - MOST_NAMED
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")
