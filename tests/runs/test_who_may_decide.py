"""Whose votes count: distinct people who did not ask, who may still decide, and enough of them."""

from collections.abc import Callable
from uuid import UUID

import pytest

from agentops.tenancy.access import authenticate_key
from agentops.tenancy.actor import Actor
from agentops.tenancy.keys import create_key, create_service_account
from agentops.tenancy.members import remove_member, set_roles
from agentops.tenancy.models import User
from approvals import queries
from approvals.domain.decision import Verdict
from approvals.domain.errors import (
    AlreadyDecided,
    ApprovalNotFound,
    DigestMismatch,
    GateError,
    NotAnApprover,
    PeopleOnly,
    SelfApproval,
    VerdictUnsupported,
)
from runs.operations.deciding import decide
from runs.operations.rechecking import recheck
from tests.cast import Person, new_person, new_service
from tests.runs.scenario import Stage

TWO = {"name": "two", "when": "tool.risk == 'destructive'", "effect": "require_approval", "quorum": 2}
WORKS = ("runs:write", "ledger:read", "ledger:write")


def _held(stage: Stage, *, by: Actor | None = None, **kwargs: object) -> UUID:
    slug = stage.agent("payer", [{"tool": "t_pay_plain", "args": {"account": stage.account, "amount": "5"}}])
    run_id = stage.start(slug, by=by or stage.cast.service.actor, **kwargs)
    stage.work(run_id)
    return run_id


def _refused(stage: Stage, run_id: UUID, actor: Actor, error: type[GateError]) -> None:
    before = stage.kinds(run_id)
    with pytest.raises(error):
        stage.approve(run_id, by=actor)
    assert stage.kinds(run_id) == before
    assert stage.statuses(run_id) == ["held"]


def test_two_distinct_people_carry_a_quorum_of_two(stage: Stage) -> None:
    stage.policy(TWO)
    run_id = _held(stage)
    first = stage.approve(run_id)
    assert (first.status, first.given, first.needed) == ("pending", 1, 2)
    stage.work(run_id)
    assert stage.world.paid == []
    _refused(stage, run_id, stage.cast.bob.actor, AlreadyDecided)
    _refused(stage, run_id, stage.cast.bob.key_actor, AlreadyDecided)
    assert stage.approve(run_id, by=stage.cast.alice.key_actor).status == "approved"
    stage.work(run_id)
    assert len(stage.world.paid) == 1


def test_one_no_ends_a_quorum_of_two(stage: Stage) -> None:
    stage.policy(TWO)
    run_id = _held(stage)
    stage.approve(run_id)
    assert stage.reject(run_id, by=stage.cast.alice.actor).status == "rejected"
    stage.work(run_id)
    assert stage.world.paid == []


def test_who_voted_is_told_that_somebody_else_must(stage: Stage) -> None:
    stage.policy(TWO)
    run_id = _held(stage)
    stage.approve(run_id)
    view = queries.request(stage.cast.bob.actor, stage.pending(run_id).id)
    assert view.cannot == "You have approved it already; somebody else must too."
    (row,) = queries.requests(stage.cast.bob.actor).rows
    assert (row.cannot, row.given) == (view.cannot, 1)
    assert queries.request(stage.cast.alice.actor, stage.pending(run_id).id).cannot == ""


def _starter(stage: Stage, dana: Person) -> Actor:
    return dana.actor


def _by_her_key(stage: Stage, dana: Person) -> Actor:
    return authenticate_key(create_key(dana.actor, name="k", scopes=WORKS).raw)


def _owner_of_the_account(stage: Stage, dana: Person) -> Actor:
    account = create_service_account(stage.cast.carol.actor, name="hers", owner_id=dana.user.id)
    made = create_key(stage.cast.carol.actor, name="k", scopes=WORKS, service_account_id=account.id)
    return authenticate_key(made.raw)


def _maker_of_the_key(stage: Stage, dana: Person) -> Actor:
    account = create_service_account(stage.cast.carol.actor, name="theirs")
    made = create_key(dana.actor, name="k", scopes=WORKS, service_account_id=account.id)
    return authenticate_key(made.raw)


@pytest.mark.parametrize("starts", [_starter, _by_her_key, _owner_of_the_account, _maker_of_the_key])
def test_whoever_asked_cannot_decide(stage: Stage, starts: Callable[[Stage, Person], Actor]) -> None:
    dana = new_person(stage.cast.tenant, "dana", ["owner"])
    run_id = _held(stage, by=starts(stage, dana))
    _refused(stage, run_id, dana.actor, SelfApproval)
    _refused(stage, run_id, dana.key_actor, SelfApproval)
    with pytest.raises(SelfApproval):
        stage.reject(run_id, by=dana.actor)
    stage.approve(run_id)
    stage.work(run_id)
    assert len(stage.world.paid) == 1


def test_the_person_it_is_done_for_cannot_decide(stage: Stage) -> None:
    run_id = _held(stage, on_behalf_of=stage.cast.bob.user.email)
    _refused(stage, run_id, stage.cast.bob.actor, SelfApproval)
    _refused(stage, run_id, stage.cast.carol.actor, SelfApproval)
    assert stage.approve(run_id, by=stage.cast.alice.actor).status == "approved"


