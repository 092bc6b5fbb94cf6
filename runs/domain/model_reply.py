"""What came of one request to a model."""

from dataclasses import dataclass
from decimal import Decimal

from runs.domain.model_answer import ModelAnswer


@dataclass(frozen=True)
class ModelUsage:
    """What a request took. `cost` is None where nobody knows the price."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True)
class Replied:
    """The model answered."""

    answer: ModelAnswer
    usage: ModelUsage


@dataclass(frozen=True)
class ProviderFault:
    """It did not. `may_have_used`: the request may have been worked on, so what was reserved counts as used.

    `again`: another try may succeed, `after` that many seconds at the earliest where the provider said so.
    """

    code: str
    message: str
    again: bool
    after: float | None = None
    may_have_used: bool = False


type Reply = Replied | ProviderFault
