"""What Prometheus reads: the database's own counts, for whoever has the token, and a dashboard of real names."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connections
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from agentops import metrics
from agentops.telemetry.prometheus import families
from runs import figures
from runs.figures import Counted, Figures, Tally
from runs.operations.cancelling import cancel
from tests.cast import Cast
from tests.runs.scenario import Stage, new_stage

DASHBOARD = Path(__file__).parents[2] / "docs" / "grafana" / "agentops.json"
TOKEN = "a-token-of-the-tests"

type Samples = dict[tuple[str, ...], float]


@pytest.fixture
def stage(cast: Cast) -> Stage:
    return new_stage(cast)


@pytest.fixture
def opened(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.AGENTOPS_METRICS_TOKEN = TOKEN
    monkeypatch.setattr(metrics, "KEPT_SECONDS", 0)


def read() -> Samples:
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    found = text_string_to_metric_families(answer.content.decode())
    return {(s.name, *s.labels.values()): s.value for family in found for s in family.samples}


def test_without_a_token_there_is_no_such_page(settings: Any) -> None:
    settings.AGENTOPS_METRICS_TOKEN = ""
    assert Client().get("/metrics").status_code == 404


@pytest.mark.parametrize("given", ["", "Bearer ", "Bearer wrong", TOKEN])
def test_without_the_token_it_stays_closed(opened: None, given: str) -> None:
    answer = Client().get("/metrics", headers={"Authorization": given})
    assert (answer.status_code, answer.content) == (401, b"")


def test_what_happened_between_two_visits_is_the_difference_of_their_figures(stage: Stage, opened: None) -> None:
    before = read()
    paid, failed = stage.outside(), stage.outside(budget={"steps": 1})
    stage.propose(paid, stage.read())
    stage.work(paid)
    stage.propose(paid, stage.pay())
    stage.approve(paid)
    stage.work(paid)
    stage.propose(paid, stage.pay("6"))
    cancel(stage.cast.alice.actor, paid)
    stage.propose(failed, stage.read(again=1))
    stage.work(failed)
    stage.propose(failed, stage.read(again=2))
    waiting = stage.outside()
    stage.propose(waiting, stage.pay("7"))
    after = read()
    grown = {key: after[key] - before.get(key, 0) for key in after if after[key] != before.get(key, 0)}
    exact = {key: value for key, value in grown.items() if not key[0].endswith(("_sum", "_seconds", "_bucket"))}
    assert exact == {
        ("agentops_runs_open", "awaiting_approval"): 1,
        ("agentops_approvals_pending", "destructive"): 1,
        ("agentops_runs_ended_total", "cancelled", "cancelled_by_user"): 1,
        ("agentops_runs_ended_total", "exhausted", "step_budget"): 1,
        ("agentops_budget_exhaustions_total", "step"): 1,
        ("agentops_steps_settled_total", "succeeded", "read"): 2,
        ("agentops_steps_settled_total", "succeeded", "destructive"): 1,
        ("agentops_steps_settled_total", "withdrawn", "destructive"): 1,
        ("agentops_tool_call_seconds_count", "python", "read"): 2,
        ("agentops_tool_call_seconds_count", "python", "destructive"): 1,
        ("agentops_decision_seconds_count", "approved", "destructive"): 1,
        ("agentops_decision_seconds_count", "withdrawn", "destructive"): 1,
    }
    assert after["agentops_approvals_oldest_seconds", "destructive"] > 0


def test_every_figure_equals_the_count_of_the_rows(
    stage: Stage, opened: None, superuser: psycopg.Connection[Any]
) -> None:
    cancel(stage.cast.alice.actor, stage.outside())
    found = read()
    counts = {
        "agentops_runs_ended_total": "status, terminal_reason FROM runs_run WHERE finished_at IS NOT NULL",
        "agentops_steps_settled_total": "status, risk FROM runs_step WHERE settled_at IS NOT NULL",
        "agentops_decision_seconds_count": "status, risk FROM approvals_approvalrequest WHERE status <> 'pending'",
    }
    for name, sql in counts.items():
        rows: list[Any] = superuser.execute(f"SELECT count(*), {sql} GROUP BY 2, 3").fetchall()
        shown = {key[1:]: value for key, value in found.items() if key[0] == name and value}
        assert shown == {tuple(words): number for number, *words in rows}


def test_a_process_that_looked_before_and_one_that_did_not_tell_the_same(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "LATEST_COMMIT", timedelta(0))
    old = Counted()
    for _ in range(3):
        run_id = stage.outside()
        stage.propose(run_id, stage.read())
        stage.work(run_id)
        cancel(stage.cast.alice.actor, run_id)
        old.look()
    assert old.look().ended.number == Counted().look().ended.number


def test_a_look_counts_only_what_is_new(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "LATEST_COMMIT", timedelta(0))
    counting = Counted()
    counting.look()
    with connections["default"].execute_wrapper(plans := Statements()):
        counting.look()
    assert any("touched" in sql for sql in plans.seen)
    assert not any("AND true" in sql for sql in plans.seen)


def test_work_that_nobody_takes_is_seen_in_its_queue(stage: Stage, opened: None) -> None:
    before = read()["agentops_queue_depth", "control"]
    slug = stage.agent("payer", [{"tool": "t_read", "args": {"account": stage.account}}])
    run_id = stage.start(slug)
    after = read()
    assert after["agentops_queue_depth", "control"] == before + 1
    assert after["agentops_queue_oldest_seconds", "control"] > 0
    stage.work(run_id)


def test_no_tenant_and_no_tool_is_named(stage: Stage, opened: None) -> None:
    run_id = stage.outside()
    stage.propose(run_id, stage.read())
    stage.work(run_id)
    page = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).content.decode()
    for name in (stage.cast.tenant.slug, str(stage.tenant_id), "t_read", "outside", "alice"):
        assert name not in page


def test_visitors_at_the_same_moment_cost_one_look(stage: Stage, settings: Any) -> None:
    settings.AGENTOPS_METRICS_TOKEN = TOKEN
    read()
    with connections["default"].execute_wrapper(seen := Statements()):
        read()
    assert seen.seen == []


def test_the_dashboard_names_metrics_that_exist() -> None:
    whole = Tally()
    whole.number["call", "http", "read", 0] = whole.number["decision", "approved", "write", 0] = 1
    exist = {s.name for family in families(Figures({}, {}, whole)) for s in family.samples}
    board = json.loads(DASHBOARD.read_text())
    shown = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    named = {name for expr in shown for name in re.findall(r"agentops_[a-z_]+", expr)}
    assert len(shown) >= 8
    assert named <= exist | {"agentops_steps_settled_total"}
    assert {name for name in exist if not name.endswith(("_sum", "_count", "_created"))} <= named


class Statements:
    """What was asked of a connection."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.seen.append(sql)
        return execute(sql, params, many, context)
