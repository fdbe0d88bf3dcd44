"""Statements of a choice, hedges, denials and English words, in several languages."""

import json
from itertools import permutations
from pathlib import Path

import pytest
from bounded_work import bounded_work
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model.answer import Answer, Case, Score
from agentbench_tui.scoring.choices.picked import SEVERAL, find_choice
from agentbench_tui.scoring.registry import make_scorer

RECORDS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "choices.jsonl").read_text("utf-8").splitlines()
]
TEXTS = ["London", "Paris", "Rome", "Madrid"]
AFTERTHOUGHTS = [
    "The answer is B. Actually, it's C.",
    "The answer is B, no wait, C.",
    "The answer is B. No, C.",
    "The answer is B. Wait, no, it is C.",
    "The answer is B, or rather C.",
    "The answer is B or rather C.",
    "Answer: B\n\nHmm, actually the answer should be (C).",
    "The answer is B. Sorry, I meant C.",
    "The answer is B. Actually, that's wrong. It's C.",
    "The answer is B. Let me reconsider. It is C.",
    "The answer is B. On second thought, C is correct.",
    "The answer is B. Actually, C) Rome.",
    "The answer is Paris. Actually, it's Rome.",
    "B. Actually, it's C.",
    "The answer is B. No, wait, A. Hold on, C.",
    "I think C.",
    "I think C",
    "I think (C) is the best one.",
    "I believe that C is correct.",
    "I guess option C, since it is the capital.",
    "I don't think B. I think C.",
    "The answer is C. Actually, B is too small.",
    "The answer is C. No, B would be too small.",
    "The answer is C (no B).",
    "The answer is C. Actually, it's not B.",
    "The answer is C. Actually, B is wrong.",
    "The answer is C. But B, which is close, is not.",
    "The answer is C. Actually, B, which is close, is too small.",
    "The answer is C. A: no. B: no. D: no.",
]
LETTERS = st.sampled_from("ABCD")


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_recorded_answers_are_judged_as_they_should_be(record: dict[str, str]) -> None:
    case = Case("case", "", record["expected"], metadata={"choices": record["choices"]})
    score = make_scorer("multiple_choice").score(case, Answer(record["answer"]))
    assert isinstance(score, Score)
    assert score.correct is record["correct"]


@pytest.mark.parametrize("text", AFTERTHOUGHTS)
def test_an_afterthought_or_opinion_is_the_choice(text: str) -> None:
    assert find_choice(text, "ABCD", TEXTS) == "C"


@pytest.mark.parametrize(
    "text",
    [
        r"\boxed{C \lor D}",
        r"\boxed{C \vee D}",
        r"\boxed{C \land D}",
        r"\boxed{C \cup D}",
        "The answer is C plus D.",
        "The answer is C together with D",
        "The answer is B. Actually, C or D.",
        "I think C or D.",
    ],
)
def test_two_choices_with_other_conjunctions_are_more_than_one(text: str) -> None:
    assert find_choice(text, "ABCD", TEXTS) == SEVERAL


@pytest.mark.parametrize(
    "text", ["I think A good deal of this.", "I don't think C.", "I think so."]
)
def test_an_opinion_without_a_choice(text: str) -> None:
    assert find_choice(text, "ABCD", TEXTS) is None


@pytest.mark.parametrize(
    ("expected", "choices", "answer"),
    [
        ("2", ["one", "two", "three"], "C"),
        (" 0 ", ["one", "two", "three"], "A"),
        ("2", ["1", "2", "3"], "B"),
    ],
)
def test_an_index_may_be_text(expected: str, choices: list[str], answer: str) -> None:
    case = Case("case", "", expected, metadata={"choices": choices})
    score = make_scorer("multiple_choice").score(case, Answer(answer))
    assert isinstance(score, Score)
    assert score.correct


