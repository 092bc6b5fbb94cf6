"""The admin pages of tools, as staff use them."""

import json
from typing import Any

import pytest
from django.test import Client

from agentops.tenancy.transaction import tenant_transaction
from tests.cast import Cast, Person
from tests.tools.calls import http_spec
from tools.credentials import known_secrets
from tools.operations import register_tool
from tools.queries import find_tool


def _signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person.user)
    return client


def _definition(**fields: Any) -> str:
    http = {"url": "https://ledger.example/"}
    schema = {"type": "object"}
    known = {"name": "probe", "description": "Read.", "kind": "http", "risk": "read", "required_scope": "ledger:read"}
    return json.dumps({**known, "input_schema": schema, "http": http, **fields})


def test_a_tool_is_registered_changed_and_its_versions_are_shown(cast: Cast) -> None:
    client = _signed_in(cast.carol)
    assert client.get("/admin/tools/tool/add/?kind=python").status_code == 200
    added = client.post("/admin/tools/tool/add/", {"definition": _definition()})
    assert added.status_code == 302, added.content.decode()
    with tenant_transaction(cast.tenant.id):
        row = find_tool(cast.tenant.id, "probe")
    page = client.get(f"/admin/tools/tool/{row.id}/change/")
    assert page.status_code == 200
    assert "https://ledger.example/" in page.content.decode()
    sent = {"definition": _definition(title="Read it"), "enabled": "", "revision": row.revision}
    assert client.post(f"/admin/tools/tool/{row.id}/change/", sent).status_code == 302
    with tenant_transaction(cast.tenant.id):
        changed = find_tool(cast.tenant.id, "probe")
    assert (changed.number, changed.spec.title, changed.enabled) == (2, "Read it", False)
    assert "v1: " in client.get(f"/admin/tools/tool/{row.id}/change/").content.decode()
    assert client.get("/admin/tools/tool/?q=probe").status_code == 200


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ("{", "the document"),
        (_definition(name="No Name"), "/name"),
        (_definition(http={"url": "https://A.example/"}), "/http/url"),
        (_definition(credential="missing"), "/credential"),
    ],
)
def test_faults_are_shown_where_they_are(cast: Cast, definition: str, said: str) -> None:
    page = _signed_in(cast.carol).post("/admin/tools/tool/add/", {"definition": definition})
    assert page.status_code == 200
    assert said in page.content.decode()


def test_an_edit_of_what_somebody_else_changed_says_so(cast: Cast) -> None:
    version = register_tool(cast.carol.actor, http_spec("https://ledger.example/"))
    sent = {"definition": _definition(title="Mine"), "enabled": "on", "revision": 1}
    page = _signed_in(cast.carol).post(f"/admin/tools/tool/{version.tool_id}/change/", sent)
    assert page.status_code == 200
    assert "changed by somebody else" in page.content.decode()


def test_a_bearer_is_written_and_never_shown(cast: Cast) -> None:
    client = _signed_in(cast.carol)
    sent = {"name": "ledger", "destination": "ledger.example:443", "bearer": "bearer-0123456789"}
    assert client.post("/admin/tools/credential/add/", sent).status_code == 302
    with tenant_transaction(cast.tenant.id):
        assert known_secrets(cast.tenant.id) == {"bearer-0123456789"}
    assert "bearer-0123456789" not in client.get("/admin/tools/credential/").content.decode()


def test_only_staff_of_the_same_tenant_see_a_tool(cast: Cast) -> None:
    version = register_tool(cast.carol.actor, http_spec("https://ledger.example/"))
    address = f"/admin/tools/tool/{version.tool_id}/change/"
    assert _signed_in(cast.alice).get(address).status_code in {302, 403}
    assert "ledger.example" not in _signed_in(cast.mallory).get(address, follow=True).content.decode()
