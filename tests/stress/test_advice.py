"""Rules of advice: each fires on its evidence, not on chance, and not where evidence lacks."""

from typing import Any

import msgspec
import pytest

from agentbench_tui.stress.advice.advice import RULES, advise
from agentbench_tui.stress.advice.window_bounds import figure, knee, level_figure
from agentbench_tui.stress.report import (
    Advice,
    LimitsUsed,
    NormalLoad,
    RecoveryFacts,
    ScalingFacts,
    ScenarioReport,
    TrendFacts,
    WindowFacts,
)
from agentbench_tui.stress.search.breaking_point import BreakingPoint

LIMITS = LimitsUsed(error_share=0.01, p95_ms=100.0, completed_share=0.95, derived=True)


def window(phase: str = "probe", **given: Any) -> WindowFacts:
    """10 s at 80 requests/s, all answered, in 20 ms."""
    asked = given.get("asked_per_s", 80.0)
    length_s = given.get("length_s", 10.0)
    facts: dict[str, Any] = {
        "repeat": 0,
        "length_s": length_s,
        "asked_per_s": asked,
        "requests": round((asked or 80.0) * length_s),
        "answered_per_s": asked or 80.0,
        "error_share": 0.0,
        "p50_ms": 20.0,
        "p95_ms": 25.0,
    }
    return WindowFacts(phase=phase, **(facts | given))


def failing(share: float, kind: str, **given: Any) -> WindowFacts:
    """200 requests/s, of which a share fails in one way."""
    requests = round(200 * given.get("length_s", 10.0))
    failed = round(share * requests)
    return window(
        **(
            {
                "asked_per_s": 200.0,
                "requests": requests,
                "error_share": failed / requests,
                "answered_per_s": 80.0,
                "failures": {kind: failed},
            }
            | given
        )
    )


def report(*windows: WindowFacts, **given: Any) -> ScenarioReport:
    facts: dict[str, Any] = {"scenario": "high_load", "windows": list(windows), "limits": LIMITS}
    return ScenarioReport(**(facts | given))


def point(**given: Any) -> BreakingPoint:
    facts: dict[str, Any] = {
        "on": "rate",
        "unit": "requests/s",
        "status": "found",
        "passes": 84.0,
        "fails": 90.0,
        "confirmed": True,
        "broke": ("p95 of latency",),
        "reason": "p95 of latency 812 ms [790, 850], limit 100 ms",
    }
    return BreakingPoint(**(facts | given))


def only(found: list[Advice]) -> Advice:
    (advice,) = found
    return advice


def rules(*reports: ScenarioReport) -> set[str]:
    return {advice.rule for advice in advise(reports)}


def test_of_a_target_that_keeps_everything_nothing_is_said() -> None:
    normal, over = window("normal"), failing(0.6, "rate_limited")
    quiet = report(
        normal,
        window(cpu_cores=0.3),
        over,
        window("recovery"),
        breaking_points=[point(broke=("errors",))],
        recoveries=[RecoveryFacts(after="overload", seconds=1.0, watched_s=30.0)],
        observations={
            "polite_refused": 20,
            "polite_told": 20,
            "quiet_waited": 20,
            "quiet_refused_after_wait": 1,
        },
    )
    assert advise([quiet]) == []


def test_of_an_empty_report_nothing_is_said() -> None:
    assert advise([ScenarioReport(scenario="high_load")]) == []
    assert advise([report()]) == []


def test_queueing_while_the_processor_is_idle() -> None:
    at = [window(asked_per_s=84.0, cpu_cores=0.31), window(asked_per_s=60.0, cpu_cores=0.9)]
    advice = only(advise([report(*at, breaking_points=[point()])]))
    assert advice.rule == "queueing-while-idle"
    assert advice.words.startswith(
        "The limit is 84 requests/s while the target's CPU is at 31% of a core"
    )
    assert advice.evidence == {
        "passes": 84.0,
        "fails": 90.0,
        "cpu_cores": 0.31,
        "scenario": "high_load",
    }


