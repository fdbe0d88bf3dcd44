"""SLOs on percentiles: which share has to keep a limit, and whether it did."""

import pytest
import run_documents
from click import BadParameter
from pydantic import ValidationError
from samples import Sample, columns, done, window

from agentbench_tui.cli.load.options import Slo
from agentbench_tui.load.results.aggregate import aggregate
from agentbench_tui.load.results.requests import Requests
from agentbench_tui.load.results.summary import summarize
from agentbench_tui.load.slo import share_of
from agentbench_tui.load.spec import SloSpec
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.presentation.load.sentences import slo_words
from agentbench_tui.verdicts.load.load_sweep import keeps_slo

AGENT = AgentSpec("a", "http://127.0.0.1:1", "1", base_dir=".")


@pytest.mark.parametrize(
    ("given", "name", "limit", "share"),
    [
        ("ttft_ms=200", "ttft_ms", 200, 0.99),
        ("ttft_ms.p95=200", "ttft_ms.p95", 200, 0.95),
        ("e2e_ms=1500@97.5%", "e2e_ms.p97.5", 1500, 0.975),
        ("e2e_ms.p999=2000", "e2e_ms.p999", 2000, 0.999),
    ],
)
def test_a_limit_names_the_share_that_has_to_keep_it(
    given: str, name: str, limit: float, share: float
) -> None:
    assert Slo().convert(given, None, None) == (name, limit)
    assert share_of(name) == pytest.approx(share)


@pytest.mark.parametrize("given", ["ttft_ms.p100=1", "ttft_ms.p0=1", "ttft_ms.p95=1@9%", "tfft=1"])
def test_what_is_no_limit_is_refused(given: str) -> None:
    with pytest.raises(BadParameter, match=r"expected NAME|no limit 'tfft'"):
        Slo().convert(given, None, None)


def test_a_suite_writes_a_percentile_as_a_key() -> None:
    spec = SloSpec.model_validate({"e2e_ms": 900, "ttft_ms.p95": 200})
    assert spec.limits() == {"e2e_ms": 900, "ttft_ms.p95": 200}
    assert SloSpec.model_validate(spec.model_dump()).limits() == spec.limits()
    with pytest.raises(ValidationError):
        SloSpec.model_validate({"ttft_ms.p101": 200})


@pytest.mark.parametrize(("slow", "is_kept"), [(5, True), (6, False)])
def test_a_percentile_is_kept_by_its_share_of_all_that_was_due(slow: int, is_kept: bool) -> None:
    fast = [Sample(n / 10, 0.05, ttft=0.05, gaps=[], tokens=1) for n in range(100 - slow)]
    late = [Sample(10 + n / 10, 0.5, ttft=0.5, gaps=[], tokens=1) for n in range(slow)]
    slo = {"ttft_ms.p95": 200.0}
    measured = window(done(offered=100, sent=100, window_s=12.0), slo=slo)
    requests = Requests(columns([*fast, *late]), {0: measured})
    summary = summarize(requests, aggregate(requests, AGENT))
    assert summary.slo_kept == {"ttft_ms.p95": pytest.approx((100 - slow) / 100)}
    assert keeps_slo(run_documents.load(slo=slo, slo_kept=summary.slo_kept)) is is_kept


def test_the_share_is_said_with_the_limits() -> None:
    assert slo_words({"ttft_ms": 200, "e2e_ms": 900}) == (
        "at least 99% of what was due kept ttft_ms 200, e2e_ms 900"
    )
    assert slo_words({"ttft_ms.p95": 200}) == "at least 95% of what was due kept ttft_ms 200"
