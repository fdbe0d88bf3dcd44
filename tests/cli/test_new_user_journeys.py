"""What a new user does first: the commands that README and the output name, one after the other."""

import csv
import json
import re
import shlex
from pathlib import Path

import pytest
from processes import Place, make_place

README = Path(__file__).parents[2] / "README.md"
CITIES = {"France": "Paris", "Japan": "Tokyo", "Peru": "Lima", "Kenya": "Nairobi", "Cuba": "Havana"}
SUMS = {"7 times 8": 56, "12 times 5": 60, "9 times 9": 81, "6 times 7": 42, "3 times 5": 15}
# Right about two cities of five and all products, but for one at which it breaks.
AGENT = """
import re
CAPITALS = {"France": "Paris", "Japan": "Tokyo"}
def answer(question):
    product = re.search(r"(\\d+) times (\\d+)", question)
    if product is None:
        return next((at for name, at in CAPITALS.items() if name in question), "Atlantis")
    if product[1] == "9":
        raise RuntimeError("no nines")
    return str(int(product[1]) * int(product[2]))
"""
IN_TURN = """
from collections import Counter
asked = Counter()
def in_turn(question):
    asked[question] += 1
    return "Lima" if asked[question] % 2 else "Atlantis"
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    (tmp_path / "bot.py").write_text(AGENT)
    records = [("geography", f"What is the capital of {name}?", at) for name, at in CITIES.items()]
    records += [("math", f"What is {sum_}?", str(value)) for sum_, value in SUMS.items()]
    with (tmp_path / "questions.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("category", "question", "answer"), *records])
    with (tmp_path / "chats.jsonl").open("w") as file:
        for category, question, value in records:
            messages = [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": question},
                {"role": "assistant", "content": value},
            ]
            file.write(json.dumps({"category": category, "messages": messages}) + "\n")
    return made


def follow(place: Place, said: str, beginning: str) -> str:
    """Run the command that a line of the output names; return what it prints."""
    (line,) = [line for line in said.splitlines() if line.startswith(beginning)]
    command = line.removeprefix(beginning).split("agentbench ", 1)[1]
    named = command.replace("mine=python:FILE.py:FUNCTION", "mine=python:bot.py:answer")
    quiet = ["--no-ui"] if named.split()[0] in {"run", "rerun"} else []
    done = place.run(*shlex.split(named), *quiet)
    assert done.returncode == 0, f"$ agentbench {named}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def groups(said: str) -> dict[str, str]:
    """Accuracy by group, of a table of `--by`."""
    table = said.partition("By category\n")[2]
    return dict(re.findall(r"^mine +(\w+) +\d+ +(\d+)(?:\.\d)?%", table, re.MULTILINE))


@pytest.mark.parametrize("data", ["questions.csv", "chats.jsonl"])
def test_from_own_data_to_accuracy_by_category_and_the_reasons(place: Place, data: str) -> None:
    made = place.run("suites", "new", "--from", data)
    assert made.returncode == 0, made.stderr
    assert f"wrote {Path(data).stem}.yaml" in made.stderr
    said = follow(place, made.stderr, "run it: ")
    # 2 of 5 cities, and 4 of 5 products with one failure.
    assert groups(said) == {"geography": "40", "math": "80", "all": "60"}
    assert groups(follow(place, said, "See it by category: ")) == groups(said)

    wrong = follow(place, said, "See what went wrong: ")
    assert "What is the capital of Peru?" in wrong
    assert "said 'atlantis', expected 'Lima'" in wrong
    assert "agent: RuntimeError: no nines (bot.py:9)" in wrong
    case = follow(place, wrong, "See one case in full: ")
    assert "failure: agent" in case or "wrong: said 'atlantis'" in case

    (place.folder / "bot.py").write_text(AGENT.replace('== "9"', '== "99"'))
    again = follow(place, said, "Ask only what failed again: ")
    assert "attempt 2: 1 of 1 right; no pass@2: 3 answers not right and not asked again" in again
    assert "--failed and --wrong together ask all" in again
    both = place.run("rerun", run_named(said), "--failed", "--wrong", "--no-ui")
    # 6 of 10 at first, and one of the others at the second attempt.
    assert "right within 2 attempts (pass@2): 70.0%" in both.stdout


# Right in a sentence about two cities and two products, and in one word about one product.
CHATTY = """
import re
def answer(question):
    product = re.search(r"(\\d+) times (\\d+)", question)
    if product is None:
        named = {"France": "Paris", "Japan": "Tokyo"}
        return next((f"It is {at}." for name, at in named.items() if name in question), "Atlantis")
    value = int(product[1]) * int(product[2])
    return {56: "560", 60: "60", 81: "eighty-one"}.get(value, f"The answer is {value}.")
