"""The quickstart tasks: the expected answers are right, and the files are what the generator makes.

Answers are reckoned here once more from the text of each task, by other means than the generator.
"""

import calendar
import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.datasets.quickstart.__main__ import GENERATORS, SEED
from agentbench_tui.datasets.task_files import write_tasks

FOLDER = Path(__file__).parents[2] / "suites" / "quickstart"
OTHER_SEED = 7
Record = dict[str, Any]


@pytest.fixture(params=[SEED, OTHER_SEED], scope="module")
def seed(request: pytest.FixtureRequest) -> int:
    """The seed of the files that ship, and one that no agent was tried on."""
    value: int = request.param
    return value


def values(text: str) -> list[Decimal]:
    return [Decimal(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def test_the_files_that_ship_are_what_the_generator_makes(tmp_path: Path) -> None:
    write_tasks(GENERATORS, tmp_path, SEED)
    for name in GENERATORS:
        assert (tmp_path / f"{name}.jsonl").read_bytes() == (FOLDER / f"{name}.jsonl").read_bytes()


@pytest.mark.parametrize("name", GENERATORS)
def test_another_seed_gives_other_tasks_of_the_same_kinds(name: str) -> None:
    shipped, other = (list(GENERATORS[name](number)) for number in (SEED, OTHER_SEED))
    assert [record["id"] for record in shipped] == [record["id"] for record in other]
    same = sum(one["input"] == two["input"] for one, two in zip(shipped, other, strict=True))
    assert same == 0


@pytest.mark.parametrize("name", GENERATORS)
def test_ids_are_unique_and_every_task_has_an_answer(name: str, seed: int) -> None:
    records = list(GENERATORS[name](seed))
    assert max(Counter(record["id"] for record in records).values()) == 1
    assert all(record["expected"] is not None for record in records)
    assert 30 <= len(records) <= 40


# Formulas over the numbers in the order in which they stand in the text, for each wording.
WORD_PROBLEMS: dict[str, tuple[Callable[..., Decimal], ...]] = {
    "gains": (lambda a, b, c: a + b - c, lambda a, b, c: a - b + c, lambda a, b, c: a - b + c),
    "groups": (lambda a, b: a * b,) * 3,
    "prices": (
        lambda a, b, c, d: a * c + b * d,
        lambda a, b, c, d: a * d + b * c,
        lambda a, b, c, d: a * b + c * d,
    ),
    "distance": (lambda a, b: a * b,) * 3,
    "sharing": (lambda a, b: a % b, lambda a, b: b // a, lambda a, b: a // b),
    "comparing": (lambda a, b: a + b + b, lambda a, b: a - b, lambda a, b: a - b),
    "percent": (
        lambda a, b: a * (100 - b) / 100,
        lambda a, b: a * b / 100,
        lambda a, b: a * (100 + b) / 100,
    ),
    "multiples": (lambda a: a * 2, lambda a: a + a * 2 + a / 2, lambda a: a / 2),
    "work": (
        lambda a, b, c: a / b * c,
        lambda a, b, c: c / (b / a),
        lambda a, b, c: a * b - c,
    ),
    "rectangle": (lambda a, b: a + b + a + b, lambda a, b: a * b, lambda a, b: a + b + a + b),
    "change": (
        lambda a, b, c: c - a * b,
        lambda a, b, c: a - b * c,
        lambda a, b, c: a - b * c,
    ),
    "needless": (
        lambda _age, b, c, d: b * c - d,
        lambda _bus, _hour, c, d, e: c - d + e,
        lambda _team, b, c, _days, e: b * c - e,
    ),
}


def test_word_problems_have_the_answer_that_their_numbers_give(seed: int) -> None:
    records = list(GENERATORS["word-problems"](seed))
    assert {record["topic"] for record in records} == set(WORD_PROBLEMS)
    for record in records:
        wording = int(record["id"].rpartition("-")[2]) - 1
        reckoned = WORD_PROBLEMS[record["topic"]][wording](*values(record["input"]))
        assert Decimal(record["expected"]) == reckoned, record["id"]
        assert reckoned >= 0


def whole(value: Decimal) -> str:
    return str(value.quantize(Decimal(1), ROUND_HALF_EVEN))


def julian_day(text: str) -> int:
    """The day number of YYYY-MM-DD (Fliegel and van Flandern 1968, Gregorian)."""
    year, month, day = map(int, text.split("-"))
    shift = int((month - 14) / 12)
    return (
        day
        - 32075
        + 1461 * (year + 4800 + shift) // 4
        + 367 * (month - 2 - shift * 12) // 12
        - 3 * ((year + 4900 + shift) // 100) // 4
    )


def table_cost(text: str) -> str:
    table, question = text.removeprefix("Price of one, in cents: ").split(". ", 1)
    price = dict(entry.rsplit(" ", 1) for entry in table.split("; "))
    wanted = re.findall(r"(\d+) (?:of )?([a-z]+(?:-\d+)?)", question)
    assert len(wanted) == 2
    return str(sum(int(count) * int(price[name]) for count, name in wanted))


def portions(text: str) -> str:
    unit, table = re.findall(r"Stock in (\w+): (.+?)\.", text)[0]
    portion, name = re.findall(r"(\d+) grams of (\w+)", text)[0]
    amount = Decimal(dict(entry.split(" ") for entry in table.split("; "))[name])
    grams = amount * {"kg": Decimal(1000), "pounds": Decimal("453.59237")}[unit]
    return str(grams // Decimal(portion))


def stay(text: str) -> str:
    first, last = re.findall(r"\d{4}-\d\d-\d\d", text)
    numbers = values(re.sub(r"\d{4}-\d\d-\d\d", "", text))
    cost = numbers[0] * (julian_day(last) - julian_day(first))
    return whole(cost / numbers[1] if len(numbers) > 1 else cost)


def deadline(text: str, expected: str) -> str:
    """The weekday, or the expected day when it lies as many days off as the text says."""
    start = re.findall(r"\d{4}-\d\d-\d\d", text)[0]
    numbers = [int(value) for value in values(text.replace(start, ""))]
    days = numbers[0] if len(numbers) == 1 else numbers[0] * 7 + numbers[1]
    if "weekday" in text:
        return list(calendar.day_name)[(julian_day(start) + days) % 7]
    return expected if julian_day(expected) - julian_day(start) == days else "another day"


def multi_step_answer(record: Record) -> str:
    text, topic = record["input"], record["topic"]
    if topic in {"basket", "table"}:
        return table_cost(text)
    if topic == "recipe":
        return portions(text)
    if topic == "stay":
        return stay(text)
    if topic == "deadline":
        return deadline(text, record["expected"])
    first, second = values(text)
    if topic == "weights":
        sign = -1 if "taken out" in text else 1
        return whole(first * Decimal("453.59237") + sign * second)
    assert topic == "journey"
    if "rope" in text:
        return whole(first / second * Decimal("1609.344"))
    return whole(first * second * Decimal("1.609344"))


def test_multi_step_questions_have_the_answer_that_the_steps_give(seed: int) -> None:
    for record in GENERATORS["multi-step"](seed):
        assert record["expected"] == multi_step_answer(record), record["id"]


DATE_FORMS = ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d.%m.%Y")
WRITTEN_DATE = re.compile(
    r"\d{4}-\d\d-\d\d|\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}|\d\d\.\d\d\.\d{4}"
)


def days_in(text: str) -> list[str]:
    found = []
    for written in WRITTEN_DATE.findall(text):
        for form in DATE_FORMS:
            try:
                found.append(f"{datetime.strptime(written, form):%Y-%m-%d}")  # noqa: DTZ007
            except ValueError:
                continue
    return found


def test_documents_say_what_is_expected_of_them(seed: int) -> None:
    for record in GENERATORS["extraction"](seed):
        text, expected = record["input"].partition("\n> ")[0], record["expected"]
        assert set(re.findall(r"(\w+) \(", record["keys"])) == set(expected)
        day = expected.get("date") or expected["deliver_by"]
        place = 1 if "cannot be on" in text else 0
        assert days_in(text)[place] == day, record["id"]
        for key in ("invoice_number", "customer", "subject", "place"):
            assert expected.get(key, "") in text
        for item in expected.get("items", ()):
            assert re.search(rf"\b{item['quantity']} (?:x )?{item['name']}\b", text)


def test_totals_of_invoices_are_net_and_tax(seed: int) -> None:
    invoices = [one for one in GENERATORS["extraction"](seed) if one["topic"] == "invoice"]
    for record in invoices:
        text = record["input"]
        net, tax, total = (
            Decimal(amount.replace(",", ""))
            for amount in re.findall(r"[\d,]+\.\d\d(?!\.)\b", text)
            if not re.search(rf"{re.escape(amount)}\.\d", text)
        )
        assert net + tax == total == Decimal(str(record["expected"]["total"]))
        sign = {"EUR": "€", "USD": "$", "GBP": "£"}[record["expected"]["currency"]]
        assert sign in text or record["expected"]["currency"] in text


def test_times_of_meetings_stand_in_the_text(seed: int) -> None:
    meetings = [one for one in GENERATORS["extraction"](seed) if one["topic"] == "meeting"]
    for record in meetings:
        time = datetime.strptime(record["expected"]["time"], "%H:%M")  # noqa: DTZ007
        half_day = f"{time:%I:%M} {'am' if time.hour < 12 else 'pm'}".lstrip("0")
        assert record["expected"]["time"] in record["input"] or half_day in record["input"]


def test_requests_name_every_argument_of_the_calls_expected(seed: int) -> None:
    for record in GENERATORS["tool-calls"](seed):
        text, offered = record["input"], {tool["name"]: tool for tool in record["tools"]}
        for call in record["expected"]:
            schema = offered[call["name"]]["parameters"]
            assert set(call["arguments"]) == set(schema["properties"])
            for key, value in call["arguments"].items():
                if key == "date":
                    assert value in days_in(text), record["id"]
                elif key == "time":
                    time = datetime.strptime(value, "%H:%M")  # noqa: DTZ007
                    assert value in text or f"{time:%I:%M}".lstrip("0") in text
                else:
                    assert str(value) in text, record["id"]


def test_requests_without_a_fitting_tool_expect_no_call(seed: int) -> None:
    records = [one for one in GENERATORS["tool-calls"](seed) if one["topic"] == "none"]
    assert len(records) == 6
    assert all(record["expected"] == [] and record["tools"] for record in records)


def test_the_long_inputs_are_few_and_much_longer_than_the_rest() -> None:
    lines = [
        json.loads(line)
        for name in ("extraction", "multi-step")
        for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    long = [record for record in lines if record["topic"] in {"thread", "table"}]
    rest = [record for record in lines if record["topic"] not in {"thread", "table"}]
    assert len(long) == 7
    assert min(len(record["input"]) for record in long) > 12_000
    assert max(len(record["input"]) for record in rest) < 600
