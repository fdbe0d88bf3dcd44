"""Requests as bytes: what RFC 9112 asks for, and nothing smuggled in."""

import pytest
from httptools import HttpRequestParser
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.http.wire import Origin, head_bytes, request_bytes
from agentbench_tui.model.errors import UsageError


class Read:
    """A request as another parser reads it."""

    def __init__(self, wire: bytes) -> None:
        self.url = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""
        self.messages = 0
        parser = HttpRequestParser(self)
        parser.feed_data(wire)
        self.method = parser.get_method()

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.messages += 1


def test_a_request_byte_for_byte() -> None:
    wire = request_bytes("POST", "http://h.example:81/v1/x?a=b#frag", {"X-Key": " k "}, b"{}")
    assert wire == (
        b"POST /v1/x?a=b HTTP/1.1\r\nhost: h.example:81\r\naccept: */*\r\n"
        b"accept-encoding: identity\r\nuser-agent: agentbench\r\nx-key: k\r\n"
        b"content-length: 2\r\n\r\n{}"
    )


@pytest.mark.parametrize(
    ("url", "origin", "authority"),
    [
        ("http://H.Example/", Origin("http", "h.example", 80), "h.example"),
        ("https://h.example", Origin("https", "h.example", 443), "h.example"),
        ("https://h.example:80/", Origin("https", "h.example", 80), "h.example:80"),
        ("http://[::1]:8000/", Origin("http", "::1", 8000), "[::1]:8000"),
        ("http://[::1]/", Origin("http", "::1", 80), "[::1]"),
        ("http://bücher.example/", Origin("http", "xn--bcher-kva.example", 80), None),
    ],
)
def test_origins(url: str, origin: Origin, authority: str | None) -> None:
    assert Origin.of(url) == origin
    assert origin.authority == (authority or origin.host)
    assert Origin.of(origin.url) == origin


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://h", b"/"),
        ("http://h?q=1", b"/?q=1"),
        ("http://h/a%20b/ü", b"/a%20b/%C3%BC"),
        ("http://h/x?q=ü&r=%3D", b"/x?q=%C3%BC&r=%3D"),
    ],
)
def test_targets_are_percent_encoded_once(url: str, target: bytes) -> None:
    assert Read(request_bytes("GET", url, {}, b"")).url == target


@pytest.mark.parametrize(
    "headers",
    [
        {"x-a": "1\r\nx-b: 2"},
        {"x-a": "1\nx-b: 2"},
        {"x-a": "1\x00"},
        {"x-a\r\nx-b": "1"},
        {"x a": "1"},
        {"": "1"},
        {"x-a": "\U0001f600"},
    ],
)
def test_nothing_is_smuggled_in_by_a_header(headers: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        head_bytes("POST", "http://h/", headers, 0)


@pytest.mark.parametrize("method", ["", "GE T", "GET\r\nx: y", "GET / HTTP/1.1\r\n"])
def test_nothing_is_smuggled_in_by_a_method(method: str) -> None:
    with pytest.raises(UsageError):
        head_bytes(method, "http://h/", {}, 0)


def test_the_framing_is_ours_and_other_fields_are_the_callers() -> None:
    given_headers = {"Content-Length": "9", "Transfer-Encoding": "chunked", "Connection": "close"}
    read = Read(request_bytes("POST", "http://h/", {**given_headers, "User-Agent": "me"}, b"ok"))
    names = [name for name, _ in read.headers]
    assert (b"content-length", b"2") in read.headers
    assert (b"user-agent", b"me") in read.headers
    assert b"transfer-encoding" not in names
    assert b"connection" not in names
    assert len(names) == len(set(names))


names = st.text("abcXYZ019-_", min_size=1, max_size=12)
values = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f"))


@given(st.dictionaries(names, values, max_size=5), st.binary(max_size=200))
def test_any_request_is_read_as_the_one_that_was_meant(
    headers: dict[str, str], body: bytes
) -> None:
    read = Read(request_bytes("POST", "http://h/p", headers, body))
    assert (read.method, read.url, read.body, read.messages) == (b"POST", b"/p", body, 1)
    sent = dict(read.headers)
    lowered = {name.lower(): value for name, value in headers.items()}
    for name, value in lowered.items():
        assert sent[name.encode()] == value.strip(" \t").encode("latin-1")
