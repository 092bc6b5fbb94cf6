"""`/runs/{id}/events`: the run's log, as a list or as a stream that can be resumed."""

from typing import Any
from uuid import UUID

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse, StreamingHttpResponse
from rest_framework.request import Request

from agentops.api import query, renderings, stream
from agentops.api.answers import answer
from agentops.api.authentication import raw_key, resource_of
from agentops.api.documented import documented
from agentops.api.errors import InvalidQuery
from agentops.api.lists import EventList
from agentops.api.resource import Resource, row_id
from agentops.tenancy.scopes import RUNS_READ
from runs import queries

BATCH = 500


class Events(Resource):
    """The events of a run."""

    @documented(200, "Events after `after`; as text/event-stream when asked", shows=EventList, query=("after",))
    def get(self, request: Request, run_id: str) -> HttpResponse | StreamingHttpResponse:
        actor = self.actor(RUNS_READ)
        query.known_only(request, "after")
        after = max(query.number(request, "after"), _last_seen(request))
        rows = queries.events(actor, row_id(run_id), after=after, size=BATCH)
        if "text/event-stream" in request.headers.get("Accept", ""):
            return _stream(request, row_id(run_id), after)
        more = f"?after={rows[-1].seq}" if len(rows) == BATCH else None
        following = request.build_absolute_uri(request.path + more) if more else None
        shown = [renderings.event(e) for e in rows]
        return answer({"results": shown, "next": following, "count": len(shown) if more is None else None})


def _last_seen(request: Request) -> int:
    text = request.headers.get("Last-Event-ID", "0")
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise InvalidQuery("Last-Event-ID", "A whole number from 0.", place="header")
    return int(text)


def _stream(request: Request, run_id: UUID, after: int) -> StreamingHttpResponse:
    source = stream.Source(run_id=run_id, after=after, raw_key=raw_key(request), resource=resource_of(request))
    is_async = isinstance(request._request, ASGIRequest)
    chunks: Any = stream.followed_async(source) if is_async else stream.followed(source)
    response = StreamingHttpResponse(chunks, content_type="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response
