"""What a run's page reads of its model: every request in a line, and one request whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from agentops.tenancy.access import require_scope
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import RUNS_READ
from agentops.tenancy.transaction import tenant_transaction
from runs.domain.errors import RunNotFound
from runs.models import ModelRequest, Run
from tools.domain.canonical import parse
from tools.domain.errors_values import InvalidJson

__all__ = ["ModelCallView", "ModelRequest", "model_call", "model_calls"]


@dataclass(frozen=True)
class ModelCallView:
    """One request. `prompt` and `answer` are None where they were cut to be kept, or where there is no answer."""

    run: Run
    call: ModelRequest
    prompt: Any
    answer: Any


def model_calls(actor: Actor, run: Run) -> Sequence[ModelRequest]:
    """The requests of a run that was read, in order, without what was said; none where no model plans."""
    require_scope(actor, RUNS_READ)
    if run.agent_version.planner != "model":
        return ()
    with tenant_transaction(actor.tenant_id):
        rows = ModelRequest.objects.filter(tenant_id=actor.tenant_id, run_id=run.id).order_by("number")
        return list(rows.defer("prompt", "answer", "sealed"))


def model_call(actor: Actor, run_id: UUID, number: int) -> ModelCallView:
    """One request with what was said. Raises RunNotFound."""
    require_scope(actor, RUNS_READ)
    with tenant_transaction(actor.tenant_id):
        rows = ModelRequest.objects.filter(tenant_id=actor.tenant_id, run_id=run_id, number=number)
        call = rows.select_related("run").defer("sealed").first()
    if call is None:
        raise RunNotFound
    return ModelCallView(call.run, call, _read(call.prompt), _read(call.answer))


def _read(text: str) -> Any:
    try:
        return parse(text) if text else None
    except InvalidJson:
        return None
