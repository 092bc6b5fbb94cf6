"""The form of a policy: a preset, and one block of fields for each rule."""

from typing import Any, ClassVar

from django import forms

from approvals.domain.decision import DECIDING_ROLES
from approvals.domain.policy import Effect, Preset
from approvals.models import PolicyVersion

SPARE = 2
PARTS = ("name", "when", "effect", "group", "quorum", "expires_in", "reason")
_PRESETS = (
    (Preset.CAREFUL.value, "careful: writes and destructive calls ask; reads with effects ask after untrusted text"),
    (Preset.STRICT.value, "strict: destructive calls ask; after untrusted text every effect asks"),
)
_EFFECTS = (
    (Effect.REQUIRE_APPROVAL.value, "ask people"),
    (Effect.DENY.value, "refuse"),
    (Effect.ALLOW.value, "allow, unless something stricter matches"),
)

_GROUPS = (
    ("", "approvers and owners"),
    *((role, f"only members with the role {role}") for role in sorted(DECIDING_ROLES)),
)
_AGREE = (
    (1, "one person"),
    (2, "two people: the second must say the same as the first"),
)
_SEES = (
    "CEL over args, tool (name, risk, is_effect), run (agent, turns, tainted), principal, tenant, taint, "
    "budget (limit, used, reserved), time (at, hour, weekday; UTC) and history. A rule that fails asks."
)


class PolicyForm(forms.ModelForm):  # type: ignore[type-arg]
    """A whole policy; a rule without a name and an expression is left out."""

    count: ClassVar[int] = 0
    preset = forms.ChoiceField(choices=_PRESETS, widget=forms.RadioSelect)
    reconcile_quorum = forms.TypedChoiceField(
        label="Who says what it did",
        choices=_AGREE,
        coerce=int,
        widget=forms.RadioSelect,
        help_text="Its answer was lost: it may or may not have happened, and nothing sends it again before people say.",
    )
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = PolicyVersion
        fields = ("preset",)

    @property
    def places(self) -> dict[str, str]:
        """Where faults of the rules are shown; empty blocks are not counted in pointers."""
        filled = [number for number in range(self.count) if self._is_filled(number)]
        return {f"/rules/{at}/{part}": f"{part}_{number}" for at, number in enumerate(filled) for part in PARTS}

    def rules(self) -> list[dict[str, Any]]:
        """The rules as `read_policy` reads them."""
        return [self._rule(number) for number in range(self.count) if self._is_filled(number)]

    def _is_filled(self, number: int) -> bool:
        return bool(self.cleaned_data.get(f"name_{number}") or self.cleaned_data.get(f"when_{number}"))

    def _rule(self, number: int) -> dict[str, Any]:
        given = {part: self.cleaned_data.get(f"{part}_{number}") for part in PARTS}
        return {part: value for part, value in given.items() if value not in (None, "") or part in ("name", "when")}


def form_for(rules: list[dict[str, Any]], count: int) -> type[PolicyForm]:
    """A form with `count` blocks, the first ones for these rules."""
    fields: dict[str, Any] = {}
    for number in range(count):
        stored = rules[number] if number < len(rules) else {}
        for part, field in _block().items():
            field.initial = stored.get(part, field.initial)
            fields[f"{part}_{number}"] = field
    return type("FilledPolicyForm", (PolicyForm,), {**fields, "count": count})


def _block() -> dict[str, forms.Field]:
    code = forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "class": "code"})
    whole = {
        "name": forms.CharField(
            label="Name", max_length=100, help_text="Clear it and the expression to remove the rule."
        ),
        "when": forms.CharField(label="When", widget=code, max_length=4000, help_text=_SEES),
        "effect": forms.ChoiceField(label="Then", choices=_EFFECTS),
        "group": forms.ChoiceField(
            label="Who decides", choices=_GROUPS, help_text="Owners, where matching rules name both groups."
        ),
        "quorum": forms.IntegerField(
            label="How many",
            initial=1,
            help_text="Different people, none who asked; the most that a matching rule asks for.",
        ),
        "expires_in": forms.IntegerField(label="Expires in", help_text="Seconds, at least 60. Empty: 86,400, one day."),
        "reason": forms.CharField(
            label="Reason", max_length=500, help_text="Why it asks, as the page of a request says it."
        ),
    }
    for field in whole.values():
        field.required = False
    whole["effect"].required = True
    return whole
