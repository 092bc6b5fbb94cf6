"""Forms of the admin pages of tools: fields of one kind, and credentials that are written and never read."""

from typing import Any, ClassVar

from django import forms

from agentops.tenancy.transaction import current_tenant
from tools.admin_fields import Codes, ExactJson, Lines
from tools.declare import declared
from tools.domain.spec import ToolSpec
from tools.domain.writing import written
from tools.models import Credential, Tool
from tools.queries import list_credentials
from tools.registry import read_spec

SCHEMA = {"type": "object", "properties": {"invoice_id": {"type": "string"}}, "required": ["invoice_id"]}
RISKS = (
    ("read", "read: changes nothing"),
    ("write", "write: changes something that can be put right"),
    ("destructive", "destructive: cannot be undone"),
)
_METHODS = tuple((name, name) for name in ("GET", "POST", "PUT", "PATCH", "DELETE"))
_TRUST = (("untrusted", "untrusted: it may hold anybody's text"), ("trusted", "trusted: only our own data"))
_STDIN = (("none", "nothing"), ("args", "all the arguments, as JSON"))
_OUTPUT = (("text", "text"), ("json", "JSON"))
_FIRST = ("name", "title", "description", "compact_description", "kind", "risk", "required_scope")
_NOT_APPLIED: dict[str, dict[str, Any]] = {
    "http": {
        "least": 400, "most": 599,
        "help_text": "Status codes that say for certain that nothing was changed, such as 409.",
    },
    "command": {
        "least": 1, "most": 255,
        "help_text": "Exit codes that say for certain that nothing was changed, such as 2. After any other code but 0, "
        "the outcome of a change is unknown.",
    },
}  # fmt: skip
_PARTS = {
    "http": ("method", "url", "headers", "query", "body", "success", "not_applied", "select"),
    "python": ("function",),
    "command": ("argv", "stdin", "output", "not_applied"),
}


