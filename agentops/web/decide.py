"""The page's way to decide: the person typed the target and opened what was folded, then the engine decides."""

from uuid import UUID

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agentops.domain_error import DomainError
from agentops.errors import problem_of
from agentops.web.exact import folds_of
from agentops.web.member import MemberRequest, member, show
from agentops.web.request import page_of
from approvals.domain.decision import Then, Verdict
from approvals.domain.errors import InvalidDecision
from approvals.queries import RequestView
from approvals.queries import request as request_of
from runs.operations.deciding import decide, read_verdict

MAX_REASON = 2000


@require_POST
@member
def decisions(request: MemberRequest, request_id: UUID) -> HttpResponse:
    """Approve or reject; a refusal shows the page again with what stands against it."""
    try:
        _decide(request, request_id)
    except DomainError as error:
        return _again(request, request_id, error)
    return redirect("request", request_id)


def _decide(request: MemberRequest, request_id: UUID) -> None:
    form = request.POST
    verdict = read_verdict(form.get("verdict"))
    seen = request_of(request.actor, request_id)
    proof = {"target": form.get("target", ""), "opened": sorted(set(form.getlist("opened")))}
    # When a condition failed, the engine approves nothing: it asks again with what is so now.
    asks_again = any(check.get("ok") is False for check in seen.checks)
    if verdict is Verdict.APPROVE and not seen.cannot and not asks_again:
        _require_reading(seen, form)
    decide(
        request.actor,
        request_id,
        verdict=verdict,
        digest=form.get("digest", ""),
        reason=_reason(form),
        then=_then(form),
        proof=proof,  # type: ignore[arg-type]  # a list of strings is Json
    )


def _require_reading(seen: RequestView, form: QueryDict) -> None:
    row = seen.request
    if row.risk == "destructive" and form.get("target", "") != seen.snapshot["target"]:
        raise InvalidDecision(_("Type the target exactly as it is shown."))
    closed = folds_of(seen.snapshot) - set(form.getlist("opened"))
    if row.risk != "read" and closed:
        raise InvalidDecision(_("Open every folded value first: %(paths)s.") % {"paths": ", ".join(sorted(closed))})


def _reason(form: QueryDict) -> str:
    reason = " ".join(part for part in (form.get("preset", ""), form.get("reason", "").strip()) if part)
    if len(reason) > MAX_REASON:
        raise InvalidDecision(_("A reason has at most %(most)d characters.") % {"most": MAX_REASON})
    if "\0" in reason:
        raise InvalidDecision(_("A reason cannot hold U+0000."))
    return reason


def _then(form: QueryDict) -> Then:
    wish = form.get("then", Then.REPLAN.value)
    if wish not in set(Then):
        raise InvalidDecision(_("A rejection either re-plans or stops the run."))
    return Then(wish)


def _again(request: MemberRequest, request_id: UUID, error: DomainError) -> HttpResponse:
    problem = problem_of(error)
    is_form_fault = isinstance(error, InvalidDecision)
    status = 422 if is_form_fault else problem.status
    step_asked = request.POST.get("verdict", "") if is_form_fault else ""
    context = page_of(request.actor, request_id)
    context |= {"problem": problem, "step_asked": step_asked, "form_fault": is_form_fault, "given": request.POST}
    return show(request, "approvals/request.html", context, status=status)
