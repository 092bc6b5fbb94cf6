"""What stands around every page: who is signed in, where, and how they want it to look."""

from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.http import HttpRequest

from agentops.tenancy.models import Tenant
from agentops.tenancy.session import tenant_of_session, tenants_of_request

PREFERENCES = {"theme": ("", "light", "dark"), "keys": ("on", "off")}
SECTIONS = {
    "": "inbox",
    "inbox": "inbox",
    "approvals": "inbox",
    "runs": "runs",
    "tools": "tools",
    "workflows": "workflows",
    "settings": "settings",
    "demo": "demo",
}


@dataclass(frozen=True)
class Shell:
    """The rail and the preferences of one request."""

    theme: str
    keys: str
    section: str
    tenants: list[Tenant]
    tenant: Tenant | None
    has_demo: bool


def shell(request: HttpRequest) -> dict[str, Any]:
    """The context processor."""
    tenants = tenants_of_request(request) if hasattr(request, "user") else []
    tenant = tenant_of_session(request.session, request.user, tenants) if tenants else None  # type: ignore[arg-type]  # tenants are a user's
    first = request.path.strip("/").split("/")[0]
    section = SECTIONS.get(first, "")
    theme, keys = preference(request, "theme"), preference(request, "keys")
    return {"shell": Shell(theme, keys, section, tenants, tenant, apps.is_installed("demo"))}


def preference(request: HttpRequest, name: str) -> str:
    """The wish in the person's cookie, else the first of the choices."""
    choices = PREFERENCES[name]
    wish = request.COOKIES.get(name, "")
    return wish if wish in choices else choices[0]
