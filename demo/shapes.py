"""What the ledger's REST takes."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from demo.models import AMOUNT

Amount = Annotated[str, StringConstraints(pattern=AMOUNT)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
Account = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]
Status = Literal["open", "on_hold", "paid", "cancelled"]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class InvoiceChange(_Body):
    """The fields of an invoice that change."""

    amount: Amount | None = None
    currency: Currency | None = None
    account: Account | None = None
    status: Status | None = None
    description: Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")] | None = None


class NewPayment(_Body):
    """A payment of an invoice."""

    invoice_id: str
    amount: Amount
    currency: Currency
    account: Account


class NewNote(_Body):
    """A remark on an invoice."""

    invoice_id: str
    text: str = Field(min_length=1, max_length=20_000)
    meta: dict[str, Any] = Field(default_factory=dict)
