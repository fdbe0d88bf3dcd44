"""Measure the error rates that docs/decisions.md promises, by simulations with known truth.

    python benchmarks/guarantees.py [--size small|large] [--only TEXT] [--seed N] [--write]

The small size takes minutes, the large one (20 times the trials) hours. `--only` runs the rows
whose topic or event contains the text. `--write` puts the rows that were run into the table in
docs/decisions.md, where the others stay. The exit code is 1 if a rate is outside its bounds by more
than two standard errors of the trials.
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
Name = tuple[str, str]
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


def shown() -> dict[Name, list[str]]:
    """The cells of the rows in the page, by topic and event."""
    page = PAGE.read_text(encoding="utf-8")
    lines = page.partition(BEGIN)[2].partition(END)[0].strip().splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]
    return {(row[0], row[1]): row for row in cells}


def write_table(measured_now: Sequence[tuple[Guarantee, Rate]]) -> None:
    """Put these rows into the page. Rows that are not simulated any more go; SystemExit where one
    that is simulated has never been written and was not run."""
    rates = shown() | {
        (row.topic, row.event): [
            row.topic, row.event, bound_words(row), rate_words(rate), row.assumes, row.breaks,
        ]
        for row, rate in measured_now
    }  # fmt: skip
    new = [f"{row.topic}: {row.event}" for row in ROWS if (row.topic, row.event) not in rates]
    if new:
        sys.exit("not written: the page lacks rows that were not run:\n" + "\n".join(new))
    rows = [HEADINGS, *(rates[row.topic, row.event] for row in ROWS)]
    lines = ["| " + " | ".join(cells) + " |" for cells in rows]
    lines.insert(1, "|---" * len(HEADINGS) + "|")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    text = "\n".join(lines)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
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
        write_table(results)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
