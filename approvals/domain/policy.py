"""Judge one proposed call: presets by risk, then the tenant's own rules; the strictest wins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from approvals.domain.decision import GROUPS
from tools.domain import expressions
from tools.domain.errors import ExpressionFailed, InvalidExpression

NAMES = frozenset({"args", "tool", "run", "principal", "tenant", "taint", "budget", "time", "history"})
"""What CEL in a rule sees."""

DEFAULT_EXPIRES_IN = 24 * 3600
MAX_QUORUM = 20


class Effect(StrEnum):
    """What a rule asks for, in rising strictness."""

    ALLOW = "allow"
    REQUIRE_APPROVAL = "require_approval"
    DENY = "deny"


class Preset(StrEnum):
    """Where a tenant starts from."""

    CAREFUL = "careful"
    STRICT = "strict"


class Rule(BaseModel):
    """One rule of a tenant. `expires_in` in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=100)
    when: str = Field(min_length=1, max_length=4000)
    effect: Effect
    group: str | None = Field(default=None, max_length=100)
    quorum: int = Field(default=1, ge=1, le=MAX_QUORUM)
    expires_in: int | None = Field(default=None, ge=60, le=366 * 86_400)
    reason: str = Field(default="", max_length=500)

    @field_validator("when")
    @classmethod
    def _compiles(cls, when: str) -> str:
        try:
            expressions.check_cel(when)
        except InvalidExpression as error:
            raise ValueError(error.message) from None
        return when


class Policy(BaseModel):
    """One immutable version of a tenant's policy; version 0 is the preset alone.

    `reconcile_quorum`: how many people must agree on what a destructive call of unknown outcome did.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = 0
    preset: Preset = Preset.CAREFUL
    rules: tuple[Rule, ...] = ()
    reconcile_quorum: int = Field(default=1, ge=1, le=2)


@dataclass(frozen=True)
class Facts:
    """What a policy sees of a proposed call. `is_effect` as contracts.md defines an effect."""

    tool: str
    risk: str
    is_effect: bool
    tainted: bool
    args: Mapping[str, Any]
    run: Mapping[str, Any]
    principal: str
    tenant: str
    budget: Mapping[str, Any] = field(default_factory=dict)
    time: Mapping[str, Any] = field(default_factory=dict)
    history: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Judgement:
    """The strictest of all that matched."""

    effect: Effect
    reasons: tuple[str, ...]
    rules: tuple[str, ...]
    quorum: int
    group: str | None
    expires_in: int
    policy_version: int

    def asks_more_than(self, quorum: int, group: str | None) -> bool:
        """Whether an approval with `quorum` of `group` would no longer do."""
        return self.effect is Effect.DENY or (
            self.effect is Effect.REQUIRE_APPROVAL and (self.quorum > quorum or self.group != group)
        )


@dataclass(frozen=True)
class _Match:
    name: str
    effect: Effect
    reason: str
    quorum: int = 1
    group: str | None = None
    expires_in: int | None = None


def judge(policy: Policy, facts: Facts) -> Judgement:
    """Read the preset and every rule; a rule that fails to evaluate asks, and says so.

    Of rules that ask alike the strictest parts count: the most people, the shortest time, and `owner` where some name
    approvers and some owners.
    """
    matches = [*_preset(policy.preset, facts), *(m for rule in policy.rules if (m := _match(rule, facts)))]
    rank = list(Effect).index
    effect = max((m.effect for m in matches), key=rank, default=Effect.ALLOW)
    winning = [m for m in matches if m.effect is effect]
    return Judgement(
        effect=effect,
        reasons=tuple(m.reason for m in winning),
        rules=tuple(m.name for m in winning),
        quorum=max((m.quorum for m in winning), default=1),
        group=max((m.group for m in winning if m.group), key=_strictness, default=None),
        expires_in=min((m.expires_in for m in winning if m.expires_in), default=DEFAULT_EXPIRES_IN),
        policy_version=policy.version,
    )


def _strictness(group: str) -> int:
    """A group that is no role has no members, so nothing is stricter."""
    return GROUPS.index(group) if group in GROUPS else len(GROUPS)


def _preset(preset: Preset, facts: Facts) -> Sequence[_Match]:
    name = f"preset {preset.value}"
    if facts.risk == "destructive":
        return [_Match(name, Effect.REQUIRE_APPROVAL, "Destructive calls ask one person.")]
    if facts.tainted and facts.is_effect:
        return [_Match(name, Effect.REQUIRE_APPROVAL, "This call has an effect and the run has read untrusted text.")]
    if facts.risk == "write" and preset is Preset.CAREFUL:
        return [_Match(name, Effect.REQUIRE_APPROVAL, "Writes ask one person.")]
    return []


def _match(rule: Rule, facts: Facts) -> _Match | None:
    try:
        matched = expressions.yes_or_no(rule.when, _context(facts))
    except ExpressionFailed as error:
        reason = f"Rule “{rule.name}” could not be evaluated, so it asks: {error.message}"
        effect = rule.effect if rule.effect is Effect.DENY else Effect.REQUIRE_APPROVAL
        return _Match(rule.name, effect, reason, rule.quorum, rule.group, rule.expires_in)
    if not matched:
        return None
    reason = rule.reason or f"Rule “{rule.name}”."
    return _Match(rule.name, rule.effect, reason, rule.quorum, rule.group, rule.expires_in)


def _context(facts: Facts) -> dict[str, Any]:
    return {
        "args": dict(facts.args),
        "tool": {"name": facts.tool, "risk": facts.risk, "is_effect": facts.is_effect},
        "run": dict(facts.run),
        "principal": facts.principal,
        "tenant": facts.tenant,
        "taint": facts.tainted,
        "budget": dict(facts.budget),
        "time": dict(facts.time),
        "history": list(facts.history),
    }
