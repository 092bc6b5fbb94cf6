"""Judges what a cluster did, once it is quiet: the database against itself, against people and against the world."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from runs.domain import run as run_machine
from runs.domain import step as step_machine
from runs.domain.run import RunStatus
from runs.domain.step import StepStatus
from tests.faults import ledger_checks
from tests.faults.facts import Facts, reference
from tests.faults.record import Line
from tools.domain.canonical import canonical

_MOVING = frozenset({StepStatus.PROPOSED, StepStatus.CLEARED, StepStatus.STALE, StepStatus.RUNNING})
_NEVER_ACTED = frozenset(StepStatus) - {StepStatus.SUCCEEDED, StepStatus.UNKNOWN, StepStatus.RUNNING}


@dataclass
class Promises:
    """What doors have acknowledged: these runs exist, and these requests were decided so."""

    runs: dict[str, str] = field(default_factory=dict)
    decisions: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Verdict:
    """What was counted, and every broken promise in words. `lost` and `twice` are broken promises too."""

    approved: int
    once: int
    unknown: int
    lost: int
    twice: int
    broken: Sequence[str]

    @property
    def is_clean(self) -> bool:
        return not self.broken and not self.lost and not self.twice


def unsettled(facts: Facts) -> list[str]:
    """What still has to move by itself: a run that is neither over nor waits for a person, a step in between."""
    return [*_moving_steps(facts), *_waiting_for_nobody(facts)]


def judge(facts: Facts, promises: Promises) -> Verdict:
    """Everything that must be so when nothing moves any more."""
    approved = {event_step(e) for e in facts.events if e.kind == "step.approved"}
    steps = {str(s.id): s for s in facts.steps}
    effects = facts.effects()
    carried = [steps[name] for name in approved if name in steps]
    lost = [*_lost(carried, effects), *_forgotten(facts, promises)]
    twice = [f"{ref} acted {len(found)} times" for ref, found in effects.items() if len(found) > 1]
    broken = [*unsettled(facts), *_foreign_effects(facts, effects), *_untrue(facts, effects)]
    broken += [*_doubled_starts(facts), *_engine_faults(facts), *ledger_checks.broken(facts)]
    return Verdict(
        approved=len(approved),
        once=sum(len(effects.get(reference(s), ())) == 1 for s in carried),
        unknown=sum(s.status == StepStatus.UNKNOWN.value for s in facts.steps),
        lost=len(lost),
        twice=len(twice),
        broken=[*lost, *twice, *broken],
    )


def event_step(event: Any) -> str:
    """The step that an event tells of."""
    return str(json.loads(event.data).get("step", ""))


def _moving_steps(facts: Facts) -> Iterator[str]:
    for step in facts.steps:
        if StepStatus(step.status) in _MOVING:
            yield f"step {step.id} ({step.tool}) is {step.status}"


def _waiting_for_nobody(facts: Facts) -> Iterator[str]:
    pending = {r.step_id for r in facts.requests if r.status == "pending"}
    steps = facts.steps_by_run()
    for run in facts.runs:
        mine = steps[run.id]
        held = [s for s in mine if s.status == StepStatus.HELD.value]
        is_over = RunStatus(run.status) in run_machine.FINAL
        yield from (f"run {run.id} is over and step {s.id} is held" for s in held if is_over)
        yield from (f"step {s.id} is held and nobody is asked" for s in held if s.id not in pending)
        waits = held or any(s.status == StepStatus.UNKNOWN.value for s in mine)
        if not is_over and not waits:
            yield f"run {run.id} is {run.status} and waits for nobody"


def _lost(carried: Sequence[Any], effects: dict[str, list[Line]]) -> Iterator[str]:
    """Approved, and neither over nor of unknown outcome; or said to be done, and nothing happened."""
    ended = step_machine.FINAL | {StepStatus.UNKNOWN, StepStatus.HELD}
    for step in carried:
        if StepStatus(step.status) not in ended:
            yield f"approved step {step.id} was lost in {step.status}"
        elif step.status == StepStatus.SUCCEEDED.value and not effects.get(reference(step)):
            yield f"step {step.id} is succeeded and nothing happened"


def _forgotten(facts: Facts, promises: Promises) -> Iterator[str]:
    known = {str(run.id) for run in facts.runs}
    yield from (f"run {run} was acknowledged and is gone" for run in promises.runs.values() if run not in known)
    decided = {(str(d.request_id), d.verdict) for d in facts.decisions}
    yield from (
        f"decision {found} was acknowledged and is gone" for found in promises.decisions if found not in decided
    )


def _foreign_effects(facts: Facts, effects: dict[str, list[Line]]) -> Iterator[str]:
    """Every effect belongs to one step, approved by somebody else than its requesters, with these very arguments."""
    steps = {reference(step): step for step in facts.steps}
    for ref, found in effects.items():
        if ref not in steps:
            yield f"{ref} acted and no step has it"
            continue
        allowed = _approved_digests(facts, steps[ref])
        yield from (f"{ref} acted on what nobody approved" for line in found if line.digest not in allowed)
        keys = {line.key for line in found} - {"", steps[ref].idempotency_key}
        yield from (f"{ref} acted under a foreign key {key}" for key in keys)


def _approved_digests(facts: Facts, step: Any) -> set[str]:
    allowed = set()
    for request in facts.requests:
        voters = {d.user_id for d in facts.decisions if d.request_id == request.id and d.verdict == "approve"}
        if request.step_id == step.id and request.status == "approved" and voters - set(request.requesters):
            allowed.add(sha256(canonical(json.loads(request.snapshot)["args"]).encode()).hexdigest())
    return allowed


def _untrue(facts: Facts, effects: dict[str, list[Line]]) -> Iterator[str]:
    """A step that is said to have done nothing has done nothing."""
    for step in facts.steps:
        if StepStatus(step.status) in _NEVER_ACTED and effects.get(reference(step)):
            yield f"step {step.id} ({step.tool}) is {step.status} and acted"


def _doubled_starts(facts: Facts) -> Iterator[str]:
    starts = Counter(run.input for run in facts.runs)
    yield from (f"{count} runs were made of {given}" for given, count in starts.items() if count > 1)


def _engine_faults(facts: Facts) -> Iterator[str]:
    """What goes wrong around a run is no reason to end it."""
    yield from (
        f"run {run.id} ended by an internal error" for run in facts.runs if run.terminal_reason == "internal_error"
    )
