"""`stats check` computes every answer from the file's inputs, and sees what differs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from agentbench_tui.contracts.document import plain, schema_of
from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.statistics.reference_check import Check, check_document, check_file

REFERENCE = Path(__file__).parent / "data" / "reference.json"
"""Answers of numpy, scipy and fractions to data made up for it."""


@pytest.fixture(scope="module")
def content() -> Any:
    return json.loads(REFERENCE.read_text())


@pytest.fixture(scope="module")
def whole() -> Check:
    return check_file(REFERENCE)


def of(content: Any, *sections: str) -> Any:
    """A copy with these sections only."""
    return json.loads(json.dumps({name: content[name] for name in ("inputs", *sections)}))


def checked(folder: Path, content: Any) -> Check:
    file = folder / "reference.json"
    file.write_text(json.dumps(content))
    return check_file(file)


def test_every_answer_of_other_software_is_met(whole: Check) -> None:
    assert whole.failed == []
    assert len(whole.findings.checked) > 100
    assert whole.findings.unknown == []
    assert whole.findings.skipped == []


def test_each_kind_of_answer_has_its_own_tolerance(whole: Check) -> None:
    rules = {entry.entry: entry.rule for entry in whole.findings.checked}
    assert rules["descriptive.A.mean"].tolerance == 1e-9
    assert rules["power.two_sample_t.d=0.7.n_per_group_for_80pct"].tolerance == 5e-6
    assert rules["usl.fit_nls_unweighted.sigma"].tolerance == 1e-4
    ends = rules["rliable.ci95_X_stratified_percentile_monte_carlo(20000)"]
    assert (ends.kind, ends.tolerance, ends.relative) == ("monte carlo", 0.008, False)
    # 2,000 draws are a tenth of those the tolerance is for
    assert rules["rliable.poi_ci95_monte_carlo(2000)"].tolerance == pytest.approx(0.008 * 10**0.5)


def leaves(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(part, dict):
        for name, below in part.items():
            yield from leaves(below, (*path, name))
    elif isinstance(part, int | float) or (isinstance(part, list) and part):
        yield path


@pytest.mark.parametrize(
    "section",
    ["descriptive", "tests", "effect_sizes", "multiplicity", "power", "pass_k", "proportions"],
)
def test_a_wrong_answer_in_any_place_is_seen(content: Any, section: str, tmp_path: Path) -> None:
    """Every answer is made wrong by a millionth (a hundred-thousandth where it was solved for)."""
    inputs = {("p",), ("tasks_n_c",)}
    wrong = of(content, section)
    paths = [path for path in leaves(wrong[section]) if path not in inputs]
    for path in paths:
        part = wrong[section]
        for name in path[:-1]:
            part = part[name]
        value = part[path[-1]]
        if isinstance(value, list):
            part[path[-1]] = [value[0] * (1 + 1e-5) + 1e-6, *value[1:]]
        else:
            part[path[-1]] = value * (1 + 1e-5) + 1e-6
    found = checked(tmp_path, wrong)
    assert len(found.failed) == len(found.findings.checked) == len(paths)


def test_other_inputs_get_other_answers(content: Any, tmp_path: Path) -> None:
    other = of(content, "descriptive", "tests")
    other["inputs"]["A_control"][3] += 7
    failed = {entry.entry for entry in checked(tmp_path, other).failed}
    assert "descriptive.A.mean" in failed
    assert "tests.welch_raw.t" in failed
    assert not any(entry.startswith("descriptive.B") for entry in failed)


def test_missing_sections_and_inputs_are_told(content: Any, tmp_path: Path) -> None:
    less = of(content, "pass_k", "multiplicity", "clustered_se")
    del less["multiplicity"]["p"]
    del less["inputs"]
    found = checked(tmp_path, less)
    assert not found.failed
    skipped = dict(found.findings.skipped)
    assert skipped["usl"] == "not in the file"
    assert skipped["multiplicity"] == "multiplicity.p is not in the file"
    assert all(entry.entry.startswith(("pass_k", "clust")) for entry in found.findings.checked)


def test_entries_that_nobody_knows_are_told(content: Any, tmp_path: Path) -> None:
    more = of(content, "effect_sizes", "tests")
    more["effect_sizes"]["glass_delta"] = 0.5
    more["tests"]["anova"] = {"f": 3.0}
    more["astrology"] = {"sign": 7}
    found = checked(tmp_path, more)
    assert not found.failed
    assert sorted(found.findings.unknown) == [
        "astrology",
        "effect_sizes.glass_delta",
        "tests.anova.f",
    ]


def test_medians_have_no_bootstrap_to_be_tested(content: Any, tmp_path: Path) -> None:
    more = of(content, "bootstrap")
    more["bootstrap"] = {
        "median_A_BCa": {"ci95": [1.0, 2.0]},
        "_warning": "median_A_BCa is unstable",
        "mean_A_percentile": {"ci95": [0.0, 1.0]},
    }
    found = checked(tmp_path, more)
    assert [entry.entry for entry in found.failed] == ["bootstrap.mean_A_percentile.ci95"]
    assert "the file says not to test it" in dict(found.findings.skipped)["bootstrap.median_A_BCa"]


@pytest.mark.parametrize("answer", ["much", None, [1.0], [1.0, 2.0, 3.0], True])
def test_an_answer_of_another_shape_is_wrong_or_unknown_but_no_crash(
    content: Any, answer: Any, tmp_path: Path
) -> None:
    odd = of(content, "proportions", "pass_k")
    odd["proportions"]["9/12"]["wilson90"] = answer
    found = checked(tmp_path, odd)
    assert [entry.entry for entry in found.failed] == ["proportions.9/12.wilson90"]
    json.dumps(plain(check_document(found)), allow_nan=False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "a JSON object"),
        ("{}", "nothing to check"),
        ('{"pass_k": {"tasks_n_c": 5}}', "section 'pass_k' is not as expected"),
        ('{"usl": {"N": [1, 2], "throughput": [1, 2]}}', "section 'usl' is not as expected"),
    ],
)
def test_files_that_are_no_reference_are_refused(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "odd.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=said):
        check_file(file)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        check_file(tmp_path / "missing.json")


def test_the_document_sums_up(whole: Check) -> None:
    document = check_document(whole)
    assert schema_of(document) == "agentbench.stats-check/1"
    assert document.ok is True
    assert document.n_ok == len(document.entries)
    first = next(one for one in document.entries if one.entry == "tests.student.t")
    assert first.theirs == pytest.approx(first.ours, rel=1e-9)


def test_unpaired_entries_are_not_those_of_pairs(content: Any, tmp_path: Path) -> None:
    more = of(content, "clustered_se")
    part = more["clustered_se"]
    part["clustered_CR0_unpaired"] = part["statsmodels_CR0"]
    assert checked(tmp_path, more).failed == []


def test_bootstraps_of_ratios_are_those_of_scipy(content: Any, tmp_path: Path) -> None:
    a, b = (np.array(content["inputs"][name]) for name in ("A_control", "B_candidate"))

    def ends(statistic: Any, *, paired: bool) -> Any:
        found = stats.bootstrap(
            (a, b), statistic, paired=paired, vectorized=True, n_resamples=20_000, rng=7
        ).confidence_interval
        return {"ci95": list(found)}

    def geometric(x: Any, y: Any, axis: int) -> Any:
        return np.exp(np.log(y).mean(axis) - np.log(x).mean(axis))

    def arithmetic(x: Any, y: Any, axis: int) -> Any:
        return y.mean(axis) / x.mean(axis)

    of_a = stats.bootstrap((np.log(a),), np.mean, n_resamples=20_000, rng=7).confidence_interval
    more = of(content, "bootstrap")
    more["bootstrap"] = {
        "geomean_A_BCa": {"ci95": list(np.exp(of_a))},
        "paired_geometric_mean_ratio_BCa": ends(geometric, paired=True),
        "unpaired_geometric_mean_ratio_BCa": ends(geometric, paired=False),
        "paired_ratio_of_means_BCa": ends(arithmetic, paired=True),
        "unpaired_ratio_of_means_BCa": ends(arithmetic, paired=False),
    }
    found = checked(tmp_path, more)
    assert found.failed == []
    assert len(found.findings.checked) == 5
