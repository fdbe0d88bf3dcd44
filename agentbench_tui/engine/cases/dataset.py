"""Reads the cases of a benchmark once, checks all of them, and stores them temporarily in order.

Every record is read, filtered and mapped exactly once. All but a few cases are kept in an unnamed
temporary file, so a source may be compressed, generated, or as large as the disk; memory use is
about 30 bytes per case. The cases that were checked are those that are asked, even if the source
changes in the meantime.
"""

from __future__ import annotations

import hashlib
import heapq
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from agentbench_tui.engine.cases.case_mapping import CaseMapping, field_problem
from agentbench_tui.engine.cases.case_spool import CaseSpool, digest_of
from agentbench_tui.engine.cases.record import Record, RecordFault
from agentbench_tui.engine.cases.records import RecordSource, open_records
from agentbench_tui.model.answer import Case
from agentbench_tui.model.errors import Problem, SuiteError, UsageError, did_you_mean
from agentbench_tui.model.identity import derive_seed
from agentbench_tui.model.text.plain_number import counted

if TYPE_CHECKING:
    from agentbench_tui.model.suite import Benchmark

MAX_PROBLEMS = 20
"""Different faults named before reading stops."""
_OTHER_FAULTS = "has another fault"
INLINE = "inline"
"""Name of the source if the cases are in the suite itself."""
_LISTED_IDS = 10_000
"""Number of ids that a misspelled one is compared with."""


class CaseSource:
    """The chosen cases of one dataset, in the order in which they are asked.

    May be iterated many times and by several readers at once. Closing it, or forgetting it, gives
    the disk space back.
    """

    def __init__(
        self,
        name: str,
        spool: CaseSpool,
        order: Sequence[int],
        skipped: str = "",
        *,
        are_sessions: bool = False,
        has_expected: bool = True,
    ) -> None:
        self.name = name
        """Source of the cases, as written in the suite."""
        self.skipped = skipped
        """Number of skipped records and the reasons; empty if there are none."""
        self.are_sessions = are_sessions
        """Whether every case is a recorded conversation (ShareGPT) with its turns in order."""
        self.has_expected = has_expected
        """Whether any case that was read has `expected`."""
        self._spool = spool
        self._order = order
        digest = hashlib.sha256()
        for index in order:
            digest.update(spool.encoded(index))
            digest.update(b"\n")
        self.hash = digest.hexdigest()
        """sha256 over the canonical JSON of each chosen case and a newline, in their order."""

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Case]:
        return map(self._spool.case, self._order)

    def __getitem__(self, place: int) -> Case:
        return self._spool.case(self._order[place])

    def cases(self) -> Iterator[Case]:
        """Yield every chosen case, in order."""
        return iter(self)

    @property
    def memory_bytes(self) -> int | None:
        """Return the approximate memory use; None if a file is used instead."""
        return self._spool.memory_bytes

    def ids(self) -> Iterator[str]:
        """Yield the id of every chosen case, in order."""
        return (case.id for case in self)

    def close(self) -> None:
        """Free the disk space."""
        self._spool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_dataset(
    benchmark: Benchmark,
    *,
    base_dir: Path | str,
    seed: int,
    parameters: Mapping[str, Any] | None = None,
    limit: int | None = None,
    case_ids: Iterable[str] = (),
    skip_unusable: bool = False,
    on_command_line: bool = False,
    is_probe: bool = False,
) -> CaseSource:
    """Read and check the dataset of a task benchmark, and choose its cases.

    `seed` orders shuffled cases; `limit` stands in for the dataset's own; with `case_ids` just
    those are chosen, in the order of the source. `parameters` go to Python generators. With
    `skip_unusable` records that cannot become cases are skipped and counted, unless all are such.
    `on_command_line` makes messages name the option `--fields` instead of the key. A probe reads a
    few cases only, so it does not judge that no case has `expected`.

    A case's id is the one its record gives; without one it is made of 12 hex digits of the hash
    of input, expected, messages and tools, and `-2`, `-3` … tell equal ones apart.

    Raises SuiteError with everything that is wrong with the records, each by file and line;
    problems without a file have paths relative to the benchmark. Raises MissingExtra, and
    UsageError for unknown ids.
    """
    dataset = benchmark.dataset
    assert dataset is not None
    if wrong := [(field, fault) for field in dataset.fields if (fault := field_problem(field))]:
        raise SuiteError([Problem(fault, path=f"dataset.fields.{field}") for field, fault in wrong])
    wanted = tuple(case_ids)
    limit = dataset.limit if limit is None else limit
    source = _source(benchmark, Path(base_dir), seed, parameters or {})
    stop_at = None if dataset.shuffle or wanted or dataset.size is not None else limit
    with _told_when_full():
        spool = CaseSpool()
    mapping = CaseMapping(benchmark, on_command_line=on_command_line)
    try:
        records, skipped = _fill(spool, source, mapping, stop_at, skip_unusable=skip_unusable)
        _check_counts(benchmark, spool, records, read_whole=stop_at is None)
        if not (is_probe or mapping.has_expected):
            _check_expected(benchmark, mapping)
        if wanted:
            order: Sequence[int] = _pick(spool, wanted)
        elif dataset.shuffle:
            order = _shuffled(spool.digests, seed, limit)
        else:
            order = range(len(spool) if limit is None else min(limit, len(spool)))
        return CaseSource(
            source.name,
            spool,
            order,
            skipped,
            are_sessions=mapping.only_sessions,
            has_expected=mapping.has_expected,
        )
    except BaseException:
        spool.close()
        raise


