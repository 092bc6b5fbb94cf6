"""What an agent's model needs of its team: a credential for its server, and a known price where money is limited."""

from collections.abc import Iterator
from uuid import UUID

from runs.domain.agent import CheckedAgent
from runs.planners import pricing
from tools.credentials import destination_of
from tools.domain.errors import SpecFault


def model_faults(tenant_id: UUID, agent: CheckedAgent) -> list[SpecFault]:
    """In the open transaction."""
    return [*_credential(tenant_id, agent), *_price(agent)]


def _credential(tenant_id: UUID, agent: CheckedAgent) -> Iterator[SpecFault]:
    if agent.model is None or agent.model.credential is None:
        return
    where = destination_of(tenant_id, agent.model.credential)
    if where is None:
        yield SpecFault("/model/credential", f"There is no credential named {agent.model.credential}.")
    elif where != agent.model.where:
        yield SpecFault("/model/credential", f"{agent.model.credential} may only be sent to {where}.")


def _price(agent: CheckedAgent) -> Iterator[SpecFault]:
    money, spec = agent.limits.money, agent.model
    if spec is None or money is None or spec.prices is not None:
        return
    if money.currency != pricing.PUBLISHED_IN:
        yield SpecFault("/model/prices", f"Published prices are in USD: give the prices in {money.currency}.")
    elif pricing.estimate(spec, 0, 0) is None:
        yield SpecFault("/model/prices", f"No price of {spec.name} is published: give it, since money is limited.")
