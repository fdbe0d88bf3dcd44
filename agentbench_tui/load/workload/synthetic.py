"""Draws lengths from a distribution, and makes prompts of a given length without a tokenizer.

A token is taken to be one word of `corpus.WORDS`, with the space before it. In the vocabularies
named there that is exact for the text itself; what a server counts is more by its chat template
(a few tokens a message) and the system prompt, and in a smaller vocabulary some words are two
tokens. Results give the input tokens that the server counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING

from agentbench_tui.load.workload.corpus import WORDS

if TYPE_CHECKING:
    from agentbench_tui.load.spec import LengthSpec, SyntheticSpec

BYTES_PER_TOKEN = sum(map(len, WORDS)) / len(WORDS) + 1
"""Mean of a generated prompt."""
_BASE = len(WORDS)
_PASSAGES = 256
PASSAGE_WORDS = 64
_LEAST, _MOST = math.ulp(0.0), 1.0 - 2.0**-53
"""Smallest and largest number strictly between 0 and 1."""
_LEAST_SPREAD = 0.01
"""In tokens: lengths that vary by less are all rounded to the mean."""


def draw_lengths(length: int | LengthSpec, count: int, random: Random) -> list[int]:
    """Draw `count` lengths in tokens, each from `low` to `high`, in random order.

    One is drawn in each of `count` equally likely parts of the distribution (stratified
    sampling; McKay, Beckman and Conover, Technometrics 21, 1979), so that even a few hundred have
    its mean and spread to within a fraction of a percent.

    The distribution is cut off at `low` and `high`, which shifts mean and spread where much of it
    lies beyond: that of `normal` has the given mean and standard deviation before the cut, that
    of `lognormal` too (σ² = ln(1 + (spread/mean)²), μ = ln(mean) - σ²/2), and that of `uniform`
    has every whole number from mean - spread to mean + spread equally often.
    """
    if isinstance(length, int):
        return [length] * count
    if length.spread < _LEAST_SPREAD:
        return [length.mean] * count
    draw = _uniform(length) if length.distribution == "uniform" else _bell(length)
    uniform = random.random
    lengths = [draw((part + uniform()) / count) for part in range(count)]
    return sorted(lengths, key=lambda _: uniform())


def length_problem(length: int | LengthSpec) -> str:
    """Return what is wrong with a length, or an empty text, which `draw_lengths` requires."""
    if isinstance(length, int):
        return ""
    if length.mean < length.low:
        return f"`mean` is {length.mean:,}, below `low` of {length.low:,}"
    if length.high is not None and length.mean > length.high:
        return f"`mean` is {length.mean:,}, above `high` of {length.high:,}"
    return ""


def _uniform(length: LengthSpec) -> Callable[[float], int]:
    low = max(length.low, math.ceil(length.mean - length.spread))
    high = math.floor(length.mean + length.spread)
    if length.high is not None:
        high = min(high, length.high)
    return lambda share: min(low + int(share * (high - low + 1)), high)


def _bell(length: LengthSpec) -> Callable[[float], int]:
    """Return the quantile function of a normal or lognormal distribution, rounded, between `low`
    and `high`.
    """
    from statistics import NormalDist

    logarithmic = length.distribution == "lognormal"
    if logarithmic:
        variance = math.log1p((length.spread / length.mean) ** 2)
        bell = NormalDist(math.log(length.mean) - variance / 2, math.sqrt(variance))
    else:
        bell = NormalDist(length.mean, length.spread)

    def below(tokens: float) -> float:
        return bell.cdf(math.log(tokens) if logarithmic else tokens)

    # Half a token further, so that the outermost lengths are rounded to from both sides.
    low, high = length.low, math.inf if length.high is None else length.high
    start = below(low - 0.5)
    width = (1.0 if length.high is None else below(high + 0.5)) - start

    def draw(share: float) -> int:
        value = bell.inv_cdf(min(max(start + share * width, _LEAST), _MOST))
        tokens = math.exp(value) if logarithmic else value
        return int(min(max(math.floor(tokens + 0.5), low), high))

    return draw


def make_prompts(
    spec: SyntheticSpec, lengths: Sequence[int], random: Random, *, turns: int = 1
) -> Iterator[str]:
    """Yield a prompt of as many words as each of the lengths.

    Every `turns`-th begins a session, and its first round(prefix_share · length) words are the
    beginning of one of the shared texts, taken in turn. What follows, and every later turn of a
    session, begins with the prompt's own number, written in words: one word up to
    `len(WORDS)` prompts, two beyond. So no two are the same unless they have no room for that,
    and none can be had from a cache of another's beginning.
    """
    writer = Writer(random)
    shares = [round(spec.prefix_share * length) for length in lengths[::turns]]
    prefixes = [writer.words(max(shares, default=0)) for _ in range(spec.prefixes)]
    offset = int(random.random() * _BASE)
    digits = 1 if len(lengths) <= _BASE else 2
    for number, length in enumerate(lengths):
        session, turn = divmod(number, turns)
        shared = 0 if turn else shares[session]
        begun = prefixes[session % spec.prefixes][:shared]
        begun += number_words(number + offset, digits)[: length - shared]
        yield " ".join(begun + writer.pieces(length - len(begun)))


def number_words(number: int, digits: int) -> list[str]:
    """Write a number with words of the vocabulary as digits, least significant first."""
    words = []
    for _ in range(digits):
        number, digit = divmod(number, _BASE)
        words.append(WORDS[digit])
    return words


class Writer:
    """Generates random words; long texts from prepared passages, which is much faster."""

    def __init__(self, random: Random) -> None:
        self._uniform = random.random
        self._passages = [" ".join(self.words(PASSAGE_WORDS)) for _ in range(_PASSAGES)]

    def words(self, count: int, random: Random | None = None) -> list[str]:
        """Return this many words, drawn from `random` or from the writer's own stream."""
        uniform = random.random if random else self._uniform
        return [WORDS[int(uniform() * _BASE)] for _ in range(count)]

    def pieces(self, count: int, random: Random | None = None) -> list[str]:
        """Return words and passages with this many words in total; drawn as `words` are."""
        uniform = random.random if random else self._uniform
        passages, rest = divmod(count, PASSAGE_WORDS)
        return self.words(rest, random) + [
            self._passages[int(uniform() * _PASSAGES)] for _ in range(passages)
        ]
