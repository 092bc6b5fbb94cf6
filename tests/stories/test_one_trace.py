"""What a collector of traces sees of a run that waited for a person, sent by web and worker of `manage.py up`."""

from pathlib import Path

from tests.collector import Collector, Seen, tree
from tests.stories.office import Office

INVOICE = "INV-1013"
DOCUMENT = Path(__file__).parents[2] / "docs" / "telemetry.md"
CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_a_run_with_an_approval_is_one_trace_across_web_and_worker(office: Office, collector: Collector) -> None:
    run = office.start(INVOICE).json()["id"]
    assert office.approve(office.asked(run, "payment_create")).status_code == 201
    office.finish(run)
    spans = collector.trace(office.run(run)["trace_id"])
    assert tree(spans) in DOCUMENT.read_text(), tree(spans)
    assert _processes(spans, "wait_for_approval").isdisjoint(_processes(spans, "execute_tool"))
    assert all(span.start >= spans[0].start and span.end <= spans[0].end for span in spans)
    for text in (INVOICE, "Pay invoice", "bob@", office.demo["api_key"]):
        assert text.encode() not in collector.raw


def test_the_trace_of_a_caller_goes_on_in_ours(office: Office, collector: Collector) -> None:
    body = {"agent": "demo-external", "task": "Wait"}
    run = office.service.post("/runs", json=body, headers={"traceparent": CALLER}).json()
    office.propose(run["id"], {"kind": "finish", "answer": "Nothing to do."})
    (span,) = collector.trace(run["trace_id"])
    assert [span.trace, span.parent] == CALLER.split("-")[1:3]
    assert span.attributes["agentops.run.id"] == run["id"]


def _processes(spans: list[Seen], start: str) -> set[str]:
    return {span.process for span in spans if span.name.startswith(start)}
