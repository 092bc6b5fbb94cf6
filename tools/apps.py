"""Django app configuration."""

from importlib import import_module

from django.apps import AppConfig


class ToolsConfig(AppConfig):
    name = "tools"
    verbose_name = "Tools and workflows"

    def ready(self) -> None:
        """Declare the built-in tools."""
        import_module("tools.catalogue")
