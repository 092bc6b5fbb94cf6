"""A run's events as a stream over a real socket: taken up where it broke off, and ended with the run."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2

from tests.cast import Cast
from tests.runs.scenario import new_stage
from tests.served import Served

SOON = 20.0


def test_a_stream_goes_on_after_the_last_event_that_was_seen(cast: Cast, served: Served) -> None:
    stage = new_stage(cast)
    headers = {"Authorization": f"Bearer {cast.service.raw_key}"}
    with httpx2.Client(base_url=f"{served.url}/api/v1", headers=headers, timeout=SOON) as program:
        run_id = program.post("/runs", json={"agent": stage.external(), "task": "x"}).json()["id"]
        path = f"/runs/{run_id}/events"
        with program.stream("GET", path, headers={"Accept": "text/event-stream"}) as answer:
            assert answer.headers["Content-Type"] == "text/event-stream"
            first = next(_events(answer))
        with program.stream(
            "GET", path, headers={"Accept": "text/event-stream", "Last-Event-ID": first["id"]}
        ) as answer:
            following = _events(answer)
            done = {"proposals": [{"kind": "finish", "answer": "done"}]}
            assert program.post(f"/runs/{run_id}/proposals", json=done).status_code == 201
            rest = list(following)
        rows = program.get(path).json()["results"]
    assert [json.loads(event["data"]) for event in (first, *rest)] == rows
    assert [event["event"] for event in (first, *rest)] == [row["kind"] for row in rows]
    assert rows[-1]["kind"].startswith("run.")


def test_another_tenants_stream_is_not_there(cast: Cast, served: Served) -> None:
    stage = new_stage(cast)
    run_id = stage.start(stage.external())
    headers = {"Authorization": f"Bearer {cast.other_service.raw_key}", "Accept": "text/event-stream"}
    answer = httpx2.get(f"{served.url}/api/v1/runs/{run_id}/events", headers=headers, timeout=SOON)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def _events(answer: Any) -> Iterator[dict[str, str]]:
    event: dict[str, str] = {}
    for line in answer.iter_lines():
        if line:
            name, _, value = line.partition(": ")
            event[name] = value
        elif event:
            yield event
            event = {}
