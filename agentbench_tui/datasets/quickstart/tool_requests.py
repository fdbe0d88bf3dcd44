"""Requests for tool calls: one, two, or none that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

from agentbench_tui.datasets.quickstart.drawing import PEOPLE, Draw

_CITIES = ("Oslo", "Lisbon", "Nairobi", "Osaka", "Quito", "Turin")
_TITLES = ("dentist", "team lunch", "bike repair", "piano lesson", "board meeting")
_UNITS = (("miles", "kilometres"), ("pounds", "kilograms"), ("litres", "gallons"))
_MESSAGES = ("I am running late", "the parcel has arrived", "dinner is ready", "call me back")


def _tool(name: str, description: str, **properties: dict[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": list(properties),
        },
    }


_CONVERT = _tool(
    "convert_units",
    "Convert an amount from one unit of measure to another.",
    value={"type": "number", "description": "The amount"},
    from_unit={"type": "string", "description": "Unit that the amount is in, such as miles"},
    to_unit={"type": "string", "description": "Unit that is wanted, such as kilometres"},
)
_WEATHER = _tool(
    "get_weather",
    "Get the weather forecast of a city for a day.",
    city={"type": "string", "description": "Name of the city"},
    date={"type": "string", "description": "The day as YYYY-MM-DD"},
)
_EVENT = _tool(
    "create_event",
    "Put an appointment into the calendar.",
    title={"type": "string", "description": "What it is, in lower case"},
    date={"type": "string", "description": "The day as YYYY-MM-DD"},
    time={"type": "string", "description": "Start as HH:MM, 24 hours"},
)
_MESSAGE = _tool(
    "send_message",
    "Send a text message to a person.",
    recipient={"type": "string", "description": "Name of the person"},
    text={"type": "string", "description": "The words of the message"},
)
_TRAINS = _tool(
    "search_trains",
    "Search train connections between two cities on a day.",
    origin={"type": "string", "description": "City of departure"},
    destination={"type": "string", "description": "City of arrival"},
    date={"type": "string", "description": "The day as YYYY-MM-DD"},
)
TOOLS = (_CONVERT, _WEATHER, _EVENT, _MESSAGE, _TRAINS)

Wish = tuple[str, dict[str, Any]]
"""What is asked for, as a clause that begins with a verb, and the call that does it."""


def tool_requests(seed: int) -> Iterator[dict[str, Any]]:
    """Yield 34 requests: 20 for one tool, 8 for two, 6 that no available tool can do."""
    draw = Draw(seed, "tools")
    for nth in range(20):
        make = _WISHES[nth % len(_WISHES)]
        wish, call = make(draw, nth // len(_WISHES))
        yield _record(f"single-{nth + 1}", "single", f"{_opening(draw)}{wish}.", [call], TOOLS)
    for nth in range(8):
        first, second = draw.some(_WISHES, 2)
        (wish, call), (other, further) = first(draw, nth % 4), second(draw, nth % 4)
        text = f"{_opening(draw)}{wish}, and then {other}."
        yield _record(f"double-{nth + 1}", "double", text, [call, further], TOOLS)
    for nth in range(6):
        wish, call = draw.one(_WISHES)(draw, nth % 4)
        unfit = [tool for tool in TOOLS if tool["name"] != call["name"]]
        text = f"{_opening(draw)}{wish}."
        yield _record(f"none-{nth + 1}", "none", text, [], draw.some(unfit, 2))


def _record(
    name: str, topic: str, text: str, calls: list[dict[str, Any]], tools: Any
) -> dict[str, Any]:
    return {"id": name, "topic": topic, "input": text, "expected": calls, "tools": list(tools)}


def _opening(draw: Draw) -> str:
    return draw.one(("Please ", "Could you ", "I need you to ", "Kindly "))


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def _spoken(day: date, style: int) -> str:
    return day.isoformat() if style % 2 == 0 else f"{day.day} {day.strftime('%B')} {day.year}"


def _convert(draw: Draw, style: int) -> Wish:
    source, target = draw.one(_UNITS)
    amount = draw.whole(3, 90)
    wishes = (
        f"convert {amount} {source} to {target}",
        f"tell me how many {target} {amount} {source} are",
        f"turn {amount} {source} into {target}",
        f"work out what {amount} {source} come to in {target}",
    )
    return wishes[style], _call("convert_units", value=amount, from_unit=source, to_unit=target)


def _weather(draw: Draw, style: int) -> Wish:
    city, day = draw.one(_CITIES), draw.day()
    wishes = (
        f"get the weather forecast for {city} on {_spoken(day, style)}",
        f"check the weather in {city} for {_spoken(day, style)}",
        f"look up the forecast of {_spoken(day, style)} in {city}",
        f"find out whether it will rain in {city} on {_spoken(day, style)}",
    )
    return wishes[style], _call("get_weather", city=city, date=day.isoformat())


def _event(draw: Draw, style: int) -> Wish:
    title, day = draw.one(_TITLES), draw.day()
    hour, minute = draw.whole(8, 18), draw.one((0, 30))
    clock = f"{hour:02}:{minute:02}"
    half_day = f"{(hour - 1) % 12 + 1}:{minute:02} {'am' if hour < 12 else 'pm'}"
    wishes = (
        f"put {title} into my calendar on {_spoken(day, style)} at {clock}",
        f"add an appointment for {title} on {_spoken(day, style)} at {clock}",
        f"make a calendar entry on {_spoken(day, style)}, {half_day}, for {title}",
        f"schedule {title} for {half_day} on {_spoken(day, style)}",
    )
    return wishes[style], _call("create_event", title=title, date=day.isoformat(), time=clock)


def _message(draw: Draw, style: int) -> Wish:
    who, text = draw.one(PEOPLE), draw.one(_MESSAGES)
    wishes = (
        f'send {who} the message "{text}"',
        f'send a text message to {who} that says "{text}"',
        f'text {who} "{text}"',
        f'let {who} know by message: "{text}"',
    )
    return wishes[style], _call("send_message", recipient=who, text=text)


def _trains(draw: Draw, style: int) -> Wish:
    (origin, destination), day = draw.some(_CITIES, 2), draw.day()
    wishes = (
        f"search train connections from {origin} to {destination} on {_spoken(day, style)}",
        f"find me a train from {origin} to {destination} for {_spoken(day, style)}",
        f"look for trains to {destination} from {origin} on {_spoken(day, style)}",
        f"see how I get to {destination} by rail on {_spoken(day, style)}, starting in {origin}",
    )
    call = _call("search_trains", origin=origin, destination=destination, date=day.isoformat())
    return wishes[style], call


_WISHES: tuple[Callable[[Draw, int], Wish], ...] = (_convert, _weather, _event, _message, _trains)