def test_queueing_starts_where_the_median_first_exceeds_the_unloaded_one() -> None:
    """Medians double from 8 to 16 users; 24 users is where p95 breaks its limit."""
    medians = {1: 20.0, 2: 20.2, 4: 19.9, 8: 20.4, 16: 41.0, 24: 62.0}
    at = [
        window(
            users=users, asked_per_s=None, p50_ms=median, p50_low_ms=0.97 * median,
            p50_high_ms=1.03 * median, cpu_cores=0.31,
        )
        for users, median in medians.items()
    ]  # fmt: skip
    broken = point(on="concurrency", unit="users", passes=24.0, fails=28.0)
    assert knee(report(*at), by_users=True) == 16
    advice = only(advise([report(*at, breaking_points=[broken])]))
    assert advice.words.startswith(
        "Queueing starts at 16 users and the limit is 24 users, while the target's CPU is at 31%"
    )
    assert advice.evidence["knee"] == 16


def test_a_median_that_may_be_the_unloaded_one_is_no_queue() -> None:
    def at(users: int, median: float, half: float) -> WindowFacts:
        ends: dict[str, Any] = {"p50_low_ms": median - half, "p50_high_ms": median + half}
        return window(users=users, asked_per_s=None, p50_ms=median, **ends)

    assert knee(report(at(1, 20, 2), at(2, 40, 30), at(4, 21, 0.1)), by_users=True) is None
    assert knee(report(at(1, 20, 2), at(2, 40, 30), at(4, 50, 5)), by_users=True) == 4
    again = at(4, 20, 2)  # one window of a level is not slow
    assert knee(report(at(1, 20, 2), at(4, 50, 5), again), by_users=True) is None
    assert knee(report(window(users=1), window(users=2)), by_users=True) is None


@pytest.mark.parametrize(
    ("cores", "of", "rule"),
    [
        (0.31, None, "queueing-while-idle"),
        (0.7, 4, None),
        (0.97, None, "processor-bound"),
        (1.4, 4, None),
        (3.7, 4, "processor-bound"),
        (3.7, None, None),
        (None, 4, None),
    ],
)
def test_the_processor_is_blamed_when_a_core_or_the_machine_is_busy(
    cores: float | None, of: int | None, rule: str | None
) -> None:
    at = window(asked_per_s=90.0, cpu_cores=cores)
    machine = {} if of is None else {"machine_cores": of}
    found = rules(report(at, breaking_points=[point()], observations=machine))
    assert found == ({rule} if rule else set())


def test_a_breaking_point_that_was_not_repeated_blames_nothing() -> None:
    at = window(asked_per_s=90.0, cpu_cores=0.2)
    assert rules(report(at, breaking_points=[point(confirmed=False)])) == set()
    assert rules(report(at, breaking_points=[point(broke=("errors",))])) == set()


def test_of_what_an_overload_has_harmed_the_breaking_point_blames_nothing() -> None:
    at = window(asked_per_s=90.0, cpu_cores=0.2)
    harmed = point(hysteresis=True)
    assert rules(report(at, breaking_points=[harmed])) == {"no-recovery"}


def test_collapse_is_told_from_standing_still() -> None:
    stands = report(window(), failing(0.6, "rate_limited"))
    falls = report(window(), failing(0.9, "rate_limited", answered_per_s=20.0))
    assert rules(stands) == set()
    advice = only(advise([falls]))
    assert (advice.rule, advice.severity) == ("congestion-collapse", "critical")
    assert "At 200 requests/s it answers 20 requests/s, at its best 80" in advice.words


def test_a_window_that_ends_before_an_answer_can_come_is_no_collapse() -> None:
    """0.2 s of a target that answers all in 0.36 s."""
    at_ease = NormalLoad(rate_per_s=40, users=8, p50_ms=361, p95_ms=363, capacity_per_s=176)
    limits = msgspec.structs.replace(LIMITS, p95_ms=3 * at_ease.p95_ms)
    first = window(length_s=2.0)
    short = window(length_s=0.2, asked_per_s=400.0, answered_per_s=0.0, p50_ms=361.0, p95_ms=363.0)
    assert rules(report(first, short, normal=at_ease, limits=limits)) == set()
    longer = failing(0.9, "rate_limited", length_s=2.0, answered_per_s=5.0)
    found = rules(report(first, longer, normal=at_ease, limits=limits))
    assert found == {"congestion-collapse"}


