"""Numbers with units: SI units and their prefixes, customary units, ratios and money.

Only known units count: in `5 apples` there is none.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from agentbench_tui.scoring.numbers.arithmetic import Unreadable, Value

_UNITS: dict[str, dict[str, str]] = {
    # Exact by definition: the international yard and pound agreement of 1959, and the SI.
    "length": {"inch|inches": "0.0254", "ft|foot|feet": "0.3048", "yd|yards?": "0.9144",
               "mi|miles?": "1609.344"},
    "length^2": {"hectares?|ha": "10000", "acres?": "4046.8564224"},
    "length^3": {"gallons?|gal": "0.003785411784",
                 r"fl\.? ?oz|fluid ounces?": "0.0000295735295625", "quarts?": "0.000946352946",
                 "pints?": "0.000473176473"},
    "length time^-1": {"mph": "0.44704", "kph|kmh": "5/18"},
    "mass": {"t|tonnes?": "1000", "oz|ounces?": "0.028349523125", "lbs?|pounds?": "0.45359237"},
    "time": {"secs?": "1", "min|mins|minutes?": "60", "h|hrs?|hours?": "3600", "days?": "86400",
             "weeks?": "604800"},
    "calendar": {"months?": "1", "years?|yrs?": "12"},  # neither is a fixed number of days
    "Celsius": {"°C|(?:degrees? )?[Cc]elsius|C": "1"},
    "Fahrenheit": {"°F|(?:degrees? )?[Ff]ahrenheit|F": "1"},
    "angle": {"°|degrees?|deg": "1", "rad|radians?": str(Fraction(180 / math.pi))},
    "length^2 mass time^-2": {
        r"N m|(?i:newton[- ]met(?:er|re)s?)": "1", "Wh": "3600", "kWh": "3600000",
        "MWh": "3600000000", "GWh": "3600000000000",
    },
    "length^-1 mass time^-2": {"bar": "100000", "mbar": "100"},
    "information": {"bits?": "1", "[kK]bits?|Kb": "1000", "Mbits?|Mb": "1000000",
                    "Gbits?|Gb": "1000000000", "bytes?": "8", "[kK]B|kb": "8000",
                    "MB|mb": "8000000", "GB|gb": "8000000000", "TB|tb": "8000000000000",
                    "PB": "8000000000000000", "KiB": str(8 << 10), "MiB": str(8 << 20),
                    "GiB": str(8 << 30), "TiB": str(8 << 40)},
    "ratio": {"%|percent|percent": "0.01", "‰|per mille": "0.001", "basis points?": "0.0001",
              "ppm": "0.000001"},
    "USD": {r"\$|USD|dollars?": "1", "¢|cents?": "0.01"},
    "EUR": {"€|EUR|euros?": "1"},
    "GBP": {"£|GBP": "1"},
    "JPY": {"¥|JPY|yen": "1"},
    "INR": {"₹|INR|rupees?": "1"},
    "RUB": {"₽|RUB|r(?:ou|u)bles?": "1"},
    "KRW": {"₩|KRW": "1"},
    "CHF": {"CHF": "1"},
    **{code: {code: "1"} for code in ("CAD", "AUD", "NZD", "HKD", "SEK", "NOK", "DKK", "PLN")},
}  # fmt: skip
_PREFIXED: dict[str, tuple[str, str, str, str]] = {
    # Symbol: dimension, value in base units, prefixes, name. Prefixed symbols that are words or
    # mean something else, such as `pm` and `us`, are left out.
    "m": ("length", "1", "nµmcdk", "met(?:er|re)s?"),
    "g": ("mass", "0.001", "nµmk", "grams?"),
    "s": ("time", "1", "nµm", "seconds?"),
    "L": ("length^3", "0.001", "µmcdhk", "lit(?:er|re)s?"),
    "l": ("length^3", "0.001", "mcdh", ""),
    "V": ("current^-1 length^2 mass time^-3", "1", "nµmkM", "volts?"),
    "A": ("current", "1", "nµmk", "amps?|amperes?"),
    "W": ("length^2 mass time^-3", "1", "µmkMGT", "watts?"),
    "Hz": ("time^-1", "1", "mkMGT", "hertz"),
    "mol": ("amount", "1", "nµmk", "moles?"),
    "Pa": ("length^-1 mass time^-2", "1", "mhkMG", "pascals?"),
    "J": ("length^2 mass time^-2", "1", "mkMG", "joules?"),
    "N": ("length mass time^-2", "1", "mkM", "newtons?"),
    "Ω": ("current^-2 length^2 mass time^-3", "1", "mkM", "ohms?"),
    "K": ("temperature", "1", "m", "kelvins?"),
    "F": ("current^2 length^-2 mass^-1 time^4", "1", "pnµm", "farads?"),
    "eV": ("length^2 mass time^-2", "1.602176634e-19", "mkMGT", ""),
}
_PREFIXES = {
    "": ("", 0), "p": ("pico", -12), "n": ("nano", -9), "µ": ("micro", -6), "m": ("milli", -3),
    "c": ("centi", -2), "d": ("deci", -1), "h": ("hecto", 2), "k": ("kilo", 3),
    "M": ("mega", 6), "G": ("giga", 9), "T": ("tera", 12),
}  # fmt: skip
_SCALES = {
    "hundreds?": 10**2, "thousands?|tausend": 10**3, "lakhs?": 10**5,
    "crores?": 10**7,
    "millions?|millionen|millones|milioni|milhões|mio": 10**6,
    "billions?|bn|milliarden?|milliards?|miliardi|bilhões|mrd": 10**9,
    "trillions?|billionen|billones": 10**12,
}  # fmt: skip
_CHARACTER_SCALES = {
    **dict.fromkeys("十", 10), **dict.fromkeys("百백", 10**2), **dict.fromkeys("千천", 10**3),
    **dict.fromkeys("万萬만", 10**4), **dict.fromkeys("亿億억", 10**8),
}  # fmt: skip


def _spellings() -> list[tuple[str, str, Fraction]]:
    """Return patterns of all units with dimension and factor; the first match counts."""
    spellings = [
        (spelling, dimension, Fraction(factor))
        for dimension, units in _UNITS.items()
        for spelling, factor in units.items()
    ]
    for symbol, (dimension, factor, prefixes, name) in _PREFIXED.items():
        for prefix in ("", *prefixes):
            word, exponent = _PREFIXES[prefix]
            written = f"[µμ]{symbol}" if prefix == "µ" else f"{prefix}{symbol}"
            if symbol == "F" and not prefix:
                spelling = name  # `F` alone is a degree Fahrenheit
            else:
                spelling = f"{written}|(?i:{word}(?:{name}))" if name else written
            spellings.append((spelling, dimension, Fraction(factor) * Fraction(10) ** exponent))
    for word in ("kilo", "mega", "giga", "tera"):
        exponent = next(exponent for name, exponent in _PREFIXES.values() if name == word)
        spellings.append((f"(?i:{word}bytes?)", "information", Fraction(8 * 10**exponent)))
        spellings.append((f"(?i:{word}bits?)", "information", Fraction(10**exponent)))
    return spellings


_SPELLINGS = _spellings()
_ATOM = re.compile("|".join(f"({spelling})(?![^\\W\\d_¹²³⁴])" for spelling, _, _ in _SPELLINGS))
_BEFORE = re.compile(
    r"[^\S\n]{0,3}-?(?:(?P<square>square|sq\.?)[^\S\n]|(?P<cubic>cubic|cu\.?)[^\S\n])?"
)
_POWER = re.compile(r"\^\{?(?P<power>-?[1-4])\}?|(?P<raised>⁻?[¹²³⁴])|(?P<plain>[23])(?![^\W_])")
_RAISED = str.maketrans("⁻¹²³⁴", "-1234")
_OVER = re.compile(r"[^\S\n]?/[^\S\n]?(?=[^\W\d_])|[^\S\n](?:per|an?)[^\S\n]")
_SQUARED = re.compile(r"[^\S\n]squared\b")
_TIMES = re.compile(r"[·⋅](?=[^\W\d_])|[^\S\n](?=[^\W\d_]{1,3}(?:\^\{?-|⁻))")
_END = re.compile(r"(?![^\W_]|[/^²³·])")
_RATE = re.compile(r"(?i:seconds?|secs?|minutes?|min|hours?|hrs?|hr)\b|[^\W\d_]{1,3}(?![^\W\d_])")
_SCALE = re.compile(
    r"[^\S\n]{0,3}(?:" + "|".join(f"({names})" for names in _SCALES) + r")\b(?:(?<=mio|mrd)\.)?",
    re.IGNORECASE,
)
_CHARACTER_SCALE = re.compile(
    "[十百千백천]?[万萬亿億만억]{1,2}|[百백]|[千천](?![克米瓦卡赫帕伏焦安比字公])"
)
"""Scale words of Chinese, Japanese and Korean. 千 also begins units, such as 千克, a kilogram."""
_FACTORS = tuple(_SCALES.values())
_MAX_SCALES = 3
"""Such words in a row."""
_LETTERS = frozenset("VWLJNAKCFlΩ")
"""Symbols that are common names of variables and choices as well."""
_ATTACHED = frozenset("VWLΩ")
"""Those of them that are also recognized without a space: `5V`."""
_JOINED = re.compile(r"[^\S\n]?[-+*/^=<>(][^\S\n]?[\w(\\]")
_ARTICLE = re.compile(r"[^\S\n]+[a-z]")
_INCHES_ALONE = re.compile(r"[^\S\n]{0,3}-?in(?=\.?[^\S\n]*(?:[,;)\n]|\Z))")
_PARTS: dict[str, tuple[tuple[re.Pattern[str], Fraction], ...]] = {
    "length": ((re.compile(r"[^\S\n]?in\b\.?"), Fraction("0.0254")),),
    "angle": (
        (re.compile(r"[^\S\n]?(?:['′’]|(?:arc)?min(?:ute)?s?\b)(?!['’])"), Fraction(1, 60)),
        (re.compile(r"[^\S\n]?(?:[\"″”]|''|(?:arc)?sec(?:ond)?s?\b)"), Fraction(1, 3600)),
    ),
}
"""Spellings of smaller parts that count only after the larger one: `5 ft 3 in`, `5° 30'`."""
UNKNOWN_UNIT = re.compile(
    r"[^\S\n]{0,2}[A-Za-zµμΩ°]{1,6}(?:[/·][A-Za-zµμΩ]{1,6})?(?:\^\{?-?\d\}?|[²³⁻¹]{1,2})"
    r"|[^\S\n]{0,2}[A-Za-zµμΩ°]{1,6}[/·][A-Za-zµμΩ]{1,6}(?![^\W_])"
)
"""A unit such as `m/s` or `cm^2`: none that is converted."""
COMPOUND = frozenset({"length", "mass", "time", "calendar", "angle", "USD", "EUR", "GBP"})
"""Dimensions whose quantities are also written in parts: `2 hours 30 minutes`."""
_SIMPLE = frozenset({"ratio", "time", "calendar", *(name for name in _UNITS if name.isupper())})
"""Dimensions without rates: `20 hours per week` is 20 hours."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A known unit."""

    dimension: str
    """Such as `length`, `length time^-1`, `ratio` or a currency code."""
    factor: Fraction
    """Its value in base units (m, kg, s, 1, one unit of money)."""

    def is_ambiguous_with(self, other: Unit) -> bool:
        """Return whether both may be the same unit: `pounds` and `£`, `degrees` and `°C`."""
        dimensions = {self.dimension, other.dimension}
        if dimensions == {"mass", "GBP"}:
            return _POUND in (self.factor, other.factor)
        degrees = "angle" in dimensions and dimensions & {"Celsius", "Fahrenheit"}
        return bool(degrees) and self.factor == other.factor


