"""`manage.py seed_demo`: the hook through which `up` makes the demo; does nothing without the demo app."""

from importlib import import_module
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management import BaseCommand, CommandParser


class Command(BaseCommand):
    """Calls demo.seed.seed, which may be called at every start."""

    help = "Make the demo tenant, people, tools and runs."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Where to write demo.json, and the address in it."""
        parser.add_argument("--home", type=Path, required=True)
        parser.add_argument("--url", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        """Nothing of the product depends on the demo, so it is found by name."""
        if apps.is_installed("demo"):
            import_module("demo.seed").seed(options["home"], options["url"])