def test_what_a_later_spike_finds_waiting_is_no_collapse() -> None:
    """It works off the first one, in order."""
    spike = window("stress", asked_per_s=200.0, answered_per_s=80.0, p50_ms=4000.0)
    later = window("stress", repeat=1, asked_per_s=200.0, answered_per_s=0.0, p50_ms=9000.0)
    spikes = report(window(), spike, later, scenario="spike_load")
    assert rules(spikes) == {"answers-too-late"}
    assert "congestion-collapse" in rules(report(window(), later, scenario="spike_load"))


def test_few_answers_are_no_collapse() -> None:
    """3 answers a window at best and 1 under overload may be chance."""
    least = window(length_s=1.0, asked_per_s=3.0)
    over = failing(0.9, "rate_limited", length_s=1.0, answered_per_s=1.0)
    assert rules(report(least, over)) == set()


def test_what_the_sender_or_a_fault_of_ours_did_is_no_collapse() -> None:
    over = failing(0.9, "rate_limited", answered_per_s=20.0)
    limited = msgspec.structs.replace(over, sender_limit="CPU")
    faulted = msgspec.structs.replace(over, applied={"stall": 3})
    assert rules(report(window(), limited)) == {"sender-limit"}
    assert rules(report(window(), faulted)) == set()


def test_users_that_are_refused_and_ask_again_at_once_are_no_collapse() -> None:
    few = window(asked_per_s=None, users=4)
    many = failing(0.99, "rate_limited", asked_per_s=None, users=100, answered_per_s=10.0)
    assert rules(report(few, many)) == set()
    hang = failing(0.99, "timeout", asked_per_s=None, users=100, answered_per_s=10.0)
    assert "congestion-collapse" in rules(report(few, hang))


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("timeout", "timeouts-instead-of-refusals"),
        ("unfinished", "timeouts-instead-of-refusals"),
        ("connection", "resets-instead-of-refusals"),
        ("truncated", "resets-instead-of-refusals"),
        ("rate_limited", None),
        ("server", None),
    ],
)
def test_how_an_overload_is_refused(kind: str, rule: str | None) -> None:
    assert rules(report(window(), failing(0.6, kind))) == ({rule} if rule else set())
    assert rules(report(window(), failing(0.04, kind))) == set()


def test_answers_that_come_too_late() -> None:
    late = failing(0.0, "timeout", p50_ms=6000.0, p95_ms=9000.0)
    advice = only(advise([report(window(), late)]))
    assert advice.rule == "answers-too-late"
    assert "later than 6 s (limit 0.1 s)" in advice.words
    assert rules(report(window(), failing(0.0, "timeout", p50_ms=90.0))) == set()
    few = window(asked_per_s=None, users=4)
    many = failing(0.0, "timeout", asked_per_s=None, users=64, p50_ms=6000.0)
    assert rules(report(few, many)) == set()


def test_what_does_not_come_back() -> None:
    never = RecoveryFacts(
        after="overload", seconds=None, watched_s=30.0, words="not recovered within 30 s"
    )
    advice = only(advise([report(recoveries=[never])]))
    assert (advice.rule, advice.severity) == ("no-recovery", "critical")
    assert "after overload (30 s watched" in advice.words
    unknown = RecoveryFacts(
        after="overload", known=False, watched_s=3.0, words="not known: only 3 s were watched"
    )
    assert rules(report(recoveries=[unknown])) == set()
    assert rules(report(breaking_points=[point(hysteresis=True)])) == {"no-recovery"}
    slow = RecoveryFacts(after="overload", seconds=17.0, watched_s=30.0)
    assert rules(report(recoveries=[slow])) == {"slow-recovery"}
    # Left alone it has come back: it works off what has piled up.
    alone = only(advise([report(recoveries=[never], observations={"idle_again": True})]))
    assert (alone.rule, alone.severity) == ("slow-recovery", "critical")
    # What had passed fails, and normal load is served: it is not gone for good.
    back = RecoveryFacts(after="overload", seconds=0.0, watched_s=30.0, words="recovered at once")
    less = only(advise([report(recoveries=[back], breaking_points=[point(hysteresis=True)])]))
    assert (less.rule, less.severity) == ("less-than-before", "warning")
    again = point(hysteresis=False, broke=("errors",))
    assert rules(report(recoveries=[never], breaking_points=[again])) == {"slow-recovery"}
    assert rules(report(recoveries=[never], observations={"idle_again": False})) == {"no-recovery"}


