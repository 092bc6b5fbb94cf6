"""The admin pages of tools, as staff use them."""

import json
from typing import Any

import pytest

from agentops.tenancy.transaction import tenant_transaction
from tests.cast import Cast
from tests.tools.calls import http_spec, post_spec
from tools.credentials import known_secrets
from tools.domain.errors import ToolNotFound
from tools.operations import register_tool
from tools.queries import ToolRow, find_tool


def _filled(**changes: Any) -> dict[str, Any]:
    form = {
        "name": "probe", "description": "Read.", "risk": "read", "required_scope": "ledger:read",
        "input_schema": '{"type": "object"}', "output_trust": "untrusted", "max_result_bytes": "8000",
        "timeout_ms": "10000", "idempotency": "none", "method": "GET", "url": "https://ledger.example/",
    }  # fmt: skip
    return {**form, **changes}


ADD = "/admin/tools/tool/add/"


NO_PROPERTIES = '{"type": "object", "properties": {}}'
BIG = '{"type": "object", "properties": {"id": {"type": "string"}, "big": {"maximum": 9223372036854775809}}}'


def _condition(**changes: Any) -> dict[str, str]:
    return {"preconditions": json.dumps([{"name": "same", "probe": {"tool": "look"}, **changes}])}


def _row(cast: Cast) -> ToolRow:
    with tenant_transaction(cast.tenant.id):
        return find_tool(cast.tenant.id, "probe")


def test_a_tool_is_registered_changed_and_its_versions_are_shown(cast: Cast) -> None:
    client = cast.carol.signed_in()
    added = client.post(ADD, _filled(body="", success="200 404"))
    assert added.status_code == 302, added.content.decode()
    row = _row(cast)
    assert row.spec.http is not None
    assert (row.spec.kind, row.spec.http.success) == ("http", (200, 404))
    address = f"/admin/tools/tool/{row.id}/change/"
    page = client.get(address)
    assert "https://ledger.example/" in page.content.decode()
    assert "/tools/probe" in page.content.decode()
    sent = _filled(title="Read it", enabled="", revision=row.revision)
    assert client.post(address, sent).status_code == 302
    changed = _row(cast)
    assert (changed.number, changed.spec.title, changed.enabled) == (2, "Read it", False)
    page = client.get(address)
    assert "<b>v1</b>" in page.content.decode()
    assert "Read it" in page.content.decode().split("<ins>", 1)[1].split("</ins>", 1)[0]
    assert client.get("/admin/tools/tool/?q=probe").status_code == 200


def test_the_form_shows_a_definition_whole_and_saves_it_unchanged(cast: Cast) -> None:
    client = cast.carol.signed_in()
    register_tool(cast.carol.actor, http_spec("https://ledger.example/", name="look"))
    client.post(ADD, _filled(**WHOLE))
    row = _row(cast)
    form = client.get(f"/admin/tools/tool/{row.id}/change/").context["adminform"].form
    shown = {field.html_name: field.value() for field in form}
    again = {name: value for name, value in shown.items() if value not in (None, False)}
    assert client.post(f"/admin/tools/tool/{row.id}/change/", again).status_code == 302
    assert _row(cast).number == 1
    assert row.spec.preconditions[0].probe.tool == "look"
    assert row.spec.input_schema["properties"]["big"]["maximum"] == 2**63 + 1


WHOLE = {
    "risk": "destructive", "method": "POST", "url": "https://ledger.example/pay/{args.id}", "body": '"{args}"',
    "headers": '{"X-Reason": "{args.id}"}', "approval_summary": "Pay {args.id}", "volatile": "on",
    "input_schema": BIG,
    "preconditions": '[{"name": "same", "probe": {"tool": "look", "args": {"x": {"$cel": "args.id"}}}}]',
    "cost": '{"money": {"amount": "1.50", "currency": "EUR"}, "records": 2}', "idempotency": "header:Idempotency-Key",
    "reconcile": '{"probe": {"tool": "look"}, "succeeded": "result.ok"}', "not_applied": "409",
}  # fmt: skip


def test_a_function_in_code_has_its_own_form(cast: Cast) -> None:
    client = cast.carol.signed_in()
    page = client.get(f"{ADD}?kind=python").content.decode()
    assert 'name="function"' in page
    assert 'name="url"' not in page
    sent = {**_filled(), "function": "current_time"}
    added = client.post(f"{ADD}?kind=python", sent)
    assert added.status_code == 302, added.content.decode()
    assert _row(cast).spec.python is not None


COMMAND = {
    "argv": '["/usr/bin/grep", "--", "{args.x}"]', "stdin": "args", "output": "json", "not_applied": "1 2",
    "min_sandbox_level": "3", "input_schema": '{"type": "object", "properties": {"x": {"type": "string"}}}',
}  # fmt: skip


