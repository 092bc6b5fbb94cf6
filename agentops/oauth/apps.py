"""Django app configuration."""

from django.apps import AppConfig
from django.contrib import admin


class OAuthConfig(AppConfig):
    name = "agentops.oauth"
    label = "oauth"

    def ready(self) -> None:
        """Take the library's pages out of the admin: its rows belong to no tenant."""
        library = [model for model in admin.site._registry if model._meta.app_label == "oauth2_provider"]  # noqa: SLF001 - the site tells it nowhere else
        admin.site.unregister(library)
