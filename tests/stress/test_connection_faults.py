"""Each fault of a connection does what it says, seen by raw sockets on both sides of the proxy."""

import asyncio
from contextlib import suppress
from random import Random
from time import perf_counter_ns
from typing import Any, cast

import hypothesis.strategies as st
import pytest
import uvloop
from hypothesis import given, settings
from proxied import Wire, connected, echo, proxied

from agentbench_tui.stress.faults.fault import (
    Bandwidth,
    BlackHole,
    Cut,
    Direction,
    Fault,
    Jitter,
    Kind,
    Latency,
    Refuse,
    Reset,
    Stall,
)
from agentbench_tui.stress.faults.pipe import MOST_HELD_ITEMS, HeldBytes, Pipe
from agentbench_tui.stress.faults.script import Schedule, Start

FOREVER_MS = 1e7
HOLDING = [
    Latency(FOREVER_MS, "both"),
    Jitter(FOREVER_MS, "both"),
    Bandwidth(1, "both"),
    Stall(),
]
BIG = bytes(range(256)) * 2000


@pytest.mark.parametrize("kind", HOLDING, ids=lambda kind: type(kind).__name__)
async def test_what_is_held_passes_when_the_fault_is_cleared(kind: Kind) -> None:
    async with proxied() as setup:
        client, target = await setup.both()
        setup.begin(kind)
        await client.send(BIG)
        client.end()
        await target.send(b"answer")
        held = len(BIG) + len(b"answer")
        counts = await setup.until(
            lambda counts: (
                counts.held_bytes + counts.to_client_bytes + counts.to_target_bytes == held
            )
        )
        assert counts.held_bytes >= held - 2  # a byte each way may have been due already
        assert counts.faults[0].applied == 1
        setup.clear()
        assert await target.read_all() == BIG
        assert await client.read_exactly(6) == b"answer"
        assert setup.counts().held_bytes == 0


@pytest.mark.parametrize("direction", ["to_target", "to_client"])
async def test_the_other_direction_is_left_alone(direction: Direction) -> None:
    async with proxied() as setup:
        ends = await setup.both()
        setup.begin(Stall(direction))
        here, there = ends if direction == "to_target" else (ends[1], ends[0])
        await here.send(b"held")
        await there.send(b"passes")
        assert await here.read_exactly(6) == b"passes"
        assert there.has_nothing()
        setup.clear()
        assert await there.read_exactly(4) == b"held"


async def test_latency_is_added_to_what_comes_and_latencies_add_up() -> None:
    async with proxied(echo) as setup:
        client = await setup.client()
        setup.begin(Latency(15), Latency(10, "both"))
        began_ns = perf_counter_ns()
        await client.send(b"x")
        assert await client.read_exactly(1) == b"x"
        assert perf_counter_ns() - began_ns >= 35e6


async def test_jitter_keeps_the_order_of_bytes() -> None:
    async with proxied() as setup:
        client, target = await setup.both()
        setup.begin(Jitter(5, "to_target"))
        for nth in range(50):
            await client.send(bytes([nth]))
        client.end()
        assert await target.read_all() == bytes(range(50))


async def test_connections_share_the_width_of_the_line() -> None:
    async with proxied() as setup:
        (one, first), (other, second) = await setup.both(), await setup.both()
        setup.begin(Bandwidth(1_000_000))
        began_ns = perf_counter_ns()
        for target in (first, second):
            await target.send(bytes(20_000))
        assert len(await one.read_exactly(20_000)) == len(await other.read_exactly(20_000))
        assert perf_counter_ns() - began_ns >= 40e6


@pytest.mark.parametrize("size", [1, 10, 300_000])
async def test_a_cut_lets_exactly_so_many_bytes_pass(size: int) -> None:
    async with proxied() as setup:
        client, target = await setup.both()
        await target.send(b"before")
        assert await client.read_exactly(6) == b"before"
        setup.begin(Cut(size))
        await target.send(BIG)
        assert await client.read_all() == BIG[:size]
        assert (await setup.until(lambda counts: not counts.open)).applied == {"cut": 1}


