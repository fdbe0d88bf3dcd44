"""Group chats: their members, messages, and the invitations of the tested agent.

Authors are more reliable in a closed group than in the feed: an author who is right in public with
probability r is right in a chat with probability (1 + r) / 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.market.world import bits
from agentbench_tui.market.world.feed import Remarks, posting_rate, said
from agentbench_tui.market.world.world import PER_MILLION, Group, Invitation, Lean, Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.market.world.bits import Streams
    from agentbench_tui.market.world.feed import Subject
    from agentbench_tui.market.world.truth import AuthorTruth

_NAMES = ("Early birds", "Back room", "Night shift")
_MEMBER = 0.4
"""Probability that an agent is in a given group."""


def open_groups(
    streams: Streams, ticks: int, authors: Sequence[AuthorTruth]
) -> tuple[tuple[Group, ...], tuple[Invitation, ...]]:
    """Return the groups by creation and the invitations by tick; none without authors."""
    if not authors:
        return (), ()
    groups, invitations = [], []
    for place, name in enumerate(_NAMES):
        opening, waiting = bits.uniform(streams.fixed("group", place, 2)).tolist()
        created = int(ticks * 0.3 * opening)
        members = tuple(
            author.id
            for number, author in enumerate(authors)
            if float(bits.uniform(streams.fixed(f"member-{number}", place, 1))[0]) < _MEMBER
        )
        identifier = f"group-{place}"
        groups.append(
            Group(identifier, name, created, members or (authors[place % len(authors)].id,))
        )
        invitations.append(Invitation(identifier, created + int(ticks * 0.3 * waiting)))
    groups.sort(key=lambda group: (group.created, group.id))
    invitations.sort(key=lambda invitation: (invitation.tick, invitation.group))
    return tuple(groups), tuple(invitations)


def write_messages(
    streams: Streams,
    ticks: int,
    groups: Sequence[Group],
    subjects: Sequence[Subject],
    authors: Sequence[AuthorTruth],
) -> tuple[Message, ...]:
    """Return all messages of all groups, by tick."""
    rate = 2.0 * posting_rate(ticks)
    voices = [streams.by_tick("voice", number, ticks + 1)[:, 0] for number in range(len(authors))]
    numbers = {author.id: number for number, author in enumerate(authors)}
    rows: list[tuple[int, str, int, str, str, str, Lean]] = []
    for group in groups:
        members = [numbers[member] for member in group.members]
        # The loudest member speaks: whoever joins takes turns from others and swaps none of them.
        loudest = np.argmax(np.stack([voices[member] for member in members]), axis=0)
        for subject in subjects:
            words = streams.by_tick(f"chat-{group.id}", subject.number, ticks + 1)[:, 0]
            remarks = Remarks.drawn(words, subject, rate)
            for tick, detail in zip(remarks.ticks, remarks.details, strict=True):
                if tick < group.created:
                    continue
                author = authors[members[loudest[tick]]]
                candid = (PER_MILLION + author.reliability_ppm) // 2
                lean, text = said(subject, tick, detail, candid)
                rows.append((tick, group.id, subject.number, author.id, text, subject.id, lean))
    rows.sort(key=lambda row: row[:3])
    return tuple(
        Message(f"message-{number}", tick, group_id, author_id, text, subject_id, lean)
        for number, (tick, group_id, _, author_id, text, subject_id, lean) in enumerate(rows, 1)
    )
