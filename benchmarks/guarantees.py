"""Measure the error rates that docs/decisions.md promises, by simulations with known truth.

    python benchmarks/guarantees.py [--size small|large] [--only TEXT] [--seed N] [--write]

The small size takes minutes, the large one (20 times the trials) hours. `--only` runs the rows
whose topic or event contains the text. `--write` replaces the table in docs/decisions.md. The exit
code is 1 if a rate is outside its bounds by more than two standard errors of the trials.
"""

from __future__ import annotations

import argparse
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from simulations import ROWS
from simulations.guarantee import Guarantee, Rate

SIZES = {"small": 1, "large": 20}
SEED = 20261129
PAGE = Path(__file__).parents[1] / "docs" / "decisions.md"
BEGIN, END = "<!-- guarantees: begin -->", "<!-- guarantees: end -->"
HEADINGS = ("verdict and design", "what is counted", "bound", "measured", "assumes", "breaks when")


def measured(row: Guarantee, factor: int, seed: int) -> Rate:
    """The rate of one row; its draws do not depend on which other rows are run."""
    draw = np.random.default_rng((seed, zlib.crc32(f"{row.topic}: {row.event}".encode())))
    return row.measure(row.trials * factor, draw)


def bound_words(row: Guarantee) -> str:
    if row.lowest > 0 and row.highest < 1:
        return f"{100 * row.lowest:g}–{100 * row.highest:g}%"
    if row.lowest <= 0 and row.highest >= 1:
        return "none"
    if row.lowest > 0:
        return f"≥ {100 * row.lowest:g}%"
    return f"≤ {100 * row.highest:g}%"


def rate_words(rate: Rate) -> str:
    return f"{100 * rate.share:.1f}% of {rate.trials:,}"


def table(rows: Sequence[tuple[Guarantee, Rate]]) -> str:
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
    for row, rate in rows:
        cells = (row.topic, row.event, bound_words(row), rate_words(rate), row.assumes, row.breaks)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_table(text: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write needs all rows: leave --only out")
    results, missed = [], 0
    for row in ROWS:
        if options.only not in f"{row.topic}: {row.event}":
            continue
        began = time.perf_counter()
        rate = measured(row, SIZES[options.size], options.seed)
        held = row.is_held_by(rate)
        missed += not held
        print(
            f"{'held  ' if held else 'MISSED'} {row.topic}: {row.event}: {rate_words(rate)}"
            f" (bound {bound_words(row)}, {time.perf_counter() - began:.1f} s)",
            flush=True,
        )
        results.append((row, rate))
    print(f"{len(results) - missed} of {len(results)} rows held")
    if options.write:
        write_table(table(results))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