def _source(
    benchmark: Benchmark, base_dir: Path, seed: int, parameters: Mapping[str, Any]
) -> RecordSource:
    dataset = benchmark.dataset
    assert dataset is not None
    if dataset.cases is not None:
        cases = dataset.cases
        return RecordSource(
            INLINE, lambda: (Record(case, number) for number, case in enumerate(cases, start=1))
        )
    assert dataset.data_source is not None

    def call(place: str) -> Iterator[Any]:
        return _generated(place, base_dir, seed, parameters)

    return open_records(dataset.data_source, base_dir, call)


def _generated(
    place: str, base_dir: Path, seed: int, parameters: Mapping[str, Any]
) -> Iterator[Any]:
    """Yield from a Python function, called with the seed and the parameters that it declares."""
    from inspect import Parameter, signature

    from agentbench_tui.scoring.custom import load_callable

    path = "dataset.data_source"
    try:
        function = load_callable(place, base_dir)
    except UsageError as error:
        raise SuiteError([Problem(str(error), path=path)]) from None
    offered = {**parameters, "seed": seed}
    takes = signature(function).parameters.values()
    if not any(taken.kind is Parameter.VAR_KEYWORD for taken in takes):
        names = {taken.name for taken in takes}
        offered = {name: value for name, value in offered.items() if name in names}
    items = function(**offered)
    if not isinstance(items, Iterable):
        raise SuiteError([Problem(f"{place} gave {type(items).__name__}, not cases", path=path)])
    yield from items


def _fill(
    spool: CaseSpool,
    source: RecordSource,
    mapping: CaseMapping,
    stop_at: int | None,
    *,
    skip_unusable: bool,
) -> tuple[int, str]:
    """Read the source into the spool; return the number of records, and the skipped ones."""
    bad = _BadRecords(source)
    place = -1
    with _told_when_full():
        for place, record in enumerate(source.read()):
            try:
                if record.fault:
                    raise RecordFault(record.fault)
                if (found := mapping.case(record.data, place)) is not None:
                    spool.add(found[0], record.number, made=found[1])
            except RecordFault as fault:
                bad.add(record.number, str(fault))
            if len(spool) == stop_at or (bad.enough and not skip_unusable):
                break
        spool.finish()
    if skip_unusable and len(spool):
        return place + 1, bad.words()
    _report_twins(spool, source, bad)
    if bad.faults:
        raise SuiteError(bad.problems())
    return place + 1, ""


