"""Budgets as bars: what is used, what is reserved or would be added, and the limit."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agentops.web.durations import duration

NAMES: Mapping[str, Promise] = {
    "steps": _("Steps"),
    "tool_calls": _("Tool calls"),
    "seconds": _("Wall clock"),
    "money": _("Money"),
    "records": _("Records changed"),
    "tokens": _("Tokens"),
    "result_bytes": _("Result bytes"),
}


@dataclass(frozen=True)
class Bar:
    """One budget. `used_share` and `held_share` are percent of the width; `figure` is exact."""

    name: str | Promise
    used_share: str
    held_share: str
    figure: str
    is_over: bool


def bars(budget: Mapping[str, Any], *, keys: tuple[str, ...] = tuple(NAMES)) -> list[Bar]:
    """A bar for each limited budget of a run (`limit`, `used`, `reserved` as runs.queries gives them)."""
    limit, used, held = budget["limit"], budget["used"], budget["reserved"]
    return [_bar(key, limit[key], used.get(key, 0), held.get(key, 0)) for key in keys if limit.get(key) is not None]


def with_this(budget: Mapping[str, Any], charge: Mapping[str, Any]) -> list[Bar]:
    """The same for one request: the reserved part is what this call takes."""
    this = {"money": {"amount": str(charge.get("money", "0"))}, "records": charge.get("records", 0), "tool_calls": 1}
    return bars({**budget, "reserved": this}, keys=("money", "records", "tool_calls", "steps"))


def _bar(key: str, limit: Any, used: Any, held: Any) -> Bar:
    most, spent, more = _amount(limit), _amount(used), _amount(held)
    used_share = _share(spent, most)
    held_share = min(_share(more, most), 100 - used_share)
    spell = duration if key == "seconds" else _plain
    unit = f" {limit['currency']}" if isinstance(limit, Mapping) else ""
    figure = f"{spell(spent)}{f' + {spell(more)}' if more else ''} / {spell(most)}{unit}"
    return Bar(NAMES[key], f"{used_share:.2f}%", f"{held_share:.2f}%", figure, spent + more > most)


def _amount(value: Any) -> Decimal:
    return Decimal(str(value["amount"] if isinstance(value, Mapping) else value))


def _share(part: Decimal, whole: Decimal) -> Decimal:
    return min(Decimal(100), part * 100 / whole) if whole > 0 else Decimal(100 if part > 0 else 0)


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text and not text.split(".")[1].strip("0") else text
