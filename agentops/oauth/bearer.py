"""Who holds an access token, and how a door says that it wants one."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Now
from oauth2_provider.models import RefreshToken

from agentops.oauth.models import TokenFamily, sha256
from agentops.oauth.resources import metadata_url
from agentops.tenancy.access import agent_actor
from agentops.tenancy.actor import Actor
from agentops.tenancy.errors import KeyRejected


@dataclass(frozen=True, slots=True)
class Holder:
    """The agent that holds a token, and until when it does."""

    actor: Actor
    expires_at: datetime


def holder_of(token: str, resource: str, *, door: str) -> Holder | None:
    """The holder of a live token for exactly this resource, as far as its person may act now; or nobody."""
    family = TokenFamily.objects.filter(id=OuterRef("token_family")).values("key")[:1]
    found = (
        RefreshToken.objects.filter(
            access_token__token_checksum=sha256(token), access_token__expires__gt=Now(), revoked=None
        )
        .annotate(key=Subquery(family))
        .values_list("key", "access_token__scope", "access_token__resource", "access_token__expires")
        .first()
    )
    if found is None or found[0] is None or found[2] != [resource]:
        return None
    key_id, scope, _, expires_at = found
    with suppress(KeyRejected):
        return Holder(agent_actor(key_id, scope.split(), door=door), expires_at)
    return None


def challenge(resource: str, *, error: str = "", scope: str = "") -> str:
    """The `WWW-Authenticate` of a 401 (no error: nothing was sent) or 403 at `resource` (RFC 6750, RFC 9728)."""
    said = [("error", error), ("scope", scope), ("resource_metadata", metadata_url(resource))]
    return 'Bearer realm="agentops", ' + ", ".join(f'{name}="{value}"' for name, value in said if value)
