"""Requests of the lengths in a trace, generated when they are sent.

The prompts of a whole trace may be gigabytes, so a load worker receives only the lengths. Text is
composed of prepared blocks, which takes a few microseconds per request.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, overload

from agentbench_tui.load.sending.protocol import Conversation, RecordedLengths, Turn
from agentbench_tui.load.workload.synthetic import PASSAGE_WORDS, Writer, number_words
from agentbench_tui.load.workload.trace import BLOCK_TOKENS
from agentbench_tui.model.answer import Message

if TYPE_CHECKING:
    from agentbench_tui.load.workload.trace import RecordedTrace

_KEPT_BLOCKS = 4096
"""Blocks of text that a worker caches, about 10 MB."""
_NUMBER_WORDS = 2


def recorded_lengths(
    trace: RecordedTrace,
    seed: int,
    system_prompt: str | None,
    output_tokens: Sequence[int] | None,
) -> RecordedLengths:
    """Return the lengths of a trace; `output_tokens` replace the recorded ones."""
    return RecordedLengths(
        seed,
        trace.input_tokens,
        trace.output_tokens if output_tokens is None else tuple(output_tokens),
        trace.blocks,
        system_prompt,
    )


class RecordedSessions(Sequence[Conversation]):
    """One single-turn session for each request of a trace, in order of arrival.

    A prompt is as many words as the request had tokens. Where the trace names the blocks of its
    requests, equal ids are equal text, so that a server's prefix cache finds what it found then;
    other prompts begin with their own number in words, so that it finds nothing.
    """

    def __init__(self, lengths: RecordedLengths) -> None:
        self._lengths = lengths
        system = lengths.system_prompt
        self._before = () if system is None else (Message("system", system),)
        self._writer = Writer(Random(f"recorded {lengths.seed}"))  # noqa: S311  # no secret
        self._blocks: dict[int, tuple[str, ...]] = {}

    def __len__(self) -> int:
        return len(self._lengths.input_tokens)

    @overload
    def __getitem__(self, index: int) -> Conversation: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Conversation]: ...
    def __getitem__(self, index: int | slice) -> Conversation | Sequence[Conversation]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        message = Message("user", self._prompt(place))
        turn = Turn((*self._before, message), self._lengths.output_tokens[place])
        return Conversation((turn,), sent_once=True)

    def _prompt(self, place: int) -> str:
        tokens = self._lengths.input_tokens[place]
        words: list[str] = []
        left = tokens
        for block in self._lengths.blocks[place] if self._lengths.blocks else ():
            passages = self._block(block)
            whole, rest = divmod(min(left, BLOCK_TOKENS), PASSAGE_WORDS)
            words += passages[:whole]
            words += passages[whole].split()[:rest] if rest else ()
            left -= whole * PASSAGE_WORDS + rest
            if not left:
                return " ".join(words)
        own = number_words(place, _NUMBER_WORDS)[:left]
        return " ".join(words + own + self._writer.pieces(left - len(own), self._random(place)))

    def _block(self, block: int) -> tuple[str, ...]:
        """Return the passages of a block, the same for the same id."""
        passages = self._blocks.get(block)
        if passages is None:
            random = self._random(f"block {block}")
            passages = tuple(self._writer.pieces(BLOCK_TOKENS, random))
            if len(self._blocks) >= _KEPT_BLOCKS:
                del self._blocks[next(iter(self._blocks))]
            self._blocks[block] = passages
        return passages

    def _random(self, what: object) -> Random:
        return Random(f"{what} {self._lengths.seed}")  # noqa: S311  # no secret
