"""`/runs/{id}/events`: the run's log, as a list or as a stream that can be resumed."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpResponse, StreamingHttpResponse
from rest_framework.request import Request

from agentops.api import query, renderings
from agentops.api.answers import answer, dumped
from agentops.api.documented import documented
from agentops.api.errors import InvalidQuery
from agentops.api.resource import Resource, row_id
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import RUNS_READ
from runs import queries

POLL_SECONDS = 0.5
PING_SECONDS = 15.0
BATCH = 500


class Events(Resource):
    """The events of a run."""

    @documented(200, "Events after `after`; as text/event-stream when asked", query=("after",))
    def get(self, request: Request, run_id: str) -> HttpResponse | StreamingHttpResponse:
        actor = self.actor(RUNS_READ)
        query.known_only(request, "after")
        after = max(query.number(request, "after"), _last_seen(request))
        rows = queries.events(actor, row_id(run_id), after=after, size=BATCH)
        if "text/event-stream" in request.headers.get("Accept", ""):
            return _stream(actor, row_id(run_id), after)
        more = f"?after={rows[-1].seq}" if len(rows) == BATCH else None
        following = request.build_absolute_uri(request.path + more) if more else None
        shown = [renderings.event(e) for e in rows]
        return answer({"results": shown, "next": following, "count": len(shown) if more is None else None})


def _last_seen(request: Request) -> int:
    text = request.headers.get("Last-Event-ID", "0")
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise InvalidQuery("Last-Event-ID", "A whole number from 0.")
    return int(text)


def _stream(actor: Actor, run_id: UUID, after: int) -> StreamingHttpResponse:
    response = StreamingHttpResponse(_lines(actor, run_id, after), content_type="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response


async def _lines(actor: Actor, run_id: UUID, after: int) -> AsyncIterator[bytes]:
    """Events as they come; ends when the run has ended and everything was sent."""
    quiet = 0.0
    read, finished = sync_to_async(queries.events), sync_to_async(queries.is_finished)
    while True:
        ended = await finished(actor, run_id)
        rows = await read(actor, run_id, after=after, size=BATCH)
        for row in rows:
            after = row.seq
            yield f"id: {row.seq}\nevent: {row.kind}\ndata: {dumped(renderings.event(row))}\n\n".encode()
        if ended and len(rows) < BATCH:
            return
        quiet = 0.0 if rows else quiet + POLL_SECONDS
        if quiet >= PING_SECONDS:
            quiet = 0.0
            yield b": still here\n\n"
        await asyncio.sleep(POLL_SECONDS)
