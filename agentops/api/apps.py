"""Django app configuration."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "agentops.api"
    label = "api"
