"""The two machines under any sequence of events: what is over stays over, and what ran was cleared before."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from runs.domain import run as run_machine
from runs.domain import step as step_machine
from runs.domain.errors import IllegalTransition
from runs.domain.run import RunEvent, RunStatus, event_of, status_of
from runs.domain.step import StepEvent, StepStatus

S, E = StepStatus, StepEvent
MOST_STEPS = 4


class Machine(RuleBasedStateMachine):
    """One run of a few steps; every event may be tried on every step at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[list[StepStatus]] = []
        self.run = RunStatus.PLANNING

    @rule()
    @precondition(lambda self: len(self.steps) < MOST_STEPS)
    def propose(self) -> None:
        self.steps.append([S.PROPOSED])

    @rule(which=st.integers(0, MOST_STEPS - 1), event=st.sampled_from(StepEvent))
    @precondition(lambda self: self.steps)
    def happen(self, which: int, event: StepEvent) -> None:
        passed = self.steps[which % len(self.steps)]
        sources, target = step_machine.TRANSITIONS[event]
        if passed[-1] in sources:
            passed.append(step_machine.after(passed[-1], event))
            assert passed[-1] is target
            assert (passed[-2].value, passed[-1].value) in step_machine.hops()
        else:
            with pytest.raises(IllegalTransition):
                step_machine.after(passed[-1], event)

    @rule(event=st.sampled_from(RunEvent))
    def happen_to_the_run(self, event: RunEvent) -> None:
        if self.run in run_machine.FINAL:
            with pytest.raises(IllegalTransition):
                run_machine.after(self.run, event)
        elif event.value != self.run.value:
            self.run = run_machine.after(self.run, event)
            assert self.run.value == event.value

    @invariant()
    def nothing_leaves_its_end(self) -> None:
        assert not any(status in step_machine.FINAL for passed in self.steps for status in passed[:-1])

    @invariant()
    def nothing_ran_that_was_not_cleared(self) -> None:
        for passed in self.steps:
            assert all(_came_from(passed, S.RUNNING, {S.CLEARED, S.RUNNING}))
            assert all(_came_from(passed, S.UNKNOWN, {S.RUNNING}))
            assert all(_came_from(passed, S.FAILED, {S.RUNNING, S.UNKNOWN}))
            assert all(_came_from(passed, S.SUCCEEDED, {S.RUNNING, S.UNKNOWN, S.PROPOSED}))

    @invariant()
    def what_people_refused_never_ran(self) -> None:
        for passed in self.steps:
            if passed[-1] in {S.REJECTED, S.EXPIRED, S.ANSWERED}:
                assert passed[-2] is S.HELD

    @invariant()
    def the_run_is_what_its_steps_make_it(self) -> None:
        now = [passed[-1] for passed in self.steps]
        status = status_of(now)
        assert status in run_machine.OPEN
        assert (status is RunStatus.EXECUTING) is bool({S.CLEARED, S.RUNNING} & set(now))
        assert (status is RunStatus.PLANNING) is all(s in step_machine.FINAL for s in now)


def test_the_machines_hold_under_any_sequence_of_events() -> None:
    run_state_machine_as_test(Machine)


@given(st.sampled_from(run_machine.TerminalReason))
def test_every_reason_ends_a_run(reason: run_machine.TerminalReason) -> None:
    for status in run_machine.OPEN:
        assert run_machine.after(status, event_of(reason)) in run_machine.FINAL


def _came_from(passed: Sequence[StepStatus], status: StepStatus, sources: set[StepStatus]) -> list[bool]:
    return [before in sources for before, after in pairwise(passed) if after is status]
