"""Secrets are masked wherever they stand, whatever the environment is."""

import json

from bounded_work import bounded_work
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model import untrusted
from agentbench_tui.model.untrusted import Redactor

PARTS = st.sampled_from(
    [
        *("sk-", "pk-", "rk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "AKIA", "bearer", "BeaRer"),
        *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----BEGIN RSA ", "://"),
        *("abcdefghijklmnop", "0123456789ABCDEF", "A1b2C3d4E5", "_", "-", " ", "\n", "@", ":", "a"),
    ]
)


@given(st.lists(PARTS, max_size=8).map("".join))
def test_no_secret_is_missed_for_not_being_looked_for(text: str) -> None:
    masked = untrusted._SECRET_SHAPE.sub("***", untrusted._without_private_keys(text))
    assert Redactor({})(text) == masked


def test_keys_of_known_shapes_and_values_of_secret_variables_are_masked() -> None:
    redactor = Redactor({"SOME_TOKEN": "correct-horse", "HOME": "/somewhere"})
    for key in ("sk-" + "a" * 20, "ghu_" + "a" * 20, "AKIA" + "A" * 16, "BeaRer abcdefgh"):
        assert redactor(f"key {key}!") == "key ***!"
    assert redactor("postgres://me:word@host/") == "postgres://***@host/"
    assert redactor("correct-horse in /somewhere") == "*** in /somewhere"


LINES = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC+/0123456789abcdefghijklmnopqrst="] * 3)


def test_a_private_key_is_masked_to_its_end_and_one_that_is_cut_off_as_far_as_it_goes() -> None:
    redactor = Redactor({})
    for kind in ("", "RSA "):
        begin, end = f"-----BEGIN {kind}PRIVATE KEY-----", f"-----END {kind}PRIVATE KEY-----"
        headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n"
        assert redactor(f"a {begin}\n{LINES}\n{end} b") == "a *** b"
        assert redactor(f"a {begin}\n{headers}{LINES}\n{end} b") == "a *** b"
        assert redactor(f"a {begin}\n{LINES}") == "a ***"
        assert redactor(f"a {begin}\n{headers}{LINES}") == "a ***"
        assert redactor(f"a {begin} b") == f"a {begin} b"
        for cut in (f"{begin}\n{LINES}\n", f"{begin}\r\n{headers}{LINES}\n"):
            assert json.loads(redactor.of_json(json.dumps(f"a {cut}"))) == "a ***\n"


def test_many_keys_that_begin_and_never_end_cost_no_more_than_their_length() -> None:
    text = "-----BEGIN PRIVATE KEY-----" * 20_000
    with bounded_work():
        assert Redactor({})(text) == text


def test_json_without_secrets_is_json() -> None:
    redactor = Redactor({"PIN_TOKEN": "600000", "A_KEY": "correct-horse"})
    number = '{"start_ms":1767225600000,"text":["pin 600000",null],"600000":600000}'
    told = {"start_ms": 1767225600000, "text": ["pin ***", None], "***": 600000}
    assert json.loads(redactor.of_json(number)) == told
    assert redactor.of_json('{"a": "600000 correct-horse", "n": 1}') == '{"a": "*** ***", "n": 1}'