def test_a_command_has_its_own_form_and_is_saved_unchanged(cast: Cast) -> None:
    client = cast.carol.signed_in()
    page = client.get(f"{ADD}?kind=command").content.decode()
    assert 'name="argv"' in page
    assert not any(f'name="{other}"' in page for other in ("url", "function", "egress", "credential"))
    added = client.post(f"{ADD}?kind=command", _filled(**COMMAND))
    assert added.status_code == 302, added.content.decode()
    row = _row(cast)
    assert row.spec.command is not None
    assert row.spec.command.argv == ("/usr/bin/grep", "--", "{args.x}")
    assert (row.spec.command.stdin, row.spec.command.output, row.spec.command.not_applied) == ("args", "json", (1, 2))
    assert (row.spec.queue, row.spec.min_sandbox_level) == ("sandbox", 3)
    form = client.get(f"/admin/tools/tool/{row.id}/change/").context["adminform"].form
    again = {field.html_name: value for field in form if (value := field.value()) not in (None, False)}
    assert client.post(f"/admin/tools/tool/{row.id}/change/", again).status_code == 302
    assert _row(cast).number == 1


def test_a_fault_of_a_command_is_shown_at_its_field(cast: Cast) -> None:
    sent = _filled(**COMMAND | {"argv": '["/usr/bin/sh", "-c", "ls {args.x}"]'})
    answer = cast.carol.signed_in().post(f"{ADD}?kind=command", sent)
    assert "an element of its own" in str(answer.context["adminform"].form.errors["argv"])


@pytest.mark.parametrize(
    ("kind", "bounds", "called"),
    [("command", "from 1 to 255", "Exit codes"), ("http", "from 400 to 599", "Status codes")],
)
def test_codes_that_cannot_be_are_named_as_they_were_typed(cast: Cast, kind: str, bounds: str, called: str) -> None:
    answer = cast.carol.signed_in().post(f"{ADD}?kind={kind}", _filled(not_applied=f"two, {'9' * 5000}"))
    errors = list(answer.context["adminform"].form.errors["not_applied"])
    assert errors == [f"two is no whole number {bounds}.", f"{'9' * 5000} is no whole number {bounds}."]
    assert called in answer.content.decode()


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"name": "No Name"}, "name", "pattern"),
        ({"input_schema": "{"}, "input_schema", "the document"),
        ({"input_schema": '{"type": "object", "properties": {"x": {"type": 3}}}'}, "input_schema", "/properties/x"),
        ({"input_schema": '{"type": "array"}'}, "input_schema", '/type: Arguments are an object'),
        ({"output_schema": '{"type": 3}'}, "output_schema", "/type"),
        ({"url": "https://A.example/"}, "url", ""),
        ({"url": "https://a.example/{args.x}", "input_schema": NO_PROPERTIES}, "url", "no property x"),
        ({"headers": '{"Host": "x"}'}, "headers", "not a tool's to set"),
        ({"success": "many"}, "success", "many is no whole number from 200 to 599"),
        ({"timeout_ms": "0"}, "timeout_ms", "greater than or equal to 1"),
        ({"idempotency": "sometimes"}, "idempotency", "pattern"),
        ({"cost": '{"money": {"amount": "-1", "currency": "EUR"}}'}, "cost", "/money/amount"),
        (_condition(probe={"tool": "gone"}), "preconditions", "/0/probe/tool: There is no tool"),
        (_condition(probe={"tool": "sends"}), "preconditions", "not a read"),
        (_condition(select="a["), "preconditions", "/0/select"),
        (_condition(expect="now =="), "preconditions", "/0/expect"),
        (_condition(expect="later == now"), "preconditions", "known are args, before, now"),
        ({"approval_summary": "Pay {amount}"}, "approval_summary", "must begin with"),
    ],
)  # fmt: skip
def test_a_fault_is_shown_at_its_field(cast: Cast, change: dict[str, Any], field: str, said: str) -> None:
    register_tool(cast.carol.actor, http_spec("https://ledger.example/", name="look"))
    register_tool(cast.carol.actor, post_spec("https://ledger.example/", name="sends"))
    answer = cast.carol.signed_in().post(ADD, _filled(**change))
    assert answer.status_code == 200
    found = answer.context["adminform"].form.errors
    assert field in found, found
    assert said in " ".join(found[field])
    with tenant_transaction(cast.tenant.id), pytest.raises(ToolNotFound):
        find_tool(cast.tenant.id, "probe")


def test_an_edit_of_what_somebody_else_changed_says_so(cast: Cast) -> None:
    version = register_tool(cast.carol.actor, http_spec("https://ledger.example/"))
    sent = _filled(title="Mine", enabled="on", revision=1)
    page = cast.carol.signed_in().post(f"/admin/tools/tool/{version.tool_id}/change/", sent)
    assert page.status_code == 200
    assert "changed by somebody else" in page.content.decode()


def test_a_bearer_is_written_and_never_shown(cast: Cast) -> None:
    client = cast.carol.signed_in()
    sent = {"name": "ledger", "destination": "ledger.example:443", "bearer": "bearer-0123456789"}
    assert client.post("/admin/tools/credential/add/", sent).status_code == 302
    with tenant_transaction(cast.tenant.id):
        assert known_secrets(cast.tenant.id) == {"bearer-0123456789"}
    assert "bearer-0123456789" not in client.get("/admin/tools/credential/").content.decode()


def test_only_staff_of_the_same_tenant_see_a_tool(cast: Cast) -> None:
    version = register_tool(cast.carol.actor, http_spec("https://ledger.example/"))
    address = f"/admin/tools/tool/{version.tool_id}/change/"
    assert cast.alice.signed_in().get(address).headers["Location"] == f"/admin/login/?next={address}"
    assert "ledger.example" not in cast.mallory.signed_in().get(address, follow=True).content.decode()
