"""A person's API keys: made here, shown once, revoked."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from agentops.domain_error import DomainError
from agentops.tenancy.actor import Actor
from agentops.tenancy.keys import NewKey, create_key, revoke_key
from agentops.tenancy.models import ApiKey
from agentops.tenancy.scopes import PRODUCT_SCOPES
from agentops.web.member import MemberRequest, member, show

DAYS = [("30", _("30 days")), ("90", _("90 days")), ("365", _("one year")), ("", _("never"))]


class KeyForm(forms.Form):
    """What a new key is called, may do, and when it ends."""

    name = forms.CharField(label=_("Name"), max_length=100, help_text=_("Where it is used, so that you know it again."))
    scopes = forms.MultipleChoiceField(label=_("It may"), widget=forms.CheckboxSelectMultiple)
    days = forms.ChoiceField(label=_("Expires"), choices=DAYS, required=False, initial="90")

    def __init__(self, *args: Any, actor: Actor, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(scope, scope) for scope in sorted(PRODUCT_SCOPES) if actor.allows(scope)]
        self.fields["scopes"].choices = choices  # type: ignore[attr-defined]  # a MultipleChoiceField


@require_http_methods(["GET", "HEAD", "POST"])
@member
def keys(request: MemberRequest) -> HttpResponse:
    """One's keys, and the form for another; a new key is in this one answer only."""
    form = KeyForm(request.POST or None, actor=request.actor)
    made = _made(request.actor, form) if request.method == "POST" and form.is_valid() else None
    status = 422 if form.errors else 201 if made else 200
    if made:
        form = KeyForm(actor=request.actor)
    context = {"form": form, "made": made, "keys": _keys(request.actor), "now": timezone.now()}
    return show(request, "tenancy/keys.html", context, status=status)


@require_POST
@member
def key_revocation(request: MemberRequest, key_id: UUID) -> HttpResponse:
    """End a key at once."""
    revoke_key(request.actor, key_id=key_id)
    return redirect("keys")


def _made(actor: Actor, form: KeyForm) -> NewKey | None:
    asked = form.cleaned_data
    expires = timezone.now() + timedelta(days=int(asked["days"])) if asked["days"] else None
    try:
        return create_key(actor, name=asked["name"], scopes=asked["scopes"], expires_at=expires)
    except DomainError as error:
        form.add_error(None, error.message)
        return None


def _keys(actor: Actor) -> list[ApiKey]:
    if actor.user_id is None:
        return []
    mine = ApiKey.objects.filter(tenant_id=actor.tenant_id, user_id=str(actor.user_id), client="")
    return list(mine.order_by("revoked_at", "-created_at"))
