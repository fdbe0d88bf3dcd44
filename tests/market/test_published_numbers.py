"""Published numbers give no outcome away: the attack that emptied the original fails here."""

import numpy as np
from numpy.typing import NDArray
from playing import usual

from agentbench_tui.market.world import bits
from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.lmsr import price
from agentbench_tui.market.world.world import SHARE_UNITS, World, WorldConfig

Floats = NDArray[np.float64]
MODULUS = 2**32
MARKETS, PERPETUALS, AGENTS = 5, 3, 8


def following(state: int) -> int:
    """The linear congruential generator that the original draws everything from."""
    return (1_664_525 * state + 1_013_904_223) % MODULUS


def original(seed: int) -> tuple[list[tuple[float, float]], list[bool]]:
    """YES and NO shares that the original publishes, and the outcomes that it hides."""
    state = seed

    def drawn() -> float:
        nonlocal state
        state = following(state)
        return state / MODULUS

    shares = []
    for _ in range(MARKETS):
        low, first, second = drawn() < 0.5, drawn(), drawn()
        small, large = 100 + 300 * first, 300 + 700 * second
        shares.append((small, large) if low else (300 + 700 * first, 100 + 300 * second))
    for _ in range(4 * PERPETUALS + 2 * AGENTS):
        drawn()
    return shares, [drawn() > 0.5 for _ in range(MARKETS)]


def attacked(yes: float, no: float) -> list[bool] | None:
    """Outcomes foretold from the first market's shares, by the state they were scaled from."""
    for first, second in (
        ((yes - 100) / 300, (no - 300) / 700),
        ((yes - 300) / 700, (no - 100) / 300),
    ):
        state = round(first * MODULUS)
        if 0 <= first < 1 and abs(following(state) / MODULUS - second) < 1e-9:
            for _ in range(1 + 3 * (MARKETS - 1) + 4 * PERPETUALS + 2 * AGENTS):
                state = following(state)
            outcomes = []
            for _ in range(MARKETS):
                state = following(state)
                outcomes.append(state / MODULUS > 0.5)
            return outcomes
    return None


def test_the_attack_foretells_every_outcome_of_the_original() -> None:
    for seed in range(1, 101):
        shares, outcomes = original(seed)
        assert attacked(*shares[0]) == outcomes


def published(world: World) -> list[float]:
    """All numbers that can be asked for at tick 0."""
    numbers: list[float] = [0.0] * 4
    for place, market in enumerate(world.markets):
        net = world.flows[place][0] / SHARE_UNITS
        numbers += [max(net, 0.0), max(-net, 0.0), price(net, market.b), market.b]
        numbers += [world.volumes[place][0] / SHARE_UNITS, market.resolve_tick]
    for place in range(len(world.perpetuals)):
        numbers += [world.marks[place][0] / 1e6, world.indexes[place][0] / 1e6]
        numbers += [world.funding[place][0] / 1e9, world.open_interest[place][0]]
    return numbers


def test_no_state_of_that_generator_explains_two_published_numbers() -> None:
    for seed in range(8):
        numbers = published(usual(seed)[0])
        for yes in numbers:
            for no in numbers:
                for offset in (0.0, 100.0, 300.0):
                    assert attacked(yes + offset, no + offset) is None


def fractions(value: int) -> list[float]:
    """A number as a reader of raw bits would look at it: scaled three ways into -1/2..1/2."""
    return [value % modulus / modulus - 0.5 for modulus in (10, 1_000, 99_991)]


def features(world: World, market: int) -> list[float]:
    """What else is published at tick 0 beside the price, of this market and of its neighbors."""
    place = world.markets[market]
    numbers = fractions(world.flows[market][0]) + fractions(world.volumes[market][0])
    numbers += [place.resolve_tick / world.ticks - 0.75, place.b / 500 - 0.5]
    for perpetual in range(len(world.perpetuals)):
        numbers += fractions(world.marks[perpetual][0] // world.perpetuals[perpetual].price_unit)
        numbers += fractions(world.open_interest[perpetual][0])
        numbers += fractions(world.funding[perpetual][0])
    return [*numbers, float(world.flows[(market + 1) % len(world.markets)][0])]


def _brier(stated: Floats, happened: Floats) -> float:
    return float(((np.clip(stated, 0.0, 1.0) - happened) ** 2).mean())


def fitted(rows: Floats, happened: Floats, new_rows: Floats) -> Floats:
    """Least squares on the first rows, used on the new ones."""
    scale = np.abs(rows).max(axis=0) + 1e-12
    weights, *_ = np.linalg.lstsq(rows / scale, happened, rcond=None)
    return np.asarray(new_rows / scale @ weights, dtype=np.float64)


def test_fitting_published_numbers_foretells_outcomes_no_better_than_the_price() -> None:
    rows, prices, happened = [], [], []
    for seed in range(120):
        world, truth = generate(WorldConfig(seed=seed, agents=0))
        for place, market in enumerate(world.markets):
            stated = price(world.flows[place][0] / SHARE_UNITS, market.b)
            rows.append([1.0, stated, *features(world, place)])
            prices.append(stated)
            happened.append(float(truth.outcomes[market.id]))
    table, stated_prices, outcome = np.array(rows), np.array(prices), np.array(happened)
    half = len(table) // 2
    attack = fitted(table[:half], outcome[:half], table[half:])
    of_price = _brier(stated_prices[half:], outcome[half:])
    assert of_price < 0.24
    assert _brier(attack, outcome[half:]) > of_price - 0.003
    # The fit is not blind: given the fair value in disguise it beats the price at once.
    hint = outcome + bits.normal(bits.Streams(1).fixed("hint", 0, len(table)))
    hinted = np.column_stack([table, hint])
    assert _brier(fitted(hinted[:half], outcome[:half], hinted[half:]), outcome[half:]) < of_price


def test_likes_and_ids_of_posts_say_nothing_of_who_is_right() -> None:
    likes: dict[bool, list[int]] = {True: [], False: []}
    for seed in range(12):
        world, truth = generate(WorldConfig(seed=seed, interval_ms=6_000))
        informed = {author.id for author in truth.authors if author.kind == "informed"}
        for post in world.posts:
            if post.author != "news":
                likes[post.author in informed].append(post.likes + post.comments)
    spread = np.std(likes[True]) * (1 / len(likes[True]) + 1 / len(likes[False])) ** 0.5
    assert abs(np.mean(likes[True]) - np.mean(likes[False])) < 3.5 * spread
