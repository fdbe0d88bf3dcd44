"""Business texts to convert into JSON objects: invoices, meetings, orders, long threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Any

from agentbench_tui.datasets.quickstart.drawing import PEOPLE, Draw

PER_TOPIC = 10
LONG_THREADS = 4
QUOTED_MAILS = 75
"""Earlier mails under a long thread: about 16,000 characters."""

_COMPANIES = ("Halden Optics", "Riva & Sons", "Northfold Ltd", "Casa Verde", "Blue Kettle Co")
_PLACES = ("room 4.12", "the small hall", "room Oslo", "the canteen", "room 2.07")
_SUBJECTS = ("budget review", "project kick-off", "hiring round", "roadmap", "audit")
_GOODS = ("desk lamps", "office chairs", "paper trays", "whiteboards", "monitor arms", "footrests")
_CURRENCIES = (("EUR", "€"), ("USD", "$"), ("GBP", "£"))

_INVOICE_KEYS = (
    "invoice_number (text), date (YYYY-MM-DD), customer (text), total (number: what is to be "
    "paid), currency (EUR, USD or GBP)"
)
_MEETING_KEYS = "subject (text), date (YYYY-MM-DD), time (HH:MM, 24 hours), place (text)"
_ORDER_KEYS = (
    "customer (text), deliver_by (YYYY-MM-DD), items (a list of objects with name and quantity)"
)

Document = tuple[str, str, dict[str, Any]]
"""Text, keys that are asked for, expected object."""


def extraction(seed: int) -> Iterator[dict[str, Any]]:
    """Yield 30 short texts on three topics, and four long mail threads."""
    for topic, (make, count) in _TOPICS.items():
        draw = Draw(seed, topic)
        for nth in range(count):
            text, keys, expected = make(draw, nth)
            yield {
                "id": f"{topic}-{nth + 1}",
                "topic": topic,
                "keys": keys,
                "input": text,
                "expected": expected,
            }


def _written(day: date, style: int) -> str:
    month = day.strftime("%B")
    return (
        day.isoformat(),
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{day.day:02}.{day.month:02}.{day.year}",
    )[style % 4]


def _invoice(draw: Draw, nth: int) -> Document:
    company, day = draw.one(_COMPANIES), draw.day()
    code, sign = draw.one(_CURRENCIES)
    number = f"{draw.one(('INV', 'RE', 'A'))}-{day.year}-{draw.whole(100, 999)}"
    net = draw.whole(90, 4800) * 100 + draw.one((0, 0, 20, 50, 75))
    tax = net // 5
    total = net + tax
    due = day + timedelta(days=draw.one((14, 30)))

    def money(cents: int) -> str:
        amount = f"{cents / 100:,.2f}"
        return f"{sign}{amount}" if nth % 2 else f"{amount} {code}"

    texts = (
        (
            f"Invoice number: {number}\nDate: {_written(day, nth)}\nCustomer: {company}\n"
            f"Subtotal: {money(net)}\nTax: {money(tax)}\nTotal: {money(total)}\n"
        ),
        (
            f"INVOICE {number}\nBilled to {company}\nIssued {_written(day, nth)}, due "
            f"{_written(due, nth)}\n\nNet amount {money(net)}\nVAT 20% {money(tax)}\n"
            f"Amount payable {money(total)}\n"
        ),
        (
            f"Dear customer,\n\nplease find our invoice {number} of {_written(day, nth)} for "
            f"{company}. The goods come to {money(net)}; with {money(tax)} of tax you owe us "
            f"{money(total)}, payable by {_written(due, nth)}.\n\nKind regards\n"
        ),
    )
    expected = {
        "invoice_number": number,
        "date": day.isoformat(),
        "customer": company,
        "total": total / 100,
        "currency": code,
    }
    return texts[nth % 3], _INVOICE_KEYS, expected


def _meeting(draw: Draw, nth: int) -> Document:
    who, other = draw.some(PEOPLE, 2)
    subject, place, day = draw.one(_SUBJECTS), draw.one(_PLACES), draw.day()
    hour, minute = draw.whole(8, 17), draw.one((0, 15, 30, 45))
    clock = f"{hour:02}:{minute:02}"
    half_day = f"{(hour - 1) % 12 + 1}:{minute:02} {'am' if hour < 12 else 'pm'}"
    earlier = day - timedelta(days=draw.whole(2, 6))
    texts = (
        (
            f"Subject: {subject}\nWhen: {_written(day, nth)}, {clock}\nWhere: {place}\n\n"
            f"See you there, {who}\n"
        ),
        (
            f"Hi {other},\n\nthe {subject} takes place on {_written(day, nth)} at {half_day} in "
            f"{place}. Bring your notes.\n\n{who}\n"
        ),
        (
            f"Hello {other},\n\nthe {subject} cannot be on {_written(earlier, nth)} as planned. It "
            f"moves to {_written(day, nth)}, {clock}, still in {place}.\n\nBest, {who}\n"
        ),
    )
    expected = {"subject": subject, "date": day.isoformat(), "time": clock, "place": place}
    return texts[nth % 3], _MEETING_KEYS, expected


def _order(draw: Draw, nth: int) -> Document:
    company, day = draw.one(_COMPANIES), draw.day()
    goods = draw.some(_GOODS, draw.whole(2, 3))
    items = [(name, draw.whole(2, 40)) for name in goods]
    listed = [f"{quantity} {name}" for name, quantity in items]
    joined = ", ".join(listed[:-1]) + " and " + listed[-1]
    lines = "\n".join(f"- {quantity} x {name}" for name, quantity in items)
    texts = (
        f"Purchase order\nCustomer: {company}\nDeliver by: {_written(day, nth)}\n{lines}\n",
        (
            f"Hello,\n\nthis is {company}. We need {joined}, delivered by {_written(day, nth)} at "
            "the latest.\n\nThanks\n"
        ),
        (
            f"Good morning,\n\nplease send us {joined}. They must reach {company} before or on "
            f"{_written(day, nth)}.\n\nYours\n"
        ),
    )
    expected = {
        "customer": company,
        "deliver_by": day.isoformat(),
        "items": [{"name": name, "quantity": quantity} for name, quantity in items],
    }
    return texts[nth % 3], _ORDER_KEYS, expected


def _long_thread(draw: Draw, nth: int) -> Document:
    """Return an order with the earlier mails quoted below, newest first."""
    text, keys, expected = _order(draw, nth)
    quoted = []
    for _ in range(QUOTED_MAILS):
        who, other = draw.some(PEOPLE, 2)
        day = draw.day()
        quoted.append(
            f"> On {_written(day, 0)} {who} wrote:\n> Dear {other}, about the {draw.one(_GOODS)}: "
            f"{draw.one(_COMPANIES)} asked again on {_written(day - timedelta(days=3), 1)}, and "
            f"file {draw.whole(10_000, 99_999)} is still open. I shall call them from "
            f"{draw.one(_PLACES)}.\n"
        )
    return text + "\n" + "\n".join(quoted), keys, expected


_TOPICS: dict[str, tuple[Callable[[Draw, int], Document], int]] = {
    "invoice": (_invoice, PER_TOPIC),
    "meeting": (_meeting, PER_TOPIC),
    "order": (_order, PER_TOPIC),
    "thread": (_long_thread, LONG_THREADS),
}
