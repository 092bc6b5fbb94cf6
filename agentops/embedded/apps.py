"""The app that holds what only a running system needs; loading it also loads Celery's application."""

from django.apps import AppConfig

from agentops import celery

__all__ = ["EmbeddedConfig", "celery"]


class EmbeddedConfig(AppConfig):
    """Embedded servers, pulses, health."""

    name = "agentops.embedded"
    label = "embedded"

    def ready(self) -> None:
        """Register the checks of a safe start."""
        from agentops.embedded import checks  # noqa: F401, PLC0415 - registers itself
