"""Lines of the log name the run and the step that they are about, in web and worker."""

import json
import logging
from collections.abc import Iterator
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.test import Client
from structlog.stdlib import ProcessorFormatter

from runs.domain.step import StepStatus
from tests.runs.scenario import Stage


@pytest.fixture
def log() -> Iterator[StringIO]:
    """What goes to standard error, as a collector of logs reads it."""
    (handler,) = [h for h in logging.getLogger().handlers if isinstance(h.formatter, ProcessorFormatter)]
    assert isinstance(handler, logging.StreamHandler)
    written = StringIO()
    before = handler.setStream(written)
    yield written
    handler.setStream(before)


def line(log: StringIO, words: str) -> dict[str, Any]:
    """The only line with these words."""
    (found,) = [text for text in log.getvalue().splitlines() if words in text]
    read: dict[str, Any] = json.loads(found)
    return read


def test_a_worker_s_line_about_a_call_names_run_and_step(stage: Stage, log: StringIO) -> None:
    stage.world.fail_next = ZeroDivisionError("The tool is broken.")
    run_id = stage.outside()
    (step,) = stage.propose(run_id, stage.pay())
    stage.approve(run_id)
    stage.work(run_id)
    assert stage.statuses(run_id) == [StepStatus.UNKNOWN.value]
    found = line(log, "unhandled error")
    assert (found["run_id"], found["step_id"]) == (str(run_id), str(step.id))


def test_a_worker_s_line_about_a_run_names_it(stage: Stage, superuser: psycopg.Connection[Any], log: StringIO) -> None:
    run_id = stage.start(stage.agent("payer", [{"tool": "t_read", "args": {"account": stage.account}}]))
    superuser.execute("UPDATE runs_run SET planner_state = 'broken' WHERE id = %s", [run_id])
    stage.work(run_id)
    found = line(log, "could not be taken further")
    assert found["run_id"] == str(run_id)
    assert "step_id" not in found


def test_the_web_s_line_about_a_request_names_the_row_of_its_address(
    stage: Stage, superuser: psycopg.Connection[Any], log: StringIO
) -> None:
    run_id = stage.outside()
    superuser.execute("UPDATE runs_run SET limits = '5' WHERE id = %s", [run_id])
    key = {"Authorization": f"Bearer {stage.cast.service.raw_key}"}
    assert Client().get(f"/api/v1/runs/{run_id}", headers=key).status_code == 500
    assert line(log, "A REST call failed")["run_id"] == str(run_id)
