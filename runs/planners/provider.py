"""One request to a model of any provider, over pydantic-ai: its reply, or a typed fault. Imported on first use."""

import asyncio
import logging
from typing import Any

import httpx2
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
)
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings

from runs.domain.model_answer import ModelAnswer
from runs.domain.model_reply import ModelUsage, ProviderFault, Replied, Reply
from runs.domain.model_spec import ModelSpec
from runs.domain.prompt import tokens_of
from runs.operations.asking_model import Asked
from runs.planners import pricing
from runs.planners.wire import Wire
from runs.planners.wording import answer_of, messages_of, tools_of
from tools.call import CancelSignal
from tools.domain.egress import EgressPolicy, HostRefused
from tools.kinds.http import private_hosts
from tools.kinds.loop import run_here, torn_down_by

for _name in ("openai", "anthropic", "pydantic_ai"):
    logging.getLogger(_name).setLevel(logging.WARNING)  # below that they write requests whole
_NO_KEY = "the wire has the key"
MAX_SAID = 500
MAX_FIGURE = 10**12


def ask(asked: Asked, cancelled: CancelSignal) -> Reply:
    """Make the request within its time; it is torn down at once when `cancelled` is raised. Never raises."""
    policy = EgressPolicy(frozenset({asked.spec.where}), private_hosts())
    try:
        policy.check_url(asked.spec.address)
    except HostRefused as error:
        return ProviderFault(error.code, error.message, again=False)
    wire = Wire(policy, _key_header(asked))
    return run_here(_reply(asked, wire, cancelled))


async def _reply(asked: Asked, wire: Wire, cancelled: CancelSignal) -> Reply:
    try:
        with torn_down_by(cancelled):
            async with asyncio.timeout(asked.seconds):
                response = await _exchange(asked, wire)
        answer = answer_of(response, wire.body)
        return Replied(answer, _usage(asked, response, answer))
    except TimeoutError:
        said = f"There was no answer within {asked.seconds:.0f} s."
        return ProviderFault("timeout", said, again=True, may_have_used=wire.left)
    except asyncio.CancelledError:
        return ProviderFault("cancelled", "The run was stopped.", again=False, may_have_used=wire.left)
    except ModelAPIError as error:
        return _fault(error, wire, asked)
    except Exception as error:  # noqa: BLE001 - the libraries stumble in any way over what a server may send
        said = f"The server's answer could not be read ({type(error).__name__})."
        return ProviderFault("invalid_answer", said, again=True, may_have_used=wire.left)


async def _exchange(asked: Asked, wire: Wire) -> ModelResponse:
    spec = asked.spec
    settings = ModelSettings(max_tokens=asked.max_output, timeout=asked.seconds, max_retries=0)
    if spec.temperature is not None:
        settings["temperature"] = float(spec.temperature)
    async with httpx2.AsyncClient(transport=wire, trust_env=False, timeout=asked.seconds) as client:
        return await model_request(
            _model(spec, client, asked.seconds),
            messages_of(asked.prompt, wire),
            model_settings=settings,
            model_request_parameters=tools_of(asked.prompt, wire),
        )


def _model(spec: ModelSpec, client: httpx2.AsyncClient, seconds: float) -> Model:
    """The provider's own adapter, told to leave schemas as they are."""
    provider = _provider(spec, client, seconds)
    if spec.provider in {"openai", "compatible"}:
        return OpenAIChatModel(spec.name, provider=provider, profile=_verbatim)
    adapter: Any = type(infer_model(f"{spec.provider}:{spec.name}", provider_factory=lambda _: provider))
    made: Model = adapter(spec.name, provider=provider, profile=_verbatim)
    return made


def _provider(spec: ModelSpec, client: httpx2.AsyncClient, seconds: float) -> Provider[Any]:
    address = spec.address
    if spec.provider == "anthropic":
        own = AsyncAnthropic(api_key=_NO_KEY, base_url=address, http_client=client, max_retries=0, timeout=seconds)
        return AnthropicProvider(anthropic_client=own)
    shared = AsyncOpenAI(api_key=_NO_KEY, base_url=address, http_client=client, max_retries=0, timeout=seconds)
    if spec.provider == "compatible":
        return OpenAICompatibleProvider("compatible", openai_client=shared)
    found: Any = infer_provider_class(spec.provider)
    made: Provider[Any] = found(openai_client=shared)
    return made


def _verbatim(profile: ModelProfile) -> ModelProfile:
    return {**profile, "json_schema_transformer": None}


def _key_header(asked: Asked) -> dict[str, str]:
    if asked.credential is None:
        return {}
    key = asked.credential.get_secret_value()
    return {"x-api-key": key} if asked.spec.provider == "anthropic" else {"Authorization": f"Bearer {key}"}


def _usage(asked: Asked, response: ModelResponse, answer: ModelAnswer) -> ModelUsage:
    """As the server says; one that says nothing is counted by our own estimate."""
    told, spec = response.usage, asked.spec
    known, written = _figure(told.input_tokens), _figure(told.output_tokens)
    if known or written:
        is_sound = (known, written) == (told.input_tokens, told.output_tokens) and not spec.prices
        cost = pricing.published(spec, told) if is_sound else pricing.estimate(spec, known, written)
        return ModelUsage(known, written, cost)
    known, written = asked.prompt.tokens, tokens_of(answer.stored())
    return ModelUsage(known, written, pricing.estimate(spec, known, written))


def _figure(told: int) -> int:
    """What a server may say at most, and at least: nobody gets tokens back."""
    return min(max(told, 0), MAX_FIGURE)


def _fault(error: ModelAPIError, wire: Wire, asked: Asked) -> ProviderFault:
    if wire.refused:
        return ProviderFault("egress_denied", wire.refused, again=False)
    if isinstance(error, ModelHTTPError):
        again = not isinstance(error, ModelRequestRejectedError | ModelQuotaExceededError)
        again = again and (error.status_code in {408, 409, 425, 429} or error.status_code >= 500)
        said = f"The server answered {error.status_code}. {_told(error.body, asked)}".strip()
        return ProviderFault(f"http_{error.status_code}", said, again, error.retry_after)
    if isinstance(error, ModelConnectionError) and wire.status is None:
        said = "The connection to the server could not be made or broke off."
        return ProviderFault("unreachable", said, again=True, may_have_used=wire.left)
    said = "The server's answer was not whole, or not what such a server answers."
    return ProviderFault("invalid_answer", said, again=True, may_have_used=wire.left)


def _told(body: object, asked: Asked) -> str:
    """The server's own words, without the key."""
    said = body.get("message") if isinstance(body, dict) else body
    text = str(said or "").encode("utf-8", "replace").decode()[:MAX_SAID]
    key = asked.credential.get_secret_value() if asked.credential else ""
    return text.replace(key, "⟦credential⟧") if key else text
