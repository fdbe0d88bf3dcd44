"""An agent that does nothing, and cases for it."""

from collections.abc import Iterator


def generate(cases: int = 10_000) -> Iterator[dict[str, str]]:
    """That many cases, each with a question of its own."""
    for number in range(cases):
        yield {
            "id": f"case-{number:06d}",
            "input": f"What is the answer to question {number}?",
            "expected": "forty-two",
        }


async def answer(prompt: str) -> str:
    """The right answer, at once."""
    return "forty-two" if prompt else ""