@pytest.mark.parametrize(
    "text",
    [
        "C",
        "c",
        "(C)",
        "**C**",
        "C.",
        "C)",
        '"C"',
        "`C`",
        "$C$",
        "Option C",
        "C. Rome",
        "C: Rome",
        "C) Rome is the capital of Italy.",
        r"\boxed{C}",
        r"\boxed{\mathrm{C}}",
        r"\boxed{\text{(C)}}",
        r"\boxed{\text{C. Rome}}",
        r"$\boxed{\textbf{(C)}\ 5}$ since (A) is too small",
        r"\boxed{C: the third one}",
        r"\boxed{\text{Rome}}",
        "<answer>C</answer>",
        "<answer>(C) Rome</answer>",
        "Answer: C",
        "Answer: $C$",
        "answer: c",
        "**Answer**: C",
        "**Answer: (C)**",
        "### Answer\n\nC",
        "Final answer:\n\nC",
        "The answer is C",
        "The answer is **C**, because Rome is old.",
        "The correct answer is option C.",
        "The best answer is: C",
        "The answer is most likely (C).",
        "The answer would be C.",
        "The answer is Rome.",
        "London is not in Italy. The answer is Rome.",
        "Antwort: C",
        "Die Antwort ist C.",
        "Réponse : C",
        "La réponse est C.",
        "Respuesta: C",
        "La respuesta es C.",
        "Risposta: C",
        "Ответ: C",
        "答案：C",
        "答案是C。",
        "正确答案是 (C)",
        "故选C",
        "正解はCです",
        "정답: C",
        "정답은 C입니다.",
        "Answer: С",  # Cyrillic
        "Answer: Ｃ",  # full width
        "I would pick C — a safe choice.",
        "A is wrong, so C.",
        "A is wrong, so I choose C.",
        "It can't be A, so I go with C",
        "Therefore C is correct",
        "Conclusion: (C). Eliminated: (A), (B), (D).",
        "The answer is C. A is a common distractor.",
        "The answer is C; A, B and D are wrong.",
        "The answer is C, A is wrong.",
        "The answer is C and A is wrong.",
        "The answer is C, not A.",
        "The answer is not A but C.",
        "The answer is C) Rome, not A) London.",
        "The answer is C, a safe choice.",
        "The answer is A. No, the answer is C.",
        "The wrong answer is A. Answer: C",
        "Is the answer A? No.\nAnswer: C",
        "If the answer is A, it is too small.\n\nC",
        "A. London is too far north.\nB. Paris is French.\nC. Rome fits.\n\nAnswer: C",
        "A is too small and B is too large.\n\nC",
        "A is too small and B is too large.\n\n**C.**",
        "Options A and B are wrong; option C is right.",
        "(A) is wrong. (C)",
        "It is Rome.",
        "C is the correct answer.",
        "Option C is correct, option A is wrong.",
        "It should be C.",
        "Answer: 'C'",
        "The answer's C.",
        "The answer to this question is C.",
        "The answer, therefore, is C.",
        "La respuesta correcta es la C.",
        "Die richtige Antwort lautet C.",
        "正确选项是C",
        "答案是选项C",
        "It is not Paris. It is Rome.",
        "<answer>The answer is C</answer>",
        r"\boxed{\text{The answer is (C)}}",
        "{'answer': 'C'}",
        "{'choice': 'C', 'rejected': 'A'}",
        "Ans: C",
        "Working on it.\n\nSolution: C",
        "Result: (C).\n",
        "Selected: C",
        "C because A and B are not capitals of Italy.",
        "C, since neither A nor B is in Italy.",
        "✅ C",
        "👉 **C**",
        "C ✓",
        "A resposta correta é a letra C.",
    ],
)
def test_a_choice_is_picked(text: str) -> None:
    assert find_choice(text, "ABCD", TEXTS) == "C"


@pytest.mark.parametrize(
    "text", ["The answer is A because of this.", "A", "A. London", "Answer: A"]
)
def test_the_letter_a_is_a_choice(text: str) -> None:
    assert find_choice(text, "ABCD", TEXTS) == "A"


@pytest.mark.parametrize(
    "text", ["Answer: I", "The answer is I because it fits", "I", r"\boxed{I}"]
)
def test_the_letter_i_is_a_choice(text: str) -> None:
    assert find_choice(text, "ABCDEFGHI", []) == "I"


@pytest.mark.parametrize(
    "text",
    [
        "Answer: A, B, C, D",
        "Answer: A, B",
        "Answer: A/B",
        "Answer: A & B",
        "Answer: A B",
        "Answer:\nA\nB\nC\nD",
        "A\nB\nC\nD",
        "A, B",
        "A or B",
        "B and C",
        "(A) or (B)",
        "The answer is A or B.",
        "The answer is B and C.",
        "The answer is either A or B, I think.",
        "The answer is both A and B.",
        "The answer is A (or B).",
        "The answer is **A** or **B**.",
        "The answer is A, or possibly B.",
        "The answer is A or B is possible.",
        "The answer is A) London or B) Paris.",
        "The answer is A. London, B. Paris.",
        "The answer is option A or option B.",
        "Antwort: A oder B",
        "Réponse : A ou B",
        "Respuesta: A o B",
        "答案：A或B",
        "答案：A、B",
        "정답: A 또는 B",
        r"\boxed{A, B}",
        r"\boxed{A \text{ or } B}",
        "<answer>A or B</answer>",
        "I would pick A or B.",
        "**A** or maybe **B**",
        "Answer: (A)(B)",
        "The answer is A. Or B.",
        "The answer is A or, if not, B.",
        "The answer is A, unless it is B.",
        "The answer is A. It could also be B.",
        "Either A or B is correct.",
        "A is correct. B is correct.",
        r"\boxed{A} or \boxed{B}",
        r"\boxed{A}\boxed{B}",
        "<answer>A</answer><answer>B</answer>",
    ],
)
def test_two_choices_are_more_than_one(text: str) -> None:
    assert find_choice(text, "ABCD", TEXTS) == SEVERAL
    for letter in "ABCD":
        case = Case("case", "", letter, metadata={"choices": TEXTS})
        score = make_scorer("multiple_choice").score(case, Answer(text))
        assert isinstance(score, Score)
        assert score.reason == f"picks more than one choice, expected {letter}"


