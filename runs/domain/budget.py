"""Seven budgets: a limit, a counter and a reservation each, and the reason that their end is given."""

from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_serializer, field_validator

from runs.domain.run import TerminalReason

MAX_STEPS = 1000


class Money(BaseModel):
    """An exact amount of one currency."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    amount: Decimal = Field(ge=0, max_digits=24)
    currency: str = Field(pattern="^[A-Z]{3}$")


class Limits(BaseModel):
    """The limits of an agent or a run; None: unlimited."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    steps: int | None = Field(default=None, ge=1, le=MAX_STEPS)
    tool_calls: int | None = Field(default=None, ge=0, le=100_000)
    seconds: int | None = Field(default=None, ge=1, le=31_622_400)
    money: Money | None = None
    records: int | None = Field(default=None, ge=0, le=2**53)
    tokens: int | None = Field(default=None, ge=0, le=2**53)
    result_bytes: int | None = Field(default=None, ge=0, le=2**53)

    @field_validator("money", mode="before")
    @classmethod
    def _money_from_json(cls, value: object) -> object:
        if isinstance(value, dict) and isinstance(value.get("amount"), str) and set(value) == {"amount", "currency"}:
            return Money.model_validate(value, strict=False)
        return value

    def above(self, ceiling: Self) -> str | None:
        """The first key in which this is above `ceiling`, if any."""
        for key in ("steps", "tool_calls", "seconds", "records", "tokens", "result_bytes"):
            mine, most = getattr(self, key), getattr(ceiling, key)
            if mine is not None and most is not None and mine > most:
                return key
        mine, most = self.money, ceiling.money
        if mine and most and (mine.currency != most.currency or mine.amount > most.amount):
            return "money"
        return None

    def lowered_by(self, wish: Self) -> Self:
        """These limits with the lower ones of `wish`."""
        return self.model_copy(update={k: v for k, v in wish if v is not None})


DEFAULT_LIMITS = Limits(steps=20, tool_calls=40, seconds=86_400)


def default_limits(team: Any, agent: Any = None) -> Limits:
    """What a run may spend by default: the agent's budget before the team's, and that before the product's."""
    of_team, of_agent = Limits.model_validate(team or {}), Limits.model_validate(agent or {})
    return DEFAULT_LIMITS.lowered_by(of_team).lowered_by(of_agent)


@lru_cache(maxsize=1024)
def read_limits(text: str) -> Limits:
    """Limits as a run keeps them."""
    return Limits.model_validate_json(text, strict=False)


def plain_amount(value: Decimal) -> str:
    """The amount without an exponent, and without zeros that only the database's column added."""
    whole, _, fraction = f"{value:f}".partition(".")
    kept = fraction.rstrip("0").ljust(min(len(fraction), 2), "0")
    return f"{whole}.{kept}" if kept else whole


class Charge(BaseModel):
    """What a call takes from the budgets that are counted per call."""

    model_config = ConfigDict(frozen=True)

    money: Decimal = Decimal(0)
    records: int = 0


class Counters(BaseModel):
    """Used and reserved figures of one run."""

    model_config = ConfigDict(frozen=True)

    steps: int = 0
    tool_calls: int = 0
    money: Decimal = Decimal(0)
    records: int = 0
    tokens: int = 0
    result_bytes: int = 0

    @field_serializer("money")
    def _money_as_text(self, value: Decimal) -> str:
        return plain_amount(value)

    def plus(self, **figures: int | Decimal) -> Self:
        return self.model_copy(update={k: getattr(self, k) + v for k, v in figures.items()})

    def minus(self, **figures: int | Decimal) -> Self:
        return self.plus(**{k: -v for k, v in figures.items()})


@lru_cache(maxsize=1024)
def read_counters(text: str) -> Counters:
    """Counters as a run keeps them."""
    return Counters.model_validate_json(text)


class Exceeded(StrEnum):
    """Which budget would be exceeded; the value is its terminal reason."""

    STEPS = TerminalReason.STEP_BUDGET
    TOOL_CALLS = TerminalReason.TOOL_CALL_BUDGET
    SECONDS = TerminalReason.TIME_BUDGET
    MONEY = TerminalReason.MONEY_BUDGET
    RECORDS = TerminalReason.RECORD_BUDGET
    TOKENS = TerminalReason.TOKEN_BUDGET
    RESULT_BYTES = TerminalReason.RESULT_BUDGET


def exceeded(limits: Limits, used: Counters, reserved: Counters, charge: Charge) -> Exceeded | None:
    """Which budget one more call with this charge would exceed, counting what is reserved."""
    if _over(limits.tool_calls, used.tool_calls + reserved.tool_calls + 1):
        return Exceeded.TOOL_CALLS
    if limits.money and used.money + reserved.money + charge.money > limits.money.amount:
        return Exceeded.MONEY
    if _over(limits.records, used.records + reserved.records + charge.records):
        return Exceeded.RECORDS
    return None


def spent(limits: Limits, used: Counters) -> Exceeded | None:
    """Which budget is already used beyond its limit."""
    if _over(limits.tokens, used.tokens):
        return Exceeded.TOKENS
    if _over(limits.result_bytes, used.result_bytes):
        return Exceeded.RESULT_BYTES
    return None


def _over(limit: int | None, figure: int) -> bool:
    return limit is not None and figure > limit
