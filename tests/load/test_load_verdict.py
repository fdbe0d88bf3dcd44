"""Verdict, limit and warnings of a load window, at and beyond each threshold."""

import math
from typing import Any

import msgspec
import pytest

from agentbench_tui.load.calibration.verdict import Facts, Judgment, judge, plan_warning
from agentbench_tui.load.results.window import Calibration, Window
from agentbench_tui.load.sending.protocol import Done, Lateness

WORKER = Done(
    offered=1000,
    sent=1000,
    window_s=20.0,
    drained_s=0.2,
    cpu_s=2.0,
    connections=10,
    resent=0,
    sent_bytes=0,
    received_bytes=0,
    most_in_flight=10,
    blocked=0,
    late=0,
    lateness=Lateness(p50_ms=0.05, p99_ms=0.2, max_ms=0.4, n=2000),
    run_queue_wait_ms=20.0,
    gc_pause_ms=0.0,
    gc_pause_max_ms=0.0,
    peak_rss_mb=40.0,
    stopped=False,
)
CALIBRATION = Calibration(
    at="2026-11-28T08:00:00.000Z",
    rate_per_s=50.0,
    overhead_p50_ms=0.2,
    overhead_p99_ms=0.4,
    n=300,
    cpu_us_per_request=100.0,
    ceiling_per_s=10_000.0,
    workers=1,
    streamed=False,
)
WINDOW = Window(
    is_open=True,
    asked_per_s=50.0,
    asked=1000.0,
    started_at="2026-11-28T08:00:00.000Z",
    ramp_s=None,
    slo={},
    max_in_flight=None,
    on_this_machine=True,
    workers=(WORKER,),
    calibration=CALIBRATION,
    psi_cpu_percent=1.0,
)
FACTS = Facts(sent_per_s=50.0, e2e_p50_ms=100.0)
"""With these three nothing is wrong; every test changes one thing or two."""

change = msgspec.structs.replace


def judged(facts: Facts = FACTS, **changes: Any) -> Judgment:
    return judge(change(WINDOW, **changes), facts)


def worker(**changes: Any) -> tuple[Done, ...]:
    return (change(WORKER, **changes),)


def above(limit: float) -> float:
    return math.nextafter(limit, math.inf)


def below(limit: float) -> float:
    return math.nextafter(limit, -math.inf)


def test_nothing_wrong_is_clean_without_a_word() -> None:
    assert judged() == Judgment(verdict="clean", reasons=(), limit="none", warnings=())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"workers": worker(cpu_s=18.0)},
            "the sender used 90.0% of a core (limit 80%)",
        ),
        (
            {"workers": (WORKER, change(WORKER, cpu_s=19.0), change(WORKER, cpu_s=17.0))},
            "sender 2 used 95.0% of a core (limit 80%)",
        ),
        (
            {"asked_per_s": 12_000.0},
            "offered 12,000.0/s, more than the 10,000/s that one sender here can do at most",
        ),
        (
            {"asked_per_s": 12_000.0, "calibration": change(CALIBRATION, workers=2)},
            "offered 12,000.0/s, more than the 10,000/s that 2 senders here can do at most",
        ),
    ],
)
def test_generator_limited(changes: dict[str, Any], reason: str) -> None:
    found = judge(change(WINDOW, **changes), change(FACTS, sent_per_s=changes.get("asked_per_s")))
    assert (found.verdict, found.reasons) == ("generator-limited", (reason,))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"calibration": change(CALIBRATION, overhead_p99_ms=50.0)},
            (
                "the overhead's p99 of 50.000 ms is 50.0% of the reported median of 100.000 ms"
                " (limit 5%)"
            ),
        ),
        (
            {"workers": worker(late=25)},
            "25 of 1,000 requests left late though a place was free (2.5%, limit 1%)",
        ),
        (
            {"workers": worker(lateness=Lateness(0.1, 6.25, 9.0, 2000))},
            "a sender's loop was late by 6.25 ms (p99, limit 5.00 ms)",
        ),
        (
            {"workers": worker(run_queue_wait_ms=2000.0)},
            "the sender waited 10.0% of the time for a core (limit 5%)",
        ),
        (
            {"workers": (WORKER, change(WORKER, run_queue_wait_ms=1500.0))},
            "sender 2 waited 7.5% of the time for a core (limit 5%)",
        ),
        (
            {"psi_cpu_percent": 12.5},
            "some task waited for a core 12.5% of the time (limit 10%)",
        ),
    ],
)
def test_noisy(changes: dict[str, Any], reason: str) -> None:
    found = judged(**changes)
    assert (found.verdict, found.reasons) == ("noisy", (reason,))


