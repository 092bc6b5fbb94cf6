"""The OpenAPI document and the pages that show it, all served from here."""

import json
from functools import cache

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    """OpenAPI 3.1 as JSON."""
    return HttpResponse(document(), content_type="application/json")


@require_safe
def pages(request: HttpRequest) -> HttpResponse:
    """The document as pages."""
    return render(request, "api/docs.html")


@cache
def document() -> bytes:
    """The document, made once a process."""
    generator = SchemaGenerator(urlconf="agentops.api.mounted")  # type: ignore[no-untyped-call]
    document = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return json.dumps(document, default=str).encode()
