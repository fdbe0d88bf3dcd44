"""Cost per success of each contender, the Pareto front of cost and quality, and possible
savings.

Quality is the share of right answers. A group is compared on the cases that all of it were asked
and whose costs are known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict
from msgspec.structs import replace as with_fields

from agentbench_tui.analysis.boards.cost_efficiency import OPTIMAL_ABOVE
from agentbench_tui.analysis.boards.pareto import pareto_front
from agentbench_tui.analysis.intervals.estimate import estimate
from agentbench_tui.analysis.scale import MARGINS
from agentbench_tui.contracts.cost import (
    CostDocument,
    CostGroup,
    CostLine,
    CostSwitch,
    CostTradeOff,
    OptimalConfiguration,
    ParetoFront,
    SwitchSaving,
    UnknownCost,
)
from agentbench_tui.contracts.document import finite
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.store.queries.runs import metrics_of
from agentbench_tui.verdicts.cost.bill import bill
from agentbench_tui.verdicts.cost.cost import (
    NOT_JUDGED,
    UNKNOWN,
    cost_per_outcome,
    figure_of,
)
from agentbench_tui.verdicts.cost.ledger import Ledger, ledger_of
from agentbench_tui.verdicts.cost.saving import Option, Options, options
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.comparability import is_timed
from agentbench_tui.verdicts.evidence.task_evidence import COST
from agentbench_tui.verdicts.ranking.scorecard import (
    PlaceNumbers,
    by_cluster,
    case_table,
    comparable_groups,
    scorecards,
)
from agentbench_tui.verdicts.ranking.standing import SEED
from agentbench_tui.verdicts.selection.contenders import Wanted, contenders, contenders_by_category

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from agentbench_tui.analysis.boards.pareto import Point
    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.evidence.place import Execution
    from agentbench_tui.verdicts.selection.contenders import Contender

FORMULA = "efficiency = value / best value; value = right answers x tasks per second / USD per task"
FORMULA_WITHOUT_SPEED = "efficiency = value / best value; value = right answers / USD per task"


@dataclass(frozen=True, slots=True)
class CostAsked:
    """Request for costs: of which contenders, and what counts as equal quality."""

    names: tuple[str, ...] = ()
    """The first name is the agent in use.

    With several names only these are compared; a single one is compared with all.
    """
    margin: float = MARGINS["points"]
    wanted: Wanted = field(default_factory=Wanted)


def cost_document(connection: sqlite3.Connection, asked: CostAsked) -> CostDocument:
    """Return what `agentbench cost --format json` prints. Raises UsageError for an unknown name."""
    by_category = contenders_by_category(connection, asked.wanted)
    rows = [row for those in by_category.values() for one in those for row in one.executions]
    rows.sort(key=lambda row: (row["created_at"], row["key"]))
    everyone = contenders(connection, rows, asked.wanted.by)
    _check(asked.names, everyone)
    if len(asked.names) > 1:
        everyone = [one for one in everyone if one.name in asked.names]
    groups: list[CostGroup] = []
    unknown: list[UnknownCost] = []
    for simulated in (False, True):
        alike = [one for one in everyone if one.simulated == simulated]
        found, lacking = _groups(connection, alike, asked)
        groups += found
        unknown += lacking
    return CostDocument(
        window_days=asked.wanted.days,
        by=asked.wanted.by,
        margin=asked.margin,
        optimal_above=OPTIMAL_ABOVE,
        groups=tuple(groups),
        unknown=tuple(unknown),
        bills=tuple(bill(connection, one) for one in everyone),
    )


def about(document: CostDocument, name: str) -> CostDocument:
    """Reduce the cost document to one contender: its groups, and unknown costs of it and of those
    with the same cases.
    """
    groups = tuple(
        group for group in document.groups if any(line.name == name for line in group.agents)
    )
    asked = {benchmark for group in groups for benchmark in group.benchmarks}
    asked |= {one.benchmark for one in document.unknown if one.name == name}
    unknown = [one for one in document.unknown if one.benchmark in asked]
    unknown.sort(key=lambda one: one.name != name)
    bills = sorted(document.bills, key=lambda one: one.name != name)
    return with_fields(document, groups=groups, unknown=tuple(unknown), bills=tuple(bills))


def _check(names: Sequence[str], everyone: Sequence[Contender]) -> None:
    known = [one.name for one in everyone]
    for name in names:
        if name not in known:
            raise UsageError(
                f"no '{name}' was measured{did_you_mean(name, known)}; "
                "`agentbench agents list` shows who was"
            )


def _groups(
    connection: sqlite3.Connection, those: Sequence[Contender], asked: CostAsked
) -> tuple[list[CostGroup], list[UnknownCost]]:
    """Return the groups, and the contenders without known costs, with the reasons."""
    numbers, places = CaseNumbers(connection), PlaceNumbers()
    cards = scorecards(connection, those, numbers, places)
    if is_timed(COST, *(one for card in cards for one in card.evidence.values())):
        places = PlaceNumbers(by_machine=True)
        cards = scorecards(connection, those, numbers, places)
    ledgers = [ledger_of(card) for card in cards]
    unknown = [
        UnknownCost(
            name=card.contender.name,
            benchmark="/".join(places.place(place)[:2]),
            reason=_why_unknown(connection, card.evidence[place].executions, why),
        )
        for card, ledger in zip(cards, ledgers, strict=True)
        for place, why in ledger.unknown.items()
    ]
    paid = [ledger for ledger in ledgers if len(ledger.case)]
    if not paid:
        return [], unknown
    everything, costs = case_table([ledger.by_case(ledger.usd) for ledger in paid])
    right = case_table([ledger.by_case(ledger.right) for ledger in paid])[1]
    found = []
    for group in comparable_groups(~np.isnan(costs)):
        members = [paid[row] for row in group.members]
        measured = int((~np.isnan(costs[list(group.members)])).any(axis=0).sum())
        cases = everything[group.shared]
        tables = [one[list(group.members)][:, group.shared] for one in (right, costs)]
        found.append(_group(members, cases, measured, places, tables, asked))
    return found, unknown


def _why_unknown(connection: sqlite3.Connection, rows: Sequence[Execution], why: str) -> str:
    """Return the given reason, with the one stored when the cost could not be computed."""
    if why in NOT_JUDGED:
        return why
    for row in reversed(rows):
        metric = metrics_of(connection, row["key"]).get("cost_usd", {})
        if metric.get("value") is None and metric.get("reason"):
            return str(metric["reason"]) if why == UNKNOWN else f"{why}: {metric['reason']}"
    return why


def _group(
    members: Sequence[Ledger],
    cases: Integers,
    measured: int,
    places: PlaceNumbers,
    tables: Sequence[Floats],
    asked: CostAsked,
) -> CostGroup:
    """Return the comparison on `cases`, of the `measured` ones of any agent in the group."""
    right, costs = tables
    clusters = members[0].clusters_of(cases)
    names = [one.card.contender.name for one in members]
    parts = [one.only(cases) for one in members]
    front = pareto_front(by_cluster(right, clusters), by_cluster(costs, clusters), seed=SEED)
    current = asked.names[0] if asked.names and asked.names[0] in names else None
    found = options(
        parts,
        right,
        costs,
        clusters,
        asked.margin,
        has_current=current is not None,
        with_speed=_on_one_machine(parts),
    )
    row = None if current is None else names.index(current)
    lines = [
        _line(part, point, option, names, places, _against(found, row, at))
        for at, (part, point, option) in enumerate(zip(parts, front, found.of, strict=True))
    ]
    order = sorted(range(len(lines)), key=lambda at: (-found.of[at].efficiency, names[at]))
    first = members[0]
    numbers = np.unique(first.place[np.isin(first.case, cases)])
    return CostGroup(
        simulated=first.card.contender.simulated,
        benchmarks=tuple(sorted({"/".join(places.place(int(one))[:2]) for one in numbers})),
        cases=len(cases),
        left_out=measured - len(cases),
        current=current,
        saving_level=found.level,
        formula=FORMULA if found.speeds else FORMULA_WITHOUT_SPEED,
        speed_from=found.speeds.basis if found.speeds else None,
        speed_words=found.speeds.words
        if found.speeds
        else "speed does not count: not all have times of one machine",
        agents=tuple(lines[at] for at in order),
        optimal_configurations=tuple(_optimal(names, order, found, row)),
        trade_offs=tuple(_trade_offs(names, lines, found)),
        cost_optimization_opportunities=tuple(
            CostSwitch(current=names[at], switch_to=names[to], **asdict(found.savings[at][to]))
            for at in (range(len(names)) if row is None else [row])
            for to in found.opportunities(at)
        ),
    )


def _optimal(
    names: Sequence[str], order: Sequence[int], found: Options, current: int | None
) -> Iterator[OptimalConfiguration]:
    for at in order:
        if found.of[at].optimal:
            saving = None if current is None or at == current else found.savings[current][at]
            yield OptimalConfiguration(
                configuration=names[at],
                efficiency=found.of[at].efficiency,
                estimated_savings=saving,
            )


def _against(found: Options, current: int | None, at: int) -> SwitchSaving | UnsetType | None:
    """Return the switch from the current contender; None for itself."""
    if current is None:
        return UNSET
    return None if at == current else found.savings[current][at]


def _trade_offs(
    names: Sequence[str], lines: Sequence[CostLine], found: Options
) -> Iterator[CostTradeOff]:
    """Yield, for each configuration near the best value, the one that is right most often among
    those that are right more often beyond the 95% interval of the difference.
    """
    tasks = [line.cost_usd_per_task.value for line in lines]
    for at, option in enumerate(found.of):
        better = {
            to: one
            for to, one in enumerate(found.savings[at])
            if to != at and one.low is not None and one.low > 0
        }
        if not option.optimal or not better:
            continue
        to, of = max(better.items(), key=lambda item: item[1].difference)
        assert of.low is not None
        assert of.high is not None
        theirs, ours = tasks[to], tasks[at]
        yield CostTradeOff(
            configuration=names[at],
            more_accurate=names[to],
            difference=of.difference,
            low=of.low,
            high=of.high,
            cost_ratio=theirs / ours if theirs is not None and ours else None,
        )


def _on_one_machine(parts: Sequence[Ledger]) -> bool:
    """Return whether all contenders were measured on the same machine at each place, so that speeds
    can be compared.
    """
    machines: dict[int, set[str | None]] = {}
    for part in parts:
        for place in map(int, np.unique(part.place)):
            rows = part.card.evidence[place].executions
            machines.setdefault(place, set()).update(row["fingerprint"] for row in rows)
    return all(len(one) == 1 for one in machines.values())


def _line(
    part: Ledger,
    point: Point,
    option: Option,
    names: Sequence[str],
    places: PlaceNumbers,
    against_current: SwitchSaving | UnsetType | None,
) -> CostLine:
    contender = part.card.contender
    spent = part.spending()
    return CostLine(
        name=contender.name,
        agent_id=contender.agent_id,
        agent_version=contender.agent_version,
        simulated=contender.simulated,
        correct_share=figure_of(estimate(part.right, "share", clusters=part.cluster)),
        cost_usd=float(part.usd.sum()),
        **asdict(cost_per_outcome(spent)),
        by_the_hour=spent.by_the_hour,
        tasks_per_s=option.tasks_per_s,
        value=finite(option.value),
        efficiency=option.efficiency,
        optimal=option.optimal,
        front=ParetoFront(
            on_front=point.on_front,
            standing=point.standing,
            share=point.front_share,
            dominated_by=tuple(names[other] for other in point.dominated_by),
            surely_dominated_by=tuple(names[other] for other in point.surely_dominated_by),
            reason=point.reason,
        ),
        spent_on_wrong=part.spent_on_wrong(),
        by_benchmark={
            "/".join(places.place(place)[:2]): cost_per_outcome(one.spending())
            for place, one in part.by_place().items()
        },
        against_current=against_current,
    )
