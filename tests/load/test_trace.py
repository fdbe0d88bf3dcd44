"""Recorded arrivals are read from each kind of file, and what cannot be read is told by line."""

import gzip
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.load.schedule.arrivals import Trace, problems
from agentbench_tui.load.workload import trace
from agentbench_tui.load.workload.trace import Unit, read_trace
from agentbench_tui.model.errors import UsageError


@pytest.fixture
def written(tmp_path: Path):
    def write(content: str | bytes, name: str = "trace.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def offsets_of(path: Path, unit: Unit | None = None) -> tuple[float, ...]:
    return read_trace(path, unit=unit).offsets_s


def refusal(path: Path, unit: Unit = "s") -> str:
    with pytest.raises(UsageError) as caught:
        read_trace(path, unit=unit)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(f"{path.parent}{os.sep}", "")


@pytest.mark.parametrize(
    ("content", "offsets"),
    [
        ("0\n0.5\n2\n", (0.0, 0.5, 2.0)),
        ("5\n3\n4", (0.0, 1.0, 2.0)),
        ("# recorded on Monday\n\n10\r\n 10 \r\n11.25\r\n", (0.0, 0.0, 1.25)),
        ("\ufeff7\n8", (0.0, 1.0)),
        ("42\n", (0.0,)),
        ("-1e0\n1\n", (0.0, 2.0)),
        ("2023-11-16 18:15:46.6805900\n2023-11-16 18:15:50.9951690\n", (0.0, 4.314579)),
        ("2024-02-29T23:59:59Z\n2024-03-01T02:00:01.5+02:00\n", (0.0, 2.5)),
        ("2024-05-05T12:00:00\n2024-05-05T12:00:00.25Z\n", (0.0, 0.25)),
    ],
)
def test_plain_list(written, content: str, offsets: tuple[float, ...]) -> None:
    assert offsets_of(written(content)) == offsets


@pytest.mark.parametrize(
    "content",
    [
        "timestamp\n1.5\n2\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n1.5,374,44\n2,396,109\n",
        "id;time;note\na;1.5;x,y\n\nb;2;z\n",
        "ts\tid\n1.5\t1\n2\t2\n",
        "ts,id\n1.5,1\n2,2\n,\n",
        "sep=|\r\nid|ts\r\na,b|1.5\r\nc|2\r\n",
        'prompt, arrived_at \n"two\nlines, one ""field""", 1.5\nx,2\n',
        "# header\nn,arrival,Timestamp\n0,9,1.5\n1,3,2\n",
        "Time,timestamp\n7,1.5\n3,2.0\n",
        "time,Time\n1.5,9\n2.0,1\n",
        "Timestamp,Model\n2023-11-16 18:15:46.5,a\n2023-11-16 18:15:47,b\n",
    ],
)
def test_csv_column(written, content: str) -> None:
    assert offsets_of(written(content, "trace.csv")) == (0.0, 0.5)


def test_json_lines(written) -> None:
    content = '{"ts": 3, "text": "# no comment"}\n\n  {"text": "x", "ts": 1.25}\n{"ts": "2"}\n'
    assert offsets_of(written(content, "trace.jsonl")) == (0.0, 0.75, 1.75)
    moments = '{"Arrived_At": "2024-01-01T00:00:01Z"}\n{"Arrived_At": "2024-01-01T00:00:00Z"}\n'
    assert offsets_of(written(moments)) == (0.0, 1.0)


def test_json_lines_in_milliseconds(written) -> None:
    content = "".join(
        json.dumps({"timestamp": ms, "input_length": 6755, "hash_ids": [0, 1]}) + "\n"
        for ms in (27482, 30535, 30535)
    )
    assert offsets_of(written(content), unit="ms") == (0.0, 3.053, 3.053)


@pytest.mark.parametrize(("unit", "second"), [("s", 1), ("ms", 10**3), ("us", 10**6)])
def test_unit_of_numbers(written, unit: Unit, second: int) -> None:
    assert offsets_of(written(f"{3 * second}\n{second}\n"), unit=unit) == (0.0, 2.0)


def test_nanoseconds_since_1970_keep_every_digit(written) -> None:
    path = written("timestamp\n1700000000123456789\n1700000000123456790\n")
    assert offsets_of(path, unit="ns") == (0.0, 1e-9)
    path = written('{"ts": 1700000000123456789}\n{"ts": "1700000000123456790"}\n')
    assert offsets_of(path, unit="ns") == (0.0, 1e-9)


def test_unit_does_not_touch_dates(written) -> None:
    path = written("2024-01-01T00:00:00\n2024-01-01T00:00:09\n")
    assert offsets_of(path, unit="ms") == (0.0, 9.0)


def test_gzip_is_known_by_its_content(written) -> None:
    packed = gzip.compress(b"timestamp\n1\n3\n")
    assert offsets_of(written(packed, "trace.csv")) == (0.0, 2.0)


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=30))
def test_numbers_and_dates_agree_and_make_a_possible_schedule(
    tmp_path_factory: pytest.TempPathFactory, stamps_us: list[int]
) -> None:
    path = tmp_path_factory.mktemp("traces") / "trace"
    path.write_text("\n".join(map(str, stamps_us)))
    numbers = offsets_of(path, unit="us")
    start = datetime(2024, 1, 1, tzinfo=UTC)
    path.write_text("\n".join((start + timedelta(microseconds=us)).isoformat() for us in stamps_us))
    assert offsets_of(path) == numbers
    assert numbers == tuple((us - min(stamps_us)) / 10**6 for us in sorted(stamps_us))
    assert problems(Trace(numbers)) == []