def test_what_goes_on_refusing_has_another_fault_than_what_does_not_come_back() -> None:
    never = RecoveryFacts(
        after="overload", seconds=None, watched_s=30.0, words="not recovered within 30 s"
    )
    waited = {"quiet_waited": 12, "quiet_refused_after_wait": 12}
    refusing = failing(
        1.0, "rate_limited", phase="recovery", asked_per_s=40.0, answered_per_s=0.0, p50_ms=None
    )
    found = rules(report(window(), refusing, recoveries=[never], observations=waited))
    assert found == {"keeps-refusing", "retry-after-not-kept"}
    # Refused because what is let in takes ever so long: it is not well.
    slow = failing(
        0.9, "rate_limited", phase="recovery", asked_per_s=40.0, answered_per_s=4.0, p50_ms=800.0
    )
    found = rules(report(window(), slow, recoveries=[never], observations=waited))
    assert found == {"no-recovery"}


def test_harm_done_while_normal_load_was_looked_for() -> None:
    fine = window("ladder", asked_per_s=None, users=8, answered_per_s=300.0, length_s=2.0)
    overloaded = failing(
        0.9, "rate_limited", phase="ladder", asked_per_s=None, users=16, answered_per_s=9.0
    )
    normal = failing(0.9, "rate_limited", phase="normal", p50_ms=800.0)
    hurt = only(advise([report(fine, overloaded, normal)]))
    assert hurt.rule == "no-recovery"
    assert "300 requests/s were answered before, 80 of 200 requests/s after" in hurt.words
    # Where no step of the ladder has done better, nothing was harmed: it just refuses.
    assert rules(report(overloaded, normal)) == {"refusals-at-normal-load"}
    # What is let in is answered as before: a limit whose burst was used up.
    limited = failing(0.5, "rate_limited", phase="normal", answered_per_s=100.0)
    (burst,) = advise([report(fine, limited)])
    assert (burst.rule, burst.severity) == ("refusals-at-normal-load", "warning")
    assert "about 100 requests/s are let in" in burst.words


def test_a_target_that_has_ended() -> None:
    gone = failing(0.6, "connection", memory_mb=512.0)
    lost = report(window(), gone, status="target lost", reason="no process listens any more")
    advice = only(advise([lost]))
    assert (advice.rule, advice.severity) == ("target-lost", "critical")
    assert "(no process listens any more)" in advice.words
    assert "had 200 requests/s, holding 512 MB" in advice.words
    nothing = report(status="target lost", reason="no process listens any more")
    assert rules(nothing) == {"target-lost"}


def test_a_failure_that_is_not_survived() -> None:
    never = RecoveryFacts(
        after="black_hole", seconds=None, watched_s=10.0, words="not recovered within 10 s"
    )
    advice = only(advise([report(scenario="failure_recovery", recoveries=[never])]))
    assert (advice.rule, advice.severity) == ("failure-not-survived", "critical")
    assert "of the end of black hole" in advice.words


@pytest.mark.parametrize(
    ("phase", "kind", "rule"),
    [
        ("fault reset", "agent", "broken-connections-passed-on"),
        ("fault truncation", "server", "broken-connections-passed-on"),
        ("fault reset", "connection", None),
        ("fault error_reply", "server", None),
        ("reset", "agent", None),
    ],
)
def test_an_agent_that_passes_on_what_broke_behind_it(
    phase: str, kind: str, rule: str | None
) -> None:
    broken = failing(0.5, kind, phase=phase, asked_per_s=80.0)
    assert rules(report(broken, scenario="failure_recovery")) == ({rule} if rule else set())
    few = failing(0.02, kind, phase=phase, asked_per_s=80.0)
    assert rules(report(few, scenario="failure_recovery")) == set()


def test_refusals_that_say_nothing() -> None:
    silent = {"polite_refused": 20, "polite_told": 0}
    assert rules(report(observations=silent)) == {"refusals-without-retry-after"}
    assert rules(report(observations={"polite_refused": 2, "polite_told": 0})) == set()
    assert rules(report(observations={"polite_refused": 20, "polite_told": 9})) == set()


