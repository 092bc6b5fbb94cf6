"""A provider that fails in any way costs a pause and another try, up to a bound; a worker never sleeps for it."""

import json
import socket
import threading
import time
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from runs.models import WorkItem
from runs.operations import advancing
from runs.operations.cancelling import cancel
from runs.thinking import think
from tests.model_server import calling, model_serving, saying
from tests.planners.conftest import Thinking, asked_only
from tests.runs.threads import working
from tests.tools.server import Behaviour, answering, cutting, cutting_the_answer, dripping, endless, not_http, silent
from tools.kinds import http as http_kind

LIMITED = {"error": {"message": "Slow down.", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}
JSON = {"Content_Type": "application/json"}


def _json(body: Any, status: int = 200, **headers: str) -> Behaviour:
    return answering(status, body if isinstance(body, bytes) else json.dumps(body).encode(), **JSON, **headers)


FAULTS: dict[str, tuple[Behaviour, str, bool]] = {
    "429": (_json(LIMITED, 429), "http_429", False),
    "500": (_json({"error": {"message": "oops"}}, 500), "http_500", False),
    "529": (_json({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, 529), "http_529", False),
    "502 html": (answering(502, b"<html>", Content_Type="text/html"), "http_502", False),
    "cut off": (cutting, "unreachable", True),
    "no http": (not_http, "unreachable", True),
    "half an answer": (cutting_the_answer, "invalid_answer", True),
    "broken json": (_json(b'{"choices": [{"message": '), "invalid_answer", True),
    "not json": (answering(200, b"Hello", Content_Type="text/plain"), "invalid_answer", True),
    "another shape": (_json({"choices": []}), "invalid_answer", True),
    "a list": (_json([]), "invalid_answer", True),
    "null": (_json(b"null"), "invalid_answer", True),
    "binary": (_json(b"\xff\xfe\x00"), "invalid_answer", True),
}


@pytest.mark.parametrize("provider", ["compatible", "anthropic"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_typed_waited_out_and_tried_again(stage: Thinking, provider: str, fault: str) -> None:
    behaviour, code, charged = FAULTS[fault]
    with model_serving(behaviour, saying("Done.")) as server:
        run_id = stage.thinker(server, provider=provider)
        stage.work(run_id)
        (first,) = stage.calls(run_id)
        assert (first.outcome, first.detail.split(":")[0]) == ("failed", code)
        assert (first.input_tokens > 0) is charged
        assert stage.run(run_id).status == "planning"
        assert timezone.now() - timedelta(seconds=2) < stage.due(run_id) < timezone.now() + timedelta(seconds=2)
        stage.again(run_id)
    assert stage.run(run_id).answer == "Done."
    assert json.loads(stage.run(run_id).reserved)["tokens"] == 0


@pytest.mark.parametrize("asks", ["40", "date"])
def test_a_pause_that_the_provider_asks_for_is_kept_in_the_work_row(stage: Thinking, asks: str) -> None:
    header = asks if asks != "date" else (timezone.now() + timedelta(seconds=40)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    with model_serving(_json(LIMITED, 429, Retry_After=header), saying("Done.")) as server:
        run_id = stage.thinker(server)
        stage.work(run_id)
        due = stage.due(run_id) - timezone.now()
        assert timedelta(seconds=30) < due < timedelta(seconds=42)
        stage.is_due(run_id)
        stage.work(run_id)
        assert len(server.requests) == 1
        stage.again(run_id)
    assert stage.run(run_id).answer == "Done."


def test_a_pause_of_hours_is_not_waited_for(stage: Thinking) -> None:
    with model_serving(_json(LIMITED, 429, Retry_After="7200")) as server:
        run_id = stage.thinker(server)
        stage.work(run_id)
    run = stage.run(run_id)
    assert (run.status, run.terminal_reason) == ("failed", "planner_failed")
    assert "7200 s" in run.ended_because


def test_a_provider_that_is_always_broken_is_tried_six_times(stage: Thinking) -> None:
    with model_serving(_json({"error": {"message": "oops"}}, 500)) as server:
        run_id = stage.thinker(server)
        stage.work(run_id)
        pauses = []
        while stage.run(run_id).finished_at is None:
            pauses.append(round((stage.due(run_id) - timezone.now()).total_seconds()))
            stage.again(run_id)
        assert len(server.requests) == 6
    assert stage.run(run_id).terminal_reason == "planner_failed"
    assert pauses == sorted(pauses)
    assert pauses[-1] > 50


@pytest.mark.parametrize(("status", "said"), [(400, "bad"), (401, "no key"), (403, "never"), (404, "no such model")])
def test_what_will_never_work_is_not_tried_again(stage: Thinking, status: int, said: str) -> None:
    with model_serving(_json({"error": {"message": said, "code": "x"}}, status)) as server:
        run_id = stage.thinker(server)
        stage.work(run_id)
        assert len(server.requests) == 1
    run = stage.run(run_id)
    assert run.terminal_reason == "planner_failed"
    assert f"answered {status}. {said}" in run.ended_because
    assert stage.budget(run_id)[0].tokens == 0


@pytest.mark.parametrize("hang", [silent, dripping])
def test_a_server_that_hangs_is_left_after_its_time(stage: Thinking, hang: Behaviour) -> None:
    with model_serving(hang, saying("Done.")) as server:
        run_id = stage.thinker(server, seconds=1)
        stage.work(run_id)
        (call,) = stage.calls(run_id)
        assert call.detail.startswith("timeout")
        assert call.input_tokens == call.reserved_tokens
        assert server.server.hung_up.wait(5)
        stage.again(run_id)
    assert stage.run(run_id).answer == "Done."


def test_an_endless_answer_is_cut(stage: Thinking) -> None:
    with model_serving(endless, saying("Done.")) as server:
        run_id = stage.thinker(server)
        stage.work(run_id)
        assert stage.calls(run_id)[0].detail.startswith("invalid_answer")
        stage.again(run_id)
    assert stage.run(run_id).answer == "Done."


def test_a_private_address_is_refused_unless_the_operator_lists_it(stage: Thinking) -> None:
    with model_serving(saying("Done.")) as server:
        run_id = stage.thinker(server)
        stage.settings.AGENTOPS_ALLOWED_PRIVATE_HOSTS = ""
        stage.work(run_id)
        assert server.server.connections == 0
    assert stage.run(run_id).terminal_reason == "planner_failed"
    assert http_kind.private_hosts() == frozenset()
    (call,) = stage.calls(run_id)
    assert call.detail.startswith("egress_denied")


def test_a_redirect_to_another_host_is_not_followed(stage: Thinking) -> None:
    with model_serving(saying("Stolen.")) as other:
        away = answering(307, b"", Location=other.url + "/chat/completions")
        with model_serving(away) as server:
            run_id = stage.thinker(server)
            stage.work(run_id)
        assert other.server.connections == 0
    assert stage.calls(run_id)[0].outcome == "failed"


def test_a_cancelled_run_hangs_up_within_a_second(stage: Thinking) -> None:
    with model_serving(silent) as server:
        run_id = stage.thinker(server)
        with working(run_id):
            assert server.server.arrived.wait(60)
            began = time.monotonic()
            cancel(stage.cast.alice.actor, run_id)
            assert server.server.hung_up.wait(10)
            took = time.monotonic() - began
    run, (call,) = stage.run(run_id), stage.calls(run_id)
    assert run.status == "cancelled"
    assert call.outcome == "abandoned"
    assert stage.budget(run_id)[0].tokens == call.reserved_tokens
    assert json.loads(run.reserved)["tokens"] == 0
    assert took < 3
    assert "late_answer_refused" in stage.kinds(run_id)


def test_an_answer_after_the_cancellation_is_counted_for_what_it_took_and_not_used(stage: Thinking) -> None:
    gate = threading.Event()

    def late(connection: socket.socket, request: Any, stop: threading.Event) -> bool:
        gate.wait(20)
        return calling(("t_read", {"account": stage.account}))(connection, request, stop)

    with model_serving(late) as server:
        run_id = stage.thinker(server)
        asked = asked_only(run_id)
        answers: list[Any] = []
        worker = threading.Thread(target=lambda: answers.append(think(asked)))
        worker.start()
        assert server.server.arrived.wait(60)
        _cancelled_unheard(stage, run_id)
        gate.set()
        worker.join(20)
        advancing.resume(stage.tenant_id, run_id, asked.call_id, replied=(asked, answers[0]))
    run = stage.run(run_id)
    assert run.status == "cancelled"
    assert json.loads(run.used)["tokens"] == 120
    assert stage.steps(run_id) == []


def _cancelled_unheard(stage: Thinking, run_id: UUID) -> None:
    """Cancel, but the worker does not hear of it before its answer is there."""
    cancel(stage.cast.alice.actor, run_id)
    WorkItem.objects.filter(id=run_id).update(cancel_requested=False)
