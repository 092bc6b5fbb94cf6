"""Takes what became of a call into the run: fenced, so that a late result changes nothing."""

from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

from runs.book import MACHINE, Book
from runs.domain.step import StepEvent, StepStatus
from runs.masking import mask_result
from runs.models import Attempt, Step
from runs.operations.claiming import MAX_ATTEMPTS, Claimed
from runs.operations.ending import keep_observation, release
from tools.domain.canonical import Json, canonical
from tools.domain.cost import settled
from tools.domain.errors import CostUnreadable
from tools.domain.outcome import Failed, NotSent, Outcome, Succeeded, ToolFault, Unknown
from tools.domain.spec import ToolSpec
from tools.observation import observation_text

FIRST_LOOKUP = timedelta(seconds=2)


@dataclass(frozen=True)
class Settled:
    """A worker's report about the call that it had claimed, and the level of the sandbox that it had for it."""

    call: Claimed
    outcome: Outcome
    sandbox_level: int | None = None


def settle(book: Book, report: Settled) -> None:
    """Record the outcome, unless another lease has taken over since."""
    call = report.call
    step = next(s for s in book.steps if s.id == call.step_id)
    if step.status != StepStatus.RUNNING.value or step.token != call.token:
        book.note("late_result_refused", step=str(step.id), token=call.token, outcome=_name(report.outcome))
        return
    _keep_level(book, step, report.sandbox_level)
    _close_attempt(book, step, report.outcome)
    outcome = _of_all_attempts(step, report)
    if isinstance(outcome, Unknown) and _is_resent(book, step, call.tool.spec):
        _resend_later(book, step, outcome.reason)
        return
    step.lease_owner, step.lease_until = None, None
    _take_in(book, step, replace(report, outcome=outcome))


def _keep_level(book: Book, step: Step, level: int | None) -> None:
    attempt = book.attempts.get(step.id)
    if attempt is not None and level is not None:
        attempt.sandbox_level = level
        book.note("sandboxed", step=str(step.id), attempt=attempt.number, level=level)


def _of_all_attempts(step: Step, report: Settled) -> Outcome:
    """What became of the call: an attempt that did nothing says nothing about an earlier one that may have acted."""
    outcome = report.outcome
    if isinstance(outcome, Failed | NotSent) and _may_have_acted(step, report.call.tool.spec):
        return Unknown(f"An earlier attempt may have acted. The last one: {_detail(outcome)}")
    return outcome


def _may_have_acted(step: Step, spec: ToolSpec) -> bool:
    if step.token == 1 or not spec.is_mutation:
        return False
    earlier = Attempt.objects.filter(tenant_id=step.tenant_id, step_id=step.id, number__lt=step.token)
    return earlier.filter(outcome__in=["lost", "unknown"]).exists()


def _is_resent(book: Book, step: Step, spec: ToolSpec) -> bool:
    return spec.may_be_resent and step.token < MAX_ATTEMPTS and not book.work.cancel_requested


def _resend_later(book: Book, step: Step, reason: str) -> None:
    """The tool itself acts once for one key: when this lease ends, the same call is sent again under it."""
    pause = timedelta(seconds=2**step.token)
    step.lease_until = book.now + pause
    book.note("resend_due", step=str(step.id), attempt=step.token, reason=reason, seconds=pause.seconds)


def _take_in(book: Book, step: Step, report: Settled) -> None:
    call = report.call
    match report.outcome:
        case Succeeded() as outcome:
            _succeed(book, step, call.tool.spec, call.args, outcome)
        case Failed(error):
            _taint(book, step, call.tool.spec)
            _fail(book, step, error, f"tool {step.tool}")
        case Unknown(reason):
            _taint(book, step, call.tool.spec)
            lose(book, step, reason, f"tool {step.tool}")
        case NotSent(reason):
            book.record(step, StepEvent.HANDED_BACK, reason=reason)
            book.charge(use={"tool_calls": -1}, reserve={"tool_calls": 1})


