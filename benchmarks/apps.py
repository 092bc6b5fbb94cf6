"""Django app configuration: makes the worker know the measuring tools."""

from importlib import import_module

from django.apps import AppConfig


class BenchmarksConfig(AppConfig):
    name = "benchmarks"

    def ready(self) -> None:
        """Declare the tools."""
        import_module("benchmarks.toolbox")
