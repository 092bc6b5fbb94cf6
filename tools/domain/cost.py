"""What one call takes from the money and record budgets of its run."""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from tools.domain.errors import CostUnreadable
from tools.domain.spec import Cost, Money, ValueAt


@dataclass(frozen=True, slots=True)
class Charge:
    """Money and records of one call; each is null when no money is moved or while only the result can say it.

    `final` is false while some of it can only be read from the result.
    """

    amount: Decimal | None = None
    currency: str | None = None
    records: int = 0
    final: bool = True


WHOLE_DIGITS = 16
DECIMALS = 8
MAX_RECORDS = 2**53
_MISSING = object()


def expected(cost: Cost, args: Any) -> Charge:
    """What to reserve before the call. Raises CostUnreadable when an argument that should say so does not."""
    return _charge(cost, {"args": args})


def settled(cost: Cost, args: Any, result: Any) -> Charge:
    """What the call took. Raises CostUnreadable when the result does not say it."""
    return _charge(cost, {"args": args, "result": result})


def _charge(cost: Cost, sources: dict[str, Any]) -> Charge:
    amount, currency = _money(cost.money, sources) if cost.money else (None, None)
    records = _records(cost, sources)
    unread = amount is _MISSING or currency is _MISSING
    return Charge(
        amount=None if amount is _MISSING else amount,
        currency=None if currency is _MISSING else currency,
        records=records or 0,
        final=not unread and records is not None,
    )


def _records(cost: Cost, sources: dict[str, Any]) -> int | None:
    """How many; a list counts its members. Null while that is not known yet."""
    records = _read(cost.records, sources)
    if records is _MISSING:
        return None
    if isinstance(records, list):
        return len(records)
    if isinstance(records, bool) or not isinstance(records, int) or not 0 <= records <= MAX_RECORDS:
        raise CostUnreadable(f"The number of records is not a whole number from 0 to {MAX_RECORDS}.")
    return records


def _money(money: Money, sources: dict[str, Any]) -> tuple[Any, Any]:
    amount, currency = _read(money.amount, sources), _read(money.currency, sources)
    if amount is not _MISSING:
        amount = _decimal(amount)
    if currency is not _MISSING and not isinstance(currency, str):
        raise CostUnreadable("The currency is not a string.")
    return amount, currency


def _decimal(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise CostUnreadable("The amount is not a number.")
    try:
        amount = Decimal(value)
    except InvalidOperation:
        raise CostUnreadable("The amount is not a number.") from None
    if not amount.is_finite() or amount < 0:
        raise CostUnreadable("The amount is not a number of zero or more.")
    if amount.adjusted() >= WHOLE_DIGITS or amount != round(amount, DECIMALS):
        raise CostUnreadable(f"The amount has more than {WHOLE_DIGITS} digits or {DECIMALS} decimals.")
    return amount


def _read(value: Any, sources: dict[str, Any]) -> Any:
    """A fixed value as it is; a pointer's value, or `_MISSING` while its source is not there yet."""
    if not isinstance(value, ValueAt):
        return value
    if value.source not in sources:
        return _MISSING
    found = sources[value.source]
    for part in value.pointer.split("/")[1:]:
        found = _step(found, part.replace("~1", "/").replace("~0", "~"), value.pointer)
    return found


def _step(value: Any, part: str, pointer: str) -> Any:
    if isinstance(value, dict) and part in value:
        return value[part]
    if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
        return value[int(part)]
    raise CostUnreadable(f"There is nothing at {pointer}.")
