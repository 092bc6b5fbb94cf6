"""The form of an agent: what it is, what it may use, how it plans, and what it may spend."""

from typing import Any, ClassVar

from django import forms

from agentops.tenancy.transaction import current_tenant
from runs.domain.agent import EMPTY_PLAYBOOK
from runs.models import Agent
from runs.operations.configuring import definition_of
from tools.admin_fields import ExactJson
from tools.queries import names_of_all

PLANNERS = (
    ("playbook", "playbook: the script below plans every turn"),
    ("external", "external: a program of yours proposes over REST"),
)
_COUNTS = {
    "steps": ("Steps", "Turns of the planner, 1 to 1,000. Empty: 20."),
    "tool_calls": ("Tool calls", "Calls that were started, reads too. Empty: 40."),
    "seconds": ("Seconds", "Since the start, without the time in which only people were awaited. Empty: 86,400."),
    "records": ("Records", "Rows that calls change, as their tools say. Empty: no limit."),
    "tokens": ("Tokens", "Input and output tokens that an external planner reports. Empty: no limit."),
    "result_bytes": ("Result bytes", "Bytes of results that the planner is given. Empty: no limit."),
}


class AgentForm(forms.ModelForm):  # type: ignore[type-arg]
    """One definition; saving a changed one makes a new immutable version."""

    places: ClassVar[dict[str, str]] = {
        **{f"/budget/{name}": name for name in _COUNTS},
        "/budget/money/currency": "currency",
        "/budget/money": "money",
    }

    slug = forms.SlugField(
        max_length=60, help_text="Its name in REST calls: small letters, digits, dashes. Kept for good."
    )
    name = forms.CharField(label="Title", max_length=100, help_text="What people read.")
    description = forms.CharField(required=False, max_length=4000, widget=forms.Textarea(attrs={"rows": 2}))
    planner = forms.ChoiceField(choices=PLANNERS, widget=forms.RadioSelect, initial="playbook")
    tools = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="It can call these and no others."
    )
    playbook = ExactJson(
        rows=18,
        required=False,
        help_text='JSON: steps of tool, args, when, for_each, save_as, on_error; {"parallel": [...]} for calls of one '
        'turn; {"$cel": "..."} in args sees input, task, item and what was saved before; answer is a text template.',
    )
    steps = forms.IntegerField(required=False)
    tool_calls = forms.IntegerField(required=False)
    seconds = forms.IntegerField(required=False)
    money = forms.CharField(required=False, help_text="Decimal amount that its calls may move. Empty: no limit.")
    currency = forms.CharField(required=False, help_text="Three capital letters, such as EUR: the one its tools cost.")
    records = forms.IntegerField(required=False)
    tokens = forms.IntegerField(required=False)
    result_bytes = forms.IntegerField(required=False)
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = Agent
        fields = ("slug", "name", "description", "enabled")
        help_texts: ClassVar = {"enabled": "A disabled agent starts no new runs; runs under way go on."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = names_of_all(current_tenant())
        self.fields["tools"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]  # a choice field
        for name, (label, help_text) in _COUNTS.items():
            self.fields[name].label, self.fields[name].help_text = label, help_text
        self.initial.setdefault("playbook", EMPTY_PLAYBOOK)
        if self.instance.current is not None:
            self._fill(definition_of(self.instance))
            self.fields["slug"].disabled = True

    def definition(self) -> dict[str, Any]:
        """What was filled in, as `check_agent` reads it."""
        given = self.cleaned_data
        budget = {name: given[name] for name in _COUNTS if given[name] is not None}
        if given["money"] or given["currency"]:
            budget["money"] = {"amount": given["money"], "currency": given["currency"]}
        parts = ("slug", "name", "description", "planner", "tools", "playbook")
        return {**{part: given[part] for part in parts}, "budget": budget}

    def _fill(self, definition: dict[str, Any]) -> None:
        budget, current = definition["budget"], self.instance.current
        money = budget.get("money") or {}
        self.initial.update({part: definition[part] for part in ("planner", "tools")})
        self.initial.update({name: budget.get(name) for name in _COUNTS})
        self.initial.update(money=money.get("amount"), currency=money.get("currency"), version=current.number)
        if definition["playbook"] is not None:
            self.initial["playbook"] = definition["playbook"]
