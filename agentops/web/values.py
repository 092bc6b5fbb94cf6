"""What a fold of a call's arguments holds, as a fragment for the page or as a page of its own."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from agentops.web.display.folds import INLINE, Chunk, chunk, opened
from agentops.web.member import MemberRequest, member
from approvals.queries import request as request_of
from runs import queries as runs
from tools.domain.canonical import Json, parse

CANONICAL = "canonical JSON"


@require_safe
@member
def request_values(request: MemberRequest, request_id: UUID) -> HttpResponse:
    """Rows or a part of a long value of what a request asks for."""
    view = request_of(request.actor, request_id)
    back = reverse("request", args=[request_id])
    if request.GET.get("fold") == CANONICAL:
        return _answer(request, chunk(CANONICAL, view.args_text, _start(request)), back)
    return _held(request, view.snapshot["args"], view.snapshot["schema"], back)


@require_safe
@member
def step_values(request: MemberRequest, step_id: UUID) -> HttpResponse:
    """The same of a step's arguments."""
    view = runs.step(request.actor, step_id)
    return _held(request, view.args, {}, reverse("run", args=[view.step.run_id]))


@require_safe
@member
def input_values(request: MemberRequest, run_id: UUID) -> HttpResponse:
    """The same of a run's input."""
    view = runs.run(request.actor, run_id)
    return _held(request, parse(view.run.input), {}, reverse("run", args=[run_id]))


def _held(request: MemberRequest, value: Json, schema: Any, back: str) -> HttpResponse:
    return _answer(request, opened(value, schema, request.GET.get("fold", ""), _start(request)), back)


def _start(request: MemberRequest) -> int:
    at = request.GET.get("at", "")
    return int(at) if at.isascii() and at.isdecimal() and len(at) < 9 else 0


def _answer(request: MemberRequest, found: Any, back: str) -> HttpResponse:
    if found is None:
        raise Http404
    fragment = "components/exact/chunk.html" if isinstance(found, Chunk) else "components/exact/rows.html"
    context = {
        "chunk": found,
        "rows": found,
        "inline": INLINE,
        "fold": request.GET.get("fold", ""),
        "fragment": fragment,
        "url": request.path,
        "back": back,
    }
    return render(request, fragment if request.htmx else "components/exact/page.html", context)
