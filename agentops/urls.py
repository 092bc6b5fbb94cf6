"""Every address of the product, one include a door."""

from django.apps import apps
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from agentops.health import healthz, readyz
from agentops.metrics import metrics

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", metrics),
    path("api/", include("agentops.api.urls")),
    path("admin/", admin.site.urls),
    path("", include("agentops.oauth.urls")),
    path("", include("agentops.web.urls")),
]
if apps.is_installed("demo"):
    urlpatterns.insert(0, path("demo/ledger/", include("demo.urls")))