CALLED = "is called timestamp, time, ts, arrival or arrived_at; found:"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\n2\nthree\n", ":3: 'three' is not a number"),
        ("1\n\n# x\nnan\n", ":4: 'nan' is not a number"),
        ("1\n1e999\n", ":2: '1e999' is not a number"),
        ("1\n2024-01-01\n", ":2: '2024-01-01' is not a number"),
        ("2024-01-01\n5\n", ":2: '5' is not a date and time as in ISO 8601"),
        ("1\n\x1b[31m" + "x" * 90, rf":2: '\x1b[31m{34 * 'x'}…' is not a number"),
        ("when,what\n1,2\n", f":1: no column {CALLED} 'when', 'what'"),
        ("ts,n\n1,2\n3\n,4\n", ":4: '' is not a number"),
        ("n,ts\n1,2\n3\n", ":3: there is no column 2, the 'ts'"),
        ('{"when": 1}\n', f":1: no key {CALLED} 'when'"),
        ("{}\n", f":1: no key {CALLED} none"),
        ('{"ts": 1}\n{"t": 2}\n', ":2: there is no key 'ts', which the first line has"),
        ('{"ts": 1}\n{"ts": null}\n', ":2: 'None' is not a number"),
        ('{"ts": true}\n', ":1: 'True' is not a number"),
        ('{"ts": [1]}\n', ":1: '[1]' is not a number"),
        ("", " has no arrivals"),
        ("# nothing\n\n", " has no arrivals"),
        ("timestamp\n", " has no arrivals"),
        (b"\xff\xfe1\n", " cannot be read: it is not UTF-8 but UTF-16 text; save it as UTF-8"),
        (
            b"1\n" * 9_000 + b"1 \xe9\n",
            (
                " cannot be read: it is not UTF-8 text (byte 0xe9 at position 3 of line 9,001);"
                " save it as UTF-8"
            ),
        ),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(
    written, content: str | bytes, message: str
) -> None:
    assert refusal(written(content)) == f"trace trace.txt{message}"


def test_line_that_is_no_json_object_is_told(written) -> None:
    assert refusal(written('{"ts": 1}\n[2]\n')).startswith("trace trace.txt:2: not a JSON object: ")
    assert refusal(written('{"ts": 1}\n{"ts"\n')).startswith("trace trace.txt:2: not a JSON object")
    deep = '{"ts": 1}\n{"ts": 2, "x": ' + "[" * 300_000
    assert refusal(written(deep)) == "trace trace.txt:2: not a JSON object: it is nested too deeply"


def test_broken_gzip_is_told(written) -> None:
    packed = gzip.compress(b"1\n2\n" * 1000)
    for broken in (packed[:-9], packed[:20] + b"\x00\xff" * 9 + packed[30:]):
        assert "trace trace.txt cannot be read: " in refusal(written(broken))


def test_file_that_is_none_is_told(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none") == "trace none cannot be read: no such file or directory"
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == "trace pipe cannot be read: it is not a regular file"
    (tmp_path / "folder").mkdir()
    assert refusal(tmp_path / "folder") == "trace folder cannot be read: it is not a regular file"


def test_arrivals_of_centuries_are_refused_with_what_to_do(written) -> None:
    said = (
        "trace trace.txt: its arrivals span more than 1,000,000,000 s; if its timestamps are not in"
        " s, give their unit with --trace-unit"
    )
    assert refusal(written("1\n1e300\n")) == said
    assert refusal(written("0\n1000000001\n")) == said
    assert offsets_of(written("0\n1000000000\n")) == (0, 1e9)


def test_lengths_beyond_what_can_be_sent_are_named(written) -> None:
    row = '{"timestamp": 1, "input_length": 1000000000000, "output_length": 2}\n'
    assert refusal(written(row * 5)) == (
        "trace trace.txt has no arrivals; 5 rows skipped: tokens in and out must be whole numbers"
        " from 1 to 2,000,000"
    )


def test_sizes_are_bounded(written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MOST_ARRIVALS", 3)
    assert len(offsets_of(written("1\n2\n3\n"))) == 3
    assert refusal(written("1\n2\n3\n4\n")) == (
        "trace trace.txt:4: there are more than 3 arrivals; give a part of them"
    )
    monkeypatch.setattr(trace, "MAX_LINE", 10)
    assert refusal(written("1\n" + "2" * 11)) == (
        "trace trace.txt:2: the line is longer than 10 characters"
    )
    monkeypatch.setattr(trace, "MAX_CHARACTERS", 6)
    assert refusal(written(gzip.compress(b"1\n2\n3\n\n"))) == (
        "trace trace.txt:4: the text is longer than 6 characters"
    )