def test_retry_after_is_kept_or_not() -> None:
    broken = {"quiet_waited": 12, "quiet_refused_after_wait": 12, "longest_told_s": 1.0}
    advice = only(advise([report(observations=broken)]))
    assert advice.rule == "retry-after-not-kept"
    assert "12 of 12 requests that had waited that long (up to 1 s) were refused again" in (
        advice.words
    )
    few = {"quiet_waited": 2, "quiet_refused_after_wait": 2}
    assert rules(report(observations=few)) == set()


def test_an_agent_that_does_not_heed_its_upstream() -> None:
    seen = {"upstream_requests_in_block": 400, "upstream_allowed_in_block": 24, "retry_after_s": 2}
    advice = only(advise([report(observations=seen)]))
    assert advice.rule == "refusals-not-honoured"
    assert rules(report(observations={**seen, "upstream_requests_in_block": 24})) == set()


def trend(low: float, high: float) -> TrendFacts:
    direction = "rises" if low > 0 else "no trend seen"
    middle = (low + high) / 2
    return TrendFacts(
        of="memory",
        unit="MB",
        per_hour=middle,
        low=low,
        high=high,
        direction=direction,
        words="",
    )


def test_a_leak_and_when_memory_is_full() -> None:
    soak = window("soak", length_s=3600.0, requests=36_000, asked_per_s=10.0, memory_mb=500.0)
    room = {"memory_room_mb": 1200.0, "memory_room_of": "the 1,200 MB up to its limit"}
    facts = {"trends": [trend(80.0, 120.0)], "observations": room}
    advice = only(advise([report(soak, **facts)]))
    assert (advice.rule, advice.severity) == ("memory-leak", "critical")
    # 100 MB an hour over 36,000 requests; 1,200 MB left at 80 … 120 MB an hour.
    assert advice.evidence["kb_per_request"] == pytest.approx(100e3 / 36_000)
    assert (advice.evidence["hours_least"], advice.evidence["hours_most"]) == (10.0, 15.0)
    assert "the 1,200 MB up to its limit are used up after 10 to 15 h" in advice.words
    without = only(advise([report(soak, trends=[trend(80.0, 120.0)])]))
    assert (without.severity, "used up after" in without.words) == ("warning", False)
    assert rules(report(soak, trends=[trend(-5.0, 120.0)])) == set()
    assert rules(report(soak, trends=[trend(0.1, 0.3)])) == set()


def test_who_ends_while_memory_is_short() -> None:
    facts = {"ended_under_ballast": "by the kernel, out of memory", "left_beside_ballast_mb": 900.0}
    advice = only(advise([report(observations=facts)]))
    assert (advice.rule, advice.severity) == ("ended-under-pressure", "critical")
    assert "little memory (900 MB left): by the kernel" in advice.words


def test_memory_that_stays_taken() -> None:
    before, after = window("normal", memory_mb=200.0), window("recovery", memory_mb=420.0)
    assert rules(report(before, after)) == {"memory-not-given-back"}
    assert rules(report(before, window("recovery", memory_mb=260.0))) == set()
    assert rules(report(before, window("recovery"))) == set()
    # What a soak calls a leak is not said twice.
    both = report(before, after, trends=[trend(-5.0, 5.0)])
    assert rules(both) == set()


def scaling(**given: Any) -> ScalingFacts:
    facts: dict[str, Any] = {
        "model": "usl",
        "lambda_per_s": 95.3,
        "sigma": 0.036,
        "kappa": 0.0009,
        "sigma_interval": (0.03, 0.04),
        "kappa_interval": (0.0008, 0.001),
        "n_star": 32.5,
        "n_star_interval": (30.0, 36.0),
        "peak_per_s": 1008.0,
        "largest": 64.0,
    }
    return ScalingFacts(**(facts | given))