@pytest.mark.parametrize(
    ("at", "beyond", "verdict"),
    [
        (
            {"workers": worker(cpu_s=16.0)},
            {"workers": worker(cpu_s=above(16))},
            "generator-limited",
        ),
        (
            {"calibration": change(CALIBRATION, ceiling_per_s=50.0)},
            {"calibration": change(CALIBRATION, ceiling_per_s=below(50))},
            "generator-limited",
        ),
        # 5% and 1% are themselves too much: `clean` is below them.
        (
            {"calibration": change(CALIBRATION, overhead_p99_ms=below(5))},
            {"calibration": change(CALIBRATION, overhead_p99_ms=5.0)},
            "noisy",
        ),
        ({"workers": worker(late=9)}, {"workers": worker(late=10)}, "noisy"),
        (
            {"workers": worker(lateness=Lateness(0, 5.0, 5.0, 100))},
            {"workers": worker(lateness=Lateness(0, above(5), 6.0, 100))},
            "noisy",
        ),
        (
            {"workers": worker(run_queue_wait_ms=1000.0)},
            {"workers": worker(run_queue_wait_ms=above(1000))},
            "noisy",
        ),
        ({"psi_cpu_percent": 10.0}, {"psi_cpu_percent": above(10)}, "noisy"),
    ],
)
def test_limits(at: dict[str, Any], beyond: dict[str, Any], verdict: str) -> None:
    assert judged(**at).verdict == "clean"
    assert judged(**beyond).verdict == verdict


def test_a_lateness_below_a_millisecond_is_no_fault_however_quick_the_answers() -> None:
    quick = change(FACTS, e2e_p50_ms=10.0)
    assert judged(quick, workers=worker(lateness=Lateness(0, 1.0, 1.0, 100))).verdict == "clean"
    late = judged(quick, workers=worker(lateness=Lateness(0, 1.25, 2.0, 100)))
    assert late.reasons == ("a sender's loop was late by 1.25 ms (p99, limit 1.00 ms)",)


def test_the_overhead_is_held_against_the_smallest_median_reported() -> None:
    streamed = change(FACTS, ttft_p50_ms=5.0)
    assert judged(streamed).reasons == (
        "the overhead's p99 of 0.400 ms is 8.0% of the reported median of 5.000 ms (limit 5%)",
    )


def test_the_worse_verdict_wins_and_all_reasons_are_told() -> None:
    found = judged(workers=worker(cpu_s=19.0, late=500), psi_cpu_percent=None)
    assert found.verdict == "generator-limited"
    assert [reason.partition(" ")[0] for reason in found.reasons] == ["the", "500", "the"]


@pytest.mark.parametrize(
    ("facts", "changes", "reason"),
    [
        (FACTS, {"calibration": None}, "the senders' overhead was not measured (no calibration)"),
        (
            FACTS,
            {"workers": worker(lateness=None)},
            "the lateness of the senders' loop is not known",
        ),
        (
            FACTS,
            {"workers": worker(run_queue_wait_ms=None)},
            "the senders' wait for a core is not known here (no /proc/self/schedstat)",
        ),
        (
            FACTS,
            {"psi_cpu_percent": None},
            "the pressure on the cores is not known here (no /proc/pressure/cpu)",
        ),
        (
            FACTS,
            {"workers": worker(window_s=0.05, cpu_s=0.05)},
            "the window of 0.050 s is too short to judge the senders' CPU",
        ),
    ],
)
def test_what_was_not_checked_is_said(facts: Facts, changes: dict[str, Any], reason: str) -> None:
    found = judged(facts, **changes)
    assert (found.verdict, found.reasons) == ("clean", (reason,))


