"""Public posts of other agents: statements on markets and perpetuals, as often right as their
author.

A lean is right if it says where a price that is wrong will go: the side of a market's fair value,
or of a perpetual's news that is drawn but has not struck. So an author's reliability can be learned
from what prices do after its posts, and from nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from agentbench_tui.market.world import bits
from agentbench_tui.market.world.world import Lean, Post

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agentbench_tui.market.world.bits import Floats, Streams, Words
    from agentbench_tui.market.world.perpetuals import PerpPath
    from agentbench_tui.market.world.traders import Tape
    from agentbench_tui.market.world.truth import AuthorTruth
    from agentbench_tui.market.world.world import MarketDef

NEWS = "news"
"""Author of posts about what happened and is public."""
_NOTABLE_GAP = 0.08
"""In log odds: a smaller gap counts as fairly priced, and reliable authors say so."""
_RUMOR = 6.0
"""Factor on the number of posts about a perpetual while its news is pending."""

_ON_MARKETS: dict[int, tuple[str, ...]] = {
    1: (
        "YES at {price} is too cheap: {name}",
        "I am buying YES here ({price}): {name}",
        "The market underrates this at {price}: {name}",
    ),
    0: (
        "{price} looks about right: {name}",
        "Nothing to do at {price}: {name}",
        "I have no edge at {price}: {name}",
    ),
    -1: (
        "YES at {price} is too dear: {name}",
        "I am buying NO here (YES is {price}): {name}",
        "The market overrates this at {price}: {name}",
    ),
}
_ON_PERPETUALS: dict[int, tuple[str, ...]] = {
    1: (
        "I hear good things about {name}",
        "{name} will surprise on the upside",
        "Long {name} before the news",
    ),
    0: (
        "Nothing new on {name}",
        "{name} is quiet, and I expect no news",
        "No view on {name} today",
    ),
    -1: (
        "I hear bad things about {name}",
        "{name} will disappoint",
        "Short {name} before the news",
    ),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject of posts, with its true state at each of ticks + 1 ticks."""

    id: str
    number: int
    """Distinguishes streams of subjects: markets are even, perpetuals odd."""
    name: str
    right: NDArray[np.int64]
    """-1, 0 or 1: the statement of a reliable author."""
    interest: Floats
    """Relative frequency of posts; 1 usually, 0 once it is over."""
    prices: tuple[str, ...]
    """Price as text, empty for perpetuals."""
    templates: dict[int, tuple[str, ...]]


def market_subject(place: int, market: MarketDef, tape: Tape) -> Subject:
    """Return the market at that index as a subject of posts."""
    gap = tape.gap
    right = (gap > _NOTABLE_GAP).astype(np.int64) - (gap < -_NOTABLE_GAP)
    price = 1.0 / (1.0 + bits.exp(-tape.log_odds))
    interest = np.ones(len(gap))
    interest[market.resolve_tick :] = 0.0
    percents = np.rint(price * 100.0).astype(np.int64).tolist()
    prices = tuple(f"{percent} %" for percent in percents)
    return Subject(market.id, 2 * place, market.question, right, interest, prices, _ON_MARKETS)


def perpetual_subject(place: int, path: PerpPath) -> Subject:
    """Return the perpetual at that index as a subject of posts."""
    ticks = len(path.mark)
    right = np.zeros(ticks, dtype=np.int64)
    interest = np.ones(ticks)
    for item in path.news:
        right[item.announced : item.tick] = 1 if item.size_ppm > 0 else -1
        interest[item.announced : item.tick] = _RUMOR
    ticker = path.definition.ticker
    return Subject(ticker, 2 * place + 1, ticker, right, interest, (), _ON_PERPETUALS)


@dataclass(frozen=True, slots=True)
class Remarks:
    """Posts on a subject, tick by tick, and their random numbers."""

    ticks: list[int]
    details: list[int]
    """32 bits each."""

    @classmethod
    def drawn(cls, words: Words, subject: Subject, rate: float) -> Remarks:
        """Draw remarks at each tick with probability `rate` times the interest; `words` is
        uint64[ticks + 1].
        """
        chances = (words >> np.uint64(32)).astype(np.float64) * 2.0**-32
        hits = np.flatnonzero(chances < subject.interest * rate)
        return cls(hits.tolist(), (words[hits] & np.uint64(0xFFFFFFFF)).tolist())


def said(subject: Subject, tick: int, detail: int, reliability_ppm: int) -> tuple[Lean, str]:
    """Return the statement of an author of that reliability at that tick.

    Uses the lower 24 bits of `detail`.
    """
    lean = int(subject.right[tick])
    if (detail & 0xFFFF) * 1_000_000 >= reliability_ppm << 16:
        lean = -lean if lean else (1 if detail & 1 << 16 else -1)
    choices = subject.templates[lean]
    text = choices[(detail >> 17 & 0x7F) % len(choices)]
    price = subject.prices[tick] if subject.prices else ""
    return cast("Lean", lean), text.format(name=subject.name, price=price)


def posting_rate(ticks: int) -> float:
    """Return the probability that an agent posts on a subject at a tick: higher with few ticks."""
    return min(0.05, 0.004 + 1.2 / ticks)


def write_posts(
    streams: Streams,
    ticks: int,
    subjects: Sequence[Subject],
    authors: Sequence[AuthorTruth],
    paths: Sequence[PerpPath],
) -> tuple[Post, ...]:
    """Return all posts of the world by tick: those of the authors, and news of perpetuals."""
    rate = posting_rate(ticks)
    rows: list[tuple[int, int, int, str, str, str, Lean, int]] = []
    for subject in subjects:
        for place, author in enumerate(authors):
            words = streams.by_tick(f"post-{place}", subject.number, ticks + 1)[:, 0]
            remarks = Remarks.drawn(words, subject, rate)
            for tick, detail in zip(remarks.ticks, remarks.details, strict=True):
                lean, text = said(subject, tick, detail, author.reliability_ppm)
                row = (tick, place, subject.number, author.id, text, subject.id, lean, detail)
                rows.append(row)
    for place, path in enumerate(paths):
        for item in path.news:
            moved: Lean = 1 if item.size_ppm > 0 else -1
            text = f"{item.ticker} {'jumps on good' if moved > 0 else 'falls on bad'} news"
            row = (item.tick, -1, place, NEWS, text, item.ticker, moved, 0)
            rows.append(row)
    rows.sort(key=lambda row: row[:3])
    return tuple(
        Post(
            id=f"post-{number}",
            tick=row[0],
            author=row[3],
            content=row[4],
            subject=row[5],
            lean=row[6],
            likes=(row[7] >> 24 & 0xF) + (row[7] >> 30 & 0x3),
            comments=row[7] >> 28 & 0x3,
        )
        for number, row in enumerate(rows, 1)
    )
