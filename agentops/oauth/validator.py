"""The library's rules, and ours: each token belongs to a key of one tenant, and what is used twice ends its family."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from oauth2_provider.models import AccessToken, Grant, RefreshToken
from oauth2_provider.oauth2_validators import OAuth2Validator

from agentops.oauth import families
from agentops.oauth.models import TokenFamily, sha256


class Validator(OAuth2Validator):  # type: ignore[misc]  # the library has no types
    """`request.key` is the key that the person gave the client when they allowed it."""

    def validate_code(self, client_id: str, code: str, client: Any, request: Any, *args: Any, **kwargs: Any) -> bool:
        """A code is used once, by its client; a second use ends what came of the first (RFC 9700, 2.1.1)."""
        family = families.lock_of_code(code)
        if family is None:
            return False
        if family.used_at is not None:
            families.end(family, because="agentops: a code was used twice")
            return False
        is_valid: bool = super().validate_code(client_id, code, client, request, *args, **kwargs)
        return is_valid and families.is_alive(family)

    def validate_refresh_token(self, refresh_token: str, client: Any, request: Any, *args: Any, **kwargs: Any) -> bool:
        """A refresh token is used once; a second use ends the family. Nobody refreshes what a person took back."""
        family = families.lock_of_token(refresh_token)
        if family is None:
            return False
        spent = RefreshToken.objects.filter(token_checksum=sha256(refresh_token), revoked__isnull=False)
        if spent.exists():
            families.end(family, because="agentops: a refresh token was used twice")
            return False
        is_valid: bool = super().validate_refresh_token(refresh_token, client, request, *args, **kwargs)
        return is_valid and families.is_alive(family)

    def revoke_token(self, token: str, token_type_hint: str, request: Any, *args: Any, **kwargs: Any) -> None:
        """The client signs out: its own family ends."""
        family = families.lock_of_token(token)
        super().revoke_token(token, token_type_hint, request, *args, **kwargs)
        if family is not None and family.key.client == request.client.client_id:
            families.end(family, because=f"{family.key.name}: signed out")

    def _load_application(self, client_id: str | None, request: Any) -> Any:
        # Postgres knows no such text; the library expects another error than psycopg's.
        return None if "\0" in (client_id or "") else super()._load_application(client_id, request)

    def _create_authorization_code(self, request: Any, code: dict[str, str], expires: datetime | None = None) -> Grant:
        grant = super()._create_authorization_code(request, code, expires)
        TokenFamily.objects.create(key=request.key, code_sha256=sha256(code["code"]))
        return grant

    def _create_refresh_token(
        self, request: Any, refresh_token_code: str, access_token: AccessToken, previous_refresh_token: Any
    ) -> RefreshToken:
        made = super()._create_refresh_token(request, refresh_token_code, access_token, previous_refresh_token)
        if previous_refresh_token is None:
            family = TokenFamily.objects.get(code_sha256=sha256(request.code))
            family.used_at = timezone.now()
            family.save(update_fields=["used_at"])
            made.token_family = family.id
            made.save(update_fields=["token_family"])
        return made
