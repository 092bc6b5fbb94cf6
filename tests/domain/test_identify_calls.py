"""Whatever its values are, a call has one text, one digest and one key, and another call has others."""

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runs.domain.fingerprint import fingerprint, idempotency_key
from tests.domain.json_values import numbers, texts, values
from tools.domain.canonical import Json, canonical, digest_text, parse


@given(values)
def test_the_canonical_text_reads_back_as_the_same_value(value: Json) -> None:
    text = canonical(value)
    assert parse(text) == value
    assert canonical(parse(text)) == text


@given(st.dictionaries(texts, values, max_size=5), st.randoms())
def test_the_order_of_keys_is_of_no_account(value: dict[str, Json], random: object) -> None:
    shuffled = dict(sorted(value.items(), key=lambda _: random.random()))  # type: ignore[attr-defined]
    assert canonical(shuffled) == canonical(value)


@given(numbers, st.integers(0, 5))
def test_zeros_at_the_end_are_of_no_account(number: Decimal | int, zeros: int) -> None:
    exact_number = Decimal(number)
    digits = exact_number.as_tuple()
    exponent = digits.exponent
    assert isinstance(exponent, int)
    padded = Decimal((digits.sign, (*digits.digits, *[0] * zeros), exponent - zeros))
    assert canonical(padded) == canonical(exact_number)


@given(values)
def test_the_digest_depends_on_prefix_and_value_only(value: Json) -> None:
    assert digest_text("a", value) == digest_text("a", parse(canonical(value)))
    assert digest_text("a", value) != digest_text("b", value)


def test_each_part_of_a_call_is_in_its_fingerprint() -> None:
    call: dict[str, Any] = {"tenant": "t", "principal": "p", "tool": "x", "tool_version": "1", "resource_scope": "s"}
    prints = {fingerprint(**call, args_for_digest={})}
    prints |= {fingerprint(**{**call, name: "other"}, args_for_digest={}) for name in call}
    prints |= {fingerprint(**call, args_for_digest={"a": 1}), fingerprint(**call, args_for_digest={}, again=1)}
    assert len(prints) == 8


def test_a_new_try_after_a_definite_failure_has_another_key() -> None:
    keys = {idempotency_key("r", "f", 0), idempotency_key("r", "f", 1), idempotency_key("q", "f", 0)}
    assert len(keys) == 3
    assert idempotency_key("r", "f", 0) == idempotency_key("r", "f", 0)
