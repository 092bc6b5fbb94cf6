"""What a collector is told of a run: its spans, their order, and nothing that it should not know."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from agentops.env import env
from agentops.telemetry.traces import traces
from agentops.tenancy.ids import uuid7
from runs import tracing
from runs.domain.model_call import ModelCall
from runs.domain.planning import ToolProposal
from runs.ledger import opened_run
from runs.operations.cancelling import cancel
from tests.collector import Collector, Seen, tree
from tests.runs.scenario import Stage
from tools.domain.outcome import ToolError

SECRET = "sk_live_5f4dcc3b5aa765d61d8327deb882cf99"
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector that this process tells."""
    made = Collector()
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    traces.start()
    yield made
    traces.finish()
    made.close()


def spans_of(stage: Stage, collector: Collector, run_id: UUID) -> list[Seen]:
    return collector.trace(tracing.trace_id(stage.run(run_id)))


def named(spans: list[Seen], start: str) -> Seen:
    (found,) = [span for span in spans if span.name.startswith(start)]
    return found


def test_a_run_with_an_approval_is_one_tree(stage: Stage, collector: Collector) -> None:
    pay = {"tool": "t_pay_plain", "args": {"account": stage.account, "amount": "5"}}
    run_id = stage.start(stage.agent("payer", [{"tool": "t_read", "args": {"account": stage.account}}, pay]))
    stage.work(run_id)
    stage.approve(run_id)
    stage.work(run_id)
    spans = spans_of(stage, collector, run_id)
    assert tree(spans) == (
        "invoke_agent payer agentops.terminal_reason=completed\n"
        "  execute_tool t_read agentops.outcome=succeeded\n"
        "  wait_for_approval t_pay_plain agentops.approval.outcome=approved\n"
        "  execute_tool t_pay_plain agentops.outcome=succeeded"
    )
    paid, wait = named(spans, "execute_tool t_pay"), named(spans, "wait_for_approval")
    assert paid.links == (wait.id,)
    assert not any(span.failed for span in spans)


def test_the_times_of_spans_are_those_of_the_database(stage: Stage, collector: Collector) -> None:
    run_id = stage.outside()
    stage.propose(run_id, stage.pay())
    stage.approve(run_id)
    stage.work(run_id)
    cancel(stage.cast.alice.actor, run_id)
    (request,), run = stage.requests(run_id), stage.run(run_id)
    spans = spans_of(stage, collector, run_id)
    wait, whole = named(spans, "wait_for_approval"), spans[0]
    assert request.decided_at is not None
    assert run.finished_at is not None
    assert (wait.start, wait.end) == tuple(_nanoseconds(at) for at in (request.opened_at, request.decided_at))
    assert (whole.start, whole.end) == tuple(_nanoseconds(at) for at in (run.created_at, run.finished_at))


def test_the_run_says_who_acted_what_it_cost_and_how_it_ended(stage: Stage, collector: Collector) -> None:
    run_id = stage.outside(budget={"steps": 1, "money": {"amount": "9.50", "currency": "EUR"}})
    stage.propose(run_id, stage.read())
    stage.work(run_id)
    stage.propose(run_id, stage.read(again=1))
    spans = spans_of(stage, collector, run_id)
    run = spans[0]
    wanted: dict[str, Any] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "outside",
        "gen_ai.agent.version": "1",
        "agentops.run.id": str(run_id),
        "agentops.planner": "external",
        "agentops.terminal_reason": "step_budget",
        "agentops.budget.steps.limit": 1,
        "agentops.budget.steps.used": 1,
        "agentops.budget.money.limit": "9.50 EUR",
        "error.type": "step_budget",
    }
    assert wanted.items() <= run.attributes.items()
    assert run.failed
    call = named(spans, "execute_tool").attributes
    told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t_read", "agentops.tool.kind": "python"}
    assert told.items() <= call.items()
    assert call["gen_ai.tool.call.id"] == str(stage.steps(run_id)[0].id)


def test_calls_that_fail_and_proposals_that_are_refused_say_which_code(stage: Stage, collector: Collector) -> None:
    run_id = stage.outside()
    stage.world.fail_next = ToolError(f"It broke at {SECRET}.", SECRET)
    stage.propose(run_id, stage.pay())
    stage.approve(run_id)
    stage.work(run_id)
    stage.propose(run_id, ToolProposal(f"rm {SECRET}", {}))
    stage.propose(run_id, stage.pay(again=1))
    stage.reject(run_id)
    cancel(stage.cast.alice.actor, run_id, reason=SECRET)
    assert tree(spans_of(stage, collector, run_id)) == (
        "invoke_agent outside agentops.terminal_reason=cancelled_by_user error.type=cancelled_by_user\n"
        "  wait_for_approval t_pay_plain agentops.approval.outcome=approved\n"
        "  execute_tool t_pay_plain agentops.outcome=failed error.type=error\n"
        "  execute_tool agentops.outcome=refused error.type=tool_denied\n"
        "  wait_for_approval t_pay_plain agentops.approval.outcome=rejected"
    )
    assert SECRET.encode() not in collector.raw