_POUND = Fraction("0.45359237")


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written, with its unit if it is known."""

    value: Value
    unit: Unit | None = None
    exact: Value | None = None
    """Unrounded value: 1/3 in `1/3 ≈ 0.333`."""
    bound: str = ""
    """`<`, `≤`, `>` or `≥` if the text gives a bound rather than a number."""
    is_largest_or_smallest: bool = False
    """The bound is in words and includes the number: `at most 12` answers how many at most."""

    @property
    def base_value(self) -> Value:
        """Return the value in base units; the value itself without a unit."""
        return self.value if self.unit is None else self.value * self.unit.factor


def scale_at(text: str, position: int) -> tuple[int, int] | None:
    """Return the factor of words such as `million` or `hundred thousand` at a position, and their
    end.

    Raises Unreadable where a smaller part follows, as in `3万5千`.
    """
    if (characters := _CHARACTER_SCALE.match(text, position)) is not None:
        if text[characters.end() : characters.end() + 1].isdigit():
            raise Unreadable
        return math.prod(map(_CHARACTER_SCALES.__getitem__, characters[0])), characters.end()
    factor, end = 1, position
    for _ in range(_MAX_SCALES):
        match = _SCALE.match(text, end)
        if match is None or match.lastindex is None:
            break
        factor *= _FACTORS[match.lastindex - 1]
        end = match.end()
    return None if end == position else (factor, end)


def unit_at(text: str, position: int, after: str = "") -> tuple[Unit, int] | None:
    """Return the known unit at a position, after up to three spaces or a hyphen, and its end.

    `after` is the dimension of a larger part, as of the feet in `5 ft 3 in`.
    """
    for part, factor in _PARTS.get(after, ()):
        if (match := part.match(text, position)) is not None:
            return Unit(after, factor), match.end()
    if (match := _INCHES_ALONE.match(text, position)) is not None:
        return Unit("length", Fraction("0.0254")), match.end()
    before = _BEFORE.match(text, position)
    assert before is not None
    atom = _atom_at(text, before.end())
    if atom is None:
        return None
    powers, factor, end, symbol = atom
    if symbol in _LETTERS and not _is_unit_letter(text, position, before.end(), end):
        return None
    power = 2 if before["square"] else 3 if before["cubic"] else 1
    if power > 1:
        if powers != {"length": 1}:
            return None
        powers, factor = {"length": power}, factor**power
    if next(iter(powers)) not in _SIMPLE:
        powers, factor, end = _with_rates(text, powers, factor, end)
    if _END.match(text, end) is None:
        return None
    named = [
        f"{name}^{count}" if count != 1 else name for name, count in sorted(powers.items()) if count
    ]
    return Unit(" ".join(named), factor), end


def _with_rates(
    text: str, powers: dict[str, int], factor: Fraction, end: int
) -> tuple[dict[str, int], Fraction, int]:
    """Return a unit combined with up to two more by multiplication or division: `kg·m/s`."""
    for _ in range(2):
        over = _OVER.match(text, end)
        joint = over or _TIMES.match(text, end)
        if joint is None:
            break
        following = _atom_at(text, joint.end())
        spoken = over is not None and "/" not in over[0]
        # `10 km a week` is 10 km, as other rates in words are.
        if following is None or (spoken and _RATE.match(text, joint.end()) is None):
            break
        sign = -1 if over is not None else 1
        squared = _SQUARED.match(text, following[2]) if spoken else None
        if squared is not None:
            sign *= 2
        for dimension, count in following[0].items():
            powers = powers | {dimension: powers.get(dimension, 0) + sign * count}
        factor *= following[1] ** sign
        end = following[2] if squared is None else squared.end()
    return powers, factor, end


def _atom_at(text: str, position: int) -> tuple[dict[str, int], Fraction, int, str] | None:
    """Return dimensions, factor, end and symbol of one unit with its power."""
    match = _ATOM.match(text, position)
    if match is None or match.lastindex is None:
        return None
    _, dimension, factor = _SPELLINGS[match.lastindex - 1]
    powers: dict[str, int] = {}
    for name in dimension.split(" "):
        base, _, count = name.partition("^")
        powers[base] = int(count or 1)
    end = match.end()
    if dimension not in _SIMPLE - {"time"} and (raised := _POWER.match(text, end)) is not None:
        written = raised["power"] or raised["plain"] or raised["raised"].translate(_RAISED)
        powers = {name: count * int(written) for name, count in powers.items()}
        factor, end = factor ** int(written), raised.end()
    return powers, factor, end, match[0]


def _is_unit_letter(text: str, position: int, start: int, end: int) -> bool:
    """Return whether a letter is a unit rather than a variable or an article."""
    letter = text[start:end]
    if start == position and letter not in _ATTACHED:
        return False
    if _JOINED.match(text, end) and not _OVER.match(text, end):
        return False
    return letter != "A" or _ARTICLE.match(text, end) is None
