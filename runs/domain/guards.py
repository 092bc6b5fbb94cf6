"""The guards that a call passes at proposal and again at claim: each one a typed verdict, in a fixed order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from runs.domain.budget import Exceeded
from runs.domain.planning import Refusal
from runs.domain.step import OPEN, SETTLED_MUTATION, StepStatus
from tools.domain.schema import Fault


@dataclass(frozen=True)
class Earlier:
    """An earlier step of the run with the same fingerprint."""

    id: UUID
    status: StepStatus
    turn: int
    index: int
    reason: str = ""


@dataclass(frozen=True)
class Misplaced:
    """The run's workflow does not let the tool be called now. `told`: its state and what may be called instead.

    `busy`: the state would, but a call that will move it is in flight, or its outcome is not known.
    """

    busy: bool
    told: Mapping[str, Any]


@dataclass(frozen=True)
class CallFacts:
    """All that the guards read. `drifted`: the tool has another current version than the pinned one.

    `late`: the call was let in before, so that what has changed since may be said.
    """

    tool: str
    tenant_active: bool
    rights_lost: str
    known: bool
    in_scope: bool
    enabled: bool
    quarantined: bool
    drifted: bool
    is_mutation: bool
    faults: Sequence[Fault]
    earlier: Sequence[Earlier]
    over: Exceeded | None
    misplaced: Misplaced | None = None
    late: bool = False


Guard = Callable[[CallFacts], Refusal | None]


def first_refusal(facts: CallFacts) -> Refusal | None:
    """The first guard's objection, or None when the call may go on to policy."""
    return next((refusal for guard in GUARDS if (refusal := guard(facts)) is not None), None)


def _tenant(facts: CallFacts) -> Refusal | None:
    if facts.tenant_active:
        return None
    return Refusal("tool_denied", "The tenant is suspended.", hint="Ask an owner to lift the suspension.")


def _rights(facts: CallFacts) -> Refusal | None:
    if not facts.rights_lost:
        return None
    return Refusal("tool_denied", f"The run's principal may no longer act: {facts.rights_lost}")


def _scope(facts: CallFacts) -> Refusal | None:
    if facts.known and facts.in_scope and facts.enabled and not facts.quarantined:
        return None
    hint = "Use one of the tools that this agent has."
    if facts.late:
        return Refusal("tool_denied", f"{facts.tool} {_lost(facts)} after this call was proposed.", hint=hint)
    return Refusal("tool_denied", f"There is no tool {facts.tool!r} that this run may use.", hint=hint)


def _lost(facts: CallFacts) -> str:
    if not facts.enabled:
        return "was disabled"
    return "was quarantined" if facts.quarantined else "left the scopes of this run"


def _drift(facts: CallFacts) -> Refusal | None:
    if not facts.drifted:
        return None
    hint = "Read the tool's present definition and propose again."
    return Refusal("schema_drift", f"{facts.tool} was changed after this call was proposed.", retryable=True, hint=hint)


def _schema(facts: CallFacts) -> Refusal | None:
    if not facts.faults:
        return None
    errors = [{"pointer": fault.pointer, "detail": fault.detail} for fault in facts.faults[:20]]
    message = f"The arguments do not fit {facts.tool}: {errors[0]['pointer'] or '/'}: {errors[0]['detail']}"
    hint = "Correct the arguments at the places named in errors."
    return Refusal("invalid_arguments", message, retryable=True, hint=hint, extra={"errors": errors})


def _duplicate(facts: CallFacts) -> Refusal | None:
    for earlier in facts.earlier:
        if earlier.status is StepStatus.REJECTED:
            message = f"A person rejected this very call before: {earlier.reason or 'no reason given'}"
            return Refusal("rejected_before", message, hint="Propose something else.", extra=_named(earlier))
        if facts.is_mutation and earlier.status in OPEN | SETTLED_MUTATION:
            message = f"This very call is {earlier.status} as step {earlier.index + 1} of turn {earlier.turn}."
            hint = "Read the earlier step's outcome; say `again` if a second effect is meant."
            return Refusal("repeated_action", message, hint=hint, extra=_named(earlier))
    return None


def _state(facts: CallFacts) -> Refusal | None:
    if facts.misplaced is None:
        return None
    told = facts.misplaced.told
    if told["state"] is None:
        message = f"{facts.tool} is bound to the states of a workflow, and this run has none."
        return Refusal("state_forbidden", message, hint="Start a run with the workflow's handle.", extra=told)
    if facts.misplaced.busy:
        message = f"Another call is moving {told['handle']}; {facts.tool} can be called when its outcome is known."
        return Refusal("state_forbidden", message, retryable=True, hint="Try again in a moment.", extra=told)
    since = f" It has moved to {told['state']} since this call was proposed." if facts.late else ""
    message = f"{facts.tool} cannot be called while {told['handle']} is in {told['state']}.{since}"
    hint = "Use one of the tools in `allowed`; `next` says where they lead."
    return Refusal("state_forbidden", message, hint=hint, extra=told)


def _budget(facts: CallFacts) -> Refusal | None:
    if facts.over is None:
        return None
    message = f"The run's {facts.over.name.lower().replace('_', ' ')} budget does not allow this call."
    return Refusal(facts.over.value, message, hint="Propose a smaller call, or finish.")


def _named(earlier: Earlier) -> dict[str, object]:
    return {"earlier_step": str(earlier.id), "earlier_status": earlier.status.value}


GUARDS: tuple[Guard, ...] = (_tenant, _rights, _scope, _drift, _duplicate, _state, _schema, _budget)
