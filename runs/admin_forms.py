"""The form of an agent: what it is, what it may use, how it plans, and what it may spend."""

from typing import Any, ClassVar

from django import forms

from agentops.tenancy.transaction import current_tenant
from runs.domain.agent import EMPTY_PLAYBOOK
from runs.model_forms import ModelFields
from runs.models import Agent
from runs.operations.configuring import definition_of
from tools.admin_fields import ExactJson
from tools.queries import names_of_all

PLANNERS = (
    ("playbook", "playbook: the script below plans every turn"),
    ("model", "model: a language model plans every turn, as said below"),
    ("external", "external: a program of yours calls over MCP or proposes over REST"),
)


class AgentForm(ModelFields):
    """One definition; saving a changed one makes a new immutable version."""

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
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = Agent
        fields = ("slug", "name", "description", "enabled")
        help_texts: ClassVar = {"enabled": "A disabled agent starts no new runs; runs under way go on."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = names_of_all(current_tenant())
        self.fields["tools"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]  # a choice field
        self.initial.setdefault("playbook", EMPTY_PLAYBOOK)
        if self.instance.current is not None:
            self._fill(definition_of(self.instance))
            self.fields["slug"].disabled = True

    def definition(self) -> dict[str, Any]:
        """What was filled in, as `check_agent` reads it."""
        parts = ("slug", "name", "description", "planner", "tools", "playbook")
        model = {"model": self.model()} if self.cleaned_data["planner"] == "model" else {}
        return {**{part: self.cleaned_data[part] for part in parts}, **model, "budget": self.budget()}

    def _fill(self, definition: dict[str, Any]) -> None:
        self.fill(definition["budget"])
        self.initial.update({part: definition[part] for part in ("planner", "tools")})
        self.initial["version"] = self.instance.current.number
        if definition["playbook"] is not None:
            self.initial["playbook"] = definition["playbook"]
        if definition["model"] is not None:
            self.fill_model(definition["model"])
