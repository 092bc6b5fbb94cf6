"""GET and HEAD change nothing, whoever follows a link: every address of the pages and of REST is read, twice."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections
from django.test import Client
from django.urls import URLResolver, get_resolver

from agentops.tenancy.models import ApiKey
from agentops.tenancy.transaction import tenant_transaction
from approvals.models import ApprovalRequest
from runs.models import Step
from tests.web.scene import Scene

# Django and allauth keep these; a page of theirs that a link opens may start a session.
_OF_OTHERS = ("django_", "account_", "auth_")


@pytest.fixture
def places(scene: Scene) -> dict[str, str]:
    """What stands for each part of an address: rows that exist and wait for somebody."""
    run_id = scene.run()
    with tenant_transaction(scene.cast.tenant.id):
        request, step = ApprovalRequest.objects.get(run_id=run_id), Step.objects.filter(run_id=run_id).first()
    assert step is not None
    key = ApiKey.objects.filter(tenant=scene.cast.tenant).first()
    assert key is not None
    return {
        "request_id": str(request.id), "approval_id": str(request.id), "run_id": str(run_id), "step_id": str(step.id),
        "key_id": str(key.id), "name": "scene_pay", "slug": "office",
    }  # fmt: skip


def test_reading_every_address_changes_no_row(scene: Scene, places: dict[str, str]) -> None:
    carol, key = scene.cast.carol, scene.cast.service
    page, program = Client(raise_request_exception=False), {"Authorization": f"Bearer {key.raw_key}"}
    page.force_login(carol.user, "django.contrib.auth.backends.ModelBackend")
    addresses = [a for a in _addresses(places) if "<" not in a]
    assert len(addresses) > 45
    # The first use of a key in a minute is noted; what is looked at afterwards is not.
    Client().get("/api/v1/runs", headers=program)
    before = _rows(scene.cast.tenant.id)
    for address in addresses:
        for method in ("get", "head"):
            headers = program if address.startswith(("/api/", "/demo/ledger/")) else {}
            answer = getattr(page, method)(address, headers=headers)
            assert answer.status_code not in {401, 500}, address
    assert _rows(scene.cast.tenant.id) == before


def test_a_key_is_noted_as_used_once_a_minute(scene: Scene) -> None:
    key, headers = scene.cast.service.key, {"Authorization": f"Bearer {scene.cast.service.raw_key}"}
    for _ in range(3):
        assert Client().get("/api/v1/runs", headers=headers).status_code == 200
        key.refresh_from_db()
        first = key.last_used_at
        assert first is not None
    Client().get("/api/v1/approvals", headers=headers)
    key.refresh_from_db()
    assert key.last_used_at == first


def _addresses(places: dict[str, str]) -> Iterator[str]:
    for route in _routes(get_resolver()):
        for name, value in places.items():
            for kind in ("uuid", "str", "slug"):
                route = route.replace(f"<{kind}:{name}>", value)  # noqa: PLW2901 - one part after the other
        yield f"/{route}"


def _routes(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern).removeprefix("^").removesuffix("$")
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern, route)
        elif "logout" not in route:
            yield route


def _rows(tenant_id: UUID) -> dict[str, Any]:
    """Each of the product's tables with its rows and the transactions that wrote them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
        tables = sorted(name for (name,) in cursor.fetchall() if not name.startswith(_OF_OTHERS))
    with tenant_transaction(tenant_id), connection.cursor() as cursor:
        found: dict[str, Any] = {}
        for table in tables:
            cursor.execute(f'SELECT count(*), max(xmin::text::bigint) FROM "{table}"')
            found[table] = cursor.fetchone()
    connections["default"].close()
    return found
