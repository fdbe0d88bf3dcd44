"""The first byte of a file that is not UTF-8 is found where it is, however the file is read."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model.text import utf8
from agentbench_tui.model.text.utf8 import BadByte, bad_byte_of, find_bad_byte


@given(st.text(), st.sampled_from([b"\xe9", b"\xff", b"\xc3(", b"\xed\xa0\x80"]), st.text())
def test_the_first_bad_byte_is_found(before: str, bad: bytes, after: str) -> None:
    content = before.encode()
    found = bad_byte_of(content + bad + after.encode())
    line = content.count(b"\n") + 1
    assert found == BadByte(line, len(content) - content.rfind(b"\n"), bad[0])


@given(st.text())
def test_good_text_has_none(text: str) -> None:
    assert bad_byte_of(text.encode()) is None


@pytest.mark.parametrize("size", range(1, 9))
def test_parts_of_any_size_are_joined(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(utf8, "_CHUNK", size)
    good = "a\u00e9\n\u20ac\U0001f600".encode()
    assert find_bad_byte(io.BytesIO(good)) is None
    assert find_bad_byte(io.BytesIO(good + b"\n\xe2\x82")) == BadByte(3, 1, 0xE2)
    assert find_bad_byte(io.BytesIO(good + b"\xffx")) == BadByte(2, 8, 0xFF)


def test_utf16_is_named() -> None:
    assert str(bad_byte_of("a".encode("utf-16"))) == "not UTF-8 but UTF-16 text; save it as UTF-8"