class _BadRecords:
    """Problems of records: each message once, with its first position and its count."""

    def __init__(self, source: RecordSource) -> None:
        self._source = source
        self.faults: dict[str, tuple[int, int]] = {}
        """Sentence → number of the first record, how many records."""

    def add(self, number: int, message: str) -> None:
        if self.enough and message not in self.faults:
            message = _OTHER_FAULTS
        first, count = self.faults.get(message, (number, 0))
        self.faults[message] = (first, count + 1)

    @property
    def enough(self) -> bool:
        return len(self.faults) >= MAX_PROBLEMS

    def words(self) -> str:
        """Say how many records were skipped and why; empty if none were."""
        if not self.faults:
            return ""
        total = sum(count for _, count in self.faults.values())
        reasons = "; ".join(
            f"{message} ({counted(count, 'record')}, first {self._place(number)})"
            for message, (number, count) in self.faults.items()
        )
        return f"{counted(total, 'record')} skipped: {reasons}"

    def _place(self, number: int) -> str:
        is_file = self._source.numbered and self._source.name != INLINE
        return f"on line {number:,}" if is_file else f"is record {number:,}"

    def problems(self) -> list[Problem]:
        return [
            self._problem(number, message + (f" (and {count - 1:,} more)" if count > 1 else ""))
            for message, (number, count) in self.faults.items()
        ]

    def _problem(self, number: int, message: str) -> Problem:
        if self._source.name == INLINE:
            return Problem(message, path=f"dataset.cases.{number - 1}")
        if not self._source.numbered:
            return Problem(f"record {number}: {message}", path="dataset.data_source")
        return Problem(message, file=self._source.name, line=number)


def _report_twins(spool: CaseSpool, source: RecordSource, bad: _BadRecords) -> None:
    """Report different records with the same id."""
    first: dict[int, int] = {}
    for index in spool.of_digests(spool.doubled()):
        digest, number = spool.digests[index], spool.numbers[index]
        if digest not in first:
            first[digest] = number
            continue
        where = "line" if source.numbered and source.name != INLINE else "record"
        bad.add(number, f'the id "{spool.case(index).id}" is that of {where} {first[digest]} too')
        if bad.enough:
            return


@contextmanager
def _told_when_full() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        folder = tempfile.gettempdir()
        message = f"the cases cannot be kept in {folder}: {error.strerror}; set TMPDIR"
        raise SuiteError([Problem(message, path="dataset")]) from None


def _check_counts(
    benchmark: Benchmark, spool: CaseSpool, records: int, *, read_whole: bool
) -> None:
    dataset, expected = benchmark.dataset, benchmark.expected_outputs
    assert dataset is not None
    if not len(spool):
        reason = f"none of its {records:,} records passes `filter`" if records else "it is empty"
        raise SuiteError([Problem(f"no cases: {reason}", path="dataset")])
    if dataset.size is not None and dataset.size != len(spool):
        message = f"`size` says {dataset.size:,}, but there are {len(spool):,} cases"
        raise SuiteError([Problem(message, path="dataset.size")])
    if expected is not None and read_whole and len(expected) != records:
        message = f"{len(expected):,} expected outputs for {records:,} records"
        raise SuiteError([Problem(message, path="expected_outputs")])


def scorer_of_expected(benchmark: Benchmark) -> str | None:
    """The first scorer of a benchmark that compares answers with `expected`; None without one."""
    from agentbench_tui.scoring.registry import name_and_options, needs_expected

    for spec in benchmark.scorers:
        if needs_expected(spec):
            return name_and_options(spec)[0]
    return None


def _check_expected(benchmark: Benchmark, mapping: CaseMapping) -> None:
    """Reject a dataset without any `expected` if a scorer would fail on every case."""
    dataset = benchmark.dataset
    assert dataset is not None
    if (scorer := scorer_of_expected(benchmark)) is None:
        return
    if dataset.cases is not None:
        where = "give it in each case"
    else:
        where = mapping.advice("expected", mapping.names)
    message = f"no case has `expected`, which the scorer `{scorer}` needs; {where}"
    raise SuiteError([Problem(message, path="dataset")])


def _shuffled(digests: array[int], seed: int, limit: int | None) -> array[int]:
    """Return case numbers in the order of a keyed hash of their ids.

    So the order depends on the seed and the ids alone: adding cases moves no others.
    """
    keyed = (derive_seed(seed, digest) << 32 | index for index, digest in enumerate(digests))
    chosen = sorted(keyed) if limit is None else heapq.nsmallest(limit, keyed)
    return array("L", (key & 0xFFFFFFFF for key in chosen))


def _pick(spool: CaseSpool, wanted: Sequence[str]) -> list[int]:
    by_digest = {digest_of(case_id): case_id for case_id in wanted}
    chosen = spool.of_digests(set(by_digest))
    found = {spool.digests[index] for index in chosen}
    for digest, case_id in by_digest.items():
        if digest not in found:
            known = [spool.case(index).id for index in range(min(len(spool), _LISTED_IDS))]
            near = did_you_mean(case_id, known)
            raise UsageError(f'no case "{case_id}"{near}; the first is "{known[0]}"')
    return chosen
