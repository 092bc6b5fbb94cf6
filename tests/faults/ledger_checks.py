"""The books must agree with themselves: chains, events beside statuses, budgets, attempts."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from agentops.chain import verify
from runs.domain import run as run_machine
from runs.domain import step as step_machine
from runs.domain.errors import IllegalTransition
from runs.domain.run import RunEvent, RunStatus
from runs.domain.step import StepEvent, StepStatus
from tests.faults.facts import Facts, links

_RESERVES_CALL = frozenset({"held", "cleared", "stale"})
_RESERVES_COST = _RESERVES_CALL | {"running", "unknown"}


def broken(facts: Facts) -> list[str]:
    """Every disagreement, in words."""
    return [word for check in CHECKS for word in check(facts)]


def _chains(facts: Facts) -> Iterator[str]:
    events = facts.events_by_run()
    for run in facts.runs:
        bad = verify(run.tenant_id, run.id, links(events[run.id]), run.head, run.event_seq).first_bad
        if bad is not None:
            yield f"the chain of run {run.id} is broken at {bad}"


def _steps_follow_events(facts: Facts) -> Iterator[str]:
    """Each step stands where its events, played over the machine, leave it."""
    stands: dict[str, StepStatus] = {}
    for event in facts.events:
        if not event.kind.startswith("step."):
            continue
        step, kind = str(json.loads(event.data)["step"]), event.kind.removeprefix("step.")
        try:
            stands[step] = _moved(stands.get(step), kind)
        except IllegalTransition as error:
            yield f"step {step} at event {event.seq}: {error}"
    for row in facts.steps:
        if stands.get(str(row.id)) != row.status:
            yield f"step {row.id} is {row.status}, its events say {stands.get(str(row.id))}"


def _moved(stood: StepStatus | None, kind: str) -> StepStatus:
    if stood is None or kind == "proposed":
        return StepStatus.PROPOSED
    return step_machine.after(stood, StepEvent(kind))


def _runs_follow_events(facts: Facts) -> Iterator[str]:
    events = facts.events_by_run()
    for run in facts.runs:
        stands = RunStatus.PLANNING
        for event in events[run.id]:
            kind = event.kind.removeprefix("run.")
            if kind in (event.kind, "started"):
                continue
            if stands in run_machine.FINAL:
                yield f"run {run.id} was over and became {kind}"
            stands = run_machine.after(stands, RunEvent(kind)) if stands not in run_machine.FINAL else stands
        if stands != run.status:
            yield f"run {run.id} is {run.status}, its events say {stands}"


def _budgets(facts: Facts) -> Iterator[str]:
    steps = facts.steps_by_run()
    calls = _calls_by_run(facts)
    for run in facts.runs:
        used, reserved, mine = json.loads(run.used), json.loads(run.reserved), steps[run.id]
        holding = [s for s in mine if s.status in _RESERVES_COST]
        done = [s for s in mine if s.status == "succeeded"]
        expected = {
            "calls used": (used["tool_calls"], calls[run.id]),
            "calls reserved": (reserved["tool_calls"], sum(s.status in _RESERVES_CALL for s in mine)),
            "money used": (Decimal(used["money"]), sum(s.charge_money for s in done)),
            "money reserved": (Decimal(reserved["money"]), sum(s.charge_money for s in holding)),
            "records used": (used["records"], sum(s.charge_records for s in done)),
            "records reserved": (reserved["records"], sum(s.charge_records for s in holding)),
        }
        for name, (found, due) in expected.items():
            if found != due:
                yield f"run {run.id} has {found} {name} instead of {due}"


def _calls_by_run(facts: Facts) -> Counter[Any]:
    """Attempts that count: what was handed back was no call, what was made again counts once."""
    calls: Counter[Any] = Counter()
    for event in facts.events:
        calls[event.run_id] += {"step.started": 1, "step.handed_back": -1}.get(event.kind, 0)
    return calls


def _attempts(facts: Facts) -> Iterator[str]:
    """One attempt a lease, and each is over when its step is."""
    steps = {s.id: s for s in facts.steps}
    counts = Counter(a.step_id for a in facts.attempts)
    for step in facts.steps:
        if counts[step.id] != step.token:
            yield f"step {step.id} has {counts[step.id]} attempts and lease {step.token}"
    for attempt in facts.attempts:
        if attempt.outcome is None and steps[attempt.step_id].status != "running":
            yield f"attempt {attempt.number} of step {attempt.step_id} is open and its step is over"


CHECKS: tuple[Callable[[Facts], Iterator[str]], ...] = (
    _chains,
    _steps_follow_events,
    _runs_follow_events,
    _budgets,
    _attempts,
)
