"""What a definition must hold, what it costs, and what its expressions may say."""

from decimal import Decimal
from typing import Any

import pytest

from tools.domain import expressions
from tools.domain.checks import parse_spec
from tools.domain.cost import Charge, expected, settled
from tools.domain.errors import CostUnreadable, ExpressionFailed, InvalidExpression, InvalidTool
from tools.domain.preconditions import evaluate, probe_args, select
from tools.domain.spec import Cost, Precondition
from tools.observation import observation_text
from tools.registry import read_spec

GOOD: dict[str, Any] = {
    "name": "payment_create",
    "description": "Pay.",
    "kind": "http",
    "risk": "destructive",
    "required_scope": "ledger:write",
    "input_schema": {"type": "object", "properties": {"id": {"type": "string"}, "amount": {"type": "string"}}},
    "http": {"method": "POST", "url": "https://a.example/pay/{args.id}", "body": "{args}"},
}
CONDITION: dict[str, Any] = {"name": "unchanged", "probe": {"tool": "invoice_read", "args": {}}}


def test_a_lookup_may_be_by_the_key_and_by_nothing_unknown() -> None:
    probe = {"tool": "look", "args": {"key": {"$cel": "idempotency_key"}}}
    assert parse_spec(GOOD | {"reconcile": {"probe": probe, "succeeded": "result.key == idempotency_key"}}).reconcile
    with pytest.raises(InvalidTool) as caught:
        parse_spec(GOOD | {"reconcile": {"probe": probe, "succeeded": "before == 1"}})
    assert [fault.pointer for fault in caught.value.faults] == ["/reconcile/succeeded"]


def test_the_text_of_a_definition_reads_back_as_itself() -> None:
    money = {"amount": "12.50", "currency": "EUR"}
    spec = parse_spec(GOOD | {"cost": {"money": money, "records": {"in": "args", "pointer": "/id"}}})
    again = read_spec(spec.text)
    assert (again.text, again.content_hash, again.schema_hash) == (spec.text, spec.content_hash, spec.schema_hash)
    assert spec.is_mutation
    assert spec.is_effect


def test_key_order_does_not_change_a_hash_and_any_value_does() -> None:
    same = parse_spec(dict(reversed(GOOD.items())))
    assert same.content_hash == parse_spec(GOOD).content_hash
    other = parse_spec(GOOD | {"timeout_ms": 10_001})
    assert other.content_hash != same.content_hash
    assert other.schema_hash == same.schema_hash
    assert parse_spec(GOOD | {"description": "Pays."}).schema_hash != same.schema_hash


def test_a_read_whose_destination_an_argument_chooses_is_an_effect() -> None:
    http = {"url": "{args.url}"}
    schema = {"type": "object", "properties": {"url": {"type": "string"}}}
    fetch = parse_spec(
        GOOD
        | {
            "risk": "read",
            "http": http,
            "input_schema": schema,
            "egress_by_argument": True,
            "egress": ["a.example:443"],
        }
    )
    assert fetch.is_effect
    assert not fetch.is_mutation


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"name": "Payment"}, "/name"),
    ({"name": "a" * 41}, "/name"),
    ({"name": "pay\n"}, "/name"),
    ({"unknown": 1}, "/unknown"),
    ({"risk": "harmless"}, "/risk"),
    ({"kind": "command"}, ""),
    ({"kind": "python"}, ""),
    ({"http": None}, ""),
    ({"input_schema": {"type": "string"}}, "/input_schema/type"),
    ({"input_schema": {"type": "object", "properties": {"a": {"type": "no"}}}}, "/input_schema/properties/a/type"),
    ({"input_schema": {"type": "object", "$ref": "https://evil.example/s"}}, "/input_schema/$ref"),
    ({"output_schema": {"type": 1}}, "/output_schema/type"),
    ({"resource_scope": "{args.a"}, "/resource_scope"),
    ({"approval_summary": "{run.id}"}, "/approval_summary"),
    ({"idempotency": "header:Authorization"}, "/idempotency"),
    ({"idempotency": "header:"}, "/idempotency"),
    ({"cost": {"money": {"amount": -1, "currency": "EUR"}}}, "/cost/money/amount"),
    ({"cost": {"money": {"amount": "1", "currency": "euro"}}}, "/cost/money/currency"),
    ({"cost": {"records": {"in": "args", "pointer": "a"}}}, "/cost/records"),
    ({"preconditions": [CONDITION | {"select": "a.["}]}, "/preconditions/0/select"),
    ({"preconditions": [CONDITION | {"expect": "now =="}]}, "/preconditions/0/expect"),
    ({"preconditions": [CONDITION | {"expect": "'now'"}]}, "/preconditions/0/expect"),
    ({"preconditions": [CONDITION, CONDITION]}, "/preconditions/1/name"),
    ({"preconditions": [CONDITION | {"probe": {"tool": "payment_create"}}]}, "/preconditions/0/probe/tool"),
    ({"preconditions": [CONDITION | {"probe": {"tool": "x", "args": {"i": {"$cel": "("}}}}]},
     "/preconditions/0/probe/args/i/$cel"),
    ({"http": {"url": "https://{args.id}/"}}, "/http/url"),
    ({"http": {"url": "{args.id}"}}, "/http/url"),
    ({"http": {"url": "https://user@a.example/"}}, "/http/url"),
    ({"http": {"url": "https://A.example/"}}, "/http/url"),
    ({"http": {"url": "https://a.example/{args.nothing}"}}, "/http/url"),
    ({"http": {"url": "https://a.example/{run.id}"}}, "/http/url"),
    ({"http": {"url": "https://a.example/", "headers": {"Authorization": "x"}}}, "/http/headers/Authorization"),
    ({"http": {"url": "https://a.example/", "headers": {"Host": "x"}}}, "/http/headers/Host"),
    ({"http": {"url": "https://a.example/", "body": "{args}"}}, "/http/body"),
    ({"http": {"url": "https://a.example/", "select": "["}}, "/http/select"),
    ({"egress": ["b.example:443"]}, "/egress"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "pointer"), FAULTS)
