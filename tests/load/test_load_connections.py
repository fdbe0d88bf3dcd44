"""What is said of opened connections: what they cost, and no stall that made them be opened."""

import pytest
from samples import Sample, columns, done, window

from agentbench_tui.load.results.connections import told_of_connections
from agentbench_tui.load.results.requests import Requests


def told(samples: list[Sample]) -> list[str]:
    return told_of_connections(Requests(columns(samples), {0: window(done())}))


@pytest.mark.parametrize(
    ("opened", "late_ms", "expected"),
    [
        (0, 0, []),
        (100, 0, ["100 of 100 answered requests opened a connection: their latencies include it"]),
        (
            25,
            40,
            [
                (
                    "25 of 100 answered requests opened a connection, and their first byte came"
                    " 40.0 ms later (median)"
                )
            ],
        ),
        (25, 4, []),  # 4%
        (
            1,
            40,
            [
                (
                    "1 of 100 answered requests opened a connection, and their first byte came"
                    " 40.0 ms later (median)"
                )
            ],
        ),
    ],
)
def test_what_opening_connections_adds_is_told_where_it_shows(
    opened: int, late_ms: float, expected: list[str]
) -> None:
    asked = [
        Sample(
            n / 10, 0.3, new_connection=n < opened, first_byte=0.1 + (n < opened) * late_ms / 1e3
        )
        for n in range(100)
    ]
    assert told(asked) == expected


def test_one_connection_of_many_requests_is_not_worth_a_word() -> None:
    assert not told(
        [Sample(n / 100, 0.3, new_connection=not n, first_byte=0.1 + (not n)) for n in range(101)]
    )


@pytest.mark.parametrize("most", [10, 1000])
def test_a_stall_is_not_what_a_connection_costs(most: int) -> None:
    """50/s at 20 ms, two connections, then 1 s in which nothing is answered: all that comes opens
    one, with at most 10 at once or without a bound."""
    samples, stall, opened = [], (5.0, 6.0), 0
    for n in range(500):
        due = n / 50
        if not stall[0] <= due < stall[1]:
            samples.append(Sample(due, 0.02, first_byte=0.02, new_connection=n == 0))
            continue
        place = n - 250
        waits = place >= most
        end = stall[1] + (0.02 if waits else 0.0)
        sent = stall[1] if waits else due
        is_new = not waits and place >= 2
        opened += is_new
        samples.append(
            Sample(due, end - sent, sent - due, first_byte=end - sent, new_connection=is_new)
        )
    told_so = f"{opened + 1} of 500 answered requests opened a connection"
    assert told(samples) == [f"{told_so}: their latencies include it"]


def test_a_stall_beside_connections_that_cost_does_not_hide_their_price() -> None:
    samples = [
        Sample(n / 10, 0.2, first_byte=0.14 if n % 4 == 0 else 0.1, new_connection=n % 4 == 0)
        for n in range(100)
    ]
    samples += [Sample(5 + n / 100, 1.0, first_byte=1.0, new_connection=n > 1) for n in range(20)]
    (line,) = told(samples)
    assert line.endswith("and their first byte came 40.0 ms later (median)")


def test_a_target_that_falls_behind_is_not_either() -> None:
    """Every answer takes longer than the one before; what opens a connection is late among them."""
    samples = [
        Sample(n / 50, 0.02 + n / 100, first_byte=0.02 + n / 100, new_connection=n % 5 == 4)
        for n in range(200)
    ]
    samples = [sample for sample in samples if sample.due < 2 or sample.new_connection]
    (line,) = told(samples)
    assert line.endswith("answered requests opened a connection: their latencies include it")