def test_a_window_of_which_nothing_direct_is_known_is_never_clean() -> None:
    found = judged(calibration=None, workers=worker(lateness=None))
    assert found.verdict == "noisy"
    assert found.reasons[0] == "neither the overhead nor the lateness of the senders is known"


def test_a_window_in_which_nothing_was_answered_is_never_clean() -> None:
    found = judged(change(FACTS, e2e_p50_ms=None))
    assert found.verdict == "noisy"
    assert found.reasons == ("no request was answered, so there are no times to judge",)
    # What the plan broke off after its first token has one.
    assert judged(change(FACTS, e2e_p50_ms=None, ttft_p50_ms=100.0)).verdict == "clean"


def test_a_window_without_workers_is_never_clean() -> None:
    nothing = judge(
        change(WINDOW, workers=(), calibration=None), Facts(sent_per_s=None, e2e_p50_ms=None)
    )
    assert nothing.verdict == "noisy"


@pytest.mark.parametrize(
    ("sent_per_s", "workers", "limit", "why"),
    [
        # The server: requests waited for a place while the sender had CPU to spare.
        (
            38.6,
            worker(blocked=228, sent=772),
            "server",
            (
                "the server was the limit: 228 of 1,000 requests waited for a place in flight"
                " (at most 10), the sender used 10% of a core"
            ),
        ),
        # Both happened: the more frequent one.
        (
            38.6,
            worker(blocked=300, late=20),
            "server",
            (
                "the server was the limit: 300 of 1,000 requests waited for a place in flight"
                " (at most 10), the sender used 10% of a core"
            ),
        ),
        (
            38.6,
            worker(blocked=5, late=300),
            "client",
            (
                "the client was the limit: 300 of 1,000 requests left late though a place was free,"
                " the sender used 10% of a core"
            ),
        ),
        # A busy sender frees no place, so it is the limit although requests waited.
        (
            38.6,
            worker(blocked=228, cpu_s=19.0),
            "client",
            "the client was the limit, the sender used 95% of a core",
        ),
        (38.6, worker(sent=772), "none", "228 of 1,000 due requests were not sent"),
        (38.6, worker(), "none", "what was due left only after the window had ended"),
    ],
)
def test_who_was_the_limit(
    sent_per_s: float, workers: tuple[Done, ...], limit: str, why: str
) -> None:
    found = judged(change(FACTS, sent_per_s=sent_per_s), workers=workers, max_in_flight=10)
    assert found.limit == limit
    assert found.warnings == (f"offered 50.0/s, sent 38.6/s (77%): {why}",)


INSIDE = (
    "the agent runs inside the sender, whose CPU time and delays are in part or whole the agent's"
    " (behind `worker:` it has its own process)"
)


@pytest.mark.parametrize(
    ("changes", "verdict", "told"),
    [
        ({"cpu_s": 18.0}, "generator-limited", ", the sender used 90% of a core"),
        (
            {"late": 400},
            "noisy",
            (
                ": 400 of 1,000 requests left late though a place was free,"
                " the sender used 10% of a core"
            ),
        ),
    ],
)
def test_an_agent_inside_the_sender_is_not_told_apart_from_it(
    changes: dict[str, Any], verdict: str, told: str
) -> None:
    slow = change(FACTS, sent_per_s=20.0)
    outside = judged(slow, workers=worker(**changes))
    inside = judged(slow, workers=worker(**changes), agent_inside=True)

    assert inside.verdict == outside.verdict == verdict
    assert inside.reasons == (*outside.reasons, INSIDE)
    assert (outside.limit, inside.limit) == ("client", "none")
    asked = "offered 50.0/s, sent 20.0/s (40%): "
    assert outside.warnings == (f"{asked}the client was the limit{told}",)
    assert inside.warnings == (
        f"{asked}the agent or the sender that it runs in was the limit{told}",
    )


def test_an_agent_inside_that_is_quick_enough_needs_no_word() -> None:
    assert judged(agent_inside=True) == judged()
    busy = judged(asked_per_s=None, workers=worker(cpu_s=19.0), agent_inside=True)
    assert (busy.verdict, busy.limit) == ("generator-limited", "none")


