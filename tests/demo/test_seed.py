"""What `up` makes at every start: the same people, keys, tools and books, made once."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.test import Client

from agentops.tenancy.access import authenticate_key
from agentops.tenancy.models import Tenant
from agentops.tenancy.transaction import tenant_transaction
from demo.models import Invoice
from demo.seed import seed
from tools.models import Credential, ToolVersion

NOWHERE = "http://127.0.0.1:1"


def seeded(home: Path, url: str = NOWHERE) -> Mapping[str, Any]:
    """One start whose web server is not there, so that no run begins."""
    seed(home, url, patience=0)
    found = json.loads((home / "demo.json").read_text())
    assert isinstance(found, dict)
    return found


def test_a_second_start_changes_nothing(tmp_path: Path) -> None:
    first = seeded(tmp_path)
    before = _counts()

    assert seeded(tmp_path) == first
    assert _counts() == before
    assert (tmp_path / "demo.json").stat().st_mode & 0o777 == 0o600


def test_the_file_says_who_may_what(tmp_path: Path) -> None:
    file = seeded(tmp_path)

    assert list(file) == ["url", "api_key", "operator", "approver", "admin", "mallory_api_key"]
    service = authenticate_key(file["api_key"])
    assert service.allows("runs:write")
    assert service.allows("ledger:write")
    assert service.allows("builtin:read")
    assert not service.allows("approvals:decide")
    assert not service.allows("ledger:post")
    people = [authenticate_key(file[role]["api_key"]) for role in ("operator", "approver", "admin")]
    assert all(person.allows("approvals:decide") and not person.allows("ledger:write") for person in people)
    assert [person.allows("runs:write") for person in people] == [True, False, True]
    assert authenticate_key(file["mallory_api_key"]).tenant_id != service.tenant_id
    sign_in = {"login": file["operator"]["email"], "password": file["operator"]["password"]}
    assert Client().post("/account/login/", sign_in).status_code == 302


def test_a_lost_file_is_written_again_and_the_old_keys_end(tmp_path: Path) -> None:
    old = seeded(tmp_path)
    (tmp_path / "demo.json").unlink()

    new = seeded(tmp_path)

    headers = {"Authorization": f"Bearer {old['api_key']}"}
    assert Client().get("/demo/ledger/invoices", headers=headers).status_code == 401
    assert authenticate_key(new["api_key"]).allows("runs:write")


def test_another_port_gets_a_credential_of_its_own(tmp_path: Path) -> None:
    seeded(tmp_path)
    seeded(tmp_path, "http://127.0.0.1:2")

    with tenant_transaction(_acme().id):
        found = set(Credential.objects.filter(tenant_id=_acme().id).values_list("destination", flat=True))
    assert found >= {"127.0.0.1:1", "127.0.0.1:2"}


def test_a_start_leaves_a_changed_invoice_as_it_is(tmp_path: Path) -> None:
    seeded(tmp_path)
    with tenant_transaction(_acme().id):
        Invoice.objects.filter(tenant_id=_acme().id, number="INV-1020").update(amount="1.00")

    seeded(tmp_path)

    with tenant_transaction(_acme().id):
        assert Invoice.objects.get(tenant_id=_acme().id, number="INV-1020").amount == "1.00"


def _acme() -> Tenant:
    return Tenant.objects.get(slug="acme-finance")


def _counts() -> tuple[int, int]:
    with tenant_transaction(_acme().id):
        versions = ToolVersion.objects.filter(tenant_id=_acme().id).count()
        return versions, Invoice.objects.filter(tenant_id=_acme().id).count()
