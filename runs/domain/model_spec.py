"""The model that plans for an agent: who serves it, how it is asked, and what it costs."""

from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from runs.domain.budget import Limits
from tools.domain.egress import HostRefused, destination
from tools.domain.errors import SpecFault
from tools.domain.faults import faults_of

PROVIDERS: Mapping[str, str] = MappingProxyType(
    {
        "openai": "https://api.openai.com/v1",
        "anthropic": "https://api.anthropic.com",
        "compatible": "",
        "alibaba": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "cerebras": "https://api.cerebras.ai/v1",
        "deepseek": "https://api.deepseek.com",
        "fireworks": "https://api.fireworks.ai/inference/v1",
        "litellm": "",
        "moonshotai": "https://api.moonshot.ai/v1",
        "nebius": "https://api.studio.nebius.com/v1",
        "ollama": "",
        "openrouter": "https://openrouter.ai/api/v1",
        "sambanova": "https://api.sambanova.ai/v1",
        "together": "https://api.together.xyz/v1",
        "vercel": "https://ai-gateway.vercel.sh/v1",
        "vllm": "",
        "zai": "https://api.z.ai/api/paas/v4",
    }
)
"""Names and addresses. `compatible` is any server that speaks OpenAI's chat completions; one without an address here
is served by the team itself, which says where."""

_MILLION = Decimal(1_000_000)


def _readable(text: str) -> str:
    if "\0" in text:
        raise ValueError("U+0000 is not accepted here.")
    return text


def _reachable(url: str) -> str:
    try:
        destination(url)
    except HostRefused as error:
        raise ValueError(error.message) from None
    if "?" in url or "#" in url:
        raise ValueError("Give the address without a query and without a fragment.")
    return url.rstrip("/")


_Text = Annotated[str, AfterValidator(_readable)]
_Amount = Annotated[Decimal, Field(ge=0, le=100_000)]


class Prices(BaseModel):
    """What a million tokens cost, for a server whose prices nobody publishes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: _Amount
    output: _Amount
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] = "USD"

    def cost(self, input_tokens: int, output_tokens: int) -> Decimal:
        return (self.input * input_tokens + self.output * output_tokens) / _MILLION


class ModelSpec(BaseModel):
    """`context_tokens`: the most that is sent to it at once, by estimate. `seconds`: how long one answer may take."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider: Literal[tuple(PROVIDERS)]  # type: ignore[valid-type]  # the names of the table
    name: Annotated[_Text, Field(min_length=1, max_length=200)]
    base_url: Annotated[str, Field(max_length=500), AfterValidator(_reachable)] | None = None
    credential: Annotated[str, Field(max_length=80)] | None = None
    instructions: Annotated[_Text, Field(max_length=20_000)] = ""
    max_output_tokens: Annotated[int, Field(ge=16, le=200_000)] = 4_096
    temperature: Annotated[Decimal, Field(ge=0, le=2)] | None = None
    context_tokens: Annotated[int, Field(ge=1_000, le=2_000_000)] = 32_000
    seconds: Annotated[int, Field(ge=1, le=600)] = 120
    prices: Prices | None = None

    @property
    def address(self) -> str:
        """Where it is asked."""
        return self.base_url or PROVIDERS[self.provider]

    @property
    def where(self) -> str:
        """The `host:port` of its address."""
        return str(destination(self.address))


def check_model(raw: Any, limits: Limits | None) -> tuple[ModelSpec | None, list[SpecFault]]:
    """The definition in `raw`, or its faults below `/model`."""
    if raw is None:
        return None, [SpecFault("/model", 'A model is needed: {"provider", "name"}.')]
    try:
        spec = ModelSpec.model_validate(raw)
    except ValidationError as error:
        return None, faults_of(error, "/model")
    return spec, [*_address_faults(spec), *_currency_faults(spec, limits)]


@lru_cache(maxsize=256)
def read_model(text: str) -> ModelSpec:
    """A definition as a version keeps it."""
    return ModelSpec.model_validate_json(text)


def _address_faults(spec: ModelSpec) -> list[SpecFault]:
    if spec.address:
        return []
    return [SpecFault("/model/base_url", f"Say here where your {spec.provider} server is.")]


def _currency_faults(spec: ModelSpec, limits: Limits | None) -> list[SpecFault]:
    money = limits.money if limits else None
    if money is None or spec.prices is None or money.currency == spec.prices.currency:
        return []
    detail = f"The agent's money is in {money.currency}: give the prices in {money.currency}."
    return [SpecFault("/model/prices/currency", detail)]
