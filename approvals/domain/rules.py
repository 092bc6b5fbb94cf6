"""Reads a policy as people write it and says everything that is wrong with it, each fault with its place."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from approvals.domain.decision import DECIDING_ROLES
from approvals.domain.errors import InvalidPolicy
from approvals.domain.policy import NAMES, Policy, Rule
from tools.domain import expressions
from tools.domain.errors import InvalidExpression, SpecFault
from tools.domain.faults import faults_of

MAX_RULES = 200


def read_policy(raw: Mapping[str, Any]) -> Policy:
    """The policy in `raw` (`preset`, `rules`). Raises InvalidPolicy with every fault found."""
    try:
        policy = Policy.model_validate(raw)
    except ValidationError as error:
        raise InvalidPolicy(faults_of(error)) from None
    if faults := list(_meaning(policy)):
        raise InvalidPolicy(faults)
    return policy


def _meaning(policy: Policy) -> Iterator[SpecFault]:
    if len(policy.rules) > MAX_RULES:
        yield SpecFault("/rules", f"A policy has at most {MAX_RULES} rules.")
    names = [rule.name for rule in policy.rules]
    for index, rule in enumerate(policy.rules):
        if names.index(rule.name) != index:
            yield SpecFault(f"/rules/{index}/name", "Another rule has this name: requests say which rule asked.")
        yield from _rule(f"/rules/{index}", rule)


def _rule(place: str, rule: Rule) -> Iterator[SpecFault]:
    try:
        expressions.check_condition(rule.when, NAMES)
    except InvalidExpression as error:
        yield SpecFault(f"{place}/when", error.message)
    if rule.group is not None and rule.group not in DECIDING_ROLES:
        known = " and ".join(sorted(DECIDING_ROLES))
        yield SpecFault(f"{place}/group", f"Nobody could decide: the groups are {known}.")
