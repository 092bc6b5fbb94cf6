"""An outside agent's functions, wrapped by the client: proposed, approved by a person, made by the server, once."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from agentops_client import AgentOps, Refused, Run, StillWaiting

from tests.stories.office import Office


def invoice_read(invoice_id: str) -> dict[str, Any]:
    """Read an invoice."""
    raise AssertionError(f"made here: {invoice_id}")


def payment_create(invoice_id: str, amount: str, currency: str, account: str) -> dict[str, Any]:
    """Pay an invoice."""
    raise AssertionError(f"made here: {invoice_id} {amount} {currency} {account}")


async def supplier_check(supplier_id: str) -> dict[str, Any]:
    """Check a supplier."""
    raise AssertionError(f"made here: {supplier_id}")


@pytest.fixture
def server(office: Office) -> Iterator[AgentOps]:
    """The client, with the service's key."""
    with AgentOps(office.url, office.demo["api_key"]) as made:
        yield made


def _pays(run: Run, office: Office, invoice: str, wait: float = 120) -> Callable[[], dict[str, Any]]:
    due = office.ledger.get(f"/invoices/{invoice}").json()
    pay = run.governed(payment_create, wait=wait)
    return lambda: pay(invoice, due["amount"], currency=due["currency"], account=due["account"])


def test_functions_keep_their_shape_and_are_made_by_the_server(server: AgentOps, office: Office) -> None:
    with server.run("demo-external", "Look at INV-1006") as run:
        read = run.governed(invoice_read)
        assert (read.__name__, read.__doc__) == ("invoice_read", "Read an invoice.")
        found = read("INV-1006")
        assert found["id"] == "INV-1006"
        with ThreadPoolExecutor(1) as loop:
            checked = loop.submit(asyncio.run, run.governed(supplier_check)(found["supplier_id"])).result(60)
        assert checked["id"] == found["supplier_id"]
        run.answer = "Looked."
    ended = office.ended(run.id)
    assert (ended["terminal_reason"], ended["answer"]) == ("completed", "Looked.")


def test_a_payment_returns_once_a_person_approved_and_is_made_once(server: AgentOps, office: Office) -> None:
    with server.run("demo-external", "Pay INV-1007") as run, ThreadPoolExecutor(1) as agent:
        pay = _pays(run, office, "INV-1007")
        answer = agent.submit(pay)
        assert office.approve(office.asked(run.id)).status_code == 201
        assert answer.result(60)["invoice_id"] == "INV-1007"
        assert pay() == answer.result()
    assert len(office.payments("INV-1007")) == 1


def test_a_wait_that_ends_early_is_taken_up_again_by_the_same_call(server: AgentOps, office: Office) -> None:
    with server.run("demo-external", "Pay INV-1008") as run:
        with pytest.raises(StillWaiting) as waiting:
            _pays(run, office, "INV-1008", wait=0.5)()
        asked = office.asked(run.id)
        assert waiting.value.approval == asked["id"]
        office.approve(asked)
        again = _pays(server.attach(run.id), office, "INV-1008")
        assert again()["invoice_id"] == "INV-1008"
    assert len(office.payments("INV-1008")) == 1


def test_what_a_person_rejects_is_told_with_their_reason_and_not_asked_again(server: AgentOps, office: Office) -> None:
    with server.run("demo-external", "Pay INV-1009") as run, ThreadPoolExecutor(1) as agent:
        pay = _pays(run, office, "INV-1009")
        answer = agent.submit(pay)
        asked = office.asked(run.id)
        verdict = {"verdict": "reject", "digest": asked["digest"], "reason": "Wrong account."}
        assert office.bob.post(f"/approvals/{asked['id']}/decisions", json=verdict).status_code == 201
        with pytest.raises(Refused, match="Wrong account") as refused:
            answer.result(60)
        assert refused.value.code == "approval_rejected"
        with pytest.raises(Refused) as again:
            pay()
        assert again.value.code == "rejected_before"
    assert office.payments("INV-1009") == []


def test_a_block_that_raises_cancels_its_run(server: AgentOps, office: Office) -> None:
    with pytest.raises(ZeroDivisionError), server.run("demo-external", "Divide") as run:
        _ = 1 / 0
    ended = office.ended(run.id)
    assert (ended["status"], ended["terminal_reason"]) == ("cancelled", "cancelled_by_user")
