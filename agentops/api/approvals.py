"""`/approvals`: the queue, one request, its decisions, and reading its conditions again."""

from http import HTTPStatus
from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from agentops.api import query, renderings, shapes
from agentops.api.answers import answer
from agentops.api.body import read_model
from agentops.api.documented import documented
from agentops.api.documents import ApprovalDocument, DecisionDocument
from agentops.api.lists import ApprovalList
from agentops.api.pagination import asked_page, page_of
from agentops.api.resource import Resource, row_id
from agentops.tenancy.actor import Actor
from agentops.tenancy.scopes import APPROVALS_READ
from approvals import queries
from approvals.domain.decision import RequestStatus, Then
from approvals.domain.errors import PeopleOnly
from approvals.queries import RequestRow
from runs.operations.deciding import decide, read_verdict
from runs.operations.rechecking import recheck

_STATUSES = frozenset(s.value for s in RequestStatus)


class Approvals(Resource):
    """The requests of the tenant."""

    @documented(
        200,
        "A page of requests; pending ones oldest first",
        shows=ApprovalList,
        query=("cursor", "limit"),
        words={"status": sorted(_STATUSES)},
    )
    def get(self, request: Request) -> HttpResponse:
        actor = self.actor(APPROVALS_READ)
        query.known_only(request, "status")
        status = query.word(request, "status", _STATUSES)
        page = asked_page(request, actor)
        tab = "pending" if status in (None, RequestStatus.PENDING.value) else "decided"
        found = queries.requests(
            actor,
            tab=tab,
            status=None if tab == "pending" else status,
            after=page.after_row,
            size=page.size,
            whole=True,
        )
        return answer(page_of(request, actor, [renderings.approval(r) for r in found.rows], found.after, found.count))


class OneApproval(Resource):
    """One request; reading it changes nothing."""

    @documented(200, "The request", shows=ApprovalDocument)
    def get(self, request: Request, approval_id: str) -> HttpResponse:
        return answer(_shown(self.actor(APPROVALS_READ), row_id(approval_id)))


class Decisions(Resource):
    """A person's decision."""

    @documented(201, "The decision and what became of the request", shows=DecisionDocument, body=shapes.Decision)
    def post(self, request: Request, approval_id: str) -> HttpResponse:
        # Whether it exists and whether a person asks come before what the key may do.
        actor = self.anybody()
        queries.request(actor.reader(), row_id(approval_id))
        if not actor.is_person:
            raise PeopleOnly
        body = read_model(request, shapes.Decision)
        done = decide(
            actor,
            row_id(approval_id),
            verdict=read_verdict(body.verdict),
            digest=body.digest,
            reason=body.reason,
            then=Then(body.then),
        )
        decided = {
            "id": done.decision_id,
            "approval": _shown(actor.reader(), done.request_id),
            "status": done.status,
            "quorum": {"needed": done.needed, "given": done.given},
        }
        return answer(decided, HTTPStatus.CREATED)


class Recheck(Resource):
    """Reads the conditions again."""

    @documented(200, "The request with what its conditions say now", shows=ApprovalDocument, body=shapes.Nothing)
    def post(self, request: Request, approval_id: str) -> HttpResponse:
        actor = self.anybody()
        read_model(request, shapes.Nothing, optional=True)
        recheck(actor, row_id(approval_id))
        return answer(_shown(actor.reader(), row_id(approval_id)))


def _shown(actor: Actor, approval_id: UUID) -> dict[str, object]:
    view = queries.request(actor, approval_id)
    return renderings.approval(RequestRow(view.request, view.given, view.cannot, view.shortage))
