"""What a fold of a request's arguments holds, as a fragment for the page or as a page of its own."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from agentops.web.display.folds import INLINE, Chunk, chunk, opened
from agentops.web.member import MemberRequest, member
from approvals.queries import request as request_of

CANONICAL = "canonical JSON"


@require_safe
@member
def request_values(request: MemberRequest, request_id: UUID) -> HttpResponse:
    """Rows or a part of a long value of this request."""
    view = request_of(request.actor, request_id)
    fold, at = request.GET.get("fold", ""), request.GET.get("at", "0")
    start = int(at) if at.isascii() and at.isdecimal() and len(at) < 9 else 0
    if fold == CANONICAL:
        return _answer(request, request_id, fold, chunk(fold, view.args_text, start))
    return _answer(request, request_id, fold, opened(view.snapshot["args"], view.snapshot["schema"], fold, start))


def _answer(request: HttpRequest, request_id: UUID, fold: str, found: Any) -> HttpResponse:
    if found is None:
        raise Http404
    fragment = "components/exact/chunk.html" if isinstance(found, Chunk) else "components/exact/rows.html"
    context = {
        "chunk": found,
        "rows": found,
        "inline": INLINE,
        "fold": fold,
        "fragment": fragment,
        "url": reverse("request-values", args=[request_id]),
        "back": reverse("request", args=[request_id]),
    }
    return render(request, fragment if "HX-Request" in request.headers else "components/exact/page.html", context)
