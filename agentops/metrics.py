"""`/metrics` for Prometheus: figures of the database, behind a token, made at most every few seconds."""

import threading
import time
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from runs.figures import Counted

KEPT_SECONDS = 3.0
"""Shorter than the time between two visits, or one process would seem to fall behind another."""


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures, for whoever has the token. Where the settings have none, there is no such page."""
    token = settings.AGENTOPS_METRICS_TOKEN
    if not token:
        return HttpResponseNotFound()
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        return HttpResponse(status=HTTPStatus.UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(page.text(), content_type="text/plain; version=0.0.4; charset=utf-8")


class Page:
    """Visitors at the same moment cost one look."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._counted = Counted()
        self._text, self._made = b"", float("-inf")

    def text(self) -> bytes:
        """The figures as they are, or were a moment ago."""
        from agentops.telemetry.prometheus import exposition  # noqa: PLC0415 - its library is loaded where it is used

        with self._guard:
            if time.monotonic() - self._made > KEPT_SECONDS:
                self._text, self._made = exposition(self._counted.look()), time.monotonic()
            return self._text


page = Page()
