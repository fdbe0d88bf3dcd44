"""The options of `agentbench load`, with the suite field that each sets and its line in forms."""

from __future__ import annotations

from agentbench_tui.model.suite_option import (
    FLAG,
    SWITCH,
    TEXT,
    Form,
    Real,
    SuiteOption,
    Whole,
    Words,
)

_MOST = 100_000_000
"""Requests, tokens or users that anybody means."""


def dataset_options(kind: str) -> tuple[SuiteOption, SuiteOption]:
    """`--dataset` and `--fields`, what the requests of a kind's benchmark are made of."""
    return (
        SuiteOption(
            flag="--dataset",
            value=TEXT,
            field=f"{kind}.workload.0.data_source",
            metavar="FILE",
            help="Send the records of a dataset in turn: JSON Lines, JSON, CSV or Parquet. A "
            "recorded conversation (ShareGPT) becomes a session with one request for each "
            "user turn. Records that cannot be sent are skipped and counted.",
        ),
        SuiteOption(
            flag="--fields",
            value=Form("field", pairs=True),
            field=f"{kind}.workload.0.fields",
            metavar="FIELD=PATH",
            several=True,
            help="Map a request field to a path in each record of --dataset, such as "
            "input=question or input=turns.0.text. May be given several times.",
            default="`input`, `messages` or `conversations`",
        ),
    )