def test_a_model_s_call_is_told_with_its_usage(stage: Stage, collector: Collector) -> None:
    run_id = stage.outside()
    with opened_run(stage.tenant_id, run_id) as book:
        began = book.now - timedelta(seconds=2)
        asked = ModelCall(uuid7(), "openai", "gpt-5", began, book.now, input_tokens=7, output_tokens=3)
        book.model_calls.append(asked)
    cancel(stage.cast.alice.actor, run_id)
    call = named(spans_of(stage, collector, run_id), "chat gpt-5")
    used = {"gen_ai.provider.name": "openai", "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 3}
    assert used.items() <= call.attributes.items()
    assert call.end - call.start == 2_000_000_000


def test_no_argument_result_or_secret_is_in_any_span(stage: Stage, collector: Collector) -> None:
    run_id = stage.outside(given={"token": SECRET})
    note = ToolProposal("t_note", {"text": f"Meet {stage.account}", "meta": {"password": SECRET}}, why=SECRET)
    stage.propose(run_id, note)
    if stage.statuses(run_id) == ["held"]:
        stage.approve(run_id)
    stage.work(run_id)
    cancel(stage.cast.alice.actor, run_id)
    spans_of(stage, collector, run_id)
    for text in (SECRET, stage.account, "Meet", "alice", "bob"):
        assert text.encode() not in collector.raw, text


def test_content_that_was_asked_for_is_masked_as_events_are(
    stage: Stage, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.tracing.env", lambda: env().model_copy(update={"agentops_trace_content": True}))
    run_id = stage.outside()
    stage.propose(run_id, ToolProposal("t_note", {"text": "Meet at noon", "meta": {"password": SECRET}}))
    if stage.statuses(run_id) == ["held"]:
        stage.approve(run_id)
    stage.work(run_id)
    cancel(stage.cast.alice.actor, run_id)
    call = named(spans_of(stage, collector, run_id), "execute_tool").attributes
    assert "Meet at noon" in call["gen_ai.tool.call.arguments"]
    assert call["gen_ai.tool.call.result"]
    assert SECRET.encode() not in collector.raw


def test_a_caller_s_trace_goes_on(stage: Stage, collector: Collector) -> None:
    run_id = stage.outside(traceparent=PARENT)
    cancel(stage.cast.alice.actor, run_id)
    (run,) = spans_of(stage, collector, run_id)
    assert (run.trace, run.parent) == (PARENT.split("-")[1], PARENT.split("-")[2])


def test_a_caller_that_wants_no_record_gets_none(stage: Stage, collector: Collector) -> None:
    silent, told = stage.outside(traceparent=PARENT[:-1] + "0"), stage.outside()
    for run_id in (silent, told):
        cancel(stage.cast.alice.actor, run_id)
    spans_of(stage, collector, told)
    assert {span.attributes["agentops.run.id"] for span in collector.spans} == {str(told)}


def test_a_tool_is_given_the_span_of_its_call(stage: Stage, collector: Collector) -> None:
    run_id = stage.outside(traceparent=PARENT)
    stage.propose(run_id, stage.read())
    stage.work(run_id)
    cancel(stage.cast.alice.actor, run_id)
    call = named(spans_of(stage, collector, run_id), "execute_tool")
    assert stage.world.traceparents == [f"00-{call.trace}-{call.id}-01"]


def test_a_caller_s_trace_reaches_the_tools_where_nothing_is_exported(stage: Stage) -> None:
    for given in (PARENT, ""):
        run_id = stage.outside(traceparent=given)
        stage.propose(run_id, stage.read())
        stage.work(run_id)
    assert stage.world.traceparents == [PARENT, ""]


@pytest.mark.parametrize("header", ["", "00-" + "0" * 32 + "-00f067aa0ba902b7-01", PARENT + "-more", PARENT.upper()])
def test_a_header_that_is_none_starts_a_trace_of_its_own(stage: Stage, header: str) -> None:
    run = stage.run(stage.outside(traceparent=header))
    assert run.traceparent == ""
    assert len(tracing.trace_id(run)) == 32


def test_without_a_collector_nothing_of_opentelemetry_is_loaded() -> None:
    code = (
        "import django, sys; django.setup();"
        "import agentops.asgi, agentops.celery, runs.execution, runs.tasks, runs.tracing;"
        "from agentops.telemetry.traces import traces;"
        "assert not traces.are_on;"
        "print([n for n in sys.modules if n.startswith(('opentelemetry.sdk', 'opentelemetry.exporter', 'requests',"
        " 'prometheus_client'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          env={**os.environ, "DJANGO_SETTINGS_MODULE": "agentops.settings"})  # fmt: skip
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("more", [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}])
def test_a_collector_that_is_switched_off_is_told_nothing(
    more: dict[str, str], collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    traces.finish()
    for name, value in more.items():
        monkeypatch.setenv(name, value)
    traces.start()
    assert not traces.are_on
    assert collector.spans == []


def _nanoseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1e6) * 1000
