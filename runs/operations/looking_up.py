"""Asks the other system, with growing pauses, what a call of unknown outcome really did."""

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from runs.book import MACHINE, Book
from runs.domain.step import StepStatus
from runs.masking import unseal_args
from runs.models import Step
from runs.operations.concluding import conclude_failed, conclude_succeeded, quiet_in
from tools.call import PinnedTool
from tools.domain import expressions
from tools.domain.canonical import Json, parse
from tools.domain.errors import ExpressionFailed
from tools.domain.spec import Reconcile

PAUSES = (2, 5, 15, 60, 300, 900, 3600, 14_400)
"""Seconds before each lookup; after the last one only a person can tell."""
LOOKUP_LEASE = timedelta(seconds=30)


@dataclass(frozen=True)
class Lookup:
    """One read to make outside any transaction. `tool` is None when the probe cannot be used now."""

    tenant_id: UUID
    run_id: UUID
    step_id: UUID
    tool: PinnedTool | None
    args: Json = field(repr=False)
    known: frozenset[str] = field(repr=False)


@dataclass(frozen=True)
class Found:
    """What a lookup read: canonical text, or None and why."""

    step_id: UUID
    value: str | None
    fault: str = ""


def lookup_due(book: Book) -> Lookup | None:
    """The next lookup whose pause is over; nobody else makes the same one for half a minute."""
    for step in book.in_status(StepStatus.UNKNOWN):
        if step.lookup_at is None or step.lookup_at > book.now:
            continue
        how = _how(book, step)
        if how is None:
            step.lookup_at = None  # The tool no longer says how: only a person can tell.
            continue
        step.lookup_at = book.now + LOOKUP_LEASE
        reader = book.reader(how.probe.tool)
        return Lookup(step.tenant_id, step.run_id, step.id, reader, _filled(book, step, how), book.known_secrets)
    return None


def take_in(book: Book, found: Found) -> None:
    """Conclude from what was found, or plan the next lookup."""
    step = next(s for s in book.steps if s.id == found.step_id)
    how = _how(book, step)
    if step.status != StepStatus.UNKNOWN.value or how is None:
        return
    step.lookups += 1
    step.lookup_at = book.now + timedelta(seconds=PAUSES[step.lookups]) if step.lookups < len(PAUSES) else None
    verdict, why = _verdict(book, step, how, found)
    book.note("looked_up", step=str(step.id), tool=how.probe.tool, verdict=verdict, why=why, number=step.lookups)
    evidence = f"{how.probe.tool} was asked: {why}"
    if verdict == "succeeded":
        conclude_succeeded(book, step, MACHINE, evidence, _result(how, found), lookup=step.lookups)
    elif verdict == "failed":
        conclude_failed(book, step, MACHINE, evidence, lookup=step.lookups)


def _how(book: Book, step: Step) -> Reconcile | None:
    tool = book.tools.get(step.tool)
    return tool.pinned.spec.reconcile if tool else None


def _filled(book: Book, step: Step, how: Reconcile) -> Json:
    try:
        filled: Json = expressions.fill(how.probe.args, _names(book, step))
    except ExpressionFailed:
        return None
    return filled


def _names(book: Book, step: Step) -> dict[str, Json]:
    return {"args": unseal_args(book, step), "idempotency_key": step.idempotency_key or ""}


def _verdict(book: Book, step: Step, how: Reconcile, found: Found) -> tuple[str, str]:
    if found.value is None:
        return "undecided", found.fault
    names = _names(book, step) | {"result": parse(found.value)}
    acted = expressions.is_true(how.succeeded, names)
    did_not = how.failed is not None and expressions.is_true(how.failed, names)
    if acted and did_not:
        return "undecided", "both of its conditions are true, so it tells nothing"
    if acted:
        return "succeeded", f"“{how.succeeded}” is true"
    if not did_not:
        return "undecided", "it does not tell yet"
    if quiet_in(book, step) > 0:
        return "undecided", "nothing is there yet, and the call may still be on its way"
    return "failed", f"“{how.failed}” is true"


def _result(how: Reconcile, found: Found) -> Json:
    try:
        selected: Json = expressions.select(parse(found.value or "null"), how.result)
    except ExpressionFailed:
        return None
    return selected