LOAD_OPTIONS = (
    SuiteOption(
        flag="--rate",
        value=Form("rates", alone=True),
        field="load.rate",
        metavar="R[,R…]",
        help="Open loop: send R requests per second. Several rates run one after another.",
        label="rate",
        placeholder="20, or 10,20,40 a second",
    ),
    SuiteOption(
        flag="--arrivals",
        value=Words(("constant", "poisson", "gamma", "max")),
        field="load.arrivals",
        help="Distribution of the arrival times of an open loop. `max` is a closed loop at "
        "maximum throughput.",
        default="constant",
        label="arrivals",
        placeholder="poisson",
    ),
    SuiteOption(
        flag="--burstiness",
        value=Real(0.01, 10000),
        field="load.burstiness",
        metavar="K",
        help="Shape parameter of --arrivals gamma: below 1 is burstier than Poisson, above 1 "
        "more regular.",
        default="1",
    ),
    SuiteOption(
        flag="--ramp",
        value=Form("ramp"),
        field="load.ramp",
        metavar="A..B/TIME",
        help="Open loop: change the rate linearly from A to B requests per second over TIME.",
    ),
    SuiteOption(
        flag="--steps",
        value=Form("steps"),
        field="load.steps",
        metavar="RxTIME,…",
        help="Open loop: R requests per second for TIME, then the next step.",
    ),
    SuiteOption(
        flag="--spike",
        value=Form("spike"),
        field="load.spike",
        metavar="A..B@START/TIME",
        help="Open loop: A requests per second, with a spike to B at START that lasts TIME.",
    ),
    SuiteOption(
        flag="--sine",
        value=Form("sine"),
        field="load.sine",
        metavar="M±A/TIME",
        help="Open loop: requests per second follow a sine wave with mean M, amplitude A and "
        "period TIME.",
    ),
    SuiteOption(
        flag="--trace",
        value=TEXT,
        field="load.trace.file",
        metavar="FILE",
        help="Open loop: replay the arrival times of a recorded trace. Its prompt and answer "
        "lengths are also used, unless another option sets what to send.",
    ),
    SuiteOption(
        flag="--trace-speed",
        value=Real(0.001, 1000),
        field="load.trace.speed",
        metavar="X",
        help="Replay the trace X times as fast as it was recorded.",
        default="1",
    ),
    SuiteOption(
        flag="--trace-unit",
        value=Words(("s", "ms", "us", "ns")),
        field="load.trace.unit",
        help="Unit of numeric timestamps in the trace.",
        default="s; ms for a trace with hash_ids, as from Mooncake",
    ),
    SuiteOption(
        flag="--concurrency",
        value=Form("users", alone=True),
        field="load.concurrency",
        metavar="N[,N…]",
        help="Closed loop: N users, each of which sends its next request when the previous one "
        "ends. Several values run one after another.",
        default="1, without a schedule",
        label="users",
        placeholder="1, or 1,4,16: no rate then",
    ),
    SuiteOption(
        flag="--think-time",
        value=Form("time or zero"),
        field="load.think_time_ms",
        factor=1000,
        metavar="TIME",
        help="Time that each user of a closed loop waits between requests.",
        default="0s",
    ),
    SuiteOption(
        flag="--duration",
        value=Form("time"),
        field="load.duration_s",
        metavar="TIME",
        help="Length of the measurement window, such as 30s. With --requests, the load stops at "
        "whichever comes first.",
        default="length of the schedule, else 10s",
        label="duration",
        placeholder="10s",
    ),
    SuiteOption(
        flag="--requests",
        value=Whole(1, _MOST),
        field="load.requests",
        help="Number of requests to send (with --turns above 1, number of conversations to start).",
        label="requests",
        placeholder="number of requests",
    ),
    SuiteOption(
        flag="--max-in-flight",
        value=Whole(1, _MOST),
        field="load.max_in_flight",
        metavar="N",
        help="Maximum number of in-flight requests; with --arrivals max, the number of users.",
        default="no limit; 256 with --arrivals max",
    ),
    SuiteOption(
        flag="--input-tokens",
        value=Form("length"),
        field="load.workload.0.synthetic.input_tokens",
        metavar="N[±S]",
        help="Generate synthetic prompts of N tokens; ±S is the standard deviation.",
        label="prompt",
        placeholder="tokens, 512 or 512±64",
    ),
    SuiteOption(
        flag="--prefix-share",
        value=Real(0, 1),
        field="load.workload.0.synthetic.prefix_share",
        metavar="SHARE",
        help="Share of each synthetic prompt that is identical in all of them, from 0 to 1.",
        default="0",
    ),
    SuiteOption(
        flag="--output-tokens",
        value=Form("length"),
        field="load.workload.0.output_tokens",
        metavar="N[±S]",
        help="Number of output tokens to request as max_tokens; ±S is the standard deviation.",
        default="left to the server",
        label="answer",
        placeholder="tokens, 128",
    ),
    SuiteOption(
        flag="--prompt",
        value=TEXT,
        field="load.workload.0.prompts",
        metavar="TEXT",
        several=True,
        name="prompts",
        help="Prompt to send. Several prompts are sent in turn.",
        default="a short built-in text",
    ),
    *dataset_options("load"),
    SuiteOption(
        flag="--turns",
        value=Whole(1, 1000),
        field="load.workload.0.turns",
        help="Number of prompts in each conversation; each request includes the earlier turns.",
        default="1",
    ),
    SuiteOption(
        flag="--cancel-after",
        value=Whole(1, _MOST),
        field="load.workload.0.cancel_after_tokens",
        metavar="N",
        help="Cancel each request after it has received N tokens.",
    ),
    SuiteOption(
        flag="--stream/--no-stream",
        value=SWITCH,
        field="load.stream",
        help="Request streamed or complete answers.",
        default="the agent's setting",
    ),
    SuiteOption(
        flag="--slo",
        value=Form("slo", pairs=True),
        field="load.slo",
        metavar="NAME[.pNN]=MS",
        several=True,
        help="Service-level objective: latency limit in ms that a good request meets, such as "
        "ttft_ms=200 for 99% of the due requests, or ttft_ms.p95=200 for 95% of them; "
        "'ttft.p95<200ms' is the same. Goodput counts the requests that meet every limit. May be "
        "given once per metric.",
        label="limits",
        placeholder="ttft_ms=200 e2e_ms=2000",
    ),
    SuiteOption(
        flag="--find-rate",
        value=FLAG,
        help="Search the highest rate at which the --slo is kept, from --rate (8) on. Prints the "
        "rate, its interval and the limit that broke first.",
    ),
    SuiteOption(
        flag="--workers",
        value=Whole(1, 256),
        field="load.workers",
        help="Number of processes that send requests.",
        default="as many as needed, at most one per core",
    ),
    SuiteOption(
        flag="--realtime/--no-realtime",
        value=SWITCH,
        field="load.realtime",
        help="Run the sending processes with real-time priority, ahead of all other processes on "
        "this machine.",
        default="on for an open loop where permitted",
    ),
    SuiteOption(
        flag="--warmup",
        value=Whole(0, 100000),
        field="load.warmup_requests",
        help="Number of unmeasured requests that each worker sends before the window.",
        default="3",
    ),
    SuiteOption(
        flag="--timeout",
        value=Form("time"),
        field="constraints.time_limit_ms",
        factor=1000,
        metavar="TIME",
        help="Maximum duration of one request.",
        default="the agent's own limits",
    ),
    SuiteOption(
        flag="--drain",
        value=Form("time or zero"),
        field="load.drain_s",
        metavar="TIME",
        help="Grace period for in-flight requests at the end of the window.",
        default="30s",
    ),
    SuiteOption(
        flag="--print-suite",
        value=FLAG,
        help="Print the equivalent suite file and exit without running it.",
    ),
)
