"""The fields of a budget: those of an agent, and those of the team's default."""

from typing import Any, ClassVar

from django import forms

from agentops.tenancy.transaction import current_tenant
from runs.domain.budget import DEFAULT_LIMITS, Limits
from runs.models import TeamBudget
from runs.operations.budgeting import team_limits
from tools.domain.canonical import parse

FIELDS = ("steps", "tool_calls", "seconds", ("money", "currency"), "records", "tokens", "result_bytes")
_COUNTS = {
    "steps": ("Steps", "Turns of the planner, 1 to 1,000."),
    "tool_calls": ("Tool calls", "Calls that were started, reads too."),
    "seconds": ("Seconds", "Since the start, without the time in which only people were awaited."),
    "records": ("Records", "Rows that calls change, as their tools say."),
    "tokens": ("Tokens", "Input and output tokens of its model, or those that an external planner reports."),
    "result_bytes": ("Result bytes", "Bytes of results that the planner is given."),
}


class BudgetForm(forms.ModelForm):  # type: ignore[type-arg]
    """Seven limits; each says what applies where it is left empty."""

    places: ClassVar[dict[str, str]] = {
        **{f"/budget/{name}": name for name in _COUNTS},
        "/budget/money/currency": "currency",
        "/budget/money": "money",
    }

    steps = forms.IntegerField(required=False)
    tool_calls = forms.IntegerField(required=False)
    seconds = forms.IntegerField(required=False)
    money = forms.CharField(required=False)
    currency = forms.CharField(required=False, help_text="Three capital letters, such as EUR: the one its tools cost.")
    records = forms.IntegerField(required=False)
    tokens = forms.IntegerField(required=False)
    result_bytes = forms.IntegerField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        empty = self.when_empty()
        for name, (label, help_text) in _COUNTS.items():
            self.fields[name].label = label
            self.fields[name].help_text = f"{help_text} Empty: {_said(getattr(empty, name))}."
        money = f"{empty.money.amount} {empty.money.currency}" if empty.money else "no limit"
        self.fields["money"].help_text = f"Decimal amount that its calls may move. Empty: {money}."

    def when_empty(self) -> Limits:
        """What applies to a field that is left empty: what the team says."""
        return team_limits(current_tenant())

    def budget(self) -> dict[str, Any]:
        """What was filled in, as `Limits` reads it."""
        given = self.cleaned_data
        budget = {name: given[name] for name in _COUNTS if given[name] is not None}
        if given["money"] or given["currency"]:
            budget["money"] = {"amount": given["money"], "currency": given["currency"]}
        return budget

    def fill(self, budget: dict[str, Any]) -> None:
        """Show what is kept."""
        money = budget.get("money") or {}
        self.initial.update({name: budget.get(name) for name in _COUNTS})
        self.initial.update(money=money.get("amount"), currency=money.get("currency"))


class TeamBudgetForm(BudgetForm):
    """What every agent of the team may spend that says nothing itself."""

    class Meta:
        model = TeamBudget
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.budget:
            kept: Any = parse(self.instance.budget)
            self.fill(kept)

    def when_empty(self) -> Limits:
        """The product's own."""
        return DEFAULT_LIMITS


def _said(limit: int | None) -> str:
    return "no limit" if limit is None else f"{limit:,}"
