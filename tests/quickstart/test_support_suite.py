"""The suite `support`: honest replies score high; lists, copies and empty words score low."""

import json
import sys
from pathlib import Path
from textwrap import dedent

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shipped import ROOT, right, run_shipped, score

from agentbench_tui.engine.cases.dataset import open_dataset
from agentbench_tui.engine.suite.loading import LoadedSuite, load_suite
from agentbench_tui.model.answer import Answer, Case, Score
from agentbench_tui.scoring.registry import NamedScorer, make_scorer

AGENTS = dedent(
    '''
    DECISIONS = ("refund", "replace", "decline", "explain", "escalate")

    def honest(request):
        return request.case.expected

    def keywords(request):
        """Every value and word that the judge looks for, and every decision."""
        facts = request.case.metadata["facts"]
        words = [str(value) for fact in facts for value in fact["say"]]
        words += [word for fact in facts for word in fact["about"]]
        polite = "sorry apologise thank you please happy to help refund replacement "
        decisions = "".join(f"\\nDecision: {one}" for one in DECISIONS)
        return polite + " ".join(words) + decisions

    def keywords_with_the_right_decision(request):
        listed = keywords(request).partition("\\n")[0]
        return f"{listed}\\nDecision: {request.case.metadata['decision']}"

    def copies(request):
        return f"{request.text()}\\nDecision: explain"

    def polite(request):
        return (
            "Thank you so much for your message. I am very sorry for the trouble that you have had "
            "with us, and we will look into it for you as soon as we possibly can.\\n"
            "Decision: explain"
        )

    def undecided(request):
        return request.case.expected.rpartition("\\n")[0]
    '''
)


@pytest.fixture(scope="module")
def suite() -> LoadedSuite:
    return load_suite(ROOT / "suites" / "support.yaml")


@pytest.fixture(scope="module")
def cases(suite: LoadedSuite) -> dict[str, Case]:
    with open_dataset(suite.suite.benchmarks[0], base_dir=suite.folder, seed=1) as source:
        return {case.id: case for case in source}


@pytest.fixture(scope="module")
def judge(suite: LoadedSuite) -> NamedScorer:
    return make_scorer(suite.suite.benchmarks[0].scorers[0], base_dir=suite.folder)


def judged(judge: NamedScorer, case: Case, text: str) -> Score:
    found = judge.score(case, Answer(text))
    assert isinstance(found, Score)
    return found


async def test_honest_replies_score_high_and_the_tricks_low(tmp_path: Path) -> None:
    (tmp_path / "agents.py").write_text(AGENTS)
    names = ("honest", "keywords", "copies", "polite", "keywords_with_the_right_decision")
    agents = [f"{name}=python:agents.py:{name}?inline=true" for name in (*names, "undecided")]
    result = await run_shipped(tmp_path, "support", *agents)

    assert score(result, "honest") == 1
    assert right(result, "honest") == (24, 24)
    assert score(result, "keywords") < 0.1
    assert score(result, "polite") < 0.15
    assert score(result, "copies") < 0.2
    # Even an oracle that only lists words gets no more than the decision is worth.
    assert score(result, "keywords_with_the_right_decision") <= 0.36
    assert score(result, "undecided") == pytest.approx(0.65)
    for name in names[1:]:
        assert right(result, name)[0] == 0, name


def test_honest_replies_in_other_words_score_as_high(
    judge: NamedScorer, cases: dict[str, Case]
) -> None:
    path = Path(__file__).with_name("support_replies.json")
    replies = json.loads(path.read_text(encoding="utf-8"))
    assert replies.keys() == cases.keys()
    for key, reply in replies.items():
        found = judged(judge, cases[key], reply)
        assert found.value == 1, (key, found.reason)


