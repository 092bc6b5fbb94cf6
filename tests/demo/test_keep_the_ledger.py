"""The ledger over REST and on its pages: one team's books, one payment for one key."""

import json
from typing import Any

import pytest
from django.test import Client

from demo.samples import fill
from demo.toolbox import install
from runs import queries
from tests.cast import Cast, Person, Service, new_service

INVOICE = "INV-1001"
PAYMENT = {"invoice_id": INVOICE, "amount": "700.07", "currency": "EUR", "account": "SE45 5000"}


@pytest.fixture
def tools_key(cast: Cast) -> str:
    """Books for the team, and the key that the tools have."""
    fill(cast.tenant.id)
    return new_service(cast.carol, "ledger tools", ("ledger:read", "ledger:post")).raw_key


def call(method: str, path: str, key: str, body: Any = None, *, once: str | None = None) -> tuple[int, Any]:
    """One REST call of the ledger."""
    headers = {"Authorization": f"Bearer {key}"} | ({"Idempotency-Key": once} if once else {})
    text = "" if body is None else body if isinstance(body, str) else json.dumps(body)
    answer = Client().generic(method, f"/demo/ledger/{path}", text, "application/json", headers=headers)
    return answer.status_code, json.loads(answer.content)


def test_a_key_pays_once(cast: Cast, tools_key: str) -> None:
    status, made = call("POST", "payments", tools_key, PAYMENT, once="k1")
    again, same = call("POST", "payments", tools_key, PAYMENT, once="k1")

    assert (status, again, same) == (201, 200, made)
    assert (made["amount"], made["idempotency_key"]) == ("700.07", "k1")
    assert call("GET", "payments", tools_key)[1]["results"] == [made]
    assert call("GET", f"invoices/{INVOICE}", tools_key)[1]["status"] == "paid"


def test_a_key_used_for_another_payment_is_refused(tools_key: str) -> None:
    call("POST", "payments", tools_key, PAYMENT, once="k1")

    status, problem = call("POST", "payments", tools_key, {**PAYMENT, "invoice_id": "INV-1002"}, once="k1")

    assert (status, problem["code"]) == (422, "idempotency_mismatch")
    assert call("GET", "invoices/INV-1002", tools_key)[1]["status"] == "open"


def test_a_payment_needs_a_key_of_its_own(tools_key: str) -> None:
    assert call("POST", "payments", tools_key, PAYMENT)[0] == 400


def test_only_the_tools_key_pays(cast: Cast, tools_key: str) -> None:
    holders: list[Person | Service] = [cast.alice, cast.carol, cast.service]

    assert {call("POST", "payments", holder.raw_key, PAYMENT, once="k1")[0] for holder in holders} == {403}
    assert call("GET", "payments", tools_key)[1]["results"] == []


@pytest.mark.parametrize("amount", ["-1", "1e3", "1,5", "", "ten", "1.00000", 12])
def test_an_amount_is_a_decimal_string(tools_key: str, amount: Any) -> None:
    status, problem = call("POST", "payments", tools_key, {**PAYMENT, "amount": amount}, once="k1")

    assert (status, problem["errors"][0]["pointer"]) == (400, "/amount")


def test_people_and_programs_that_write_change_an_invoice(cast: Cast, tools_key: str) -> None:
    assert call("PATCH", f"invoices/{INVOICE}", cast.bob.raw_key, {"amount": "13950.00"})[0] == 200
    status, changed = call("PATCH", f"invoices/{INVOICE}", cast.service.raw_key, {"status": "on_hold"})

    assert (status, changed["amount"], changed["status"]) == (200, "13950.00", "on_hold")
    assert call("PATCH", f"invoices/{INVOICE}", tools_key, {"amount": "1.00"})[0] == 403
    assert call("PATCH", f"invoices/{INVOICE}", cast.bob.raw_key, {"owner": "me"})[0] == 400


def test_another_team_sees_and_changes_nothing(cast: Cast, tools_key: str) -> None:
    call("POST", "payments", tools_key, PAYMENT, once="k1")
    mallory = cast.mallory.raw_key

    lists = [call("GET", name, mallory) for name in ("invoices", "payments", "notes")]

    assert lists == [(200, {"results": []})] * 3
    assert call("GET", f"invoices/{INVOICE}", mallory)[0] == 404
    assert call("GET", "suppliers/SUP-1", mallory)[0] == 404
    assert call("PATCH", f"invoices/{INVOICE}", mallory, {"amount": "1.00"})[0] == 404
    assert call("GET", f"invoices/{INVOICE}", tools_key)[1]["amount"] == "700.07"


def test_without_a_key_there_is_a_problem_document() -> None:
    status, problem = call("GET", "payments", "no-such-key")

    assert (status, problem["status"]) == (401, 401)


def test_a_note_keeps_any_json_exactly(tools_key: str) -> None:
    meta = '{"big": 123456789012345678901, "exact": 1.0000000000000001, "nul": "\\u0000"}'
    body = f'{{"invoice_id": "{INVOICE}", "text": "a\\u0000b", "meta": {meta}}}'

    assert call("POST", "notes", tools_key, body, once="n1")[0] == 201
    assert call("POST", "notes", tools_key, body, once="n1")[0] == 200

    headers = {"Authorization": f"Bearer {tools_key}"}
    told = Client().get("/demo/ledger/notes", headers=headers).content.decode()
    assert "123456789012345678901" in told
    assert "1.0000000000000001" in told
    assert [note["text"] for note in json.loads(told)["results"]] == ["a\0b"]


def test_a_member_corrects_an_invoice_on_its_page(cast: Cast, tools_key: str) -> None:
    client = cast.bob.signed_in()
    page = f"/demo/ledger/pages/invoices/{INVOICE}"

    assert INVOICE in client.get("/demo/ledger/").content.decode()
    assert client.post(page, {"amount": "ten", "status": "open", "account": "X 1"}).status_code == 422
    assert client.post(page, {"amount": "999.00", "status": "on_hold", "account": "X 1"}).status_code == 302
    changed = call("GET", f"invoices/{INVOICE}", tools_key)[1]
    assert (changed["amount"], changed["status"], changed["account"]) == ("999.00", "on_hold", "X 1")


def test_another_team_has_no_page_of_it(cast: Cast, tools_key: str) -> None:
    client = cast.mallory.signed_in()

    assert INVOICE not in client.get("/demo/ledger/").content.decode()
    assert client.get(f"/demo/ledger/pages/invoices/{INVOICE}").status_code == 404


def test_the_button_pressed_twice_starts_one_run(cast: Cast, tools_key: str) -> None:
    install(cast.carol.actor, "http://127.0.0.1:1")
    client = cast.alice.signed_in()
    pressed = {"invoice": INVOICE, "once": "first"}

    answers = [client.post("/demo/ledger/pages/runs", pressed) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [302, 302]
    assert answers[0]["Location"] == answers[1]["Location"]
    assert [view.run.task for view in queries.runs(cast.alice.actor).rows] == [f"Pay invoice {INVOICE}"]
    assert cast.bob.signed_in().post("/demo/ledger/pages/runs", pressed).status_code == 403


@pytest.mark.parametrize("path", ["", f"pages/invoices/{INVOICE}"])
def test_the_pages_answer_a_request_for_their_head(cast: Cast, tools_key: str, path: str) -> None:
    client = cast.alice.signed_in()

    answer = client.head(f"/demo/ledger/{path}")

    assert (answer.status_code, answer.content) == (200, b"")
