"""A family of tokens: found from any of its tokens, locked, and ended as a whole."""

from uuid import UUID

from oauth2_provider.models import RefreshToken

from agentops.oauth.models import TokenFamily, sha256
from agentops.tenancy.access import rights_now
from agentops.tenancy.agents import disconnect


def lock_of_code(code: str) -> TokenFamily | None:
    """The family of an authorization code, used or not."""
    return TokenFamily.objects.select_for_update(of=("self",)).filter(code_sha256=sha256(code)).first()


def lock_of_token(token: str) -> TokenFamily | None:
    """The family of a refresh token, live or not, or of a live access token."""
    refresh = RefreshToken.objects.filter(token_checksum=sha256(token))
    access = RefreshToken.objects.filter(access_token__token_checksum=sha256(token))
    found = (refresh.values_list("token_family", flat=True)[:1]) or (access.values_list("token_family", flat=True)[:1])
    return TokenFamily.objects.select_for_update(of=("self",)).filter(id__in=list(found)).first()


def is_alive(family: TokenFamily) -> bool:
    """Whether the person still lets the agent in, and may themselves."""
    key = family.key
    return rights_now(key.tenant_id, f"oauth:{key.id}", key.id).alive


def end(family: TokenFamily, *, because: str) -> None:
    """Every token of the family stops working; an agent without any token left is disconnected."""
    RefreshToken.revoke_family(family.id)
    if not has_tokens(family.key_id):
        disconnect(family.key_id, because=because)


def has_tokens(key_id: UUID) -> bool:
    """Whether an agent could still act, or get a token, with this key."""
    families = TokenFamily.objects.filter(key_id=key_id).values("id")
    return bool(RefreshToken.objects.filter(token_family__in=families, revoked=None).exists())
