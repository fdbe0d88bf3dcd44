"""What a function of a metric may return, and what is said of anything else."""

import asyncio
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from agentbench_tui.model.answer import Answer, Case, GraderFailure
from agentbench_tui.scoring.answer_metric import AnswerMetric


def figure(value: Any, **settings: Any) -> Any:
    metric = AnswerMetric(lambda case, answer: value, **settings)
    return asyncio.run(metric.of(Case("c", "?"), Answer(text="!")))


@pytest.mark.parametrize(
    "value", [0.25, Decimal("0.25"), Fraction(1, 4), np.float32(0.25), np.array(0.25)]
)
def test_numbers_of_any_type_are_numbers(value: Any) -> None:
    assert figure(value, unit="share") == 0.25
    assert type(figure(value)) is float


def test_a_pair_may_be_of_any_type_of_number() -> None:
    assert figure((Decimal(1), Fraction(1, 2)), aggregate="ratio") == (1.0, 0.5)


class Opaque:
    pass


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Decimal("NaN"), "returned Decimal('NaN'), not a finite number"),
        (float("inf"), "returned inf, not a finite number"),
        # What a float cannot hold; Python prints no int of more than 4300 digits.
        (10**400, "returned 1000"),
        (10**5000, "returned an object of the type int, not a finite number"),
        ("0.5", "returned '0.5', not a finite number"),
        (1j, "returned 1j, not a finite number"),
        # An address would make each message another, so that none could be counted.
        (Opaque(), "returned an object of the type Opaque, not a finite number"),
        (Unprintable(), "returned an object of the type Unprintable, not a finite number"),
    ],
    ids=["nan", "infinite", "too large", "unprintable int", "text", "complex", "object", "raises"],
)
def test_anything_else_is_a_failure_that_says_what_it_was(value: Any, words: str) -> None:
    with pytest.raises(GraderFailure) as failure:
        figure(value)
    assert str(failure.value).startswith(words)
