"""What a stranger does with curl and the keys of demo.json, against `manage.py up`."""

from decimal import Decimal

from tests.stories.office import Office


def test_an_invoice_is_paid_once_after_somebody_else_than_the_requester_approved(office: Office) -> None:
    run = office.start("INV-1001").json()["id"]
    asked = office.asked(run)
    assert asked["args"]["amount"] == office.ledger.get("/invoices/INV-1001").json()["amount"]
    assert (asked["tool"], asked["can_decide"], asked["status"]) == ("payment_create", True, "pending")
    origins = {row["path"]: row["found"] for row in asked["provenance"]}
    assert [place["source"] for place in origins["/invoice_id"]][:2] == ["input", "observation"]
    (place,) = [place for place in origins["/account"] if place["tool"] == "invoice_read"]
    assert (place["match"], place["text"], place["trust"]) == ("same", asked["args"]["account"], "untrusted")
    amount = {"amount": asked["args"]["amount"], "currency": "EUR"}
    budget = office.run(run)["budget"]
    assert (budget["reserved"]["money"], budget["limit"]["money"]["amount"]) == (amount, "50000")

    assert office.mallory.get(f"/approvals/{asked['id']}").status_code == 404
    assert office.mallory.get(f"/runs/{run}").status_code == 404
    assert office.approve(asked, office.mallory).status_code == 404
    assert office.approve(asked, office.service).json()["code"] == "people_only"
    forged = office.approve(asked | {"digest": "0" * 64})
    assert (forged.status_code, forged.json()["code"]) == (409, "digest_mismatch")
    assert office.payments("INV-1001") == []

    assert office.approve(asked).status_code == 201
    second = office.approve(asked)
    assert (second.status_code, second.json()["code"]) == (409, "already_decided")
    assert "bob" in second.text
    assert office.finish(run)["terminal_reason"] == "completed"
    budget = office.run(run)["budget"]
    assert budget["used"]["money"] == amount
    assert Decimal(budget["reserved"]["money"]["amount"]) == 0
    (payment,) = office.payments("INV-1001")
    assert payment["idempotency_key"] == office.step(run, "payment_create")["idempotency_key"]
    assert [step["status"] for step in office.steps(run)] == ["succeeded"] * 4


def test_the_one_who_asked_cannot_approve(office: Office) -> None:
    (waiting,) = [row for row in office.alice.get("/approvals").json()["results"] if "INV-0901" in str(row["args"])]
    answer = office.approve(waiting, office.alice)
    assert (answer.status_code, answer.json()["code"]) == (403, "self_approval")
    assert waiting["can_decide"] is False


def test_the_same_start_twice_is_one_run_and_another_body_is_refused(office: Office) -> None:
    first, again = office.start("INV-1002", key="once"), office.start("INV-1002", key="once")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    other = office.start("INV-1003", key="once")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")


def test_a_cancelled_run_pays_nothing_and_stays_cancelled(office: Office) -> None:
    run = office.start("INV-1004").json()["id"]
    asked = office.asked(run)
    assert office.service.post(f"/runs/{run}/cancel", json={"reason": "Not this one."}).status_code == 202
    assert office.ended(run)["terminal_reason"] == "cancelled_by_user"
    late = office.approve(asked)
    assert (late.status_code, late.json()["code"]) == (409, "already_decided")
    assert office.service.post(f"/runs/{run}/cancel", json={"reason": ""}).json()["code"] == "run_finished"
    assert office.payments("INV-1004") == []


def test_a_call_under_way_is_stopped_by_cancelling(office: Office) -> None:
    body = {"agent": "demo-external", "task": "Wait"}
    run = office.service.post("/runs", json=body).json()["id"]
    office.propose(run, {"kind": "tool", "tool": "slow_read", "args": {"seconds": 20}})
    assert office.service.post(f"/runs/{run}/cancel", json={"reason": "Enough."}).status_code == 202
    assert office.ended(run, 10)["status"] == "cancelled"


def test_the_events_of_a_run_come_as_json_and_as_a_stream(office: Office) -> None:
    run = office.start("INV-1005").json()["id"]
    office.asked(run)
    events = office.service.get(f"/runs/{run}/events").json()["results"]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    wanted = {"Accept": "text/event-stream", "Last-Event-ID": "1"}
    with office.service.stream("GET", f"/runs/{run}/events", headers=wanted) as stream:
        first = next(line for line in stream.iter_lines() if line.startswith("id:"))
    assert first.split(":")[1].strip() == "2"