def test_a_server_that_was_the_limit_leaves_the_verdict_clean() -> None:
    found = judged(change(FACTS, sent_per_s=38.6), workers=worker(blocked=228))
    assert (found.verdict, found.limit) == ("clean", "server")
    assert "(at most" not in found.warnings[0]


@pytest.mark.parametrize(("sent_per_s", "warned"), [(49.0, False), (below(49), True)])
def test_a_sent_rate_below_98_percent_is_warned_about(sent_per_s: float, warned: bool) -> None:
    facts = change(FACTS, sent_per_s=sent_per_s)
    assert bool(judged(facts, workers=worker(blocked=20)).warnings) == warned


def test_a_closed_loop_asks_for_no_rate() -> None:
    closed: dict[str, Any] = {"is_open": False, "asked_per_s": None, "asked": None}
    assert judged(**closed) == Judgment(verdict="clean", reasons=(), limit="none", warnings=())
    assert judged(**closed, workers=worker(cpu_s=19.0)).limit == "client"


def test_a_window_cut_short_is_not_held_against_the_whole_plan() -> None:
    found = judged(change(FACTS, sent_per_s=20.0), stopped=True)
    assert found.limit == "none"
    assert found.warnings == (
        "cut short on request: the sent rate was not compared with the requested one",
    )


def test_a_plan_above_half_the_ceiling_is_warned_about() -> None:
    assert plan_warning(5_000.0, CALIBRATION) is None
    assert plan_warning(6_000.0, CALIBRATION) == (
        "offered 6,000.0/s, 60% of the 10,000/s that one sender here can do at most (limit 50%):"
        " the harness's own delays will show in the figures"
    )


def test_there_is_no_warning_where_nothing_is_known_or_asked() -> None:
    assert plan_warning(6_000.0, None) is None
    assert plan_warning(None, CALIBRATION) is None


def test_the_figures_of_such_a_plan_carry_the_warning() -> None:
    found = judged(change(FACTS, sent_per_s=6_000.0), asked_per_s=6_000.0)
    assert (found.verdict, found.warnings) == ("clean", (plan_warning(6_000.0, CALIBRATION),))


def test_a_random_schedule_is_held_to_what_it_drew() -> None:
    drew_less = change(FACTS, sent_per_s=45.0, due_per_s=45.0)
    assert judged(drew_less).warnings == ()
    drew_more = change(FACTS, sent_per_s=50.0, due_per_s=55.0)
    (warning,) = judged(drew_more).warnings
    assert warning.startswith("offered 55.0/s, sent 50.0/s (91%): ")


def test_a_window_that_overran_does_not_make_one_core_into_several() -> None:
    overran = change(WORKER, window_s=1.0, cpu_s=5.8, probed_s=6.0)
    (reason, *_) = judged(workers=(overran,)).reasons
    assert reason.startswith("the sender used 96.7% of a core")

    waited = change(WORKER, window_s=1.0, run_queue_wait_ms=240.0, probed_s=6.0)  # 4% of 6 s
    assert judged(workers=(waited,)).verdict == "clean"
    (reason,) = judged(workers=(change(waited, run_queue_wait_ms=360.0),)).reasons
    assert reason.startswith("the sender waited 6.0% of the time for a core")


def test_a_sender_that_could_not_begin_what_was_due_is_held_to_what_was_asked() -> None:
    (warning,) = judged(change(FACTS, sent_per_s=10.0, due_per_s=12.0)).warnings
    assert warning.startswith("offered 50.0/s, sent 10.0/s (20%): ")


def test_a_server_that_falls_behind_is_told_though_everything_was_sent() -> None:
    behind = change(FACTS, sent_per_s=50.0, answered_per_s=40.0, grew_ms=(120.0, 900.0))
    found = judged(behind)
    assert (found.verdict, found.limit) == ("clean", "server")
    assert found.warnings[0].startswith(
        "offered 50.0/s, completed 40.0/s, and the median latency grew from 120 to 900 ms"
    )
    # Slower, but as many as came; as many as came, but not slower: neither falls behind.
    for kept_up in ({"answered_per_s": 50.0}, {"grew_ms": None}):
        assert judged(change(behind, **kept_up)).warnings == ()