@pytest.mark.parametrize(
    "text",
    [
        "A good question.",
        "I think so.",
        "I",
        "A car moves.",
        "The answer is A good question.",
        "The answer is I think unclear.",
        "The answer is not A.",
        "The answer isn't A.",
        "The answer is neither A nor B.",
        "The answer is anything but A.",
        "The answer is a city.",
        "The answer is not Paris.",
        "A is wrong.",
        "(A) is wrong.",
        "Option A is incorrect.",
        "It is not Paris.",
        "So A car moves.",
        "The answer is E = mc^2",
        "Plan B-52 and vitamin C-rich food",
        "I'm done, and it's A's turn",
        r"\boxed{42}",
        r"\boxed{\langle H\rangle}",
        "no idea",
        "Is it the answer A?",
        "Solution: A train leaves at noon.",
        "Result: C is the speed of light here.",
        "Result: not C",
        "C ✗",
    ],
)
def test_what_picks_nothing(text: str) -> None:
    assert find_choice(text, "ABCD", TEXTS) is None
    assert find_choice(text, "ABCDEFGHI", []) in {None, "I" if text == "I" else None}


@pytest.mark.parametrize(
    "text",
    [
        "答案：（B）",
        "答案是（B）",
        "答案为（B）",
        "答案為（B）",
        "应选（B）",
        "應選（B）",
        "因此选择选项（B）。",
        "答えは（B）。",
        "答えは（B）です。",
        "【答案】B",
        "【答案】：B",
        "【答案】 （B）",
        "【答案】选B",
        "【B】",
        "［B］",
        "「B」",
        "〔B〕",
        "（B）",
        "（Ｂ）",
        "答えはＢです。",
        "答案B",
        "正确答案B",
        "参考答案：B",
        "B是正确的",
        "B是正確的",
        "B是对的",
        "B是正确答案",
        "B正确",
        "选项B正确",
        "选项B是正确的",
        "選項B正確",
        "B选项正确",
        "B项正确",
        "B的说法正确",
        "選B",
        "选B",
        "故选（B）",
        "我選擇B",
        "правильный ответ B",
        "Правильный ответ — B",
        "правильный ответ В",
        "Ответ (B)",
        "Antwort B",
        "Antwort B ist richtig.",
        "die Antwort B",
        "réponse B",
        "respuesta B",
        "I choose option b.",
        "I choose option b because it fits.",
        "Option b is correct.",
        "I choose b.",
        "I'd go with (b).",
        "I pick choice b, as A is wrong.",
        "option (b)",
        "（A）不正确，（B）正确。",
        "A错误，选B",
        "排除A、C、D，选B",
        "排除（A）和（C），（B）正确",
        "不是（A），而是（B）",
        "答案不是A，是（B）",
        "答案是B不是A",
        "答案是B，不是A。",
        "答案是（B），而非（A）",
        "【解析】A项错误，B项正确。【答案】B【点评】无",
        "（B）巴黎",
        "B. 巴黎",
        "Bが正解です",
        "Bが正しいです",
        "答えはBで、Aではありません",
        "B가 정답입니다",
        "정답은 （B）입니다",
        "정답 B",
        "Antwort: B. Nicht A.",
        "Die Antwort ist B, nicht A.",
        "Antwort: B nicht A",
        "Antwort A ist falsch, also Antwort: B",
        "Ответ: B. Не A.",
        "答案是B。A不对。",
        "选项A错误，选项B正确",
        "No, B is correct.",
        "option b.",
        "答案：Ｂ",
    ],
)
def test_choices_in_brackets_without_a_colon_and_in_small_letters(text: str) -> None:
    assert find_choice(text, "ABCD", TEXTS) == "B"


