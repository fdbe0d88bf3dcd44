"""Secrets are masked wherever they stand, whatever the environment is."""

import json

import pytest
from bounded_work import bounded_work
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model.text import secrets
from agentbench_tui.model.text.secrets import Redactor
from agentbench_tui.model.text.untrusted import one_line

PARTS = st.sampled_from(
    [
        *("sk-", "pk-", "rk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "AKIA", "bearer", "BeaRer"),
        *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----BEGIN RSA ", "://"),
        *("abcdefghijklmnop", "0123456789ABCDEF", "A1b2C3d4E5", "_", "-", " ", "\n", "@", ":", "a"),
    ]
)


@given(st.lists(PARTS, max_size=8).map("".join))
def test_no_secret_is_missed_for_not_being_looked_for(text: str) -> None:
    masked = secrets._SECRET_SHAPE.sub("***", secrets._without_private_keys(text))
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


ACCOUNT = (
    '{\n  "type": "x",\n  "id": "0a1b2c3d4e5f",\n  "key": "-----BEGIN\\nMIIEvQIBADANBg\\n"\n}\n'
)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SERVICE_CREDENTIALS", ACCOUNT)
    return ACCOUNT


def test_a_value_of_several_lines_is_masked_in_every_form_and_line_by_line() -> None:
    redactor = Redactor({"SERVICE_CREDENTIALS": ACCOUNT})
    once = json.dumps(ACCOUNT)[1:-1]
    twice = json.dumps(once)[1:-1]
    for form in (ACCOUNT, ACCOUNT.strip(), once, twice, repr(ACCOUNT)[1:-1]):
        assert redactor(f"a {form} b") == "a *** b"
    for line in ACCOUNT.splitlines()[1:-1]:
        assert redactor(f"a {line.strip()} b") == "a *** b"
    assert redactor("a { b } c") == "a { b } c"
    assert redactor.of_value({"k": [ACCOUNT, (ACCOUNT, 1)]}) == {"k": ["***", ("***", 1)]}


@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_a_value_in_json_within_json_is_masked(ensure_ascii: bool) -> None:
    secret = 'pass"wört\\ \n of mine'
    redactor, text = Redactor({"A_KEY": secret}), secret
    for _ in range(3):
        text = json.dumps({"in": text}, ensure_ascii=ensure_ascii)
        assert "mine" not in redactor(text)


def test_one_line_masks_before_it_joins_and_cuts(account: str) -> None:
    for offset in range(120):
        said = one_line("x" * offset + account, 100)
        for part in ("0a1b2c", "2c3d4e", "MIIEv", "ANBg"):
            assert part not in said


def test_redact_knows_the_environment_as_it_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("correct-horse", "battery-staple"):
        monkeypatch.setenv("SOME_TOKEN", value)
        assert value not in secrets.redact(f"a {value} b")
    monkeypatch.delenv("SOME_TOKEN")
    assert secrets.redact("battery-staple") == "battery-staple"


def test_a_secret_declared_while_a_redactor_is_made_is_masked_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def made_while_another_thread_declares(environment: dict[str, str]) -> Redactor:
        redactor = Redactor(environment)
        secrets.declare_secrets(values=["declared-meanwhile"])
        return redactor

    monkeypatch.setattr(secrets, "_declared", set())
    monkeypatch.setenv("SOME_TOKEN", "so that a redactor is made")
    with monkeypatch.context() as patch:
        patch.setattr(secrets, "Redactor", made_while_another_thread_declares)
        secrets.redact("anything")
    assert secrets.redact("a declared-meanwhile b") == "a *** b"
    secrets.declare_secrets()  # the next test has none of it
