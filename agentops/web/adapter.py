"""Accounts are made by owners: nobody signs up. Who signs out is signed out everywhere on the page at once."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest

from agentops.after_commit import tell_later
from agentops.tenancy.models import User
from agentops.tenancy.session import tenants_of


class ClosedSignup(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """django-allauth with its sign-up switched off."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Never."""
        return False

    def logout(self, request: HttpRequest) -> None:
        """End the session, then let the sockets that it opened find out."""
        user = request.user
        super().logout(request)
        if isinstance(user, User):
            for tenant in tenants_of(user):
                tell_later(tenant.id, "member", user.id)
