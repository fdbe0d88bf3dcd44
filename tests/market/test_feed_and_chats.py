"""Authors are as reliable as the truth says, and that can be learned from what prices do."""

from collections import defaultdict
from functools import cache

import numpy as np

from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.truth import Truth
from agentbench_tui.market.world.world import World, WorldConfig

CONFIG = WorldConfig(interval_ms=6_000)
HORIZON = 15


@cache
def worlds() -> list[tuple[World, Truth]]:
    return [generate(WorldConfig(interval_ms=CONFIG.interval_ms, seed=seed)) for seed in range(30)]


def price_columns(world: World) -> dict[str, tuple[int, ...]]:
    """What a price of each subject rises with, up to the last tick at which it moves."""
    columns = {
        market.id: flow[: market.resolve_tick]
        for market, flow in zip(world.markets, world.flows, strict=True)
    }
    tickers = [perpetual.ticker for perpetual in world.perpetuals]
    return columns | dict(zip(tickers, world.marks, strict=True))


def hits(world: World, reports: list[tuple[int, str, str, int]]) -> dict[str, list[bool]]:
    """By author, whether prices later went where it leaned: what any reader can find out."""
    columns, found = price_columns(world), defaultdict(list)
    for tick, author, subject, lean in reports:
        column = columns[subject]
        move = column[min(tick + HORIZON, len(column) - 1)] - column[tick]
        if lean and move:
            found[author].append((move > 0) == (lean > 0))
    return found


def test_reliable_authors_can_be_told_from_others_by_what_prices_did() -> None:
    told, true = [], []
    for world, truth in worlds():
        reports = [(p.tick, p.author, p.subject, p.lean) for p in world.posts if p.author != "news"]
        found = hits(world, reports)
        for author in truth.authors:
            if len(found[author.id]) >= 8:
                told.append(float(np.mean(found[author.id])))
                true.append(author.reliability_ppm / 1e6)
    seen, real = np.array(told), np.array(true)
    assert len(seen) > 100
    assert np.corrcoef(seen, real)[0, 1] > 0.4
    assert seen[real > 0.7].mean() > seen[real < 0.7].mean() + 0.1
    assert seen[real > 0.7].mean() > 0.6


def test_leans_are_right_as_often_as_the_author_is_reliable() -> None:
    right: dict[str, list[bool]] = {"informed": [], "others": []}
    expected: dict[str, list[float]] = {"informed": [], "others": []}
    for world, truth in worlds():
        authors = {author.id: author for author in truth.authors}
        fair = dict(zip((m.id for m in world.markets), truth.fair, strict=True))
        liquidity = {market.id: market.b for market in world.markets}
        columns = price_columns(world)
        for post in world.posts:
            if post.subject not in fair:
                continue
            chance = min(max(fair[post.subject][post.tick] / 1e6, 0.003), 0.997)
            odds = columns[post.subject][post.tick] / (1_000 * liquidity[post.subject])
            gap = float(np.log(chance / (1 - chance))) - odds
            truly = 0 if abs(gap) < 0.08 else (1 if gap > 0 else -1)
            group = "informed" if authors[post.author].kind == "informed" else "others"
            right[group].append(post.lean == truly)
            expected[group].append(authors[post.author].reliability_ppm / 1e6)
    for group, found in right.items():
        spread = 0.5 / len(found) ** 0.5
        assert abs(float(np.mean(found)) - float(np.mean(expected[group]))) < 4 * spread
    assert np.mean(right["informed"]) > 0.75 > 0.6 > np.mean(right["others"])


def test_people_are_more_candid_in_chats() -> None:
    posts, messages = [], []
    for world, truth in worlds():
        kinds = {author.id: author.kind for author in truth.authors}
        public = [(p.tick, p.author, p.subject, p.lean) for p in world.posts if p.author != "news"]
        closed = [(m.tick, m.author, m.subject, m.lean) for m in world.messages]
        for found, reports in ((posts, public), (messages, closed)):
            for author, seen in hits(world, reports).items():
                found += seen if kinds[author] != "informed" else []
    assert np.mean(messages) > np.mean(posts) + 0.05


def test_rumors_precede_news_and_lean_its_way() -> None:
    during, length, leans = 0, 0, []
    total, ticks = 0, 0
    for world, truth in worlds():
        kinds = {author.id: author.kind for author in truth.authors}
        written = [p for p in world.posts if p.author != "news"]
        total += sum(p.subject in {item.ticker for item in world.perpetuals} for p in written)
        ticks += world.ticks * len(world.perpetuals)
        for item in truth.news:
            early = [
                post
                for post in written
                if post.subject == item.ticker and item.announced <= post.tick < item.tick
            ]
            during, length = during + len(early), length + item.tick - item.announced
            sign = 1 if item.size_ppm > 0 else -1
            leans += [post.lean == sign for post in early if kinds[post.author] == "informed"]
    assert during / length > 3 * total / ticks
    assert np.mean(leans) > 0.7


def test_news_is_posted_when_it_strikes() -> None:
    for world, truth in worlds():
        posted = {
            (post.subject, post.tick, post.lean) for post in world.posts if post.author == "news"
        }
        assert posted == {
            (item.ticker, item.tick, 1 if item.size_ppm > 0 else -1) for item in truth.news
        }


def test_nobody_writes_of_a_market_once_it_is_resolved() -> None:
    for world, _ in worlds():
        ends = {market.id: market.resolve_tick for market in world.markets}
        said = [*world.posts, *world.messages]
        assert all(item.tick < ends.get(item.subject, world.ticks + 1) for item in said)


def test_the_tested_agent_is_invited_to_every_group_while_there_is_time() -> None:
    for world, _ in worlds():
        created = {group.id: group.created for group in world.groups}
        assert {item.group for item in world.invitations} == set(created)
        assert all(created[i.group] <= i.tick <= 0.6 * world.ticks for i in world.invitations)
        members = {group.id: set(group.members) for group in world.groups}
        assert all(message.author in members[message.group] for message in world.messages)
        assert all(message.tick >= created[message.group] for message in world.messages)


def test_a_world_without_agents_is_silent_but_for_the_news() -> None:
    world, _ = generate(WorldConfig(agents=0, interval_ms=6_000))
    assert {post.author for post in world.posts} <= {"news"}
    assert (world.groups, world.invitations, world.messages) == ((), (), ())
    assert len(set(world.flows[0])) > 10
