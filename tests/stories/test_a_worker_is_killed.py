"""A worker dies with -9 while a payment and a read are on their way, and another takes its work up."""

import json

import psycopg
import pytest
from agentops_client import AgentOps, UnknownOutcome

from agentops.embedded.postgres import SUPERUSER, Server
from tests.stories.bank import Bank
from tests.stories.office import Office
from tests.up import Up, until


def test_after_kill_9_a_payment_on_its_way_is_unknown_and_a_read_is_made_again(
    up: Up, office: Office, bank: Bank
) -> None:
    office.employ(bank, "bank_pay", "POST", "destructive", timeout_ms=2500)
    office.employ(bank, "bank_read", "GET", "read", timeout_ms=2500)
    paying = office.call("bank_pay", 1)
    asked = office.asked(paying)
    bank.hold()
    reading = office.call("bank_read", 1)
    assert office.approve(asked).status_code == 201
    bank.wait_for("GET /bank_read/1")
    bank.wait_for("POST /bank_pay/1")
    up.part("worker").kill()
    bank.let_go()

    until(lambda: office.step(reading, "bank_read")["status"] == "succeeded")
    until(lambda: office.step(paying, "bank_pay")["status"] == "unknown")
    assert [attempt["outcome"] for attempt in office.step(reading, "bank_read")["attempts"]] == ["lost", "succeeded"]
    assert bank.seen.count("GET /bank_read/1") == 2
    assert office.run(paying)["status"] == "observing"
    again = "Nobody knows yet whether bank_pay was done. Do not repeat it"
    with AgentOps(office.url, office.demo["api_key"]) as server, pytest.raises(UnknownOutcome, match=f"^{again}"):
        server.attach(paying).call("bank_pay", {"n": 1})

    evidence = {"outcome": "succeeded", "evidence": "It is on the bank's statement.", "result": {"ok": True}}
    step = office.step(paying, "bank_pay")["id"]
    assert office.service.post(f"/steps/{step}/reconcile", json=evidence).is_success
    office.propose(paying, {"kind": "finish", "answer": "Paid."})
    assert office.ended(paying)["status"] == "succeeded"
    assert bank.seen.count("POST /bank_pay/1") == 1


def test_after_kill_9_a_model_is_asked_again_and_the_lost_request_is_charged_once(
    up: Up, office: Office, bank: Bank
) -> None:
    message = {"message": {"role": "assistant", "content": "Done."}, "index": 0, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [message], "usage": usage}
    bank.answers["/v1/chat/completions"] = json.dumps(whole).encode()
    model = {"provider": "compatible", "name": "m", "base_url": f"http://{bank.host}/v1"}
    agent = {"slug": "thinker", "name": "Thinker", "planner": "model", "tools": [], "model": model}
    assert office.service.post("/agents", json=agent).status_code == 201
    bank.hold()
    run = office.service.post("/runs", json={"agent": "thinker", "task": "Try"}).json()["id"]
    bank.wait_for("POST /v1/chat/completions")
    reserved = office.run(run)["budget"]["reserved"]["tokens"]
    worker = up.part("worker")
    worker.kill()
    worker.wait(20)
    bank.let_go()
    _lease_of_the_model_ends(up, run)

    ended = office.ended(run)
    assert (ended["status"], ended["answer"]) == ("succeeded", "Done.")
    assert bank.seen.count("POST /v1/chat/completions") == 2
    assert (ended["budget"]["used"]["tokens"], ended["budget"]["reserved"]["tokens"]) == (reserved + 120, 0)


def _lease_of_the_model_ends(up: Up, run: str) -> None:
    """As if the time of the lost worker's lease had passed."""
    with psycopg.connect(Server(up.home).url(SUPERUSER, "agentops"), autocommit=True) as connection:
        connection.execute("UPDATE runs_modelrequest SET lease_until = clock_timestamp() WHERE run_id = %s", [run])
        connection.execute("UPDATE runs_work_item SET due_at = clock_timestamp() WHERE id = %s", [run])
