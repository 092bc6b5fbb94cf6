"""Django app configuration."""

from django.apps import AppConfig
from django.core.signals import request_finished


class TenancyConfig(AppConfig):
    name = "agentops.tenancy"
    label = "tenancy"
    verbose_name = "Team"

    def ready(self) -> None:
        """Writes the last use of keys after answers have left."""
        from agentops.tenancy.last_use import write_noted_uses  # noqa: PLC0415 - models are not loaded before

        request_finished.connect(write_noted_uses, dispatch_uid="tenancy.last_use")