async def test_a_cut_may_be_a_reset_and_count_what_the_client_sends() -> None:
    async with proxied() as setup:
        client, target = await setup.both()
        setup.begin(Cut(5, end="reset", direction="to_target"))
        await client.send(b"123")
        assert await target.read_exactly(3) == b"123"
        await client.send(b"45678")
        assert await target.read_until_reset() == b"45"
        assert await client.read_until_reset() == b""


async def test_a_reset_ends_open_connections_and_new_ones() -> None:
    async with proxied(echo) as setup:
        client = await setup.client()
        await client.send(b"x")
        await client.read_exactly(1)
        setup.begin(Reset())
        assert await client.read_until_reset() == b""
        late = await setup.client()
        assert await late.read_until_reset() == b""
        counts = await setup.until(lambda counts: not counts.open)
        assert counts.applied == {"reset": 2}
        setup.clear()
        await echoes(await setup.client())


async def test_what_a_black_hole_took_stays_lost() -> None:
    async with proxied() as setup:
        asking, asked = await setup.both()
        idle, idle_target = await setup.both()
        setup.begin(BlackHole())
        await asking.send(b"lost")
        late = await setup.client()
        await late.send(b"lost too")
        await setup.until(lambda counts: counts.applied == {"black_hole": 3})
        await asked.send(b"nobody hears this")
        await setup.settle()
        setup.clear()
        # What had nothing to say goes on; by then everything else has had its turn too.
        await idle.send(b"still here")
        assert await idle_target.read_exactly(10) == b"still here"
        await idle_target.send(b"yes")
        assert await idle.read_exactly(3) == b"yes"
        assert asking.has_nothing()
        assert late.has_nothing()
        assert asked.has_nothing()
        assert setup.accepted.empty()
        for wire in (asking, late, idle):
            wire.close()
        idle_target.close()
        counts = await setup.until(lambda counts: not counts.open)
        assert counts.to_target_bytes == len(b"still here")


async def test_refused_is_refused_until_it_is_over_and_open_ones_go_on() -> None:
    async with proxied(echo) as setup:
        client = await setup.client()
        await echoes(client)
        setup.begin(Refuse(), Refuse())
        with pytest.raises(ConnectionRefusedError):
            connected(setup.proxy.port)
        await echoes(client)
        setup.clear(0)
        with pytest.raises(ConnectionRefusedError):
            connected(setup.proxy.port)
        counts = setup.clear(1)
        assert counts.applied == {"refuse": 2}
        await echoes(await setup.client())


async def test_overlapping_faults_end_each_by_itself() -> None:
    async with proxied() as setup:
        client, target = await setup.both()
        setup.begin(Stall(), Latency(FOREVER_MS, "both"), Cut(3))
        await target.send(b"abcdef")
        await setup.until(lambda counts: counts.held_bytes == 6)
        setup.clear(0)
        assert setup.counts().held_bytes == 6
        setup.clear(1)
        assert await client.read_all() == b"abc"


async def test_a_fault_begins_and_ends_by_the_clock() -> None:
    async with proxied(echo) as setup:
        client = await setup.client()
        setup.proxy.hear(Schedule((Fault(Stall(), start_s=0.02, end_s=0.04),)))
        at_ns = perf_counter_ns()
        setup.proxy.hear(Start(at_ns))
        counts = setup.counts()
        while counts.faults[0].began_ns is None:
            await echoes(client)
            counts = setup.counts()
        await echoes(client)
        back_ns = perf_counter_ns()
        (fault,) = setup.counts().faults
        assert fault.began_ns is not None
        assert fault.ended_ns is not None
        assert fault.began_ns >= at_ns + 20_000_000
        assert back_ns >= fault.ended_ns >= at_ns + 40_000_000


async def test_a_fault_whose_time_is_over_or_that_was_cleared_before_never_begins() -> None:
    async with proxied(echo) as setup:
        setup.proxy.hear(Schedule((Fault(Stall(), end_s=1.0),)))
        setup.proxy.hear(Start(perf_counter_ns() - 2_000_000_000))
        coming = Fault(Stall(), start_s=0.005)
        setup.proxy.hear(Schedule((coming, coming, Fault(Latency(1), end_s=0.01))))
        setup.clear(1)
        setup.proxy.hear(Start(perf_counter_ns()))
        setup.clear(2)
        await setup.until(lambda counts: counts.faults[3].ended_ns is not None)
        assert [fault.began_ns for fault in setup.counts().faults[:3]] == [None, None, None]
        await echoes(await setup.client())


