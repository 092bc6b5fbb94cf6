"""The operations on real Postgres against a small model: claims, late settles, lost leases, decisions, cancels."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import ClassVar
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from agentops.chain import Link, verify
from agentops.tenancy.ids import uuid7
from agentops.tenancy.transaction import tenant_transaction
from runs import execution
from runs.domain.budget import Counters
from runs.domain.errors import TooEarlyToReconcile
from runs.models import Attempt, Step
from runs.operations import advancing
from runs.operations.advancing import Execute
from runs.operations.cancelling import cancel
from runs.operations.reconciling import reconcile
from runs.operations.settling import Settled
from tests.cast import Cast, new_cast
from tests.runs.one_call import Model, Report
from tests.runs.scenario import Stage, new_stage
from tools.domain.outcome import Failed, NotSent, ToolFault, Unknown
from tools.operations import install_code_tools

EXAMPLES = int(os.environ.get("MODEL_EXAMPLES", "15"))


class Operations(RuleBasedStateMachine):
    """Runs of one call each, in one tenant."""

    stage: ClassVar[Stage]
    amounts: ClassVar[Iterator[int]] = count(1)

    def __init__(self) -> None:
        super().__init__()
        self.runs = list[UUID]()
        self.models = list[Model]()
        self.reports = list[Report]()

    @initialize()
    def one_of_each(self) -> None:
        """Enough to do from the first step on."""
        for name in ("t_pay_plain", "t_read", "m_once"):
            self._start(name)

    @rule(name=st.sampled_from(["t_pay_plain", "t_read", "m_once"]))
    @precondition(lambda self: len(self.models) < 6)
    def start(self, name: str) -> None:
        self._start(name)

    @rule(which=st.integers(0, 5), verdict=st.sampled_from(["approve", "approve", "approve", "reject", "expire"]))
    def decide(self, which: int, verdict: str) -> None:
        place = self._pick(which, lambda m: m.status == "held")
        if place is None:
            return
        run = self.runs[place]
        if verdict == "approve":
            self.stage.approve(run)
        elif verdict == "reject":
            self.stage.reject(run)
        else:
            self.stage.nobody_decides(run)
            advancing.begin("control", run, uuid7())
        self.models[place].status = {"approve": "cleared", "reject": "rejected", "expire": "expired"}[verdict]

    @rule(which=st.integers(0, 5))
    def claim(self, which: int) -> None:
        place = self._pick(which, lambda m: m.status == "cleared")
        if place is not None:
            self.models[place].status, self.models[place].token = "running", self.models[place].token + 1
            self._take(place)

    @rule(which=st.integers(0, 5))
    def lease_ends(self, which: int) -> None:
        place = self._pick(which, lambda m: m.status == "running")
        if place is None:
            return
        self.stage.lease_ends(self.runs[place])
        self.models[place].lease_ends()
        self._take(place)

    @rule(which=st.integers(0, 5))
    @precondition(lambda self: self.reports)
    def perform(self, which: int) -> None:
        report = self.reports[-1 - which % len(self.reports)]
        if report.outcome is None:
            report.outcome = execution.perform(replace(report.call, claimed_at=time.monotonic()))
            self.models[report.place].acted += 1

    @rule(which=st.integers(0, 5), is_well=st.booleans(), remembers=st.booleans())
    @precondition(lambda self: self.reports)
    def settle(self, which: int, is_well: bool, remembers: bool) -> None:
        report = self.reports.pop(which % len(self.reports))
        model = self.models[report.place]
        outcome = report.outcome
        if outcome is None:
            outcome = NotSent("too late") if is_well else Failed(ToolFault("no", "It said no."))
        elif not is_well and model.tool != "t_read":
            outcome = Unknown("The answer was lost.")
        call = report.call
        left = report.found.book if remembers else None
        found = advancing.resume(call.tenant_id, call.run_id, uuid7(), settled=Settled(call, outcome), left=left)
        if model.status == "running" and model.token == call.token:
            model.settles(outcome)
        if isinstance(found, Execute):
            self.reports.append(Report(report.place, found))

    @rule(which=st.integers(0, 5), is_meant=st.integers(0, 4))
    def stop(self, which: int, is_meant: int) -> None:
        place = self._pick(which, lambda m: not m.stopping)
        if place is not None and is_meant == 0:
            cancel(self.stage.cast.alice.actor, self.runs[place], reason="stop")
            self.models[place].is_cancelled()

    @rule(which=st.integers(0, 5), acted=st.booleans())
    def tell(self, which: int, acted: bool) -> None:
        place = self._pick(which, lambda m: m.status == "unknown")
        if place is None:
            return
        (step,) = self.stage.steps(self.runs[place])
        actor = self.stage.cast.alice.actor
        if acted:
            reconcile(actor, step.id, succeeded=True, evidence="seen")
            self.models[place].status = "succeeded"
        else:
            with pytest.raises(TooEarlyToReconcile):
                reconcile(actor, step.id, succeeded=False, evidence="not seen")

    @invariant()
    def the_database_says_what_the_model_says(self) -> None:
        with tenant_transaction(self.stage.tenant_id):
            rows = {step.run_id: step for step in Step.objects.filter(run__in=self.runs).select_related("run")}
            open_attempts = set(
                Attempt.objects.filter(step__run__in=self.runs, outcome=None).values_list("step__run", "number")
            )
        for run, model in zip(self.runs, self.models, strict=True):
            step = rows[run]
            assert (step.status, step.token) == (model.status, model.token)
            assert (step.run.status == "cancelled") is model.is_over
            used, reserved = (Counters.model_validate_json(text) for text in (step.run.used, step.run.reserved))
            assert reserved.tool_calls == (model.status in {"held", "cleared"})
            assert used.tool_calls == (model.status in {"running", "succeeded", "failed", "unknown"})
        leases = {(run, m.token) for run, m in zip(self.runs, self.models, strict=True) if m.status == "running"}
        assert open_attempts <= leases

    @invariant()
    def no_call_is_made_twice(self) -> None:
        amounts = [amount for _, amount, _ in self.stage.world.paid]
        assert len(amounts) == len(set(amounts))

    def teardown(self) -> None:
        for run_id in self.runs:
            run = self.stage.run(run_id)
            links = [Link(e.seq, e.kind, e.actor, e.at, e.data, e.prev_hash, e.hash) for e in self.stage.events(run_id)]
            assert verify(run.tenant_id, run.id, links, run.head, run.event_seq).first_bad is None

    def _start(self, name: str) -> None:
        run = self.stage.outside(tools=("m_once",))
        call = self.stage.read() if name == "t_read" else self.stage.pay(str(next(self.amounts)), tool=name)
        self.stage.propose(run, call)
        self.runs.append(run)
        self.models.append(Model(name, "cleared" if name == "t_read" else "held"))

    def _pick(self, which: int, fits: Callable[[Model], bool]) -> int | None:
        places = [place for place, model in enumerate(self.models) if fits(model) and not model.is_over]
        return places[which % len(places)] if places else None

    def _take(self, place: int) -> None:
        found = advancing.begin("control", self.runs[place], uuid7())
        if self.models[place].status == "running":
            assert isinstance(found, Execute)
            assert (found.call.run_id, found.call.token) == (self.runs[place], self.models[place].token)
            self.reports.append(Report(place, found))


def test_the_operations_do_what_the_model_does() -> None:
    cast: Cast = new_cast()
    install_code_tools(cast.tenant.id, ("m_once",))
    Operations.stage = new_stage(cast)
    run_state_machine_as_test(
        Operations,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=25,
            deadline=None,
            derandomize="MODEL_EXAMPLES" not in os.environ,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
