"""Extracts data from English text: numbers, sentences, dates, times, money."""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
"""A number without its sign: digits, thousands by comma, decimals by point."""

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_NUMBER = re.compile(rf"(?<![\w.,-]){NUMBER}(?![\d])")
_MONTH = "|".join(MONTHS)
_DATE = re.compile(
    rf"(?P<y1>\d{{4}})-(?P<m1>\d\d)-(?P<d1>\d\d)"
    rf"|(?P<d2>\d{{1,2}}) (?P<m2>{_MONTH}) (?P<y2>\d{{4}})"
    rf"|(?P<m3>{_MONTH}) (?P<d3>\d{{1,2}}), (?P<y3>\d{{4}})"
    r"|(?P<d4>\d\d)\.(?P<m4>\d\d)\.(?P<y4>\d{4})"
)
_TIME = re.compile(r"\b(?P<hour>\d{1,2}):(?P<minute>\d\d)(?:\s?(?P<half>am|pm)\b)?")
_SIGNS = {"€": "EUR", "$": "USD", "£": "GBP"}
_MONEY = re.compile(
    rf"(?P<sign>[€$£])(?P<left>{NUMBER})|(?P<right>{NUMBER}) (?P<code>EUR|USD|GBP)\b"
)


def read_number(text: str) -> Fraction:
    """Return the value of a text that matches `NUMBER`."""
    return Fraction(text.replace(",", ""))


def numbers(text: str) -> list[Fraction]:
    """Return every number in the text, in order; adjacent `$` and `%` are ignored."""
    return [read_number(match[0]) for match in _NUMBER.finditer(text)]


def plain(value: Fraction) -> str:
    """Format a number as a person writes it: `12`, `0.5`, at most six decimals, no trailing
    zeros.
    """
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.6f}".rstrip("0").rstrip(".")


def sentences(text: str) -> list[str]:
    """Split the text after `.`, `?` and `!` before a space or the end."""
    return [part for part in re.split(r"(?<=[.?!])\s+", text.strip()) if part]


def dates(text: str) -> list[tuple[int, date]]:
    """Return every date in the text with its position; impossible ones are skipped."""
    found = []
    for match in _DATE.finditer(text):
        parts = {key[0]: value for key, value in match.groupdict().items() if value is not None}
        month = parts["m"]
        number = MONTHS.index(month) + 1 if month in MONTHS else int(month)
        try:
            found.append((match.start(), date(int(parts["y"]), number, int(parts["d"]))))
        except ValueError:
            continue
    return found


def first_date(text: str) -> str | None:
    """Return the first date in the text as YYYY-MM-DD."""
    found = dates(text)
    return found[0][1].isoformat() if found else None


def first_time(text: str) -> str | None:
    """Return the first time of day in the text as HH:MM, 24 hours."""
    match = _TIME.search(text)
    if match is None:
        return None
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] == "pm" else 0)
    return f"{hour:02}:{match['minute']}"


def amounts(text: str) -> list[tuple[int, Fraction, str]]:
    """Return every amount of money as (position, value, currency code)."""
    return [
        (
            match.start(),
            read_number(match["left"] or match["right"]),
            match["code"] or _SIGNS[match["sign"]],
        )
        for match in _MONEY.finditer(text)
    ]


def singular(noun: str) -> str:
    """Return a noun without its plural ending, so that `boxes` and `box` are one word."""
    if noun.endswith("xes"):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun
