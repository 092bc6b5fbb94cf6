"""A condition leaf by leaf: the exact value when it was proposed beside the exact value now."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from agentops.web.display.fields import Field, fields
from tools.domain.canonical import Json, parse

SAME_SHOWN = 12
MOST_SPLIT = 65_536
"""Longer ones are compared and folded as one text."""


@dataclass(frozen=True)
class Leaf:
    """One leaf at `path`; a side is None where the value has no such leaf, or could not be read."""

    path: str
    before: Field | None
    now: Field | None
    is_compared: bool

    @property
    def differs(self) -> bool:
        """Compared by type and exact text: `1` is not `"1"`."""
        sides = [side and (side.type, side.text) for side in (self.before, self.now)]
        return self.is_compared and sides[0] != sides[1]


@dataclass(frozen=True)
class Condition:
    """A condition as it was last read. `ok` is None when it is not known whether it holds."""

    name: str
    ok: bool | None
    reason: str
    knows_before: bool
    knows_now: bool
    leaves: Sequence[Leaf]
    rest: Sequence[Leaf]


def conditions(checks: Sequence[Mapping[str, Json]]) -> list[Condition]:
    """The checks of a request: every leaf that differs is shown, of many that are the same the rest is folded."""
    return [_condition(check) for check in checks]


def changes(old: Sequence[Json], new: Sequence[Json]) -> list[Condition]:
    """What differs between the `[name, value]` conditions of two requests, old to new."""
    before, now = _by_name(old), _by_name(new)
    found = (_differing(name, before.get(name), value) for name, value in now.items())
    return [condition for condition in found if condition.leaves]


def _condition(check: Mapping[str, Json]) -> Condition:
    before, now = _text(check.get("before")), _text(check.get("now"))
    ok = check.get("ok")
    leaves = list(_leaves(before, now))
    many = list(islice((leaf.path for leaf in leaves if not leaf.differs), SAME_SHOWN, None))
    folded = set(many) if len(many) > 1 else set()
    shown = [leaf for leaf in leaves if leaf.path not in folded]
    rest = [leaf for leaf in leaves if leaf.path in folded]
    known = (before is not None, now is not None)
    said = (str(check.get("name", "")), ok if isinstance(ok, bool) else None, str(check.get("reason") or ""))
    return Condition(*said, *known, shown, rest)


def _differing(name: str, before: str | None, now: str | None) -> Condition:
    leaves = [leaf for leaf in _leaves(before, now) if leaf.differs or not leaf.is_compared]
    return Condition(name, False, "", before is not None, now is not None, leaves, ())


def _leaves(before: str | None, now: str | None) -> Iterator[Leaf]:
    old, new = _fields(before), _fields(now)
    for path in {**old, **new}:
        yield Leaf(path, old.get(path), new.get(path), before is not None and now is not None)


def _fields(text: str | None) -> dict[str, Field]:
    if text is None:
        return {}
    if len(text) > MOST_SPLIT:
        return {"": Field("", "", "", "JSON", text, len(text.encode()), fold=True)}
    return {field.path: field for field in fields(parse(text))}


def _by_name(pairs: Any) -> dict[str, str | None]:
    return {str(name): _text(value) for name, value in pairs}


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
