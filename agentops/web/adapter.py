"""Accounts are made by owners: nobody signs up."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class ClosedSignup(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """django-allauth with its sign-up switched off."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Never."""
        return False