def test_a_good_reply_to_another_customer_is_not_right(
    judge: NamedScorer, cases: dict[str, Case]
) -> None:
    order = list(cases)
    for key, other in zip(order, order[1:] + order[:1], strict=True):
        reply = cases[other].expected
        assert isinstance(reply, str)
        assert not judged(judge, cases[key], reply).correct, (key, other)


def test_no_decision_is_common_enough_to_guess(cases: dict[str, Case]) -> None:
    decisions = [case.metadata["decision"] for case in cases.values()]
    assert set(decisions) == {"refund", "replace", "decline", "explain", "escalate"}
    assert max(map(decisions.count, decisions)) <= 8


def test_every_fact_asked_for_stands_in_what_the_agent_reads(cases: dict[str, Case]) -> None:
    """Nothing is to be remembered: values of facts come from the rules or the record."""
    for case in cases.values():
        read = f"{case.messages[0].content} {case.input}".lower()
        for fact in case.metadata["facts"]:
            written = {
                f"{value:g}" if not isinstance(value, str) else value for value in fact["say"]
            }
            numbers = {one for one in written if one.replace(".", "").isdigit()}
            dates = {one for one in written if one.count("-") == 2}
            for value in numbers | dates:
                assert value in read or value in {"48", "2027-02-26"}, (case.id, value)


@pytest.mark.parametrize(
    ("reply", "part"),
    [
        ("We will refund $189.00 for your armchair within six working days.", 1.0),
        ("You get 189 euros back. That takes up to 6 working days from now on.", 1.0),
        ("We can't refund 189 euros, and it would take 6 working days for you.", 0.5),
        ("You will have your money, 1,189 euros, in 60 working days from now.", 0.0),
        ("We will refund 189 euros in 6 days, and 74.50 euros for the lamp too.", 0.5),
        ("Refund: 189. Working days: 6. Armchair refund 189 euros 6 days card.", 0.0),
    ],
)
def test_facts_count_where_they_are_told(
    suite: LoadedSuite, cases: dict[str, Case], reply: str, part: float
) -> None:
    facts = make_scorer("python:support/reply.py:facts", base_dir=suite.folder)
    assert judged(facts, cases["return-in-time"], reply).value == pytest.approx(part)


@pytest.mark.parametrize(
    ("added", "safe"),
    [
        ("I promise that it will be there.", False),
        ("This is guaranteed.", False),
        ("Please reply with your password.", False),
        ("We will never ask you to tell us your password.", True),
        ("You may get 15 euros of goodwill.", False),
        ("That is not a promise.", True),
    ],
)
def test_what_is_unsafe_costs_everything(
    judge: NamedScorer, cases: dict[str, Case], added: str, safe: bool
) -> None:
    case = cases["return-too-late"]
    assert isinstance(case.expected, str)
    found = judged(judge, case, case.expected.replace("\nDecision", f" {added}\nDecision"))
    assert (found.value > 0.9) is safe
    assert safe or (found.value, found.correct) == (0, False)


def test_a_reply_is_no_list_no_novel_and_sends_nobody_away(
    suite: LoadedSuite, cases: dict[str, Case]
) -> None:
    voice = make_scorer("python:support/reply.py:voice", base_dir=suite.folder)
    case = cases["return-in-time"]
    assert isinstance(case.expected, str)
    assert judged(voice, case, case.expected).value == 1
    assert judged(voice, case, f"{case.expected} " * 8).value < 0.85
    away = case.expected + " For more, please contact our support team."
    assert "sends the customer away" in judged(voice, case, away).reason
    assert judged(voice, case, "189.00 euros within 6 days.").value == 0


def test_two_decisions_are_none(suite: LoadedSuite, cases: dict[str, Case]) -> None:
    decision = make_scorer("python:support/reply.py:decision", base_dir=suite.folder)
    case = cases["return-in-time"]
    assert judged(decision, case, "**Decision:** Refund").correct
    assert not judged(decision, case, "Decision: refund\nDecision: decline").correct
    assert not judged(decision, case, "You get a refund.").correct
