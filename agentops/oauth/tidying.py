"""What nobody needs any more: expired tokens, agents that signed out by falling silent, clients that nobody allowed."""

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, Grant, RefreshToken, clear_expired

from agentops.oauth.models import TokenFamily
from agentops.tenancy.agents import disconnect
from agentops.tenancy.models import ApiKey
from agentops.tenancy.transaction import identity_act

A_DAY = timedelta(days=1)


def tidy() -> None:
    """Every part is bounded by what expired since the last time."""
    clear_expired()
    _end_silent_agents()
    _forget_unused_clients()
    TokenFamily.objects.filter(created_at__lt=timezone.now() - A_DAY).exclude(
        Exists(RefreshToken.objects.filter(token_family=OuterRef("id")))
    ).delete()


def _end_silent_agents() -> None:
    """An agent whose last refresh token expired cannot come back without being allowed again: say so in its list."""
    old = timezone.now() - A_DAY
    tokens = RefreshToken.objects.filter(token_family=OuterRef("id"), revoked=None)
    families = TokenFamily.objects.filter(Q(created_at__gt=old) | Exists(tokens), key=OuterRef("id"))
    silent = ApiKey.objects.filter(~Exists(families), revoked_at=None, created_at__lt=old).exclude(client="")
    for key_id in silent.values_list("id", flat=True):
        with identity_act():
            # Its person may have let it in again meanwhile.
            if silent.filter(id=key_id).exists():
                disconnect(key_id, because="agentops: not used for too long")


def _forget_unused_clients() -> None:
    """Clients that introduced themselves a day ago and hold nothing."""
    held = [Exists(model.objects.filter(application=OuterRef("pk"))) for model in (AccessToken, RefreshToken, Grant)]
    unused = Application.objects.exclude(registration_source=Application.RegistrationSource.MANUAL).filter(
        *[~h for h in held], updated__lt=timezone.now() - A_DAY
    )
    unused.delete()