async def test_a_share_of_the_connections_is_drawn_from_the_seed() -> None:
    random = Random(7)
    expected = [random.random() < 0.4 for _ in range(30)]
    async with proxied(echo) as setup:
        setup.begin(Fault(Reset(), share=0.4, seed=7))
        hit = []
        for _ in range(30):
            client = await setup.client()
            try:
                await echoes(client)
            except (ConnectionResetError, BrokenPipeError):
                hit.append(True)
            else:
                hit.append(False)
        assert hit == expected
        assert setup.counts().applied == {"reset": sum(expected)}


KINDS = [*HOLDING, Cut(3), Cut(3, end="reset"), Reset(), BlackHole(), Refuse()]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
async def test_clients_that_leave_in_the_middle_of_a_fault_leave_nothing(kind: Kind) -> None:
    async with proxied(echo) as setup:
        clients = [await setup.client() for _ in range(20)]
        await setup.until(lambda counts: counts.connections == 20)
        for client in clients[:15]:
            await client.send(b"hello")
        setup.begin(Fault(kind, share=1 if isinstance(kind, Refuse) else 0.7, seed=1))
        for nth, client in enumerate(clients):
            with suppress(ConnectionResetError, BrokenPipeError):
                await client.send(b"hello")
            if nth % 3 == 0:
                await setup.settle()
            (client.reset if nth % 2 else client.close)()
        await setup.settle()
        setup.clear()
        counts = await setup.until(lambda counts: not counts.open)
        assert counts.held_bytes == 0


harmless = st.one_of(
    st.builds(Latency, st.floats(0.1, 3), st.just("both")),
    st.builds(Jitter, st.floats(0.1, 3), st.just("both")),
    st.builds(Bandwidth, st.floats(1e7, 1e9), st.just("both")),
    st.builds(Stall),
)
"""Faults that change when bytes come, and nothing else."""
moments = st.floats(0, 0.01)


@given(st.lists(st.tuples(harmless, moments, moments), max_size=4), st.booleans())
@settings(max_examples=20)
def test_faults_of_time_change_no_byte(drawn: list[tuple[Kind, float, float]], http: bool) -> None:
    faults = [
        Fault(kind, start_s=begin, end_s=begin + length + 0.001) for kind, begin, length in drawn
    ]

    async def pass_through() -> None:
        async with proxied(echo, http=http) as setup:
            client = await setup.client()
            setup.begin(*faults)
            for at in range(0, len(BIG), 100_000):
                await client.send(BIG[at : at + 100_000])
                await setup.settle()
            client.end()
            assert await client.read_all() == BIG

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(pass_through())


def test_many_small_pieces_are_bounded_too() -> None:
    held_back = []

    class Owner:
        held_in_all = HeldBytes()

        def hold_back(self, pipe: Pipe, held: bool, /) -> None:
            held_back.append(held)

    pipe = Pipe(cast("Any", Owner()), "to_client")
    for _ in range(MOST_HELD_ITEMS):
        pipe.put(b"x")
    assert held_back == []
    pipe.put(b"x")
    assert held_back == [True]
    pipe.drop()
    assert held_back == [True, False]
    assert Owner.held_in_all.bytes == 0


async def echoes(wire: Wire) -> None:
    await wire.send(b"ping")
    assert await wire.read_exactly(4) == b"ping"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Latency(0), "more than 0"),
        (lambda: Bandwidth(0.5), "at least 1"),
        (lambda: Cut(0), "reset cuts at once"),
        (lambda: Fault(Stall(), start_s=2, end_s=1), "cannot end"),
        (lambda: Fault(Stall(), share=0), "share must be"),
        (lambda: Fault(Refuse(), share=0.5), "the port is closed"),
    ],
)
def test_faults_that_make_no_sense_are_told(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=message):
        make()