def test_programs_viewers_and_strangers_never_decide(stage: Stage) -> None:
    run_id = _held(stage)
    cast = stage.cast
    _refused(stage, run_id, cast.service.actor, PeopleOnly)
    _refused(stage, run_id, new_service(cast.carol, "other").actor, PeopleOnly)
    _refused(stage, run_id, new_person(cast.tenant, "vic", ["viewer", "operator", "tool_admin"]).actor, NotAnApprover)
    _refused(stage, run_id, cast.mallory.actor, ApprovalNotFound)


def test_only_the_digest_that_was_seen_decides(stage: Stage) -> None:
    run_id = _held(stage)
    request = stage.pending(run_id)
    for digest in ("", "0" * 64, request.digest.upper(), request.digest + "0"):
        with pytest.raises(DigestMismatch):
            decide(stage.cast.bob.actor, request.id, verdict=Verdict.APPROVE, digest=digest)
    assert stage.statuses(run_id) == ["held"]


@pytest.mark.parametrize("verdict", [Verdict.EDIT, Verdict.ANSWER])
def test_a_verdict_that_is_not_built_changes_nothing(stage: Stage, verdict: Verdict) -> None:
    run_id = _held(stage)
    request, before = stage.pending(run_id), stage.run(run_id).head
    with pytest.raises(VerdictUnsupported):
        decide(stage.cast.bob.actor, request.id, verdict=verdict, digest=request.digest)
    assert (stage.run(run_id).head, stage.pending(run_id).version) == (before, request.version)


@pytest.mark.parametrize("group", ["treasury", "viewer", "owner"])
def test_a_group_without_anybody_who_may_decide_stays_closed_and_says_so(stage: Stage, group: str) -> None:
    stage.policy({**TWO, "quorum": 1, "group": group})
    run_id = _held(stage)
    for person in (stage.cast.alice, stage.cast.bob):
        _refused(stage, run_id, person.actor, NotAnApprover)
    view = queries.request(stage.cast.alice.actor, stage.pending(run_id).id)
    assert "nobody" in view.shortage
    assert group in view.shortage
    (row,) = queries.requests(stage.cast.alice.actor).rows
    assert row.shortage == view.shortage
    stage.work(run_id)
    assert stage.world.paid == []


def test_a_quorum_that_the_tenant_cannot_fill_says_so_until_it_can(stage: Stage) -> None:
    stage.policy({**TWO, "quorum": 3})
    run_id = _held(stage)
    view = queries.request(stage.cast.bob.actor, stage.pending(run_id).id)
    assert "needs 3" in view.shortage
    assert "only 2 people" in view.shortage
    new_person(stage.cast.tenant, "dana", ["approver"])
    assert queries.request(stage.cast.bob.actor, stage.pending(run_id).id).shortage == ""


def _removed(stage: Stage) -> None:
    remove_member(stage.cast.carol.actor, user_id=stage.cast.bob.user.id)


def _demoted(stage: Stage) -> None:
    set_roles(stage.cast.carol.actor, user_id=stage.cast.bob.user.id, roles=["viewer"])


def _deactivated(stage: Stage) -> None:
    User.objects.filter(id=stage.cast.bob.user.id).update(is_active=False)


LEFT = pytest.mark.parametrize("leaves", [_removed, _demoted, _deactivated])


@LEFT
def test_an_approval_does_not_outlive_its_approver(stage: Stage, leaves: Callable[[Stage], None]) -> None:
    run_id = _held(stage)
    stage.approve(run_id)
    leaves(stage)
    stage.work(run_id)
    assert stage.world.paid == []
    first, second = stage.requests(run_id)
    assert (first.status, second.status) == ("superseded", "pending")
    assert any("vote no longer counts" in reason for reason in second.reasons)
    stage.approve(run_id, by=stage.cast.alice.actor)
    stage.work(run_id)
    assert len(stage.world.paid) == 1


@LEFT
def test_a_first_vote_of_somebody_who_left_is_not_the_first_of_two(
    stage: Stage, leaves: Callable[[Stage], None]
) -> None:
    stage.policy(TWO)
    run_id = _held(stage)
    stage.approve(run_id)
    leaves(stage)
    assert queries.request(stage.cast.alice.actor, stage.pending(run_id).id).given == 0
    second = stage.approve(run_id, by=stage.cast.alice.actor)
    assert (second.status, second.given) == ("pending", 1)
    stage.work(run_id)
    assert stage.world.paid == []


def test_only_who_may_decide_makes_the_conditions_be_read(stage: Stage) -> None:
    slug = stage.agent("payer", [{"tool": "t_pay", "args": {"account": stage.account, "amount": "5"}}])
    run_id = stage.start(slug, by=stage.cast.alice.actor)
    stage.work(run_id)
    reads = stage.world.reads
    with pytest.raises(SelfApproval):
        recheck(stage.cast.alice.actor, stage.pending(run_id).id)
    assert stage.world.reads == reads
