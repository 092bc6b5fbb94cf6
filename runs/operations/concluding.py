"""Turns an unknown outcome into a known one, on somebody's word or a lookup's."""

from runs.book import Book
from runs.domain.step import StepEvent
from runs.models import Attempt, Step
from runs.operations.ending import observe_refusal, release
from runs.operations.settling import observe
from tools.domain.canonical import Json, canonical

QUIET_SECONDS = 10
"""After a call's own time limit, this long until its silence means that it is no longer on its way."""


def conclude_succeeded(book: Book, step: Step, who: str, evidence: str, result: Json, **found: Json) -> None:
    """The call acted. `result`: what it brought back, as far as that is known."""
    step.refusal, step.lookup_at = None, None
    if (tool := book.tools.get(step.tool)) is not None:
        observe(book, step, tool.pinned.spec, result)
    book.record(step, StepEvent.RECONCILED_SUCCEEDED, who, evidence=evidence, **found)
    book.charge(
        use={"money": step.charge_money, "records": step.charge_records},
        reserve={"money": -step.charge_money, "records": -step.charge_records},
    )


def conclude_failed(book: Book, step: Step, who: str, evidence: str, **found: Json) -> None:
    """The call did not act."""
    message = f"Reconciled as failed: {evidence}"
    step.lookup_at = None
    step.refusal = canonical({"code": "tool_failed", "message": message, "retryable": True, "hint": ""})
    book.record(step, StepEvent.RECONCILED_FAILED, who, evidence=evidence, **found)
    observe_refusal(book, step)
    release(book, step, started=True)


def quiet_in(book: Book, step: Step) -> float:
    """Seconds until the call's silence means that it did not act; 0 when that is so already."""
    tool = book.tools.get(step.tool)
    limit = (tool.pinned.spec.timeout_ms if tool else 0) / 1000 + QUIET_SECONDS
    last = Attempt.objects.filter(tenant_id=step.tenant_id, step_id=step.id).order_by("-number").first()
    return 0 if last is None else max(0, limit - (book.now - last.started_at).total_seconds())
