"""What becomes of a call of a tool in code."""

import datetime as dt
import threading
import time
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, Field

from tests.tools.calls import call_of
from tools.call import CancelSignal
from tools.catalogue.slow_read import slow_read
from tools.declare import ToolContext, declared, tool
from tools.domain.outcome import Failed, Succeeded, ToolError, Unknown
from tools.executor import execute


class Payment(BaseModel):
    amount: Decimal
    id: int
    day: dt.date | None = None
    ref: uuid.UUID | None = None
    ratio: float = 1.0
    meta: Any = None


class Receipt(BaseModel):
    amount: Decimal
    id: int
    ratio: float
    seen: str


_behaviour: dict[str, Callable[[Payment, ToolContext], Any]] = {}


def _declare(name: str, risk: Any) -> None:
    @tool(name=name, description="For tests.", risk=risk, scope="ledger:write", timeout_ms=300, idempotency="native")
    def run(args: Payment, ctx: ToolContext) -> Receipt:
        result: Receipt = _behaviour[name](args, ctx)
        return result


_declare("test_read", "read")
_declare("test_pay", "destructive")
ARGS = {"amount": Decimal("12400.10"), "id": 2**80}


def _perform(name: str, act: Callable[[Payment, ToolContext], Any], **more: Any) -> Any:
    _behaviour[name] = act
    return execute(call_of(declared()[name].spec, more.pop("args", ARGS), **more))


def _receipt(args: Payment, ctx: ToolContext) -> Receipt:
    return Receipt(amount=args.amount, id=args.id, ratio=args.ratio, seen=repr(args.meta))


def test_values_arrive_and_leave_exactly() -> None:
    meta = {"a": Decimal("0.1000000000000000000001"), "b": [2**70, "x\u0000"]}
    args = {
        "amount": Decimal("1.00000000000000000001"),
        "id": 2**80,
        "day": "2026-11-30",
        "ref": "019a0000-0000-7000-8000-000000000000",
        "ratio": 1,
        "meta": meta,
    }
    outcome = _perform("test_pay", _receipt, args=args)
    assert isinstance(outcome, Succeeded), outcome
    assert outcome.result["amount"] == "1.00000000000000000001"
    assert outcome.result["id"] == 2**80
    assert outcome.result["seen"] == repr(meta)


def test_arguments_are_read_strictly() -> None:
    outcome = _perform("test_pay", _receipt, args={"amount": Decimal(1), "id": "7"})
    assert isinstance(outcome, Failed)
    assert outcome.error.code == "invalid_arguments"
    assert "/id" in outcome.error.message


def test_the_context_says_who_asks() -> None:
    seen: list[ToolContext] = []

    def act(args: Payment, ctx: ToolContext) -> Receipt:
        seen.append(ctx)
        return _receipt(args, ctx)

    _perform("test_pay", act)
    assert (seen[0].actor.sub, seen[0].idempotency_key) == ("user:alice", "key-1")
    assert seen[0].actor.scopes == frozenset({"ledger:read"})


@pytest.mark.parametrize("name", ["test_read", "test_pay"])
def test_a_tool_error_is_a_value(name: str) -> None:
    def act(_: Payment, __: ToolContext) -> Receipt:
        raise ToolError("insufficient_funds", "The account is empty.", retryable=True, hint="Try a smaller amount.")

    outcome = _perform(name, act)
    assert isinstance(outcome, Failed)
    assert outcome.error.as_json() == {
        "code": "insufficient_funds",
        "message": "The account is empty.",
        "retryable": True,
        "hint": "Try a smaller amount.",
    }


def _explode(_: Payment, __: ToolContext) -> Receipt:
    raise RuntimeError("password=hunter2 at /srv/internal")


def test_an_unhandled_error_of_a_read_shows_no_internals() -> None:
    outcome = _perform("test_read", _explode)
    assert isinstance(outcome, Failed)
    assert outcome.error.code == "tool_failed"
    assert "hunter2" not in repr(outcome)


def test_an_unhandled_error_of_a_mutation_is_unknown() -> None:
    outcome = _perform("test_pay", _explode)
    assert isinstance(outcome, Unknown)
    assert outcome.reason.startswith("tool_failed")
    assert "hunter2" not in repr(outcome)


@pytest.mark.parametrize("answer", [None, {"amount": "1"}], ids=["nothing", "a dict"])
def test_the_wrong_model(answer: Any) -> None:
    read = _perform("test_read", lambda _, __: answer)
    paid = _perform("test_pay", lambda _, __: answer)
    assert isinstance(read, Failed)
    assert read.error.code == "invalid_result"
    assert isinstance(paid, Succeeded)
    assert paid.fault is not None


@pytest.mark.parametrize(("name", "kind"), [("test_read", Failed), ("test_pay", Unknown)])
def test_an_overrun_is_signalled_then_abandoned(name: str, kind: type) -> None:
    release, told = threading.Event(), []

    def act(args: Payment, ctx: ToolContext) -> Receipt:
        ctx.cancelled.call_back(lambda: told.append(True))
        release.wait(20)
        return _receipt(args, ctx)

    started = time.monotonic()
    outcome = _perform(name, act)
    assert time.monotonic() - started < 3
    release.set()
    assert told == [True]
    assert isinstance(outcome, kind)


def test_a_tool_that_ends_within_its_grace_is_believed() -> None:
    def act(args: Payment, ctx: ToolContext) -> Receipt:
        ctx.cancelled.wait(20)
        return _receipt(args, ctx)

    assert isinstance(_perform("test_pay", act), Succeeded)


def test_a_slow_read_is_cancelled_at_once() -> None:
    signal = CancelSignal()
    threading.Timer(0.1, signal.set).start()
    started = time.monotonic()
    outcome = execute(call_of(declared()["slow_read"].spec, {"seconds": 30}, cancelled=signal))
    assert time.monotonic() - started < 5
    assert isinstance(outcome, Failed)
    assert outcome.error.code == "cancelled"


def test_a_slow_read_says_how_long_it_took() -> None:
    outcome = execute(call_of(declared()["slow_read"].spec, {"seconds": 0}))
    assert isinstance(outcome, Succeeded)
    assert outcome.result == {"waited_seconds": 0}
    assert callable(slow_read)


def test_a_name_is_declared_once() -> None:
    class Nothing(BaseModel):
        x: int = Field(default=0)

    with pytest.raises(ValueError, match="declared already"):

        @tool(name="test_pay", description="Another.", risk="read", scope="ledger:read")
        def other(args: Nothing, ctx: ToolContext) -> Nothing:
            return args


def test_a_tool_takes_and_gives_models() -> None:
    def bad(args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        return args

    declare: Any = tool(name="test_bad", description="Bad.", risk="read", scope="ledger:read")
    with pytest.raises(TypeError):
        declare(bad)
