"""Every statistic can be had from the package itself, and nothing is paid for before."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agentbench_tui import analysis

PACKAGE = Path(analysis.__file__).parent
ASKED_FOR = [
    "pass_at_k", "pass_hat_k", "bca_interval", "t_log_interval", "quantile_interval",
    "wilson", "newcombe", "mcnemar_exact", "sign_flip_test", "permutation_test", "welch",
    "mann_whitney", "wilcoxon", "cliffs_delta", "hedges_g", "holm", "benjamini_hochberg",
    "power_two_sample", "power_paired", "sample_size_two_sample", "sample_size_paired", "iqm",
    "probability_of_improvement", "clustered_se", "two_level", "tost", "e_divisive",
    "fit_usl", "auc", "last_n", "judge_level", "resilience_score", "recovery", "trend_line",
]  # fmt: skip


def test_every_name_is_what_its_module_defines() -> None:
    for name in analysis.__all__:
        found = getattr(analysis, name)
        assert found.__module__.startswith("agentbench_tui.analysis."), name
        assert found.__name__ == name
        assert (found.__doc__ or "").strip(), f"{name} says nothing of itself"


def test_names_are_sorted_unique_and_hold_what_was_asked_for() -> None:
    assert analysis.__all__ == sorted(set(analysis.__all__))
    assert [name for name in ASKED_FOR if name not in analysis.__all__] == []


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    imported = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agentbench_tui")
        for alias in node.names
    }
    assert sorted(imported) == analysis.__all__
    assert {name: getattr(analysis, name).__module__ for name in analysis.__all__} == imported


def test_no_name_hides_a_module() -> None:
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    assert modules & set(analysis.__all__) == set()


def test_importing_the_package_imports_no_numpy() -> None:
    code = (
        "import sys, agentbench_tui.analysis, agentbench_tui.analysis.histogram;"
        "print(sorted({'numpy', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'wilsen'"):
        analysis.wilsen  # noqa: B018
    assert "wilson" in dir(analysis)


def test_the_page_lists_every_function() -> None:
    page = (PACKAGE.parents[1] / "docs" / "analysis.md").read_text()
    functions = [name for name in analysis.__all__ if name[0].islower()]
    assert [name for name in functions if f"`{name}`" not in page] == []


def test_e_divisive_finds_where_levels_begin() -> None:
    noise = 0.1 * np.random.default_rng(3).standard_normal(90)
    level = np.repeat([1.0, 2.0, -5.0], 30)
    assert analysis.e_divisive(level + noise) == [30, 60]
    assert analysis.e_divisive(noise) == []
    assert analysis.e_divisive([]) == []
    assert analysis.e_divisive([7.0] * 20) == []


def test_the_former_name_of_summarize_still_works() -> None:
    assert analysis.summarise is analysis.summarize
