"""`agentbench suites new FILE --from DATA`: what is chosen for a file, and that it runs."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from agentbench_tui.cli.main import _run
from agentbench_tui.cli.suites import suites
from agentbench_tui.engine.cases.dataset import open_dataset
from agentbench_tui.engine.suite.data_files import data_file
from agentbench_tui.engine.suite.loading import LoadedSuite, load_suite
from agentbench_tui.engine.suite.proposal import propose
from agentbench_tui.model.answer import Answer, Case, Score
from agentbench_tui.model.errors import SuiteError, UsageError
from agentbench_tui.scoring.registry import make_scorer


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(suites, [*map(str, arguments)], standalone_mode=False)


def lines_file(folder: Path, records: Iterable[Any], name: str = "data.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def csv_file(folder: Path, header: str, rows: Sequence[str], name: str = "data.csv") -> Path:
    path = folder / name
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def made(folder: Path, data: Path) -> LoadedSuite:
    """The suite that the command writes for a file, which must be sound."""
    path = folder / "mine.yaml"
    result = invoke("new", path, "--from", data)
    assert result.return_value == 0, result.output
    assert invoke("validate", path).return_value == 0
    return load_suite(path)


def cases_of(loaded: LoadedSuite) -> list[Case]:
    benchmark = loaded.suite.benchmarks[0]
    with open_dataset(benchmark, base_dir=loaded.folder, seed=1) as source:
        return sorted(source.cases(), key=lambda case: case.id)


def score(loaded: LoadedSuite, case: Case, answer: str) -> float:
    (spec,) = loaded.suite.benchmarks[0].scorers
    found = make_scorer(spec).score(case, Answer(text=answer))
    assert isinstance(found, Score)
    return found.value


def test_questions_of_a_spreadsheet(tmp_path: Path) -> None:
    rows = [f"q{n},{'easy' if n % 2 else 'hard'},What is {n} + 1?,{n + 1}" for n in range(10)]
    loaded = made(tmp_path, csv_file(tmp_path, "id,level,question,answer", rows))

    case = cases_of(loaded)[0]
    assert (case.id, case.expected, case.metadata) == ("q0", "1", {"level": "hard"})
    assert case.input == "What is 0 + 1?\n\nAnswer with nothing but the number."
    assert score(loaded, case, "1.0") == 1
    assert score(loaded, case, "It is 2.") == 0


@pytest.mark.parametrize(
    ("header", "question", "answer"),
    [
        ("Nr;Thema;Frage;Antwort", "Frage", "Antwort"),
        ("Nr;Thema;Aufgabe;Musterlösung", "Aufgabe", "Musterlösung"),
        ("Nr;Thema;Fragestellung;Erwartete Antwort", "Fragestellung", "Erwartete Antwort"),
        ("Numéro;Thème;Énoncé;Réponse attendue", "Énoncé", "Réponse attendue"),
        ("N°;Thème;Question;RÉPONSE", "Question", "RÉPONSE"),
        ("Número;Tema;Pregunta;Respuesta correcta", "Pregunta", "Respuesta correcta"),
        ("Número;Tema;Enunciado;Solución", "Enunciado", "Solución"),
        ("Numero;Tema;Domanda;Risposta", "Domanda", "Risposta"),
        ("Número;Tema;Pergunta;Resposta", "Pergunta", "Resposta"),
        ("No;Topic;Question;Expected Answer", "Question", "Expected Answer"),
    ],
)
def test_columns_in_other_languages(
    tmp_path: Path, header: str, question: str, answer: str
) -> None:
    """As Excel writes them: semicolons, a byte order mark, CRLF, decimal commas."""
    path = tmp_path / "export.csv"
    # The topic is the longest text, so that only its name tells the question.
    rows = [f"{n};{'abcd'[n % 2] * 60};wie viel ist {n} + 0,5?;{n},5" for n in range(1, 9)]
    path.write_text("\r\n".join([header, *rows, ""]), encoding="utf-8-sig", newline="")

    proposal = propose(path)
    assert (proposal.fields["input"], proposal.fields["expected"]) == (question, answer)
    assert proposal.fields["id"] == header.partition(";")[0]
    assert proposal.scorer == "numeric"
    cases = cases_of(made(tmp_path, path))
    assert {case.id: case.expected for case in cases} == {f"{n}": n + 0.5 for n in range(1, 9)}


def test_names_of_columns_decomposed_by_macos(tmp_path: Path) -> None:
    path = csv_file(tmp_path, "Nr,Re\u0301ponse,E\u0301nonce\u0301,x", ["1,2,wie viel?,y"])
    proposal = propose(path)
    assert proposal.fields["expected"] == "Re\u0301ponse"
    assert proposal.fields["input"] == "E\u0301nonce\u0301"


def test_choices_in_columns_of_a_german_spreadsheet(tmp_path: Path) -> None:
    rows = ["Was ist gelb?,Zitrone,Gras,Meer,A", "Was ist blau?,Zitrone,Gras,Meer,C"]
    data = csv_file(tmp_path, "Frage,Antwort_A,Antwort_B,Antwort_C,Lösung", rows)
    loaded = made(tmp_path, data)
    case = next(case for case in cases_of(loaded) if "gelb" in str(case.input))
    assert str(case.input).startswith("Was ist gelb?\n\nA) Zitrone\nB) Gras\nC) Meer")
    assert (score(loaded, case, "A"), score(loaded, case, "B")) == (1, 0)


def test_a_spreadsheet_in_the_encoding_of_windows_is_refused_with_what_to_do(
    tmp_path: Path,
) -> None:
    path = tmp_path / "windows.csv"
    path.write_bytes("Frage;Antwort\r\nWie groß?;1\r\n".encode("cp1252"))
    with pytest.raises(SuiteError, match=r'0xdf .* line 2.* UTF-8, in Excel by the type "CSV UTF'):
        propose(path)


def test_a_dialogue_is_sent_without_its_last_answer(tmp_path: Path) -> None:
    turns = [
        {"role": "system", "content": "Translate to German."},
        {"role": "user", "content": "cat"},
        {"role": "assistant", "content": "Katze"},
    ]
    loaded = made(tmp_path, lines_file(tmp_path, [{"messages": turns}] * 3))

    case = cases_of(loaded)[0]
    assert (case.input, case.expected) == ("cat", "Katze")
    assert [message.content for message in case.messages] == ["Translate to German."]
    assert score(loaded, case, "katze.") == 1


def test_a_dialogue_that_ends_with_a_call_is_judged_by_its_call(tmp_path: Path) -> None:
    call = {"type": "function", "function": {"name": "w", "arguments": '{"city": "Rome"}'}}
    turns = [
        {"role": "user", "content": "Weather in Rome?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    loaded = made(tmp_path, lines_file(tmp_path, [{"messages": turns}]))

    assert loaded.suite.benchmarks[0].scorers == ["tool_calls"]
    assert cases_of(loaded)[0].expected == [{"name": "w", "arguments": {"city": "Rome"}}]


CHOICES = ["London", "Paris", "Rome", "Oslo"]


@pytest.mark.parametrize(
    "record",
    [
        {"question": "Capital of France?", "choices": CHOICES, "answer": 1},
        {
            "question": "Capital of France?",
            "choices": {"text": CHOICES, "label": ["A", "B", "C", "D"]},
            "answerKey": "B",
        },
        {
            "question": "Capital of France?",
            **dict(zip("ABCD", CHOICES, strict=True)),
            "answer": "B",
        },
    ],
    ids=["index", "label", "columns"],
)
def test_choices_are_listed_by_letter(tmp_path: Path, record: dict[str, Any]) -> None:
    loaded = made(tmp_path, lines_file(tmp_path, [record]))

    (case,) = cases_of(loaded)
    assert case.input == (
        "Capital of France?\n\nA) London\nB) Paris\nC) Rome\nD) Oslo"
        "\n\nAnswer with nothing but the letter of the right choice."
    )
    assert score(loaded, case, "(B)") == 1
    assert score(loaded, case, "C") == 0


def test_different_numbers_of_choices_are_listed_without_letters(tmp_path: Path) -> None:
    records = [
        {"id": str(n), "question": "Which?", "choices": CHOICES[: 2 + n], "answer": n}
        for n in range(2)
    ]
    loaded = made(tmp_path, lines_file(tmp_path, records))

    first, second = cases_of(loaded)
    assert first.input == (
        'Which?\n\nChoices: ["London","Paris"]'
        "\n\nAnswer with nothing but the text of the right choice."
    )
    assert [score(loaded, second, one) for one in ("Paris", "Rome")] == [1, 0]


def test_truth_values_are_answered_by_name(tmp_path: Path) -> None:
    records = [{"question": f"{n} > 1?", "answer": n > 1} for n in range(4)]
    loaded = made(tmp_path, lines_file(tmp_path, records))

    case = next(one for one in cases_of(loaded) if one.expected is True)
    assert str(case.input).endswith("Answer with one of these only: false, true")
    assert [score(loaded, case, one) for one in ("True", "false")] == [1, 0]


def test_a_question_about_a_passage(tmp_path: Path) -> None:
    records = [
        {
            "id": f"{passage}-{number}",
            "context": f"Passage {passage}.",
            "question": f"Question {number}?",
            "answers": {"text": ["Denver Broncos", "Broncos"], "answer_start": [1, 8]},
        }
        for passage in range(3)
        for number in range(2)
    ]
    loaded = made(tmp_path, lines_file(tmp_path, records))

    cases = cases_of(loaded)
    assert str(cases[0].input).startswith("Passage 0.\n\nQuestion 0?\n\n")
    assert [case.cluster for case in cases] == [f"Passage {n}." for n in (0, 0, 1, 1, 2, 2)]
    assert score(loaded, cases[0], "broncos") == 1


def test_a_worked_solution_asks_for_one(tmp_path: Path) -> None:
    solved = [{"question": f"{n} and 2?", "answer": f"We add.\n#### {n + 2}"} for n in range(3)]
    loaded = made(tmp_path, lines_file(tmp_path, solved))

    assert loaded.suite.benchmarks[0].prompt is None
    case = next(case for case in cases_of(loaded) if case.input == "1 and 2?")
    assert score(loaded, case, "1 + 2 = 3, so the answer is 3.") == 1


def test_labels_are_named(tmp_path: Path) -> None:
    rows = [f"review {n},{'good' if n % 3 else 'bad'}" for n in range(20)]
    loaded = made(tmp_path, csv_file(tmp_path, "text,label", rows))

    prompt = loaded.suite.benchmarks[0].prompt
    assert prompt == "{input}\n\nAnswer with one of these only: bad, good"
    case = next(one for one in cases_of(loaded) if one.expected == "bad")
    assert [score(loaded, case, answer) for answer in ("Bad", "good", "bad or good")] == [1, 0, 0]


def test_unit_tests_run_the_code(tmp_path: Path) -> None:
    record = {
        "task_id": "F/0",
        "prompt": "def double(x):\n",
        "test": "def check(f):\n    assert f(2) == 4\n",
        "entry_point": "double",
        "canonical_solution": "    return 2 * x\n",
    }
    proposal = propose(lines_file(tmp_path, [record]))

    assert proposal.scorer == "python_tests"
    assert proposal.unused == ("canonical_solution",)
    assert "canonical_solution" not in proposal.fields.values()


def test_without_an_expected_answer_nothing_is_scored(tmp_path: Path) -> None:
    loaded = made(tmp_path, csv_file(tmp_path, "prompt", ["Tell me a story.", "Sing."]))

    assert loaded.suite.benchmarks[0].scorers == []
    weights = loaded.suite.weights
    assert weights is not None
    assert (weights.accuracy, weights.speed) == (0, 0.7)


def test_long_answers_are_compared_by_words_with_a_hint(tmp_path: Path) -> None:
    record = {"instruction": "Summarise", "input": "A text.", "output": "many words " * 20}
    result = invoke("new", tmp_path / "mine.yaml", "--from", lines_file(tmp_path, [record]))

    assert "model_graded" in result.stdout
    loaded = load_suite(tmp_path / "mine.yaml")
    assert loaded.suite.benchmarks[0].scorers == ["token_f1"]
    assert cases_of(loaded)[0].input == "Summarise\n\nA text."


def test_names_of_columns_cannot_break_the_suite(tmp_path: Path) -> None:
    """Nor end a comment, nor be read as YAML."""
    records = [
        {"question": f"{n}?", "answer": "x", "a: b #c\nd": n % 2, "yes": n % 2, "{q}": "z"}
        for n in range(8)
    ]
    loaded = made(tmp_path, lines_file(tmp_path, records))

    assert cases_of(loaded)[0].metadata.keys() == {"a: b #c\nd", "yes"}


def test_three_cases_are_shown_as_an_agent_gets_them(tmp_path: Path) -> None:
    data = csv_file(tmp_path, "question,answer", [f"{n} + {n}?,{2 * n}" for n in range(5)])
    result = invoke("new", tmp_path / "mine.yaml", "--from", data)

    assert result.stdout.count("  case ") == 3
    assert "Answer with nothing but the number." in result.stdout
    assert "agentbench run" in result.stderr
    assert "delete `prompt` in" in result.stderr

    # A dialogue is sent as it is.
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    dialogue = lines_file(tmp_path, [{"messages": turns}])
    assert "delete `prompt`" not in invoke("new", tmp_path / "chat.yaml", "--from", dialogue).stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "it has no records"),
        ("a,a\n1,2\n", "names a twice"),
        ("id,question,answer\n1,x,y\n1,z,y\n", 'the id "1" is that of line 2 too'),
    ],
)
def test_a_file_that_cannot_be_used_is_told(
    tmp_path: Path, content: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data.csv").write_text(content)
    data = str(tmp_path / "data.csv")
    assert _run(["suites", "new", str(tmp_path / "mine.yaml"), "--from", data]) == 2
    assert said in capsys.readouterr().err


def test_the_split_to_test_on_is_taken_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for split in ("train", "test", "validation"):
        lines_file(tmp_path / "data", [{"question": split, "answer": "x"}], f"{split}-0.jsonl")
    (tmp_path / "dataset_info.json").write_text("{}")

    file, notes = data_file(tmp_path)

    assert file == tmp_path / "data" / "test-0.jsonl"
    assert notes == ("other splits in the folder: validation, train",)


def test_a_folder_of_arrow_files_says_how_to_write_another(tmp_path: Path) -> None:
    (tmp_path / "data-00000-of-00001.arrow").touch()
    with pytest.raises(UsageError, match="to_json"):
        data_file(tmp_path)


def test_validate_warns_of_an_answer_that_is_sent(tmp_path: Path) -> None:
    rows = ["Say it.,the whole answer", "The reply is the full reply.,the full reply"]
    made_suite = made(tmp_path, csv_file(tmp_path, "question,answer", rows))

    result = invoke("validate", made_suite.path)

    assert result.return_value == 0
    assert "the expected answer of 1 case stands in what the agent is sent" in result.stderr


def test_validate_warns_of_cells_left_blank(tmp_path: Path) -> None:
    rows = ["q1,yes", "q2,", " ,no", "q4, "]
    made_suite = made(tmp_path, csv_file(tmp_path, "question,answer", rows))

    stderr = invoke("validate", made_suite.path).stderr

    assert "the question of 1 case is empty (first " in stderr
    assert "the expected answer of 2 cases is empty (first " in stderr

    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    (tmp_path / "chat").mkdir()
    dialogue = made(tmp_path / "chat", lines_file(tmp_path, [{"messages": turns}]))
    assert "is empty" not in invoke("validate", dialogue.path).stderr


def test_a_template_and_data_exclude_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = csv_file(tmp_path, "question,answer", ["a,b"])
    path = str(tmp_path / "mine.yaml")
    code = _run(["suites", "new", path, "--from", str(data), "--template", "file"])
    assert code == 2
    assert "exclude each other" in capsys.readouterr().err
