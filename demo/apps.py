"""Django app configuration."""

from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "demo"
