"""Django app configuration."""

from django.apps import AppConfig


class TenancyConfig(AppConfig):
    name = "agentops.tenancy"
    label = "tenancy"
