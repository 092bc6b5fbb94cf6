"""Puts the tenant-scoped admin site in the place of Django's."""

from django.contrib.admin.apps import AdminConfig


class TenantAdminConfig(AdminConfig):
    default_site = "agentops.tenancy.admin_site.TenantAdminSite"
