"""A small server in the manner of the model APIs, that can also misbehave in every known way.

    python tests/servers/openai_server.py [--port N] [--tls]

prints its port on the first line, serves on 127.0.0.1 and ends when its standard input closes.
It answers `POST …/chat/completions`, `…/responses` and `…/messages`, streaming where asked, and
any other path with `{"output": …}`. The answer is the last user message, word by word. How it
behaves is chosen by the header `x-behavior`, else by the model's name: `NAME` or `NAME:ARGUMENT`
out of `BEHAVIORS`; a model of any other name behaves well. `GET /requests` gives what was asked,
`GET /arrived/NAME` answers once a request with that behavior came. `--tls` serves with a
certificate that nobody vouches for.
"""

import argparse
import asyncio
import json
import ssl
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

import openai_dialects as dialects

MAX_REQUEST_BYTES = 16 * 1024 * 1024
TLS_HANDSHAKE = b"\x16"
_seen: deque[dict[str, Any]] = deque(maxlen=500)
_calls: Counter[str] = Counter()
_arrived: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)


class Exchange:
    """One request and the means to answer it, well or badly."""

    def __init__(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: Any,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.method = method
        self.path = path.partition("?")[0]
        self.headers = headers
        self.body = body if isinstance(body, dict) else {"input": body}
        self.reader = reader
        self.writer = writer
        self.keep_alive = True
        self.model = str(self.body.get("model", ""))

    @property
    def streams(self) -> bool:
        return self.body.get("stream") is True

    def reply(self) -> dialects.Reply:
        """The well-behaved reply: the last user message, word by word."""
        turns = self.body.get("messages") or self.body.get("input") or ""
        if isinstance(turns, list):
            asked = [_text(turn) for turn in turns if turn.get("role") in (None, "user")]
            last, words = (asked[-1] if asked else ""), sum(len(_text(t).split()) for t in turns)
        else:
            last = turns if isinstance(turns, str) else json.dumps(turns)
            words = len(last.split())
        return dialects.Reply(_pieces(last), prompt_tokens=words, cached_tokens=words // 2)

    def whole(self, reply: dialects.Reply) -> dict[str, Any]:
        if self.path.endswith("/chat/completions"):
            return dialects.chat(self.model, reply)
        if self.path.endswith("/responses"):
            return dialects.responses(self.model, reply)
        if self.path.endswith("/messages"):
            return dialects.messages(self.model, reply)
        tokens = {"in": reply.prompt_tokens, "out": reply.output_tokens}
        return {"output": reply.text, "nested": {"answers": [reply.text]}, "tokens": tokens}

    def events(self, reply: dialects.Reply) -> list[dialects.Event]:
        if self.path.endswith("/responses"):
            return dialects.responses_events(self.model, reply)
        if self.path.endswith("/messages"):
            return dialects.messages_events(self.model, reply)
        asked = (self.body.get("stream_options") or {}).get("include_usage") is True
        return dialects.chat_events(self.model, reply, include_usage=asked)

    async def answer(self, reply: dialects.Reply, status: int = 200) -> None:
        """Answer well, as a stream where that was asked for."""
        if self.streams:
            await self.begin_stream()
            for event in self.events(reply):
                await self.send_event(event)
            await self.end_stream()
        else:
            await self.send_json(self.whole(reply), status)

    async def send_json(self, value: Any, status: int = 200, **headers: str) -> None:
        await self.send(json.dumps(value).encode(), status, "application/json", **headers)

    async def send(self, body: bytes, status: int, kind: str, **headers: str) -> None:
        fields = {"content-type": kind, "content-length": str(len(body)), **headers}
        self.writer.write(_head(status, fields) + body)
        await self.writer.drain()

    async def begin_stream(self) -> None:
        fields = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
        self.writer.write(_head(200, fields))
        await self.writer.drain()

    async def send_event(self, event: dialects.Event) -> None:
        """Each event as a packet of its own, as far as the kernel allows."""
        kind, data = event
        text = data if isinstance(data, str) else json.dumps(data)
        line = f"event: {kind}\n" if kind else ""
        await self.send_chunk(f"{line}data: {text}\n\n".encode())

    async def send_chunk(self, data: bytes) -> None:
        self.writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await self.writer.drain()

    async def end_stream(self) -> None:
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def until_client_leaves(self) -> None:
        while await self.reader.read(65536):
            pass
        self.keep_alive = False

    def reset(self) -> None:
        self.writer.transport.abort()
        self.keep_alive = False


def _text(turn: dict[str, Any]) -> str:
    content = turn.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [word if index == 0 else f" {word}" for index, word in enumerate(words)]


def _head(status: int, fields: dict[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {text}" for name, text in fields.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _error(message: str, kind: str = "server_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": None}}


async def ok(exchange: Exchange, argument: str) -> None:
    """Answers well, whatever the model is called."""
    await exchange.answer(exchange.reply())


async def say(exchange: Exchange, argument: str) -> None:
    """Answers the argument."""
    await exchange.answer(replace(exchange.reply(), pieces=_pieces(argument)))


async def no_stream(exchange: Exchange, argument: str) -> None:
    """Answers in one piece though a stream was asked for."""
    await exchange.send_json(exchange.whole(exchange.reply()))


async def streams_unless_told(exchange: Exchange, argument: str) -> None:
    """Streams where the request doesn't say whether to."""
    exchange.body.setdefault("stream", True)
    await exchange.answer(exchange.reply())


async def short_end(exchange: Exchange, argument: str) -> None:
    """A stream in one packet that ends with its finish_reason, the usage beside it: no [DONE]."""
    events = [data for _, data in exchange.events(exchange.reply()) if isinstance(data, dict)]
    usage = next((data for data in events if data.get("usage")), None)
    if usage is not None and not usage["choices"]:
        events.remove(usage)
        events[-1]["usage"] = usage["usage"]
    await exchange.begin_stream()
    lines = (f"data: {json.dumps(data)}\n\n" for data in events)
    await exchange.send_chunk("".join(lines).encode())
    await exchange.end_stream()


async def left_open(exchange: Exchange, argument: str) -> None:
    """A stream with all its events whose body never ends."""
    await exchange.begin_stream()
    for event in exchange.events(exchange.reply()):
        await exchange.send_event(event)
    await exchange.until_client_leaves()


async def rate_limited(exchange: Exchange, argument: str) -> None:
    """429; the argument is the Retry-After, none without."""
    extra = {"retry-after": argument} if argument else {}
    await exchange.send_json(_error("slow down", "rate_limit"), 429, **extra)


async def unavailable(exchange: Exchange, argument: str) -> None:
    """503 with the argument as its Retry-After."""
    await exchange.send_json(_error("down for a moment"), 503, **{"retry-after": argument})


async def conflict(exchange: Exchange, argument: str) -> None:
    """409 with the argument as its Retry-After."""
    await exchange.send_json(_error("still busy"), 409, **{"retry-after": argument})


async def status(exchange: Exchange, argument: str) -> None:
    """An error object with the argument as its status."""
    await exchange.send_json(_error("it broke"), int(argument))


async def echo_key(exchange: Exchange, argument: str) -> None:
    """An error with the argument as status that repeats every header of the request."""
    await exchange.send_json(_error(json.dumps(exchange.headers)), int(argument or 401))


async def error_in_200(exchange: Exchange, argument: str) -> None:
    """Status 200 with an error object, or an error event in the stream."""
    if not exchange.streams:
        await exchange.send_json(_error("the engine is dead"))
        return
    await exchange.begin_stream()
    for event in exchange.events(exchange.reply())[:4]:
        await exchange.send_event(event)
    error = {"type": "error", **_error("the engine is dead")}
    await exchange.send_event(("error", error))
    await exchange.end_stream()


async def slow(exchange: Exchange, argument: str) -> None:
    """Answers well after the argument's milliseconds."""
    await asyncio.sleep(float(argument or 100) / 1000)
    await exchange.answer(exchange.reply())


async def late_content(exchange: Exchange, argument: str) -> None:
    """Streams the role at once, and content only after the argument's milliseconds."""
    begun = "message_start" if exchange.path.endswith("/messages") else '"role"'
    begun = "response.created" if exchange.path.endswith("/responses") else begun
    await _pause_in_stream(exchange, exchange.reply(), begun, argument or "50")


async def _pause_in_stream(
    exchange: Exchange, reply: dialects.Reply, after: str, milliseconds: str
) -> None:
    """Stream the reply, with a pause after the first event that holds the text `after`."""
    events = exchange.events(reply)
    pause_after = next(i for i, (_, data) in enumerate(events) if after in json.dumps(data))
    await exchange.begin_stream()
    for index, event in enumerate(events):
        await exchange.send_event(event)
        if index == pause_after:
            await asyncio.sleep(float(milliseconds or 0) / 1000)
    await exchange.end_stream()


async def silent(exchange: Exchange, argument: str) -> None:
    """Takes the request and never answers."""
    await exchange.until_client_leaves()


async def stall(exchange: Exchange, argument: str) -> None:
    """Begins to answer and then says nothing more, but keeps the connection."""
    await _first_half(exchange)
    await exchange.until_client_leaves()


async def truncated(exchange: Exchange, argument: str) -> None:
    """Begins to answer and closes the connection in the middle."""
    await _first_half(exchange)
    exchange.keep_alive = False


async def reset_middle(exchange: Exchange, argument: str) -> None:
    """Begins to answer and resets the connection when the client had time to read."""
    await _first_half(exchange)
    await asyncio.sleep(0.02)
    exchange.reset()


async def no_end(exchange: Exchange, argument: str) -> None:
    """A stream whose connection ends well, but without its last events."""
    await exchange.begin_stream()
    events = exchange.events(replace(exchange.reply(), finish=None))
    for event in events[:-1] if events[-1][1] == "[DONE]" else events[: len(events) // 2]:
        await exchange.send_event(event)
    await exchange.end_stream()


async def _first_half(exchange: Exchange) -> None:
    if exchange.streams:
        await exchange.begin_stream()
        events = exchange.events(exchange.reply())
        ends = next(i for i, (_, data) in enumerate(events) if _ends_content(json.dumps(data)))
        for event in events[: min(ends, max(4, len(events) // 2))]:
            await exchange.send_event(event)
    else:
        body = json.dumps(exchange.whole(exchange.reply())).encode()
        fields = {"content-type": "application/json", "content-length": str(len(body))}
        exchange.writer.write(_head(200, fields) + body[: len(body) // 2])
        await exchange.writer.drain()


def _ends_content(event: str) -> bool:
    marks = ('"finish_reason": "', '"response.completed"', '"content_block_stop"')
    return any(mark in event for mark in marks)


async def reset(exchange: Exchange, argument: str) -> None:
    """Resets the connection before the first byte."""
    exchange.reset()


async def malformed(exchange: Exchange, argument: str) -> None:
    """JSON, or the JSON of an event, that is none."""
    if exchange.streams:
        await exchange.begin_stream()
        await exchange.send_event((None, '{"choices": [{'))
        await exchange.end_stream()
    else:
        await exchange.send(b'{"choices": [{', 200, "application/json")


async def no_utf8(exchange: Exchange, argument: str) -> None:
    """JSON of the right form whose text is Latin-1."""
    words = b'[{"index": 0, "delta": {"content": "\xe9"}, "message": {"content": "\xe9"}}]'
    body = b'{"type": "\xe9", "choices": ' + words + b', "output": "\xe9", "content": "\xe9"}'
    if exchange.streams:
        await exchange.begin_stream()
        await exchange.send_chunk(b"data: " + body + b"\n\n")
        await exchange.end_stream()
    else:
        await exchange.send(body, 200, "application/json")


async def empty(exchange: Exchange, argument: str) -> None:
    """Status 200 and no body."""
    await exchange.send(b"", 200, "application/json")


async def wrong_type(exchange: Exchange, argument: str) -> None:
    """Status 200 and a web page."""
    await exchange.send(b"<html><body>Welcome to the proxy</body></html>", 200, "text/html")


async def wrong_shape(exchange: Exchange, argument: str) -> None:
    """Status 200 and JSON of another form."""
    await exchange.send_json({"choices": "none", "output": {"a": 1}, "content": 7})


async def not_http(exchange: Exchange, argument: str) -> None:
    """Something that is not HTTP."""
    exchange.writer.write(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")
    await exchange.writer.drain()
    exchange.keep_alive = False


async def gzip(exchange: Exchange, argument: str) -> None:
    """A compressed answer, though none was asked for."""
    import gzip as codec

    body = codec.compress(json.dumps(exchange.whole(exchange.reply())).encode())
    await exchange.send(body, 200, "application/json", **{"content-encoding": "gzip"})


async def huge(exchange: Exchange, argument: str) -> None:
    """A body of as many bytes as the argument says, its length not told before."""
    await exchange.begin_stream()
    left = int(argument or 64 * 1024 * 1024)
    while left > 0 and not exchange.writer.transport.is_closing():
        await exchange.send_chunk(b"x" * min(left, 65536))
        left -= 65536
    await exchange.end_stream()


async def redirect(exchange: Exchange, argument: str) -> None:
    """To another path of this server, or to the argument."""
    await exchange.send(b"", 307, "text/plain", location=argument or "/elsewhere")


async def no_usage(exchange: Exchange, argument: str) -> None:
    """Says nothing of tokens."""
    await exchange.answer(replace(exchange.reply(), usage=False))


async def bad_usage(exchange: Exchange, argument: str) -> None:
    """Token counts of wrong types: negative, text, absurd."""
    wrong = {"prompt_tokens": -5, "completion_tokens": "many", "cached_tokens": 1e30}
    await exchange.answer(replace(exchange.reply(), **wrong))


async def usage(exchange: Exchange, argument: str) -> None:
    """Answers well, with the argument's JSON as its usage."""
    await exchange.answer(replace(exchange.reply(), counts=json.loads(argument)))


async def tool_calls(exchange: Exchange, argument: str) -> None:
    """Two calls of the first tool offered; the argument replaces the JSON of the first's."""
    tools = exchange.body.get("tools") or [{}]
    name = tools[0].get("name") or tools[0].get("function", {}).get("name") or "unknown"
    calls = [(name, argument or '{"city": "Oslo", "days": 3}'), (name, '{"city": "Rome"}')]
    reply = replace(exchange.reply(), pieces=[], tool_calls=calls, finish="tool_calls")
    await exchange.answer(reply)


async def reasoning(exchange: Exchange, argument: str) -> None:
    """Thinks in two pieces, waits for the argument's milliseconds, then answers."""
    reply = replace(exchange.reply(), reasoning=["let me", " think"])
    if not exchange.streams:
        await exchange.answer(reply)
        return
    await _pause_in_stream(exchange, reply, " think", argument)


async def flaky(exchange: Exchange, argument: str) -> None:
    """`flaky:N:NAME`: 503 for the first N requests of that model, then well."""
    count = int(argument.partition(":")[0] or 1)
    _calls[exchange.model + argument] += 1
    if _calls[exchange.model + argument] <= count:
        await exchange.send_json(_error("warming up"), 503)
    else:
        await exchange.answer(exchange.reply())


async def close_after(exchange: Exchange, argument: str) -> None:
    """Answers well and closes the connection, as servers do with one that was idle."""
    await exchange.answer(exchange.reply())
    exchange.keep_alive = False


Behavior = Callable[[Exchange, str], Awaitable[None]]
BEHAVIORS: dict[str, Behavior] = {
    behavior.__name__.replace("_", "-"): behavior
    for behavior in (
        *(
            ok,
            say,
            no_stream,
            slow,
            late_content,
            no_usage,
            bad_usage,
            usage,
            unavailable,
            conflict,
            tool_calls,
            reasoning,
        ),
        *(streams_unless_told, short_end, left_open, flaky, close_after, rate_limited),
        *(status, echo_key, error_in_200, silent, stall),
        *(truncated, reset_middle, no_end, reset, malformed, empty, wrong_type, wrong_shape),
        *(not_http, no_utf8, gzip, huge, redirect),
    )
}


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await _one_exchange(reader, writer):
            pass
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass
    finally:
        writer.close()


async def _one_exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    first = await reader.readexactly(1)
    if first == TLS_HANDSHAKE:
        writer.write(_head(400, {"connection": "close"}))
        return False
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ", 2)
    pairs = (line.split(":", 1) for line in head[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    length = int(headers.get("content-length", 0))
    raw = await reader.readexactly(min(length, MAX_REQUEST_BYTES))
    try:
        body = json.loads(raw) if raw else {}
    except ValueError:
        body = raw.decode("utf-8", "replace")
    exchange = Exchange(method, path, headers, body, reader, writer)
    if method == "GET" and path == "/requests":
        await exchange.send_json(list(_seen))
        return True
    if method == "GET" and path.startswith("/arrived/"):
        await _arrived[path.removeprefix("/arrived/")].wait()
        await exchange.send_json({})
        return True
    _seen.append({"method": method, "path": path, "headers": headers, "body": body})
    name, _, argument = (headers.get("x-behavior") or exchange.model).partition(":")
    _arrived[name].set()
    await BEHAVIORS.get(name, ok)(exchange, argument)
    return exchange.keep_alive


async def main(port: int, *, tls: bool) -> None:
    """Serve until standard input closes."""
    context = None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(Path(__file__).with_name("self_signed.pem"))
    server = await asyncio.start_server(_serve, "127.0.0.1", port, limit=1024 * 1024, ssl=context)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(sys.stdin, lambda: sys.stdin.buffer.read1(4096) or ended.set())
    await ended.wait()
    server.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", action="store_true")
    given = parser.parse_args()
    asyncio.run(main(given.port, tls=given.tls))
