"""A history judged run by run: what stands, what ends it, and how seldom chance is called a change.

The series are drawn here, not by the project's generators.
"""

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from agentbench_tui.analysis.runs.daily_cycle import daily_cycle
from agentbench_tui.analysis.runs.history_gate import GateLevels, is_drift, smallest
from agentbench_tui.analysis.runs.history_replay import BY_CASES, Confirmations, replays
from agentbench_tui.analysis.runs.level import Level

MARGIN = math.log(1.05)


def verdicts(logs: NDArray[np.float64], levels: GateLevels | None = None) -> list[bool]:
    """For each run whether a regression stands at it."""
    states = replays(logs, MARGIN, levels or GateLevels())
    return [one.episode is not None and one.episode.worse for one in states]


def switches(standing: list[bool]) -> int:
    return sum(a != b for a, b in itertools.pairwise(standing))


def test_a_change_at_the_margin_does_not_come_and_go() -> None:
    """5%, with a run noise of 1.5%, for 30 runs: once found, it stands to the end."""
    changed_mind = 0
    for seed in range(40):
        draw = np.random.default_rng([41, seed])
        logs = draw.normal(0, 0.015, 60)
        logs[30:] += MARGIN
        changed_mind += switches(verdicts(logs)) > 1
    assert changed_mind <= 1


def test_a_change_that_is_mended_ends_at_once_where_noise_is_small() -> None:
    logs = np.random.default_rng(42).normal(0, 0.01, 50)
    logs[25:40] += math.log(1.1)
    standing = verdicts(logs)
    assert standing[27:40] == [True] * 13
    assert not any(standing[40:])


def test_one_good_run_in_much_noise_ends_nothing() -> None:
    """The new level is 8% up, the noise 4%: a run near the old level is no proof."""
    logs = np.random.default_rng(43).normal(0, 0.04, 45)
    logs[25:] += math.log(1.2)
    standing = verdicts(logs)
    found = standing.index(True)
    logs[40] -= 0.11
    assert verdicts(logs)[found:] == standing[found:] == [True] * (45 - found)


def test_a_level_that_nobody_mends_becomes_the_level_after_40_runs() -> None:
    logs = np.random.default_rng(44).normal(0, 0.01, 90)
    logs[25:] += math.log(1.15)
    standing = verdicts(logs)
    assert standing[27:64] == [True] * 37
    assert not any(standing[65:])


def test_the_runs_of_an_ended_change_do_not_count_for_the_level() -> None:
    """After 20 bad runs the next bad one is suspect again, at once."""
    logs = np.random.default_rng(45).normal(0, 0.01, 60)
    logs[25:45] += math.log(1.15)
    logs[59] += math.log(1.15)
    last = replays(logs, MARGIN, GateLevels())[-1]
    assert last.is_suspect
    assert not set(last.level) & set(range(26, 45))


@pytest.mark.parametrize("tests", [1, 50])
def test_an_unchanged_agent_is_rarely_suspect_whatever_the_number_of_tests(tests: int) -> None:
    """Of each test 4% ÷ the number of tests are due, and 0.5% at most."""
    draw, levels = np.random.default_rng(46), GateLevels.of_check(tests)
    suspects = runs = 0
    for _ in range(150):
        states = replays(draw.normal(0, 0.05, 45), MARGIN, levels)[20:]
        suspects += sum(one.is_suspect for one in states)
        runs += len(states)
    assert suspects / runs <= 1.3 * min(0.005, 0.04 / tests) + 2 / runs


