"""An agent as a start finds it: its current version and its team's budget, in one statement."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from runs.models import Agent, AgentVersion
from runs.rows import ask, instance

_AGENT = """
SELECT jsonb_build_object('agent', to_jsonb(a), 'version', to_jsonb(v), 'now', clock_timestamp(),
  'team', (SELECT b.budget FROM runs_teambudget b WHERE b.tenant_id = a.tenant_id))::text
FROM runs_agent a JOIN runs_agentversion v ON v.tenant_id = a.tenant_id AND v.id = a.current_id
WHERE a.tenant_id = $1 AND a.slug = $2 AND a.enabled
"""


@dataclass(frozen=True)
class AgentNow:
    """An enabled agent as it is at this moment, and its team's budget as stored."""

    agent: Agent
    version: AgentVersion
    team_budget: str
    at: datetime


def current_agent(tenant_id: UUID, slug: str) -> AgentNow | None:
    """None: the tenant has no enabled agent of this name."""
    (found,) = ask((_AGENT, (str(tenant_id), slug)))
    if found is None:
        return None
    agent, version = instance(Agent, found["agent"]), instance(AgentVersion, found["version"])
    return AgentNow(agent, version, found["team"] or "{}", datetime.fromisoformat(found["now"]))
