"""`/runs/{id}/proposals`: an outside agent's turn."""

from decimal import Decimal
from hashlib import sha256
from http import HTTPStatus

from django.http import HttpResponse
from rest_framework.request import Request

from agentops.api import renderings, shapes
from agentops.api.answers import answer
from agentops.api.body import checked, read_raw
from agentops.api.documented import documented
from agentops.api.documents import TurnDocument
from agentops.api.lenient import read_proposals
from agentops.api.query import idempotency_key
from agentops.api.resource import Resource, row_id
from agentops.tenancy.scopes import RUNS_WRITE
from runs import queries
from runs.domain.planning import Finish, Refusal, ToolProposal
from runs.operations.submitting import Usage, submit
from tools.domain.canonical import canonical


class Proposals(Resource):
    """The turns that an external planner proposes."""

    @documented(201, "Each step of the turn with its verdict", shows=TurnDocument, body=shapes.Proposals, once=True)
    def post(self, request: Request, run_id: str) -> HttpResponse:
        actor = self.actor(RUNS_WRITE)
        raw = read_raw(request)
        value, faults = read_proposals(raw)
        body = checked(shapes.Proposals, value)
        found = submit(
            actor,
            row_id(run_id),
            [_proposal(p, faults.get(place)) for place, p in enumerate(body.proposals)],
            usage=_usage(body.usage) if body.usage else None,
            turn=body.turn,
            key=idempotency_key(request),
            body_hash=sha256(raw if faults else canonical(value).encode()).hexdigest(),
        )
        # A finish has no steps; the last turn's are not its own.
        calls = any(isinstance(p, shapes.ProposedCall) for p in body.proposals)
        rows = [renderings.step(v) for v in queries.steps_of_turn(actor, row_id(run_id), found.turn)] if calls else []
        run = renderings.run(queries.run(actor.reader(), row_id(run_id)))
        status = HTTPStatus.CREATED if found.created else HTTPStatus.OK
        return answer({"turn": found.turn, "steps": rows, "run": run}, status)


def _usage(body: shapes.Usage) -> Usage:
    money = body.cost
    amount, currency = (money.amount, money.currency) if isinstance(money, shapes.Cost) else (money, "")
    cost = None if amount is None else Decimal(amount)
    return Usage(body.input_tokens, body.output_tokens, cost, currency)


def _proposal(body: shapes.ProposedCall | shapes.ProposedFinish, fault: Refusal | None) -> ToolProposal | Finish:
    if isinstance(body, shapes.ProposedFinish):
        return Finish(body.answer)
    return ToolProposal(body.tool, body.args, body.call_id, body.why, body.again, fault)
