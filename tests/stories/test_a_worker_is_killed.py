"""A worker dies with -9 while a payment and a read are on their way, and another takes its work up."""

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

    evidence = {"outcome": "succeeded", "evidence": "It is on the bank's statement.", "result": {"ok": True}}
    step = office.step(paying, "bank_pay")["id"]
    assert office.service.post(f"/steps/{step}/reconcile", json=evidence).is_success
    office.propose(paying, {"kind": "finish", "answer": "Paid."})
    assert office.ended(paying)["status"] == "succeeded"
    assert bank.seen.count("POST /bank_pay/1") == 1
