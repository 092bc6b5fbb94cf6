"""What must still be so when a call is made: what to probe, what to select, and whether it holds."""

from dataclasses import dataclass
from typing import Any

from tools.domain import expressions
from tools.domain.canonical import canonical
from tools.domain.errors import ExpressionFailed
from tools.domain.spec import Precondition


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a precondition holds now, and why not."""

    name: str
    ok: bool
    reason: str = ""


def probe_args(precondition: Precondition, args: Any) -> dict[str, Any]:
    """The arguments of the probe for a call with `args`. Raises ExpressionFailed."""
    filled: dict[str, Any] = expressions.fill(precondition.probe.args, {"args": args})
    return filled


def select(result: Any, path: str) -> Any:
    """The part of the probe's result that matters, exact. Raises ExpressionFailed."""
    return expressions.select(result, path)


def evaluate(precondition: Precondition, before: Any, now: Any, args: Any) -> Verdict:
    """Whether the condition holds. Without `expect`: the same canonical bytes before and now, no CEL involved."""
    name = precondition.name
    if precondition.expect is None:
        same = canonical(before) == canonical(now)
        return Verdict(name, same, "" if same else "The value changed.")
    try:
        held = expressions.evaluate(precondition.expect, {"before": before, "now": now, "args": args})
    except ExpressionFailed as error:
        return Verdict(name, False, error.message)
    return Verdict(
        name,
        held is True,
        "" if held is True else f"“{precondition.expect}” is not true.",
    )
