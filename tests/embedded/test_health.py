"""Health: what is asked, what is answered, and what is never started."""

from collections.abc import Iterator

import pytest
from django.db import connections
from django.test import Client

from agentops.embedded import tasks
from agentops.health import unsafe_role
from tools.sandbox import enclosure, level


@pytest.fixture
def pulse() -> Iterator[None]:
    # Runs that other tests left due have no worker here: they would count as overdue.
    _execute("UPDATE runs_work_item SET due_at = NULL")
    values = "('control', now()), ('beat', now())"
    _execute(f"INSERT INTO embedded_pulse VALUES {values} ON CONFLICT (queue) DO UPDATE SET at = now()")
    yield
    _execute("DELETE FROM embedded_pulse")


def _execute(statement: str) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(statement)


def test_a_living_web_process_answers_healthz() -> None:
    assert Client().get("/healthz").status_code == 200


def test_readiness_names_the_worker_that_never_answered() -> None:
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["worker"] == "no worker has answered"
    assert answer.json()["database"] == answer.json()["broker"] == "ok"


def test_readiness_is_green_when_a_worker_was_seen(pulse: None) -> None:
    assert Client().get("/readyz").json()["ready"] is True


def test_a_worker_that_fell_silent_turns_readiness_red(pulse: None) -> None:
    _execute("UPDATE embedded_pulse SET at = now() - interval '5 minutes' WHERE queue = 'control'")
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["worker"]) == (503, "silent for 300 s")
    assert answer.json()["beat"] == "ok"


def test_a_missing_beat_is_named_and_no_worker_is_blamed_for_it(pulse: None) -> None:
    _execute("UPDATE embedded_pulse SET at = now() - interval '5 minutes'")
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["beat"]) == (503, "silent for 300 s")
    assert answer.json()["worker"] == "ok"
    _execute("DELETE FROM embedded_pulse WHERE queue = 'beat'")
    assert Client().get("/readyz").json()["beat"] == "has never ticked"


def test_readiness_says_what_commands_have_where_they_run(pulse: None, bubblewrap: None) -> None:
    assert Client().get("/readyz").json()["sandbox"] == "no worker has said"
    tasks.pulse("sandbox")
    assert Client().get("/readyz").json()["sandbox"] == "level 3"


def test_a_machine_without_a_sandbox_is_ready_and_says_what_to_install(
    pulse: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(enclosure.ENVIRONMENT, "PATH", "/nowhere")
    level._isolated.cache_clear()
    tasks.pulse("sandbox")
    found = Client().get("/readyz").json()
    assert found["ready"] is True
    assert found["sandbox"].startswith("none, so no command runs. ")
    assert "apt install" in found["sandbox"]


def test_the_plain_role_may_serve() -> None:
    assert unsafe_role() == ""


def test_the_owner_may_not_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentops.health.connection", connections["owner"])
    assert unsafe_role() == "The database role of DATABASE_URL owns tables."


def test_health_never_changes_anything() -> None:
    assert Client().post("/healthz").status_code == 405
    assert Client().post("/readyz").status_code == 405