@pytest.mark.parametrize(
    "text",
    [
        "不是（B）",
        "答案不是（B）",
        "（B）不正确",
        "（B）是错的",
        "不选B",
        "不應選B",
        "不应选B",
        "不能选（B）",
        "排除（B）",
        "排除了选项B",
        "排除（A）和（B）",
        "如果选B",
        "如果答案是B，则太大",
        "答案是B吗？",
        "B正确吗？",
        "B是不正确的",
        "B不是正确的",
        "B不正确",
        "答案B错误",
        "答案B是错的",
        "不正确的答案B",
        "错误答案：B",
        "答えはBではありません",
        "答えは（B）ではない",
        "Bは正解ではない",
        "Bが正しいとは言えない",
        "答えはBですか？",
        "Antwort B ist falsch.",
        "Nicht Antwort B",
        "ответ B неправильный",
        "Ответ B неверный",
        "не ответ B",
        "La respuesta B es incorrecta",
        "la réponse B est fausse",
        "not option b.",
        "option b is wrong",
        "I would not choose option b.",
        "Bは間違いです",
        "B는 정답이 아닙니다",
        "可选B",
        "DVD和VCD的区别",
        "回答B同学的问题",
        "I never choose b.",
        "He had to choose a.",
        "It must be c.",
        "Answer the question",
        "【答案】AB",
        "I choose a or b.",
    ],
)
def test_denials_questions_and_other_words_in_these_forms_pick_nothing(text: str) -> None:
    assert find_choice(text, "ABCD", TEXTS) is None


@pytest.mark.parametrize(
    "text",
    [
        "（A）（B）说法",
        "答案：（A）或（B）",
        "（A）或（B）",
        "A或B",
        "答案是A还是B",
        "选A还是选B",
        "选A或选B",
        "选A或者选（B）",
        "【答案】A、B",
        "【A】【B】",
        "答案A、B",
        "答案A和B",
        "A和B正确",
        "A和B是正确的",
        "A、B是正确的",
        "A是正确的，B是正确的",
        "答えはAかBです",
        "答えは（A）または（B）です",
        "I choose option a or option b.",
        "Antwort A oder B",
        "правильный ответ A или B",
        "答案是A，也可能是B",
        "「A」か「B」",
        "option a, b",
        "A가 정답, B가 정답",
        "【答案】A或B",
    ],
)
def test_two_choices_in_these_forms_are_more_than_one(text: str) -> None:
    assert find_choice(text, "ABCD", TEXTS) == SEVERAL


STATEMENTS = st.sampled_from(
    ["{}", "Answer: {}", "The answer is {}.", r"\boxed{{{}}}", "<answer>{}</answer>", "Antwort: {}"]
)


@given(STATEMENTS, st.permutations("ABCD"), st.sampled_from([" or ", ", or ", " or maybe ", "/"]))
def test_a_second_letter_never_scores(statement: str, letters: list[str], join: str) -> None:
    first, second, *_ = letters
    assert find_choice(statement.format(first), "ABCD", TEXTS) == first
    for pair in permutations((first, second)):
        text = statement.format(join.join(pair))
        assert find_choice(text, "ABCD", TEXTS) == SEVERAL


PIECES = st.sampled_from(
    [
        *"ABCDIabcdi.,:;/&|()[]{}*_`$\\?!'\" \n",
        *("Answer:", "answer is", r"\boxed{", "<answer>", "or", "and", "not", "but", "is wrong"),
        *("option", "so", "London", "Paris", "答案", "정답", "选", "А", "either", "A, B", "**"),
    ]
)


@given(st.lists(PIECES, max_size=60).map("".join))
def test_no_text_makes_the_scorer_raise(text: str) -> None:
    assert find_choice(text, "ABCD", TEXTS) in {None, SEVERAL, *"ABCD"}


HOSTILE = {
    "backslashes": "\\" * 250_000,
    "open braces": "{" * 250_000,
    "boxes": r"\boxed{" * 25_000,
    "nested": r"\boxed{" + "{" * 10_000 + "A" + "}" * 10_000 + "}",
    "markers": "answer: " * 25_000,
    "statements": "the answer is not A. " * 50_000,
    "conclusions": "so A or " * 25_000,
    "spaces": "answer:" + " " * 250_000,
    "stars": "answer" + "*" * 250_000,
    "list": "Answer: " + "A, " * 75_000,
    "letters": "A " * 500_000,
    "labels": "A.\n" * 75_000,
    "brackets": "(A)" * 75_000,
    "lines": "\n" * 250_000,
    "tags": "<answer>" * 25_000,
    "options": "option a, or option b " * 50_000,
    "Chinese": "排除（A）、" * 25_000 + "答案不选" * 25_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_costs_bounded_time(text: str) -> None:
    with bounded_work():
        find_choice(text, "ABCD", TEXTS)
