"""A person says, with evidence, what a call with an unknown outcome really did."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from agentops.domain_error import DomainError
from agentops.errors import problem_of
from agentops.tenancy.access import require_scope
from agentops.tenancy.scopes import RUNS_WRITE
from agentops.web.exact import as_fields
from agentops.web.member import MemberRequest, member, show
from runs import queries
from runs.operations.reconciling import reconcile
from tools.domain.canonical import parse


class ReconcileForm(forms.Form):
    """The outcome, how one knows, and what the call brought back if that is known."""

    outcome = forms.ChoiceField(
        label=_("What happened"),
        widget=forms.RadioSelect,
        choices=[("succeeded", _("It acted: the change is there")), ("failed", _("It did not act: nothing changed"))],
    )
    evidence = forms.CharField(label=_("How do you know"), max_length=2000, widget=forms.Textarea(attrs={"rows": 3}))
    result = forms.CharField(
        label=_("Result, as JSON (if you have it)"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "code"}),
    )

    def clean_result(self) -> Any:
        """The result as exact JSON."""
        text = self.cleaned_data["result"].strip()
        try:
            return parse(text) if text else None
        except DomainError as error:
            raise forms.ValidationError(error.message) from error


@require_http_methods(["GET", "HEAD", "POST"])
@member
def reconciliation(request: MemberRequest, step_id: UUID) -> HttpResponse:
    """The form, and the reconciliation itself."""
    require_scope(request.actor, RUNS_WRITE)
    view = queries.step(request.actor, step_id)
    form = ReconcileForm(request.POST or None)
    status = 200 if request.method != "POST" else _reconciled(request, step_id, form)
    if status == 303:
        return redirect("run", view.step.run_id)
    context = {
        "form": form,
        "said": queries.said_of(request.actor, view.step),
        "view": view,
        "step": view.step,
        "fields": as_fields(view.args, {}),
    }
    return show(request, "runs/reconcile.html", context, status=status)


def _reconciled(request: MemberRequest, step_id: UUID, form: ReconcileForm) -> int:
    if not form.is_valid():
        return 422
    said = form.cleaned_data
    try:
        done = reconcile(
            request.actor,
            step_id,
            succeeded=said["outcome"] == "succeeded",
            evidence=said["evidence"],
            result=said["result"],
        )
    except DomainError as error:
        form.add_error(None, error.message)
        return problem_of(error).status
    if not done.settled:
        messages.info(request, _("Recorded. A second person must look and say the same."))
    return 303
