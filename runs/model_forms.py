"""The fields of an agent's model: who serves it, how it is asked, what it costs."""

from typing import Any, ClassVar

from django import forms

from agentops.tenancy.transaction import current_tenant
from runs.budget_forms import BudgetForm
from runs.domain.model_spec import PROVIDERS, ModelSpec
from tools.queries import list_credentials

_PRICES = ("input", "output", "currency")
_PLAIN = (
    "provider", "name", "base_url", "credential", "instructions", "max_output_tokens", "temperature", "context_tokens",
    "seconds",
)  # fmt: skip
MODEL_FIELDS = (
    ("model_provider", "model_name"), ("model_base_url", "model_credential"), "model_instructions",
    ("model_context_tokens", "model_max_output_tokens"), ("model_temperature", "model_seconds"),
    ("model_input", "model_output", "model_currency"),
)  # fmt: skip


def _default(name: str) -> Any:
    return ModelSpec.model_fields[name].default


class ModelFields(BudgetForm):
    """They count for the planner `model` alone; what is left empty has the default that stands there."""

    places: ClassVar[dict[str, str]] = {
        **BudgetForm.places,
        **{f"/model/{name}": f"model_{name}" for name in _PLAIN},
        **{f"/model/prices/{name}": f"model_{name}" for name in _PRICES},
        "/model/prices": "model_input",
        "/model": "model_provider",
    }

    model_provider = forms.ChoiceField(
        label="Provider", required=False, choices=[("", "")] + [(name, name) for name in PROVIDERS],
        help_text="compatible: any server that speaks OpenAI's chat completions.",
    )  # fmt: skip
    model_name = forms.CharField(label="Model", required=False, help_text="As the provider names it.")
    model_base_url = forms.CharField(
        label="Address", required=False, help_text="Empty: the provider's own. Private ones need the operator's leave."
    )
    model_credential = forms.ChoiceField(
        label="Credential", required=False, help_text="Its key, stored for this very host. Empty: none is sent."
    )
    model_instructions = forms.CharField(
        label="Instructions", required=False, max_length=20_000, widget=forms.Textarea(attrs={"rows": 6}),
        help_text="What it is told before each task.",
    )  # fmt: skip
    model_context_tokens = forms.IntegerField(
        label="Context tokens", required=False,
        help_text=f"The most that it is sent at once, by estimate. Empty: {_default('context_tokens'):,}.",
    )  # fmt: skip
    model_max_output_tokens = forms.IntegerField(
        label="Output tokens", required=False,
        help_text=f"The longest answer. Empty: {_default('max_output_tokens'):,}.",
    )  # fmt: skip
    model_temperature = forms.DecimalField(
        label="Temperature", required=False, help_text="0 to 2. Empty: the provider's own."
    )
    model_seconds = forms.IntegerField(
        label="Seconds an answer", required=False, help_text=f"Empty: {_default('seconds')}."
    )
    model_input = forms.DecimalField(
        label="Price of input", required=False,
        help_text="Of a million tokens. Empty: the published price, where there is one.",
    )  # fmt: skip
    model_output = forms.DecimalField(label="Price of output", required=False, help_text="Of a million tokens.")
    model_currency = forms.CharField(label="Currency of the prices", required=False, help_text="Empty: USD.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [(row.name, f"{row.name}: {row.destination}") for row in list_credentials(current_tenant())]
        self.fields["model_credential"].choices = [("", ""), *names]  # type: ignore[attr-defined]  # a choice field

    def model(self) -> dict[str, Any]:
        """What was filled in, as `check_model` reads it."""
        found, prices = self._given(_PLAIN), self._given(_PRICES)
        return {**found, "prices": prices} if prices else found

    def fill_model(self, kept: dict[str, Any]) -> None:
        """Show what is kept."""
        self.initial.update({f"model_{name}": kept.get(name) for name in _PLAIN})
        self.initial.update({f"model_{name}": part for name, part in (kept.get("prices") or {}).items()})

    def _given(self, names: tuple[str, ...]) -> dict[str, Any]:
        values = {name: self.cleaned_data.get(f"model_{name}") for name in names}
        return {name: value for name, value in values.items() if value not in (None, "")}
