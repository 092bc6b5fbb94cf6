"""Forms of the admin pages: a definition is edited as JSON, and its faults are shown where it is edited."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from tools.domain.canonical import parse
from tools.domain.checks import parse_spec
from tools.domain.errors import InvalidTool
from tools.domain.errors_values import InvalidJson
from tools.domain.spec import ToolSpec
from tools.domain.writing import written
from tools.models import Credential, Tool
from tools.registry import read_spec

_SCHEMA = {"type": "object", "properties": {"invoice_id": {"type": "string"}}, "required": ["invoice_id"]}
SKELETONS: dict[str, dict[str, Any]] = {
    "http": {
        "name": "",
        "description": "",
        "kind": "http",
        "risk": "read",
        "required_scope": "",
        "input_schema": _SCHEMA,
        "http": {"method": "GET", "url": "https://host.example/invoices/{args.invoice_id}"},
    },
    "python": {
        "name": "",
        "description": "",
        "kind": "python",
        "risk": "read",
        "required_scope": "",
        "input_schema": _SCHEMA,
        "python": {"function": ""},
    },
}
_FIRST = ("name", "title", "description", "compact_description", "kind", "risk", "required_scope")


class ToolForm(forms.ModelForm):  # type: ignore[type-arg]
    """One definition as JSON; saving a changed one makes a new immutable version."""

    definition = forms.CharField(
        strip=False,
        widget=forms.Textarea(attrs={"rows": 40, "cols": 100, "spellcheck": "false", "autocomplete": "off"}),
        help_text="All fields of a tool definition as JSON. Saving a change makes a new version; none is ever changed.",
    )
    revision = forms.IntegerField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = Tool
        fields = ("definition", "enabled", "revision")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.current is not None:
            self.initial["definition"] = written(_in_order(read_spec(self.instance.current.spec)))
        else:
            self.initial["definition"] = written(SKELETONS.get(str(self.initial.get("kind")), SKELETONS["http"]))

    def clean_definition(self) -> ToolSpec:
        """The definition, checked; every fault with its pointer."""
        try:
            return parse_spec(parse(self.cleaned_data["definition"]))
        except InvalidJson as error:
            raise ValidationError(error.message) from None
        except InvalidTool as error:
            raise ValidationError([f"{fault.pointer or '/'}: {fault.detail}" for fault in error.faults]) from None


class CredentialForm(forms.ModelForm):  # type: ignore[type-arg]
    """A bearer for one `host:port`; it can be replaced and never be read."""

    bearer = forms.CharField(
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "off"}),
        help_text="Written once, sealed, and sent to this destination alone.",
    )

    class Meta:
        model = Credential
        fields = ("name", "destination", "bearer")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance._state.adding:
            for name in ("name", "destination"):
                self.fields[name].disabled = True


def _in_order(spec: ToolSpec) -> dict[str, Any]:
    """What a person looks for first, first; fields that say nothing are left out."""
    said = spec.model_dump(mode="python", exclude_defaults=True) | {"kind": spec.kind}
    if "cost" in said:
        said["cost"] = spec.cost.model_dump(mode="json", exclude_defaults=True)
    return {name: said[name] for name in (*_FIRST, *said) if name in said}