def test_limits_of_scaling() -> None:
    peak, serial = advise([report(scaling=scaling())])
    assert (peak.rule, peak.severity) == ("coherency-limit", "warning")
    assert "peaks at 1,008 requests/s with 32.5 [30, 36] requests at once" in peak.words
    assert "no more than 32 run at once" in peak.words
    assert (serial.rule, serial.severity) == ("contention-limit", "info")
    assert serial.evidence["ceiling_per_s"] == pytest.approx(95.3 / 0.036)
    straight = scaling(model="linear", n_star=None, peak_per_s=None, sigma_interval=(0.0, 0.001))
    assert rules(report(scaling=straight)) == set()
    unknown = scaling(n_star=None, peak_per_s=None, sigma_interval=None)
    assert rules(report(scaling=unknown)) == set()


def test_long_inputs_that_break_it_and_that_are_refused() -> None:
    breaks = point(on="input", unit="tokens", passes=3900.0, fails=4100.0, broke=("errors",))
    facts = {"most_input_tokens": 131072, "broke_first": "38 of 40 timeout"}
    unknown = only(advise([report(breaking_points=[breaks], observations=facts)]))
    assert (unknown.rule, unknown.severity) == ("long-inputs-break", "warning")
    broken = {**facts, "orderly_refusal": False}
    bad = only(advise([report(breaking_points=[breaks], observations=broken)]))
    assert (bad.rule, bad.severity) == ("long-inputs-break", "critical")
    assert "at 4,100 tokens, of 131,072 asked for (38 of 40 timeout)" in bad.words
    orderly = {**facts, "orderly_refusal": True}
    good = only(advise([report(breaking_points=[breaks], observations=orderly)]))
    assert (good.rule, good.severity) == ("long-inputs-refused", "info")
    unsure = msgspec.structs.replace(breaks, confirmed=False)
    assert rules(report(breaking_points=[unsure], observations=facts)) == set()


def test_the_cost_of_length() -> None:
    slope = {"ms_per_1000_tokens": 12.0, "ms_per_1000_tokens_low": 10.0}
    facts = slope | {"ms_per_1000_tokens_high": 14.0}
    assert rules(report(observations=facts)) == {"cost-of-length"}
    assert rules(report(observations=facts | {"ms_per_1000_tokens_low": -1.0})) == set()


def test_errors_at_normal_load() -> None:
    wrong = failing(0.1, "server", phase="normal")
    advice = only(advise([report(wrong)]))
    assert (advice.rule, advice.severity) == ("errors-at-normal-load", "critical")
    assert "200 server" in advice.words
    assert rules(report(failing(0.1, "server", phase="normal", length_s=0.05))) == set()


def test_what_the_measurement_lacked() -> None:
    unclear = window(verdict="unclear", length_s=5.0)
    wide = point(status="wide", confirmed=False, unclear=(86.0,))
    advice = only(advise([report(unclear, breaking_points=[wide])]))
    assert (advice.rule, advice.severity) == ("unclear-search", "info")
    assert advice.evidence["needed_s"] == 20.0
    assert rules(report(window(sender_limit="it could not send faster"))) == {"sender-limit"}
    ours = window(verdict="unclear", length_s=5.0, sender_limit="it could not send faster")
    assert rules(report(ours, breaking_points=[wide])) == {"sender-limit"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (7623.4, "7,623"),
        (1e6, "1,000,000"),
        (84.32, "84.3"),
        (0.01234, "0.0123"),
        (0.000012, "0.000012"),
        (0.0, "0"),
    ],
)
def test_figures_have_no_exponents(value: float, shown: str) -> None:
    assert figure(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(8.5, "8.5"), (220.61, "220.6"), (1394, "1,394"), (131_072, "131,072")]
)
def test_figures_of_levels_have_four_digits_and_no_exponents(value: float, shown: str) -> None:
    assert level_figure(value) == shown


def test_over_all_scenarios_each_rule_speaks_once_and_the_worst_comes_first() -> None:
    serial = report(scenario="concurrent_requests", scaling=scaling())
    never = RecoveryFacts(after="spike", seconds=None, watched_s=30.0, words="not recovered")
    spike = report(scenario="spike_load", recoveries=[never])
    high = report(recoveries=[never])
    found = advise([serial, spike, high])
    assert [advice.rule for advice in found] == [
        "no-recovery",
        "coherency-limit",
        "contention-limit",
    ]
    assert found[0].evidence["scenario"] == "spike_load"
    assert len(RULES) == len(set(RULES))