def lose(book: Book, step: Step, reason: str, actor: str = MACHINE) -> None:
    """The call may or may not have acted; only a reconciliation can tell."""
    step.lease_owner, step.lease_until = None, None
    _close_attempt(book, step, Unknown(reason))
    book.record(step, StepEvent.LOST, actor, reason=reason)
    tool = book.tools.get(step.tool)
    if tool is not None and tool.pinned.spec.reconcile is not None:
        step.lookup_at = book.now + FIRST_LOOKUP
    step.refusal = canonical({"code": "outcome_unknown", "message": reason, "retryable": False, "hint": ""})


def fail(book: Book, step: Step, fault: ToolFault) -> None:
    """The call was definitely not done."""
    step.lease_owner, step.lease_until = None, None
    _close_attempt(book, step, Failed(fault))
    _fail(book, step, fault, MACHINE)


def observe(book: Book, step: Step, spec: ToolSpec, result: Json, fault: ToolFault | None = None) -> None:
    """Append the typed result: whole for the record, cut for the planner."""
    whole = canonical(mask_result(book.run.tenant_id, result, spec.secret_output, book.known_secrets))
    content = observation_text(whole, spec.max_result_bytes) if fault is None else canonical({"error": fault.as_json()})
    seen = keep_observation(book, step, spec.output_trust, content, whole)
    book.charge(use={"result_bytes": seen.bytes})
    _taint(book, step, spec)


def _taint(book: Book, step: Step, spec: ToolSpec) -> None:
    """From now on the run has read what others may have written: a result, or a server's words on why there is none."""
    if spec.output_trust == "untrusted" and not book.run.tainted:
        book.run.tainted = True
        book.note("tainted", step=str(step.id), tool=step.tool)


def _succeed(book: Book, step: Step, spec: ToolSpec, args: Json, outcome: Succeeded) -> None:
    observe(book, step, spec, outcome.result, outcome.fault)
    seen = book.observations[step.id]
    size: dict[str, Json] = {"bytes": seen.bytes, "truncated": seen.truncated, "trust": seen.trust}
    book.record(step, StepEvent.SUCCEEDED, f"tool {step.tool}", **size)
    _charge(book, step, spec, args, outcome)


def _charge(book: Book, step: Step, spec: ToolSpec, args: Json, outcome: Succeeded) -> None:
    """The reservation becomes the true figure, where the result says one."""
    money, records = Decimal(step.charge_money), step.charge_records
    if outcome.fault is None:
        try:
            cost = settled(spec.cost, args, outcome.result)
            money, records = cost.amount or Decimal(0), cost.records
        except CostUnreadable as error:
            book.note("cost_unreadable", step=str(step.id), message=error.message)
    book.charge(
        use={"money": money, "records": records},
        reserve={"money": -Decimal(step.charge_money), "records": -step.charge_records},
    )
    step.charge_money, step.charge_records = money, records


def _fail(book: Book, step: Step, fault: ToolFault, actor: str) -> None:
    error = {**fault.as_json(), "hint": fault.hint or ""}
    step.refusal = canonical(error)
    keep_observation(book, step, "untrusted", canonical({"error": error}))
    book.record(step, StepEvent.FAILED, actor, code=fault.code, message=fault.message, retryable=fault.retryable)
    release(book, step, started=True)


def _close_attempt(book: Book, step: Step, outcome: Outcome) -> None:
    attempt = book.attempts.get(step.id)
    if attempt is not None:
        book.close_attempt(attempt, _name(outcome), _detail(outcome))


def _name(outcome: Outcome) -> str:
    match outcome:
        case Succeeded():
            return "succeeded"
        case Failed():
            return "failed"
        case Unknown():
            return "unknown"
        case NotSent():
            return "handed_back"


def _detail(outcome: Outcome) -> str:
    match outcome:
        case Succeeded(fault=fault):
            return fault.message if fault else ""
        case Failed(error):
            return f"{error.code}: {error.message}"
        case Unknown(reason) | NotSent(reason):
            return reason
