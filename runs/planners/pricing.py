"""What a request to a model costs: the agent's own prices, else the published ones."""

from decimal import ROUND_UP, Decimal
from typing import Any

from runs.domain.model_spec import ModelSpec

PUBLISHED_IN = "USD"
_PLACES = Decimal("0.000000000001")


def currency_of(spec: ModelSpec) -> str:
    """In what its costs are counted."""
    return spec.prices.currency if spec.prices else PUBLISHED_IN


def estimate(spec: ModelSpec, input_tokens: int, output_tokens: int) -> Decimal | None:
    """What so many tokens cost at most; None when nobody knows."""
    if spec.prices is not None:
        return _rounded(spec.prices.cost(input_tokens, output_tokens))
    from genai_prices import Usage  # noqa: PLC0415 - a large table, and most runs have no model

    return published(spec, Usage(input_tokens=input_tokens, output_tokens=output_tokens))


def published(spec: ModelSpec, usage: Any) -> Decimal | None:
    """What this usage costs by the published prices of the model; what was cached costs less there."""
    from genai_prices import calc_price  # noqa: PLC0415 - as above

    try:
        return _rounded(calc_price(usage, spec.name, provider_id=spec.provider).total_price)
    except LookupError:
        return None


def _rounded(amount: Decimal) -> Decimal:
    """Up, so that a reservation is never below what it stands for."""
    return amount.quantize(_PLACES, rounding=ROUND_UP)