class ToolForm(forms.ModelForm):  # type: ignore[type-arg]
    """One definition, field by field; saving a changed one makes a new immutable version."""

    kind: ClassVar[str] = ""
    name = forms.CharField(max_length=40, help_text="Small letters, digits, underscores. Kept for good.")
    title = forms.CharField(required=False, max_length=120)
    description = forms.CharField(
        max_length=4000, widget=forms.Textarea(attrs={"rows": 3}), help_text="What a planner reads before it calls."
    )
    compact_description = forms.CharField(
        required=False, max_length=400, help_text="A shorter one, for planners with little room."
    )
    risk = forms.ChoiceField(choices=RISKS, widget=forms.RadioSelect, initial="read")
    required_scope = forms.CharField(max_length=80, help_text="The scope that a run's key needs, such as ledger:read.")
    input_schema = ExactJson(rows=14, initial=SCHEMA, help_text="JSON Schema 2020-12 of the arguments; an object.")
    output_schema = ExactJson(rows=6, required=False, empty={}, help_text="JSON Schema of the result. Empty: anything.")
    output_trust = forms.ChoiceField(choices=_TRUST, help_text="Untrusted results taint the run that reads them.")
    max_result_bytes = forms.IntegerField(
        initial=8000,
        min_value=1,
        max_value=1_000_000,
        help_text="Characters that the planner is given; the whole result is kept.",
    )
    returns_secrets = forms.BooleanField(required=False)
    volatile = forms.BooleanField(required=False, help_text="The same question may have another answer a moment later.")
    approval_summary = forms.CharField(
        required=False, max_length=500, help_text="The sentence that asks people: Pay {args.amount} to {args.account}."
    )
    resource_scope = forms.CharField(
        required=False, max_length=500, help_text="What it acts on: invoice:{args.invoice_id}. Empty: the whole team."
    )
    preconditions = ExactJson(
        rows=8, required=False, empty=[],
        help_text='A list of {"name", "probe": {"tool", "args"}, "select": JMESPath, '
        '"expect": CEL over before, now, args, "on_change": "ask_again" | '
        '"replan" | "fail"}. The probe is a read; args may hold {"$cel": "args.x"}.',
    )  # fmt: skip
    cost = ExactJson(
        rows=4, required=False, empty={},
        help_text='{"money": {"amount": "1.00" or {"in": "args", "pointer": "/amount"}, '
        '"currency": "EUR"}, "records": 1}',
    )  # fmt: skip
    idempotency = forms.CharField(
        initial="none", help_text="none, native, header:NAME or arg:NAME: carries the call's key."
    )
    reconcile = ExactJson(
        rows=5, required=False,
        help_text='How an unknown outcome is looked up: {"probe": {"tool", "args"}, "succeeded": CEL, "failed": CEL, '
        '"result": JMESPath}; CEL sees result, args and idempotency_key.',
    )  # fmt: skip
    timeout_ms = forms.IntegerField(
        label="Time limit", initial=10_000, min_value=1, max_value=600_000, help_text="Milliseconds, 1 to 600,000."
    )
    egress = Lines(required=False, help_text="The host:port pairs that it may reach, one a line. Empty: its own.")
    egress_by_argument = forms.BooleanField(required=False, help_text="An argument chooses where it connects to.")
    method = forms.ChoiceField(choices=_METHODS)
    url = forms.CharField(
        label="URL", max_length=2000, help_text="https://host/path/{args.invoice_id}; each value is one segment."
    )
    headers = ExactJson(rows=3, required=False, empty={}, help_text="A JSON object of texts; {args.x} is filled in.")
    query = ExactJson(rows=3, required=False, empty={}, help_text="A JSON object of texts; {args.x} is filled in.")
    body = ExactJson(
        rows=5, required=False, help_text='JSON; "{args.x}" becomes that exact value, "{args}" all of them.'
    )
    argv = ExactJson(
        label="Command", rows=6, initial=["/usr/bin/python3", "-c", "print('hello')"],
        help_text='A list of texts: a program below /usr, then what it is given. "{args.x}" becomes that value, as one '
        "element; no shell reads it.",
    )  # fmt: skip
    stdin = forms.ChoiceField(label="Standard input", choices=_STDIN)
    output = forms.ChoiceField(label="What it prints", choices=_OUTPUT)
    min_sandbox_level = forms.IntegerField(
        label="Sandbox level",
        initial=0,
        min_value=0,
        max_value=3,
        help_text="Machines with a lower level refuse it. 3: isolated. 0: any sandbox.",
    )
    success = Codes(least=200, most=599, required=False, help_text="Status codes that mean done. Empty: 200 to 299.")
    not_applied = Codes(**_NOT_APPLIED["http"], required=False)
    select = forms.CharField(required=False, help_text="JMESPath into the answer. Empty: all of it.")
    credential = forms.ChoiceField(required=False, help_text="The bearer that it sends, to its own host alone.")
    function = forms.ChoiceField(help_text="A function that code declares with @tool.")
    revision = forms.IntegerField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = Tool
        fields = ("enabled", "revision")
        help_texts: ClassVar = {"enabled": "A disabled tool is refused, also for calls that wait for approval."}

    @property
    def places(self) -> dict[str, str]:
        """Where faults of the kind's own part are shown."""
        return {f"/{self.kind}/{part}": part for part in _PARTS[self.kind]}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "not_applied" in self.fields:
            self.fields["not_applied"] = Codes(**_NOT_APPLIED[self.kind], required=False)
        if "credential" in self.fields:
            names = [row.name for row in list_credentials(current_tenant())]
            self.fields["credential"].choices = [("", "none"), *((name, name) for name in names)]  # type: ignore[attr-defined]  # a choice field
        if "function" in self.fields:
            self.fields["function"].choices = [(name, name) for name in sorted(self._functions())]  # type: ignore[attr-defined]  # a choice field
        if self.instance.current is not None:
            self._fill(read_spec(self.instance.current.spec))
            self.fields["name"].disabled = True

    def definition(self) -> dict[str, Any]:
        """What was filled in, and what this form does not show, as `parse_spec` reads it."""
        given, current = self.cleaned_data, self.instance.current
        kept = read_spec(current.spec).model_dump(mode="python") if current is not None else {}
        shown = {part: given[part] for part in self.fields if part in ToolSpec.model_fields}
        own = {part: given[part] for part in _PARTS[self.kind] if given[part] not in (None, "", [])}
        return {**kept, **shown, "kind": self.kind, self.kind: own, "credential": given.get("credential") or None}

    def _functions(self) -> set[str]:
        """What code declares, and what the tool names now even where this process does not declare it."""
        current = self.instance.current
        own = read_spec(current.spec).python if current is not None else None
        return set(declared()) | ({own.function} if own else set())

    def _fill(self, spec: ToolSpec) -> None:
        whole = spec.model_dump(mode="python") | {"cost": spec.cost.model_dump(mode="json", exclude_defaults=True)}
        whole |= whole[self.kind] or {}
        self.initial.update({name: whole[name] for name in self.fields if name in whole})


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


def ordered(spec: ToolSpec) -> str:
    """A definition over several lines: what a person looks for first, first; fields that say nothing are left out."""
    said = spec.model_dump(mode="python", exclude_defaults=True) | {"kind": spec.kind}
    if "cost" in said:
        said["cost"] = spec.cost.model_dump(mode="json", exclude_defaults=True)
    return written({name: said[name] for name in (*_FIRST, *said) if name in said})


def form_of(kind: str) -> type[ToolForm]:
    """The form of one kind of tool: other kinds' fields are not in it."""
    others = {part for parts in _PARTS.values() for part in parts} - set(_PARTS[kind])
    if kind != "http":
        others |= {"credential", "egress", "egress_by_argument"}
    if kind != "command":
        others.add("min_sandbox_level")
    return type("KindForm", (ToolForm,), {"kind": kind, **dict.fromkeys(others)})
