"""A stored run whose agents say what an attacker would, read by every format of a report."""

from pathlib import Path

import agentbench_tui as agentbench

HOSTILE = {
    "script": "<script>window.pwned=1</script><img src=x onerror='window.pwned=1'>",
    "breakout": "</script></style></textarea>--><svg onload=window.pwned=1>",
    "formula": '\u200b\ufeff=HYPERLINK("http://evil.test","x")',
    "fullwidth": "＝cmd|' /C calc'!A0",
    "terminal": "\x1b[2J\x1b]8;;http://evil.test\x07click\x1b]8;;\x07\x9b31m",
    "bidi": "user\u202egnp.exe \u2066safe\u2069",
    "surrogate": "half \udc80 and \ufffe \uffff \x00 end",
    "mention": "@octocat #1 https://evil.test www.evil.test | [link](http://evil.test) `x`",
    "fold": "</details></summary><h1>gone</h1>",
    "long": "y" * 4_000_000,
    "too-long": "y" * 10_000_000,
}
"""Name of a case → what an agent answers to it."""


def hostile(prompt: str) -> str:
    return HOSTILE[prompt]


def honest(prompt: str) -> str:
    return prompt


def failing(prompt: str) -> str:
    if prompt == "script":
        raise ConnectionError("<b>server</b> \x1b[31mgone\x00 ]]> &")
    return "wrong"


SUITE = {
    "suite_id": "hostile",
    "category": "accuracy",
    "weights": {"accuracy": 1, "speed": 0, "efficiency": 0, "cost": 0, "reliability": 0},
    "benchmarks": [
        {
            "benchmark_id": "echo",
            "scorers": ["exact"],
            "iterations": {"warmup": 0, "measured": 1},
            "dataset": {
                "cases": [{"id": name, "input": name, "expected": name} for name in HOSTILE]
            },
        }
    ],
}


def store_hostile_run(path: Path) -> None:
    """Store one run of three agents on the cases."""
    agents = {"hostile@1": hostile, "honest@1": honest, "failing@1": failing}
    result = agentbench.run(SUITE, agents, db=path)
    assert result.status == "complete"
