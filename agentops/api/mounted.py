"""The REST door at its public address, for the OpenAPI document, which shall not list the pages."""

from django.urls import include, path

urlpatterns = [path("api/", include("agentops.api.urls"))]