def daily(
    size: float, seed: int, every: float = 3.0, runs: int = 64
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    hours = every * np.arange(runs, dtype=np.float64)
    noise = np.random.default_rng(seed).normal(0, 0.01, runs)
    wave = np.asarray(np.cos(2 * math.pi * (hours - 15) / 24), np.float64)
    return size * wave + noise, np.asarray(hours, np.float64)


def test_the_time_of_day_is_found_and_is_what_was_put_in() -> None:
    logs, hours = daily(0.08, 47)
    cycle = daily_cycle(logs, hours)
    assert cycle is not None
    assert cycle == pytest.approx(0.08 * np.cos(2 * math.pi * (hours - 15) / 24), abs=0.01)
    assert not any(verdicts(logs - cycle))


def test_a_step_beside_a_cycle_is_still_found() -> None:
    logs, hours = daily(0.08, 48)
    logs[50:] += math.log(1.1)
    cycle = daily_cycle(logs, hours)
    assert cycle is not None
    assert verdicts(logs - cycle)[-1]
    assert not verdicts(logs)[-1]


@pytest.mark.parametrize("seed", range(10))
def test_no_cycle_is_seen_in_noise_nor_in_a_step(seed: int) -> None:
    logs, hours = daily(0.0, seed)
    assert daily_cycle(logs, hours) is None
    logs[37:] += math.log(1.1)
    assert daily_cycle(logs, hours) is None


def test_a_cycle_needs_two_days_and_several_runs_a_day() -> None:
    logs, hours = daily(0.08, 49)
    assert daily_cycle(logs[:15], hours[:15]) is None
    assert daily_cycle(logs[::8], hours[::8]) is None
    assert daily_cycle(logs[:0], hours[:0]) is None


def with_excursions(
    seed: int, at: tuple[int, ...], runs: int = 80, lasting: int = 3
) -> NDArray[np.float64]:
    """1% of noise, and some runs 30% slower at each of these places."""
    logs = np.random.default_rng(seed).normal(0, 0.01, runs)
    for place in at:
        logs[place : place + lasting] += math.log(1.3)
    return logs


def test_a_quiet_history_believes_the_third_run() -> None:
    assert verdicts(with_excursions(50, (40,)))[40:43] == [False, False, True]


def test_two_runs_off_the_level_are_suspect_and_no_change() -> None:
    logs = with_excursions(50, (40,), lasting=2)
    assert not any(verdicts(logs))
    states = replays(logs, MARGIN, GateLevels())
    assert [one.is_suspect for one in states[39:43]] == [False, True, True, False]
    assert [(one.in_a_row, one.needed) for one in states[40:42]] == [(1, 3), (2, 3)]


def test_a_share_that_cases_confirm_is_believed_at_the_second_run() -> None:
    """A fall from about 90% to about 80% right."""
    shares = -np.random.default_rng(56).normal(0.9, 0.005, 60)
    shares[40:42] += 0.1
    states = replays(shares, 0.02, GateLevels(), BY_CASES)
    assert [one.episode is not None for one in states[39:42]] == [False, False, True]


def test_the_last_5_runs_must_rank_above_the_level_in_two_checks() -> None:
    """6 runs in steps of 4%, each less than the margin from the one before, and then the level."""
    logs = np.random.default_rng(57).normal(0, 0.004, 60)
    logs[40:] += 0.06
    logs[40] -= 0.035
    logs[41] -= 0.025
    once = replays(logs, MARGIN, GateLevels(instant=1e-12), Confirmations(runs=3, checks=1))
    twice = replays(logs, MARGIN, GateLevels(instant=1e-12))
    first = [next(n for n, one in enumerate(s) if one.episode is not None) for s in (once, twice)]
    assert first[1] == first[0] + 1


def test_what_has_come_and_gone_must_last_longer_the_next_time() -> None:
    """The first three bad runs in a row are an alarm, the same three later are a suspect."""
    logs = with_excursions(51, (40, 55))
    standing = verdicts(logs)
    assert standing[42]
    assert not any(standing[46:])
    state = replays(logs[:58], MARGIN, GateLevels())[-1]
    assert (state.is_suspect, state.in_a_row, state.needed) == (True, 3, 4)


def test_a_change_after_excursions_is_found_some_runs_later() -> None:
    logs = with_excursions(52, (30, 45), lasting=2)
    logs[60:] += math.log(1.3)
    standing = verdicts(logs)
    assert not any(standing[:64])
    assert all(standing[66:])


def test_excursions_are_forgotten_after_120_runs() -> None:
    logs = with_excursions(53, (40, 180), runs=190)
    assert verdicts(logs)[180:183] == [False, False, True]


@pytest.mark.parametrize("margin", [0.01, MARGIN])
def test_the_smallest_worsening_is_found_within_8_runs_in_four_of_five_histories(
    margin: float,
) -> None:
    """Normal runs that scatter by 2%, whatever excursions chance made before."""
    hits = []
    for seed in range(250):
        logs = np.random.default_rng([58, seed]).normal(0, 0.02, 53)
        logs[45:] += smallest(Level(0.0, 0.02, 20), 45, margin, GateLevels())
        states = replays(logs, margin, GateLevels())[45:]
        hits.append(any(one.episode is not None and one.episode.worse for one in states))
    assert np.mean(hits) >= 0.8 - 2 * math.sqrt(0.8 * 0.2 / 250)


def test_a_change_does_not_stand_once_its_runs_lie_beyond_the_old_level() -> None:
    """In a history with an outlier, which would make each single run back weak evidence."""
    logs = np.random.default_rng(54).normal(0, 0.02, 60)
    logs[5] -= 0.7
    logs[25:32] += 0.08
    logs[32:] -= 0.02
    standing = verdicts(logs)
    assert any(standing[25:32])
    assert not any(standing[37:])


def test_a_level_that_wanders_is_no_drift() -> None:
    """Up and half of the way down again: only what goes on in one direction creeps."""
    noise = np.random.default_rng(55).normal(0, 0.004, 45)
    creeping = noise + np.linspace(0, 0.09, 45)
    turning = noise + np.interp(np.arange(45), [0, 30, 44], [0, 0.09, 0.06])
    assert is_drift(creeping, MARGIN, 0.001) is True
    assert is_drift(-creeping, MARGIN, 0.001) is False
    assert is_drift(turning, MARGIN, 0.001) is None