"""


def test_right_answers_in_sentences_are_pointed_out_and_scored_again(place: Place) -> None:
    (place.folder / "bot.py").write_text(CHATTY)
    said = follow(place, place.run("suites", "new", "--from", "questions.csv").stderr, "run it: ")
    # 560 holds the digits of 56 but is another word.
    assert "4 of 9 wrong answers of mine on questions contain the expected one." in said
    suite = place.folder / "questions.yaml"
    text = suite.read_text()
    (advised,) = re.findall(r"^If that is right, set `(scorers: \[\w+\])`.*", said, re.MULTILINE)
    assert text.count("scorers: [normalized]") == 1
    (place.folder / "FILE").write_text(text.replace("scorers: [normalized]", advised))
    again = follow(place, said, "If that is right, ")
    assert "mine gets 5 of 10 right (50.0%)" in again
    assert "contain the expected one" not in again


@pytest.mark.parametrize(
    ("expected", "said", "contained"),
    [
        ("Paris", "I think it is Paris.", 1),
        ("paris", "PARIS, of course", 1),
        ("York", "New Yorkers", 0),
        ("A", "A good question", 0),
        ("7", "It is 7, not 8", 1),
        ("7", "It is 77", 0),
    ],
)
def test_only_whole_words_are_contained(
    place: Place, expected: str, said: str, contained: int
) -> None:
    place.suite(1)
    suite = json.loads((place.folder / "suite.json").read_text())
    suite["benchmarks"][0]["dataset"]["cases"] = [{"input": "?", "expected": expected}]
    (place.folder / "suite.json").write_text(json.dumps(suite))
    (place.folder / "say.py").write_text(f"def say(question):\n    return {said!r}\n")
    for scorers, value in ((["exact"], contained), (["exact", "contains"], None)):
        suite["benchmarks"][0]["scorers"] = scorers
        (place.folder / "suite.json").write_text(json.dumps(suite))
        options = ("--agent", "python:say.py:say", "--no-ui", "--format", "json")
        done = place.run("run", "suite.json", *options)
        (execution,) = json.loads(done.stdout)["executions"]
        assert execution["contain_expected"] == value


def run_named(said: str) -> str:
    return re.findall(r"^run ([0-9a-f-]{36}): complete$", said, re.MULTILINE)[-1]


def test_the_commands_that_readme_names_for_each_question_work(place: Place) -> None:
    table = README.read_text(encoding="utf-8").partition("| question | command |\n")[2]
    lines = [line for line in table.partition("\n\n")[0].splitlines()[1:] if "`agentbench " in line]
    commands = [re.findall(r"`agentbench ([^`]*)`", line)[0] for line in lines]
    assert len(commands) >= 7
    (place.folder / "mine.py").write_text(AGENT)
    first = ("suites", "new", "my-suite.yaml", "--from", "questions.csv")
    assert place.run(*first).returncode == 0
    for version in ("1", "2"):
        agent = f"mine@{version}=python:mine.py:answer"
        assert place.run("run", "my-suite.yaml", "--agent", agent, "--no-ui").returncode == 0
    # From now on it has an answer to everything, to one question every other time the right one.
    (place.folder / "mine.py").write_text(
        AGENT.replace('== "9"', '== "99"').replace('"Atlantis"', "in_turn(question)") + IN_TURN
    )
    said = {}
    for command in commands:
        # A server of one's own is the practice server here; loads have tests of their own.
        words = [re.sub(r"openai:URL#\w+", "mock", word) for word in shlex.split(command)]
        if words[0] in {"run", "load", "rerun"}:
            words.append("--no-ui")
        if words[0] == "load":
            words.append("--dry-run")
        done = place.run(*words)
        said[words[0]] = done
        allowed = {0, 1} if words[0] == "gate" else {0}
        assert done.returncode in allowed, f"$ agentbench {command}\n{done.stdout}{done.stderr}"
    assert "pass^5" in said["run"].stdout
    assert (place.folder / "comment.md").read_text().startswith("### ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("run", "questions.csv", "--no-ui"),
            "is data, not a suite; make a suite for it with `agentbench suites new questions.yaml",
        ),
        (("suites", "new"), "name the FILE to write, such as my-suite.yaml"),
        (("show", "latest"), "no command 'show'; there is "),
        (("show", "latest"), "`agentbench runs show`"),
        (("list",), "`agentbench suites list`"),
        (
            ("run", "suite.json", "--agent", "python:bot.py", "--no-ui"),
            "expected python:MODULE:FUNCTION, such as python:my_agent.py:answer",
        ),
    ],
)
def test_a_first_guess_is_answered_with_the_command(
    place: Place, arguments: tuple[str, ...], told: str
) -> None:
    place.suite(3)
    done = place.run(*arguments)
    assert done.returncode == 2
    assert told in done.stderr


def test_help_begins_with_own_data_agent_and_model() -> None:
    """Each command of the first lines of `--help` exists, with the options it names."""
    import click

    from agentbench_tui.cli.main import main

    lines = re.findall(
        r"^ *[\w ]+: +agentbench (.*)$", main.__doc__ or main.help or "", re.MULTILINE
    )
    assert len(lines) == 5
    for line in lines:
        command: click.Command = main
        for word in line.partition(",")[0].split():
            if not isinstance(command, click.Group):
                break
            found = command.get_command(click.Context(command), word)
            assert found is not None, line
            command = found
        flags = {flag for option in command.params for flag in option.opts}
        assert {*re.findall(r"--[\w-]+", line.partition(",")[0])} <= flags
