"""System checks of a safe start: the secret key, and the role that row-level security must bind."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register

from agentops.env import env
from agentops.health import unsafe_role


@register(Tags.security)
def check_secret_key(**_: Any) -> Sequence[CheckMessage]:
    """The key of development is public."""
    if env().is_development_key and not settings.DEBUG:
        hint = "Set SECRET_KEY to a long random value (or DEBUG=true on a development machine)."
        return [Error("SECRET_KEY is the public development key.", hint=hint, id="agentops.E001")]
    return []


@register(Tags.database)
def check_role(databases: Sequence[str] | None = None, **_: Any) -> Sequence[CheckMessage]:
    """The application's role must be plain."""
    if not databases or "default" not in databases:
        return []
    fault = unsafe_role()
    hint = "Let DATABASE_URL name a plain role and DATABASE_OWNER_URL the one that migrates."
    return [Error(fault, hint=hint, id="agentops.E002")] if fault else []
