"""Small files that a person names: anything that is none is refused at once, in words."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.small_file import MAX_BYTES, read_small_text

BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda path: None, "no such file"),
    "folder": (lambda path: path.mkdir(), "is a directory"),
    "pipe": (lambda path: os.mkfifo(path), "regular file"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "regular file"),
    "link to itself": (lambda path: path.symlink_to(path), "symbolic links"),
    "UTF-16": (lambda path: path.write_text("a", encoding="utf-16"), "not UTF-8 but UTF-16"),
    "Latin-1": (
        lambda path: path.write_bytes(b"a: 1\nb: caf\xe9\n"),
        r"not UTF-8 text \(byte 0xe9 at position 7 of line 2\)",
    ),
    "large": (lambda path: path.write_bytes(b" " * (MAX_BYTES + 1)), "larger than 1,048,576"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_small_file_is_refused(tmp_path: Path, kind: str) -> None:
    make, words = BAD[kind]
    path = tmp_path / "prices.yaml"
    make(path)
    with pytest.raises(UsageError, match=rf"price file .*prices\.yaml cannot be read: .*{words}"):
        read_small_text(path, "price file")


def test_a_path_that_no_system_knows_is_refused() -> None:
    with pytest.raises(UsageError, match=r"null (byte|character)"):
        read_small_text(Path("a\0b"), "price file")


def test_a_small_file_is_read_whole_without_its_mark(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbf" + b"x" * (MAX_BYTES - 3))
    assert read_small_text(path, "file") == "x" * (MAX_BYTES - 3)
