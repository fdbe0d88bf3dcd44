"""Random bits and functions are the ones that numpy, scipy and mathematics know."""

from hashlib import blake2b

import numpy as np
import pytest
from numpy.random import Philox
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import kstest

from agentbench_tui.market.world import bits
from agentbench_tui.market.world.bits import Streams


def words(count: int) -> NDArray[np.uint64]:
    return Streams(1).fixed("test", 0, count)


def test_raw_bits_are_the_published_ones_of_philox() -> None:
    # Random123's known answer test for philox4x64-10: counter and key of zeros.
    known = [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]
    raw = Philox(key=0, counter=2**256 - 1).random_raw(4)
    assert raw.tolist() == known


def test_a_stream_is_philox_with_the_hash_of_its_purpose_as_key() -> None:
    key = int.from_bytes(blake2b(b"1\x1ftest\x1f0", digest_size=16).digest(), "little")
    assert words(9).tolist() == Philox(key=key).random_raw(9).tolist()


def test_exp_and_log_agree_with_numpy_to_the_last_bits() -> None:
    values = np.linspace(-699.0, 699.0, 20_001)
    np.testing.assert_allclose(bits.exp(values), np.exp(values), rtol=5e-16)
    positive = np.exp(np.linspace(-300.0, 300.0, 20_000))
    np.testing.assert_allclose(bits.log(positive), np.log(positive), rtol=5e-16, atol=1e-16)


def test_exp_of_zero_and_log_of_one_are_exact() -> None:
    assert bits.exp(np.zeros(1)).tolist() == [1.0]
    assert bits.log(np.ones(1)).tolist() == [0.0]


def test_normal_is_the_inverse_distribution_function_out_to_the_last_cell() -> None:
    drawn = np.concatenate([words(20_000), np.array([0, 2**64 - 1, 1 << 40], dtype=np.uint64)])
    np.testing.assert_allclose(bits.normal(drawn), ndtri(bits.uniform(drawn)), rtol=1e-14)


def test_the_distribution_function_agrees_with_scipy() -> None:
    values = np.linspace(-9.0, 9.0, 5_001)
    np.testing.assert_allclose(bits.normal_cdf(values), ndtr(values), rtol=0, atol=2e-12)
    assert bits.normal_cdf(np.array([-9.0, 9.0])).tolist() == [0.0, 1.0]


def test_the_logit_inverts_the_logistic_function() -> None:
    odds = np.linspace(-6.0, 6.0, 101)
    np.testing.assert_allclose(bits.logit(1.0 / (1.0 + np.exp(-odds))), odds, atol=1e-12)


def test_uniform_numbers_are_uniform_and_never_0_or_1() -> None:
    assert kstest(bits.uniform(words(20_000)), "uniform").pvalue > 0.001
    ends = bits.uniform(np.array([0, 2**64 - 1], dtype=np.uint64))
    assert 0.0 < ends[0] < 1e-15
    assert ends[0] + ends[1] == 1.0


def test_whole_numbers_below_a_count_are_equally_frequent() -> None:
    counts = np.bincount(bits.below(words(70_000), 7), minlength=7)
    assert len(counts) == 7
    # Chi-squared with 6 degrees of freedom exceeds 22.5 once in a thousand.
    assert float(((counts - 10_000) ** 2 / 10_000).sum()) < 22.5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((Streams(1), "a", 0), (Streams(2), "a", 0)),
        ((Streams(1), "a", 0), (Streams(1), "b", 0)),
        ((Streams(1), "a", 0), (Streams(1), "a", 1)),
        ((Streams(1), "a1", 1), (Streams(1), "a", 11)),
    ],
)
def test_another_seed_purpose_or_index_is_another_stream(
    one: tuple[Streams, str, int], other: tuple[Streams, str, int]
) -> None:
    left = one[0].fixed(one[1], one[2], 5_000)
    right = other[0].fixed(other[1], other[2], 5_000)
    assert not np.isin(left, right).any()
    correlation = np.corrcoef(bits.uniform(left), bits.uniform(right))[0, 1]
    assert abs(correlation) < 4 / 5_000**0.5


def test_a_longer_stream_begins_as_the_shorter_one() -> None:
    assert words(1_000)[:10].tolist() == words(10).tolist()


def test_a_suffix_changes_what_is_drawn_from_its_tick_on_and_nothing_before() -> None:
    whole = Streams(1).by_tick("path", 3, 100, 2)
    other = Streams(1, suffix_seed=2, cut=40).by_tick("path", 3, 100, 2)
    assert whole.shape == (100, 2)
    assert whole[:40].tolist() == other[:40].tolist()
    assert not (whole[40:] == other[40:]).any()
    assert Streams(1, 2, 0).fixed("path", 3, 5).tolist() == Streams(1).fixed("path", 3, 5).tolist()
