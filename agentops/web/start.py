"""Start a run from a form."""

from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from agentops.domain_error import DomainError
from agentops.tenancy.access import require_scope
from agentops.tenancy.ids import uuid7
from agentops.tenancy.scopes import RUNS_WRITE
from agentops.web.member import MemberRequest, member, show
from runs import queries
from runs.operations.starting import start_run
from runs.queries import Agent
from tools.domain.canonical import parse
from tools.domain.secrets import SECRET_TAG


class StartForm(forms.Form):
    """What a run begins with; `once` makes a second press the same start."""

    agent = forms.ChoiceField(label=_("Agent"))
    task = forms.CharField(label=_("Task"), max_length=20_000, widget=forms.Textarea(attrs={"rows": 3}))
    given = forms.CharField(
        label=_("Input (JSON object)"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "class": "code", "spellcheck": "false"}),
        help_text=_('What the agent\'s playbook reads, for example {"invoice": "INV-1001"}.'),
    )
    once = forms.CharField(widget=forms.HiddenInput, max_length=64)

    def __init__(self, *args: Any, agents: list[Agent], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(a.slug, a.name) for a in agents if a.enabled]
        self.fields["agent"].choices = choices  # type: ignore[attr-defined]  # a ChoiceField

    def clean_given(self) -> Any:
        """The input as exact JSON."""
        text = self.cleaned_data["given"].strip()
        try:
            value = parse(text) if text else {}
        except DomainError as error:
            raise forms.ValidationError(error.message) from error
        if not isinstance(value, dict):
            raise forms.ValidationError(_("The input must be a JSON object."))
        # Another run's input, from which this form is filled, has marks where that run has secrets.
        if SECRET_TAG.search(text):
            raise forms.ValidationError(_("A mark ⟦secret …⟧ is not the secret: type that again, or leave it out."))
        return value


@require_http_methods(["GET", "HEAD", "POST"])
@member
def start(request: MemberRequest) -> HttpResponse:
    """The form, and the start itself."""
    require_scope(request.actor, RUNS_WRITE)
    agents = queries.agents(request.actor)
    if request.method != "POST":
        return show(
            request, "runs/start.html", {"form": StartForm(agents=agents, initial=_initial(request)), "agents": agents}
        )
    form = StartForm(request.POST, agents=agents)
    run_id = _started(request, form) if form.is_valid() else None
    return (
        redirect("run", run_id)
        if run_id
        else show(request, "runs/start.html", {"form": form, "agents": agents}, status=422)
    )


def _started(request: MemberRequest, form: StartForm) -> UUID | None:
    asked = form.cleaned_data
    try:
        done = start_run(
            request.actor, agent=asked["agent"], task=asked["task"], given=asked["given"], key=f"page:{asked['once']}"
        )
    except DomainError as error:
        form.add_error(None, error.message)
        return None
    return done.run_id


def _initial(request: MemberRequest) -> dict[str, str]:
    initial = {"once": str(uuid7()), "agent": request.GET.get("agent", "")}
    try:
        again = UUID(request.GET.get("again", ""))
    except ValueError:
        return initial
    run = queries.run(request.actor, again).run
    return initial | {"agent": run.agent_slug, "task": run.task, "given": run.input if run.input != "{}" else ""}