def test_a_fault_is_named_with_its_place(change: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidTool) as refused:
        parse_spec(GOOD | change)
    assert any(error["pointer"].startswith(pointer) for error in refused.value.details["errors"])


MONEY = {"amount": {"in": "args", "pointer": "/amount"}, "currency": "EUR"}


@pytest.mark.parametrize(
    ("cost", "args", "charge"),
    [
        ({}, {}, Charge()),
        ({"money": {"amount": "2.50", "currency": "EUR"}, "records": 3}, {}, Charge(Decimal("2.50"), "EUR", 3)),
        ({"money": MONEY}, {"amount": "12400.10"}, Charge(Decimal("12400.10"), "EUR")),
        ({"money": MONEY}, {"amount": 2**53 + 1}, Charge(Decimal(2**53 + 1), "EUR")),
        ({"records": {"in": "args", "pointer": "/ids"}}, {"ids": [1, 2, 3]}, Charge(records=3)),
        ({"records": {"in": "result", "pointer": "/n"}}, {}, Charge(final=False)),
    ],
)
def test_what_a_call_is_expected_to_cost(cost: dict[str, Any], args: dict[str, Any], charge: Charge) -> None:
    assert expected(Cost.model_validate(cost), args) == charge


@pytest.mark.parametrize("amount", [None, True, "12,50", "NaN", "-1", [1], {}])
def test_an_amount_that_is_none_is_refused(amount: Any) -> None:
    with pytest.raises(CostUnreadable):
        expected(Cost.model_validate({"money": MONEY}), {"amount": amount})


def test_the_result_says_what_it_cost() -> None:
    cost = Cost.model_validate({"records": {"in": "result", "pointer": "/changed/0/n"}})
    assert settled(cost, {}, {"changed": [{"n": 7}]}).records == 7
    with pytest.raises(CostUnreadable):
        settled(cost, {}, {"changed": []})


def test_the_default_condition_compares_exactly() -> None:
    condition = Precondition.model_validate(CONDITION)
    assert evaluate(condition, {"a": Decimal("1.0"), "b": 2}, {"b": 2, "a": 1}, {}).ok
    assert not evaluate(condition, 2**64, 2**64 + 1, {}).ok
    assert not evaluate(condition, Decimal("0.1"), Decimal("0.1000000000000000000001"), {}).ok
    assert not evaluate(condition, "1", 1, {}).ok


@pytest.mark.parametrize(
    ("expect", "before", "now", "ok"),
    [
        ("now.status == 'open'", {}, {"status": "open"}, True),
        ("now.total <= args.amount", {}, {"total": 5}, True),
        ("now.missing == 1", {}, {}, False),
        ("now.total", {}, {"total": 1}, False),
        ("now.id == before.id", {"id": 2**70}, {"id": 2**70}, True),
        ("now.id == before.id", {"id": 2**70}, {"id": 2**70 + 1}, False),
        ("now.id != 5", {}, {"id": 2**70}, False),
        ("now.id > 5", {}, {"id": 2**70}, False),
        ("5 != now.id", {}, {"id": Decimal("5.00000000000000000001")}, False),
    ],
)
def test_an_expectation(expect: str, before: Any, now: Any, ok: bool) -> None:
    condition = Precondition.model_validate(CONDITION | {"expect": expect})
    assert evaluate(condition, before, now, {"amount": 10}).ok is ok


def test_probe_arguments_see_the_call_exactly() -> None:
    probe = {"tool": "x", "args": {"id": {"$cel": "args.id"}, "raw": {"$literal": {"$cel": "a"}}, "n": [1]}}
    condition = Precondition.model_validate(CONDITION | {"probe": probe})
    assert probe_args(condition, {"id": 2**70}) == {"id": 2**70, "raw": {"$cel": "a"}, "n": [1]}
    with pytest.raises(ExpressionFailed):
        probe_args(condition, {})


def test_values_never_become_expressions() -> None:
    assert expressions.fill({"a": {"$cel": "args.x"}}, {"args": {"x": {"$cel": "1 + 1"}}}) == {"a": {"$cel": "1 + 1"}}


def test_a_selection_keeps_numbers_exact() -> None:
    value = {"rows": [{"n": Decimal("0.1"), "id": 2**70}, {"n": Decimal("0.30"), "id": 1}]}
    assert select(value, "rows[?n==`0.1`].id") == [2**70]
    with pytest.raises(ExpressionFailed):
        select(value, "sum(rows)")
    with pytest.raises(InvalidExpression):
        select(value, "rows.[")


@pytest.mark.parametrize(
    ("text", "limit", "seen"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "abc…[truncated 1 chars]"),
        ("é" * 9000, 8000, "é" * 8000 + "…[truncated 1000 chars]"),
    ],
)
def test_the_planner_reads_the_beginning(text: str, limit: int, seen: str) -> None:
    assert observation_text(text, limit) == seen
