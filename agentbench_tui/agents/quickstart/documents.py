"""Reads invoices, meetings and orders into JSON objects by rules."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from agentbench_tui.agents.quickstart.language import amounts, dates, first_time

_NAME = r"[A-Z][\w&]*(?: (?:&|[A-Z][\w&]*))*"
_ITEM = re.compile(r"(?<![\w-])(\d+) (?:x )?([a-z]+(?: [a-z]+)?)(?=,| and |\n|$)")


def read_document(request: str, document: str) -> dict[str, Any]:
    """Return the object that `request` asks for, with the keys that were found."""
    if "invoice_number" in request:
        found = _invoice(document)
    elif "deliver_by" in request:
        found = _order(document)
    else:
        found = _meeting(document)
    return {key: value for key, value in found.items() if value is not None}


def whole_amount(document: str) -> tuple[Fraction, str] | None:
    """Return the amount to pay: the last amount, with its currency."""
    found = amounts(document)
    return (found[-1][1], found[-1][2]) if found else None


def _invoice(document: str) -> dict[str, Any]:
    number = re.search(r"\b[A-Z]+-\d{4}-\d+\b", document)
    customer = re.search(rf"(?:Customer:|Billed to|for)\s({_NAME})", document)
    total = whole_amount(document)
    return {
        "invoice_number": number[0] if number else None,
        "date": _day(document),
        "customer": customer[1] if customer else None,
        "total": float(total[0]) if total else None,
        "currency": total[1] if total else None,
    }


def _meeting(document: str) -> dict[str, Any]:
    subject = re.search(
        r"^Subject: (.+)$|\bthe (.+?) (?:takes|cannot|is|will)\b", document, re.MULTILINE
    )
    place = re.search(r"^Where: (.+)$|\bin ((?:room |the )[\w. ]*\w)", document, re.MULTILINE)
    return {
        "subject": (subject[1] or subject[2]) if subject else None,
        "date": _day(document),
        "time": first_time(document),
        "place": (place[1] or place[2]) if place else None,
    }


def _order(document: str) -> dict[str, Any]:
    head = document.partition("\n> ")[0]
    customer = re.search(rf"(?:Customer:|this is|reach)\s({_NAME})", head)
    items = [{"name": name, "quantity": int(many)} for many, name in _ITEM.findall(head)]
    return {
        "customer": customer[1] if customer else None,
        "deliver_by": _day(head),
        "items": items or None,
    }


def _day(text: str) -> str | None:
    found = dates(text)
    return found[0][1].isoformat() if found else None
