"""Takes proposals from an outside agent: one turn, once for one idempotency key."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from uuid import UUID

from agentops.tenancy.actor import Actor
from runs import ledger, probing
from runs.book import Book
from runs.domain.errors import (
    IdempotencyMismatch,
    InvalidRequest,
    NotExternal,
    NotThePrincipal,
    PlannerInvalid,
    RunFinished,
    TurnMoved,
    TurnOpen,
)
from runs.domain.planning import MAX_PROPOSALS, Finish, ToolProposal, Turn
from runs.domain.run import TerminalReason
from runs.models import StartRecord
from runs.operations.advancing import external_due
from runs.operations.ending import end
from runs.operations.healing import heal_due
from runs.operations.proposers import check_proposer, narrow
from runs.operations.proposing import probes_for, propose
from runs.operations.readings import Reading, Readings
from tools.domain.canonical import canonical


@dataclass(frozen=True)
class Usage:
    """What the planner says it used. `currency` is empty for that of the run's money budget."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None
    currency: str = ""

    @property
    def told_cost(self) -> str | None:
        return None if self.cost is None else str(self.cost)

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True)
class Submitted:
    """The turn that was written; `created` is false when the same request was made before."""

    turn: int
    created: bool


def submit(
    actor: Actor,
    run_id: UUID,
    proposals: Sequence[ToolProposal | Finish],
    *,
    usage: Usage | None = None,
    turn: int | None = None,
    key: str | None = None,
    body_hash: str = "",
) -> Submitted:
    """Propose one turn. Raises NotForAgents, NotExternal, NotThePrincipal, RunFinished, TurnOpen, TurnMoved."""
    check_proposer(actor)
    answer = _answer(proposals)
    digest = body_hash or sha256(canonical([repr(p) for p in proposals]).encode()).hexdigest()
    readings: Readings = {}
    for _ in range(2):
        with ledger.opened_run(actor.tenant_id, run_id) as book:
            earlier = _earlier(actor, run_id, key)
            if earlier is not None:
                return _again(earlier, digest)
            _check(book, actor, turn)
            _check_currency(book, usage)
            wanted = probes_for(book, answer, readings) if isinstance(answer, Turn) and not readings else []
            if not wanted:
                return _write(book, actor, answer, readings, usage, key, digest)
        readings = _read(probing.read(wanted))
    raise TurnMoved  # pragma: no cover - the second round has its readings


def _read(readings: Sequence[Reading]) -> Readings:
    return {(r.place, r.name): r for r in readings}


def _answer(proposals: Sequence[ToolProposal | Finish]) -> Turn | Finish:
    if len(proposals) == 1 and isinstance(proposals[0], Finish):
        return proposals[0]
    calls = tuple(p for p in proposals if isinstance(p, ToolProposal))
    if not calls or len(calls) != len(proposals) or len(calls) > MAX_PROPOSALS:
        raise PlannerInvalid(pointer="/proposals")
    return Turn(calls)


def _earlier(actor: Actor, run_id: UUID, key: str | None) -> StartRecord | None:
    if key is None:
        return None
    route = _route(run_id)
    return StartRecord.objects.filter(
        tenant_id=actor.tenant_id, principal=actor.principal, route=route, key=key
    ).first()


def _again(earlier: StartRecord, digest: str) -> Submitted:
    if earlier.body_hash != digest:
        raise IdempotencyMismatch
    return Submitted(earlier.turn or 0, created=False)


def _route(run_id: UUID) -> str:
    return f"/api/v1/runs/{run_id}/proposals"


def _check(book: Book, actor: Actor, turn: int | None) -> None:
    if book.agent.planner != "external":
        raise NotExternal
    if book.run.principal != actor.principal:
        raise NotThePrincipal
    heal_due(book)
    narrow(book, actor.scopes)
    if book.is_final:
        raise RunFinished(status=book.run.status, terminal_reason=book.run.terminal_reason)
    if turn is not None and turn != book.run.turns + 1:
        raise TurnMoved(turn=book.run.turns + 1)
    if book.open_steps() or book.run.cancel_requested_at is not None:
        raise TurnOpen(open_steps=[str(s.id) for s in book.open_steps()])


def _check_currency(book: Book, usage: Usage | None) -> None:
    money = book.limits.money
    if usage is not None and money and usage.currency not in {"", money.currency}:
        raise InvalidRequest(f"The run's money is counted in {money.currency}.", pointer="/usage/cost/currency")


def _write(
    book: Book,
    actor: Actor,
    answer: Turn | Finish,
    readings: Readings,
    usage: Usage | None,
    key: str | None,
    digest: str,
) -> Submitted:
    if usage is not None:
        book.charge(use={"tokens": usage.tokens, "money": usage.cost or Decimal(0)})
        told = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "cost": usage.told_cost}
        book.note("usage", actor.label, **told, **({"currency": usage.currency} if usage.currency else {}))
    limit = book.limits.tokens
    if limit is not None and book.used.tokens > limit:
        end(book, TerminalReason.TOKEN_BUDGET, "The planner used more tokens than the run has.")
    elif isinstance(answer, Finish):
        end(book, TerminalReason.COMPLETED, actor=actor.label, answer=answer.answer)
    else:
        propose(book, answer, readings, actor=actor.label)
        external_due(book)
    if key is not None:
        book.add(
            StartRecord(
                tenant_id=actor.tenant_id,
                principal=actor.principal,
                route=_route(book.run.id),
                key=key,
                body_hash=digest,
                run_id=book.run.id,
                turn=book.run.turns,
                created_at=book.now,
            )
        )
    return Submitted(book.run.turns, created=True)
